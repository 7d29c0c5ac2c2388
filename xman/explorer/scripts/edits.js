// What the reader changes and answers: inputs, the list, the paths that are summed, the quiz.

// ---- what the reader changes

function inputText(x) {
  if (!x) return "";
  if (x.parts) { const texts = x.parts.map(inputText); return texts.includes(null) ? null : `(${texts.join(", ")})`; }
  return x.a.length > 200 ? null : nestedText(x.s, i => String(x.a[i]));
}
function inputsView(doc) {
  const problem = el("p", {class: "problem", role: "alert"}), many = Object.keys(doc.inputs).length > 8;
  const rows = Object.entries(doc.inputs).map(([name, {role}], k) => {
    const x = doc.values.get(name), text = inputText(x);
    return el("div", {class: "field"}, el("label", {for: `in${k}`}, name, el("span", {class: "role"}, ` ${role}`)), text === null ? el("span", {id: `in${k}`}, `${shown(x)}: too many to edit here`)
      : el("input", {id: `in${k}`, value: text, placeholder: "a number, or [[1, 2], [3, 4]]", spellcheck: "false", autocomplete: "off", inputmode: "text", onchange: e => setInput(name, e.target, problem)}));
  });
  return el("details", {id: "inputs", open: !many}, el("summary", {}, "Inputs and parameters"), el("div", {class: "fields"}, rows), problem);
}
function typed(text, old) {  // as 3, -.5 and [[1, 2]], or as (3, [1, 2]), a bundle; whole numbers stay whole
  const parts = JSON.parse(`[${text.replace(/^\((.*?),?\s*\)$/s, "$1").replace(/\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/gi, Number)}]`);
  const array = (part, like) => {
    const x = T(typeof part === "number" || Array.isArray(part) ? part : fail("no number"));
    if (x.a.some(v => !Number.isFinite(v)) || x.a.length > 1e6) fail("no number");
    return like && "ib".includes(like.k) && x.a.every(Number.isInteger) ? tensor(x.s, x.a, like.k) : x;
  };
  return text.startsWith("(") ? bundleOf(parts.map((part, i) => array(part, old && old.parts && old.parts[i]))) : parts.length === 1 ? array(parts[0], old) : fail("no number");
}
function setInput(name, field, problem) {
  const text = field.value.trim().replace(/−/g, "-");
  try {
    S.doc.values.set(name, typed(text, S.doc.values.get(name)));
    problem.textContent = "";
    recompute();
  } catch (error) {
    field.setAttribute("aria-invalid", "true");
    problem.textContent = `${name}: ${short(text, 40) || "nothing"} is no number and no nested list of numbers; write 3, -0.5 or [[1, 2], [3, 4]], or for a bundle (3, [1, 2]).`;
  }
}
function editView(doc) {
  const long = doc.lines.length > 3000;
  return folded("edit", "Edit the list", () => {
    const problem = el("p", {class: "problem", role: "alert"}), area = el("textarea", {id: "text", rows: Math.min(24, doc.lines.length + 2), spellcheck: "false", "aria-label": "The list as text"});
    area.value = long ? "" : listText(doc.lines);
    return [el("p", {class: "hint"}, long ? "This list is too long to be edited here; another one can be pasted." : "One assignment a line, of one operator on registers and numbers: z1 = mul(h, 2.0). A name that no line assigns is an input."), area,
      el("div", {class: "row"}, el("button", {id: "use", type: "button", onclick: () => useText(area.value, problem)}, "Use this list"), el("button", {type: "button", onclick: () => open(S.doc.raw)}, "As it was")), problem];
  });
}
function useText(text, problem) {
  try {
    const lines = parsed(text), wrong = complaint(lines);
    if (wrong) fail(wrong);
    if (lines.length > MANY) fail(`The list has ${plural(lines.length, "line")}, and this page takes ${MANY.toLocaleString("en")}.`);
    const {doc} = S, old = doc.inputs;
    doc.lines = lines;
    doc.inputs = bare(Object.fromEntries(inputsOf(lines).map(x => [x, old[x] || {role: "input"}])));
    for (const name of [...doc.values.keys()]) if (!doc.inputs[name]) doc.values.delete(name);
    if (!lines.some(([dst]) => dst === doc.of)) doc.of = lines[lines.length - 1][0];
    Object.assign(doc, {equations: null, edited: true});
    turnTo(indexDocument(doc));
  } catch (error) { problem.textContent = error.message; }
}
function gradientView(doc) {
  let lines;
  try { lines = gradientLines(doc); } catch (error) { return el("p", {}, `There is no list of the gradient: ${error.message}.`); }
  const ops = lines.length, raw = {title: short(`The gradient of ${doc.title}`), lines: [...doc.lines, ...lines], of: lines.findLast(([dst]) => dst.startsWith(`d${doc.of}_d`))[0], inputs: doc.inputs};
  return [el("p", {}, `The rules write ${plural(ops, "line")} behind the ${plural(doc.lines.length, "line")} of the list: δx is called d${doc.of}_dx. It is a list like any other, so it can be differentiated again.${explained(lines)} Python's simplify makes the list shorter.`),
    doc.lines.length + ops > MANY ? "" : el("button", {id: "onwards", type: "button", onclick: () => { S.extra = [raw]; open(raw, doc.values); }}, "Step through it"),
    el("pre", {tabindex: 0}, listText(lines.slice(0, 1500)) + (ops > 1500 ? "\n…" : ""))];
}
function pathsView(doc) {
  const leads = (k, i) => Object.hasOwn(LOOPS, doc.lines[k][1]) || (ruleFor(doc.lines[k]) || {adjoint: []}).adjoint[i];
  const target = doc.of, from = el("select", {id: "from", onchange: () => fill()}, Object.keys(doc.inputs).map(x => el("option", {value: x}, x))), body = el("div");
  function fill() {
    const counts = new Map([[target, 1n]]), start = from.value;
    for (let k = doc.lines.length - 1; k >= 0; k--) {
      const own = counts.get(doc.lines[k][0]);
      if (own) doc.lines[k][2].forEach((a, i) => { if (isRegister(a) && leads(k, i)) counts.set(a, (counts.get(a) || 0n) + own); });
    }
    const total = counts.get(start) || 0n, paths = [], walk = (name, nodes, labels, values) => {
      if (paths.length >= 12) return;
      if (name === target) return paths.push([nodes, labels, values]);
      for (const [k, i] of doc.users.get(name) || []) if (counts.has(doc.lines[k][0]) && leads(k, i)) walk(doc.lines[k][0], [...nodes, doc.lines[k][0]], [...labels, edgeLabel(k, i, "symbols") || "…"], [...values, edgeLabel(k, i, "numbers")]);
    };
    if (total > 0n && doc.lines.length < 2000) walk(start, [start], [], []);
    const worth = values => values.every(v => v !== "" && v !== "?") ? values.map(v => Number(v.replace("−", "-"))).reduce((p, v) => p * v, 1) : null;
    body.replaceChildren(el("p", {}, total ? `${total.toLocaleString("en")} ${total === 1n ? "path leads" : "paths lead"} from ${start} to ${target}. A path is worth the product of its labels, and ∂${target}/∂${start} is the sum over all of them (Reps §3); the backward pass finds it without listing them.` : `No path leads from ${start} to ${target}.`),
      paths.length ? el("ul", {}, paths.map(([nodes, labels, values]) => el("li", {}, `${nodes.join(" → ")}: ${labels.map(t => / [+−-] /.test(t) ? `(${t})` : t).join("·")}${worth(values) === null ? "" : ` = ${number(worth(values))}`}`))) : "",
      paths.length && BigInt(paths.length) === total && paths.every(([, , v]) => worth(v) !== null) ? el("p", {}, `Together ${number(paths.reduce((sum, [, , v]) => sum + worth(v), 0))}.`) : "");
  }
  fill();
  return [el("label", {for: "from"}, "From ", from), body];
}
const helpView = () => el("dl", {}, [["→ and ←", "a step on, and back"], ["Home and End", "to the first step and to the last"], ["b", "to the next block, where lines are folded"], ["Space", "play, pause"], ["q", "the quiz"], ["Tab, Enter", "to a name, and choose it"],
  ["·", "what is not there yet. A delta that is not there is not 0: it is not known"], ["orange line", "the edge that is travelled at this step"], ["x·y and A @ B", "entry by entry, and the product of matrices"], ["heat map", "blue below 0, white 0, orange above; the strongest colour is the entry farthest from 0"]].flatMap(([a, b]) => [el("dt", {}, a), el("dd", {}, b)]));

