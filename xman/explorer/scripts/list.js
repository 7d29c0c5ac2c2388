// The list as a table, with the lines of a loop folded under the line that applies it.

function drawList() {
  const {doc} = S, rows = new Map(), table = el("table", {},
    el("thead", {}, el("tr", {}, ...["", "line", "value", doc.mode === "reverse" ? `δ = ∂${doc.top}/∂…` : `${dotted("v")} = ∂…/∂${doc.by || doc.along}`].map((t, i) => el("th", {scope: "col"}, t || el("span", {class: "sr"}, "number"))))));
  V.rows = rows;
  V.blocks = new Map();
  const row = (name, k) => {
    const [value, sum] = [el("td"), el("td")];
    const line = k === null ? [named(name), el("span", {class: "role"}, ` ${doc.inputs[name].role}`)] : [named(name), " = ", doc.lines[k][1], "(", ...doc.lines[k][2].flatMap((a, i) => [i ? ", " : "", isRegister(a) ? named(a, a, "span") : literalText(a)]), ")"];
    const tr = el("tr", {"data-r": name}, el("td", {class: "k"}, k === null ? "" : String(k + 1)), el("td", {class: "line"}, line), value, sum);
    rows.set(name, {tr, value, sum});
    return k !== null && functionsOf(doc.lines[k]).length ? [tr, blockUnder(k)] : [tr];
  };
  table.append(el("tbody", {}, Object.keys(doc.inputs).flatMap(name => row(name, null))));
  doc.groups.forEach((group, g) => {
    const body = el("tbody");
    table.append(body);
    if (doc.groups.length === 1) return body.append(...doc.lines.flatMap(([dst], k) => row(dst, k)));
    const toggle = el("button", {type: "button", class: "fold", onclick: () => { S.open.has(g) ? S.open.delete(g) : S.open.add(g); fill(); update(); }});
    const fill = () => {
      const isOpen = S.open.has(g), ops = [...new Set(doc.lines.slice(group.from, group.to).map(([, op]) => op))];
      toggle.setAttribute("aria-expanded", isOpen);
      toggle.textContent = `${isOpen ? "▾" : "▸"} lines ${group.from + 1} to ${group.to}${group.title ? `, ${group.title}` : ""}: ${short(ops.join(", "), 50)}`;
      body.replaceChildren(el("tr", {}, el("th", {colspan: 4, scope: "rowgroup"}, toggle)), ...isOpen ? doc.lines.slice(group.from, group.to).flatMap(([dst], k) => row(dst, group.from + k)) : []);
      if (!isOpen) for (let k = group.from; k < group.to; k++) { rows.delete(doc.lines[k][0]); V.blocks.delete(k); }
    };
    group.fill = fill;
    fill();
  });
  V.list.replaceChildren(table);
}

// ---- loops: the lines of a function, folded under the line that applies it

function blockUnder(k) {
  const {doc} = S, own = doc.lines[k], state = S.blocks.get(own[0]) || {open: false, s: 0}, names = functionsOf(own).map(fn => fn.name).join(", ");
  const body = el("div", {class: "body"}), toggle = el("button", {type: "button", class: "fold", onclick: () => { state.open = !state.open; fill(); }});
  const said = el("span", {role: "status"}), table = el("div"), slider = el("input", {type: "range", min: 0, "aria-label": `Step of ${names}`, oninput: e => to(Number(e.target.value))});
  const into = el("button", {type: "button", onclick: () => enter({doc: S.doc, run: S.run, step: S.step, open: S.open, blocks: S.blocks, k}, state.s)}, "Step through these lines");
  const controls = el("div", {class: "row"}, pressed("◀", `The step of ${names} before`, () => to(state.s - 1)), slider, pressed("▶", `The next step of ${names}`, () => to(state.s + 1)), said), under = el("div", {class: "row"}, controls, into);
  S.blocks.set(own[0], state);
  const to = s => { state.s = Math.max(0, s); fill(); };
  function fill() {
    const trace = valueNow(own[0]) && S.run.traces.get(k), fn = trace ? trace.fn : functionsOf(own).at(-1), many = trace && trace.n > 1, i = own[2].findLastIndex(isRegister);
    toggle.setAttribute("aria-expanded", state.open);
    toggle.textContent = `${state.open ? "▾" : "▸"} ${trace ? fn.name : names}: ${plural(fn.lines.length, "line")}${trace && /scan|while/.test(own[1]) ? `, ${plural(trace.n, "step")}` : ""}`;
    body.hidden = !state.open;
    if (!state.open) return;
    state.s = Math.max(0, Math.min(state.s, trace ? trace.n - 1 : 0));
    controls.hidden = !many;
    into.hidden = !trace || !trace.n;
    slider.max = trace ? Math.max(0, trace.n - 1) : 0;
    slider.value = state.s;
    slider.setAttribute("aria-valuetext", said.textContent = many ? `step ${(state.s + 1).toLocaleString("en")} of ${trace.n.toLocaleString("en")}` : "");
    const back = S.run.travelled.get(`${k}.${i}`) <= S.step, step = trace && trace.n ? {...stepDocument(trace, state.s, S.doc.mode), within: true} : null;
    if (step && !back) step.seeds = [];
    const r = step ? run(step) : {values: new Map(), sums: new Map()}, sum = name => (r.sums.get(name) || []).at(-1);
    const row = (name, line) => el("tr", {}, el("td", {class: "line"}, line), el("td", {}, cell(r.values.get(name), "not computed yet")), el("td", {}, cell(sum(name) && sum(name).total, "not there yet")));
    table.replaceChildren(valueNow(own[0]) && !step ? el("p", {class: "hint"}, trace ? "No step is run." : `This page does not compute ${foreignIn(own)}: what the loop gives is Python's, and its steps are not here.`) : "", el("table", {}, el("caption", {class: "sr"}, `The lines of ${fn.name}: line, value, derivative`), el("tbody", {},
      fn.params.map((p, j) => row(p, [el("b", {}, p), el("span", {class: "role"}, ` ${step ? step.inputs[p].role : ""}`)])), fn.lines.map(line => row(line[0], [el("b", {}, line[0]), lineText(line).slice(line[0].length)])), el("tr", {}, el("td", {class: "line", colspan: 3}, `return ${fn.results.join(", ")}`)))));
  }
  body.append(under, table);
  V.blocks.set(k, fill);
  return el("tr", {class: "block"}, el("td"), el("td", {colspan: 3}, toggle, body));
}
// The page of one step of a loop: the lines of its function are a list like any other.
function enter(outer, s) {
  const trace = outer.trace || outer.run.traces.get(outer.k);
  if (!trace || s >= trace.n) return;
  const doc = {...stepDocument(trace, s, outer.doc.mode), raw: outer.doc.raw, results: trace.fn.results, of: trace.fn.results.at(-1), target: outer.doc.top, by: outer.doc.by || outer.doc.along, outer: {...outer, trace, s}};
  doc.title = `${trace.fn.name}${/scan|while/.test(trace.op) ? `, ${(s + 1).toLocaleString("en")} of ${plural(trace.n, "step")}` : ""}`;
  const step = S.doc.outer && S.doc.outer.k === outer.k && S.doc.outer.trace === trace ? S.step : 0;
  const r = run(indexDocument(doc));
  turnTo(doc, {run: r, step: Math.min(step, r.events.length - 1)});
  if (document.activeElement === document.body) document.getElementById("leave").focus();
}
function leave({doc, run: r, step, open: shownGroups, blocks}) {
  turnTo(doc, {run: r, step, open: shownGroups, blocks});
  document.getElementById("next").focus();
}
function stepView({outer}) {
  const {trace, s, doc} = outer, to = t => t >= 0 && t < trace.n && enter(outer, t);
  return el("div", {class: "row"}, el("button", {id: "leave", type: "button", onclick: () => leave(outer)}, `◂ Back to ${short(doc.title, 40)}`),
    trace.n > 1 ? [pressed("◀", "The step of the loop before", () => to(s - 1), {id: "before"}), el("input", {id: "turn", type: "range", min: 0, max: trace.n - 1, value: s, "aria-label": "Step of the loop", onchange: e => to(Number(e.target.value))}), pressed("▶", "The next step of the loop", () => to(s + 1), {id: "after"})] : "");
}