// ---- the quiz

function ask(event) {
  const {doc} = S, x = event.total, symbol = derived(doc, event.name), shape = x.s.length > 0;
  S.asking = event;
  const input = el("input", {id: "answer", autocomplete: "off", inputmode: shape ? "text" : "decimal", "aria-describedby": "verdict"}), verdict = el("p", {id: "verdict", role: "status"});
  let first = true;
  const judge = e => {
    e.preventDefault();
    const typed = input.value.trim().replace(/−/g, "-").replace(",", "."), right = shape ? (typed.match(/\d+/g) || []).join() === x.s.join() : near(Number(typed), x.a[0], typed);
    if (first) { S.quiz.asked++; if (right) S.quiz.right++; }
    first = false;
    if (!right) { verdict.textContent = typed === "" ? "Type an answer." : event.kind === "seed" ? "Not yet: how does a register change with itself?" : `Not ${typed}. The rule: ${symbol} ${event.before ? "+=" : "="} ${ruleText(doc, event, (a, d) => d ? derived(doc, a) : a)}${event.before ? `, and ${symbol} was ${shown(event.before)}` : ""}.`; return; }
    go(event.e);
    V.question.replaceChildren(el("p", {id: "verdict", role: "status", class: "right"}, `Right: ${symbol} is ${shown(x)}. ${S.quiz.right} of ${S.quiz.asked} at the first try.`));
    document.getElementById("next").focus();
  };
  const own = event.line !== undefined ? doc.lines[event.line] : null;
  V.question.replaceChildren(el("form", {onsubmit: judge}, el("label", {for: "answer"}, `${own ? `Line ${event.line + 1}, ${own[0]} = ${definition(own).join("")}, ${doc.mode === "reverse" ? `sends to ${event.name}` : `moves with ${own[2][event.place]}`}. ` : "The derivatives begin here. "}${shape ? `Which shape has ${symbol}?` : `What is ${symbol} after this step?`} `), input,
    el("button", {id: "check", type: "submit"}, "Check"), el("button", {id: "tell", type: "button", onclick: () => { S.quiz.asked += first; go(event.e); document.getElementById("next").focus(); }}, "Show me")), verdict);
  input.focus();
}
function near(typed, right, text) {  // as good as the digits that were typed, and to 1 in 1,000 at least
  const digits = (text.split(".")[1] || "").replace(/e.*/i, "").length;
  return text !== "" && Number.isFinite(typed) && (Math.abs(typed - right) <= 1e-3 * Math.abs(right) || digits > 1 && Math.abs(typed - right) <= 0.5000001 * 10 ** -digits);
}
