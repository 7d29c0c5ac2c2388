// The page: it reads a list, runs it, and shows the run step by step. Files before this one say how a list is read (text),
// what operators compute (arrays, operators, loops), how it runs (run), and what is shown (words, folding, pictures, list, edits).

// ---- the state -------------------------------------------------------------------------------------------------------

const S = {doc: null, run: null, step: 0, hot: null, selected: null, quiz: null, open: new Set(), labels: null, zoom: 1, timer: null, blocks: new Map(), extra: []};
const line = (doc, name) => doc.at.has(name) ? doc.lines[doc.at.get(name)] : null;

function opened(raw, values = []) {
  const given = Object.entries(raw.inputs).filter(([, {value}]) => value).map(([name, {value}]) => [name, unpack(value)]);
  return indexDocument({...raw, inputs: bare(raw.inputs), values: new Map([...given, ...values]), mode: "reverse", edited: false, computed: raw.computed || {}});
}
function indexDocument(doc) {
  doc.at = new Map(doc.lines.map(([dst], k) => [dst, k]));
  doc.users = new Map();
  doc.lines.forEach(([, , args], k) => args.forEach((a, i) => { if (isRegister(a)) added(doc.users, a, [k, i]); }));
  const inputs = Object.keys(doc.inputs);
  if (!inputs.includes(doc.along)) doc.along = inputs.find(x => doc.values.has(x) && varies(doc.values.get(x))) || inputs[0];
  doc.groups = grouped(doc.lines);
  return doc;
}

// Turn to a document, from its first step on and with nothing chosen, but for what `state` says.
function turnTo(doc, state = {}) {
  Object.assign(S, {doc, run: state.run || run(doc), step: 0, blocks: new Map(), selected: null, hot: null, open: new Set([0]), opened: undefined}, state);
  layout = null;
  build();
}
function recompute() {
  S.doc.edited = true;
  S.run = run(S.doc);
  S.step = Math.min(S.step, S.run.events.length - 1);
  build();
}
function go(step) {
  S.step = Math.max(0, Math.min(step, S.run.events.length - 1));
  S.asking = null;
  update();
}
function next() {
  const event = S.run.events[S.step + 1];
  if (!event) return;
  if (S.quiz && (event.kind === "send" || event.kind === "seed") && !event.total.parts) return ask(event);
  go(S.step + 1);
}

function nextBlock() {  // to the first step that is in another group of lines
  const {events} = S.run, group = e => S.doc.groups.findIndex(({to}) => events[e].line < to), now = group(S.step);
  let e = S.step + 1;
  while (e < events.length - 1 && group(e) === now) e++;
  go(e);
}

// What is known of a register at the step: its value, and its delta or tangent.
const valueNow = name => S.run.born.has(name) && S.run.born.get(name) <= S.step ? S.run.values.get(name) : null;
const sumNow = name => ((S.run.sums.get(name) || []).findLast(({e}) => e <= S.step) || {total: null}).total;

// ---- the views -------------------------------------------------------------------------------------------------------

const V = {};   // the parts of the page that change
let layout = null;

function build() {
  const {doc} = S, focused = document.activeElement && document.activeElement.id;
  const examples = [...DATA.documents, ...DATA.guide, ...S.extra];
  document.body.className = document.body.className.replace(/\bquiz\b/, "").trim() + (S.quiz ? " quiz" : "");
  const button = (id, text, label, act, key) => pressed(text, label, act, {id, title: `${label} (${key})`});
  V.slider = el("input", {id: "slider", type: "range", min: 0, max: S.run.events.length - 1, value: S.step, "aria-label": "Step", oninput: e => go(Number(e.target.value))});
  V.count = el("span", {id: "count"});
  V.said = el("p", {id: "said", role: "status", "aria-live": "polite"});
  V.question = el("div", {id: "question"});
  V.notes = el("div", {id: "notes", role: "alert"});
  V.list = el("div", {id: "list", class: "scroll", tabindex: 0, role: "region", "aria-label": "The list"});
  V.graph = el("div", {id: "graph", class: "scroll", tabindex: 0, role: "region", "aria-label": "The computation graph"});
  V.formula = el("div", {id: "formula", class: "scroll", tabindex: 0, role: "region", "aria-label": "The formula"});
  V.detail = el("section", {id: "detail", "aria-label": "The chosen register"});
  const option = (value, text, now) => { const o = el("option", {value}, text); o.selected = value === now; return o; };
  const choose = (id, label, options, act) => el("label", {for: id}, label, " ", el("select", {id, onchange: e => act(e.target.value)}, options));
  const moving = Object.keys(doc.inputs).filter(x => doc.values.has(x) && varies(doc.values.get(x)));
  const now = String(examples.indexOf(doc.raw));
  document.body.replaceChildren(
    el("header", {},
      el("h1", {}, doc.title), doc.source ? el("p", {class: "source"}, doc.source) : "",
      doc.outer ? stepView(doc) : "",
      el("div", {class: "row"},
        choose("example", "Example", examples.map((d, k) => option(String(k), DATA.guide.includes(d) ? `${k - DATA.documents.length + 1}. ${short(d.title, 50)}` : d.title, now)), k => open(examples[k])),
        doc.outer ? "" : choose("mode", "Derivatives", [option("reverse", "in reverse mode", doc.mode), option("forward", "in forward mode", doc.mode)], v => { doc.mode = v; rerun(); }),
        doc.outer ? "" : doc.mode === "reverse" ? choose("of", "of", doc.lines.slice(-200).map(([dst]) => option(dst, dst, doc.of)), v => { doc.of = v; rerun(); })
          : choose("along", "by", (moving.length ? moving : Object.keys(doc.inputs)).map(x => option(x, x, doc.along)), v => { doc.along = v; rerun(); }),
        button("quiz", S.quiz ? "End the quiz" : "Quiz", S.quiz ? "End the quiz" : "Quiz: you say what comes next", () => { S.quiz = S.quiz ? null : {right: 0, asked: 0}; build(); }, "q"),
        button("theme", "◐", "Light or dark", () => { const dark = document.documentElement.dataset.theme; document.documentElement.dataset.theme = dark === "dark" || !dark && matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark"; }, "d"))),
    el("main", {},
      guideView(doc),
      el("section", {id: "stepper", "aria-label": "Steps"},
        el("div", {class: "row"},
          button("first", "|◀", "First step", () => go(0), "Home"), button("back", "◀", "Step back", () => go(S.step - 1), "←"),
          button("next", "▶", "Step on", next, "→"), button("last", "▶|", "Last step", () => go(S.run.events.length - 1), "End"),
          doc.groups.length > 1 ? button("block", "▶▶", "To the next block", nextBlock, "b") : "",
          button("play", S.timer ? "Pause" : "Play", "Play or pause", play, "space"), V.slider, V.count),
        V.said, V.question, V.notes),
      el("div", {id: "panels"},
        panel("list-title", "List", V.list),
        panel("graph-title", "Graph", V.graph, el("span", {class: "row"},
          choose("labels", "Labels", ["none", "symbols", "numbers"].map(x => option(x, x, labelsNow())), v => { S.labels = v; layout = null; drawGraph(); update(); }),
          pressed("−", "Make the graph smaller", () => zoomed((S.zoom > 0 ? S.zoom : 1) / 1.25)), pressed("fit", "Show the whole graph", () => zoomed("fit")), pressed("+", "Make the graph larger", () => zoomed((S.zoom > 0 ? S.zoom : 1) * 1.25)),
          el("button", {id: "svg", type: "button", onclick: saveSvg}, "Save as SVG"))),
        panel("formula-title", "Formula", V.formula)),
      V.detail,
      el("div", {id: "more"}, inputsView(doc), doc.outer ? [] : [editView(doc), folded("gradient", "The gradient is a list, too", () => gradientView(doc)), folded("paths", "Sums over paths", () => pathsView(doc)), doc.mode === "reverse" ? folded("wrong", "The wrong way, beside the right one", () => wrongView(doc)) : ""], folded("help", "Keys, and what is seen", helpView))),
    el("footer", {}, "Written by xman. This page computes in float64 and loads nothing."));
  drawList();
  drawGraph();
  drawFormula();
  update();
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
}
const panel = (id, title, body, more = "") => el("section", {class: "panel", "aria-labelledby": id}, el("div", {class: "row"}, el("h2", {id}, title), more), body);
function folded(id, title, make) {
  const body = el("div"), ontoggle = () => {
    S[`open_${id}`] = node.open;
    if (node.open && node.isConnected && !body.hasChildNodes()) body.replaceChildren(...[make()].flat());
  };
  const node = el("details", {id, ontoggle, open: S[`open_${id}`]}, el("summary", {}, title), body);
  return node;
}
function zoomed(zoom) { S.zoom = zoom; layout = null; drawGraph(); update(); }
function rerun() { S.run = run(S.doc); S.step = 0; layout = null; build(); }
function open(raw, values) { turnTo({...opened(raw, values), raw}, {quiz: S.quiz && {right: 0, asked: 0}}); }
function play() {
  if (S.timer) { clearInterval(S.timer); S.timer = null; } else {
    if (S.step === S.run.events.length - 1) go(0);
    S.timer = setInterval(() => { if (S.step >= S.run.events.length - 1 || S.asking) { clearInterval(S.timer); S.timer = null; document.getElementById("play").textContent = "Play"; } else next(); }, 900);
  }
  document.getElementById("play").textContent = S.timer ? "Pause" : "Play";
}

function guideView(doc) {
  if (!doc.text) return "";
  const k = DATA.guide.indexOf(doc.raw), move = (to, text) => DATA.guide[to] ? el("button", {type: "button", onclick: () => open(DATA.guide[to])}, text) : "";
  return el("section", {id: "guide", "aria-label": "About this example"}, doc.text.map(text => el("p", {}, text)),
    el("details", {}, el("summary", {}, "The words"), el("dl", {}, Object.entries(doc.words).flatMap(([word, said]) => [el("dt", {}, word), el("dd", {}, said)]))),
    el("div", {class: "row"}, move(k - 1, "◂ Previous example"), move(k + 1, "Next example ▸")));
}

// A name that lights up wherever it stands, and is chosen by a click.
const named = (name, text = name, tag = "button") => el(tag, {class: "reg", "data-r": name, type: tag === "button" ? "button" : null, onclick: () => choose(name)}, text);
function choose(name) { S.selected = S.selected === name ? null : name; update(); }
function heated(name) {
  if (S.hot === name) return;
  document.querySelectorAll(".hot").forEach(node => node.classList.remove("hot"));
  S.hot = name;
  if (name !== null) document.querySelectorAll(`[data-r="${CSS.escape(name)}"]`).forEach(node => node.classList.add("hot"));
}
document.addEventListener("pointerover", e => { const node = e.target.closest && e.target.closest("[data-r]"); heated(node ? node.dataset.r : null); });
document.addEventListener("focusin", e => { const node = e.target.closest && e.target.closest("[data-r]"); if (node) heated(node.dataset.r); });

// ---- each step

function update() {
  const {doc, run: r} = S, event = r.events[S.step];
  V.slider.max = r.events.length - 1;
  V.slider.value = S.step;
  V.slider.setAttribute("aria-valuetext", `step ${S.step} of ${r.events.length - 1}`);
  V.count.textContent = `step ${S.step.toLocaleString("en")} of ${(r.events.length - 1).toLocaleString("en")}`;
  V.said.textContent = sentence(event);
  if (!S.asking) V.question.replaceChildren();
  V.notes.replaceChildren(...r.notes.map(text => el("p", {}, text)));
  const k = event.line;
  if (k !== undefined && doc.groups.length > 1) {
    const g = doc.groups.findIndex(group => k >= group.from && k < group.to);
    if (!S.open.has(g)) { if (S.opened !== undefined && S.opened !== g && S.open.has(S.opened)) { S.open.delete(S.opened); doc.groups[S.opened] && doc.groups[S.opened].fill(); } S.open.add(g); S.opened = g; doc.groups[g].fill(); }
  }
  const present = k !== undefined ? doc.lines[k][0] : event.name;
  for (const [name, row] of V.rows) {
    const {tr, value, sum} = row, x = valueNow(name), d = sumNow(name);
    if (x !== row.x) value.replaceChildren(...cell(x, "not computed yet"));
    if (d !== row.d) sum.replaceChildren(...cell(d, "not there yet"));
    [row.x, row.d] = [x, d];
    tr.className = [name === present ? "now" : "", name === event.name && event.kind !== "value" ? "target" : "", name === S.selected ? "chosen" : "", name === S.hot ? "hot" : ""].join(" ").trim();
    tr.toggleAttribute("aria-current", name === present);
    if (name === present) keepInView(tr);
  }
  for (const fill of V.blocks.values()) fill();
  drawGraph();
  for (const [name, {box, value, delta, image, second, letters}] of layout.nodes) {
    const x = valueNow(name), d = sumNow(name);
    value.textContent = x ? short(summary(x), letters) : "";
    delta.textContent = d ? short(`${derived(doc, name)} = ${summary(d)}`, letters) : "";
    box.setAttribute("class", `box${doc.inputs[name] ? " input" : ""}${x ? " done" : ""}${name === present || name === event.name ? " now" : ""}${name === S.selected ? " chosen" : ""}${name === S.hot ? " hot" : ""}`);
    for (const [array, picture] of [[x, image], [d, second]])
      if (array && array.s.length && array.a.length) picture.setAttribute("href", heat(array).url); else picture.removeAttribute("href");
  }
  for (const [key, {path, head, tail}] of layout.edges) {
    const isNow = event.kind === "send" ? key === `${event.line}.${event.place}` : event.kind === "value" && key.startsWith(`${event.line}.`);
    const gone = r.travelled.get(key) <= S.step;
    path.setAttribute("class", `edge${isNow ? " now" : gone ? " gone" : ""}`);
    const back = doc.mode === "reverse" && event.kind !== "value" && (isNow || gone);
    head.setAttribute("class", back ? "tail" : `head${isNow ? " now" : ""}`);
    tail.setAttribute("class", back ? `head${isNow ? " now" : " gone"}` : "tail");
  }
  const target = layout.nodes.get(event.kind === "send" ? event.name : present || doc.of);
  if (target) { V.graph.scrollTo({top: target.y - V.graph.clientHeight / 2, left: target.x - V.graph.clientWidth / 2}); }
  if (typeof V.pieces === "function") {
    const value = valueNow(doc.of);
    V.now.replaceChildren(...S.step ? [`${doc.of} = `, ...V.pieces(true)] : []);
  }
  detail();
}
function keepInView(row) {
  const [top, bottom] = [V.list.scrollTop, V.list.scrollTop + V.list.clientHeight], head = 30;
  if (row.offsetTop - head < top) V.list.scrollTop = row.offsetTop - head;
  else if (row.offsetTop + row.offsetHeight > bottom) V.list.scrollTop = row.offsetTop + row.offsetHeight - V.list.clientHeight;
}

// ---- the chosen register

function detail() {
  const {doc, run: r, selected: name} = S;
  if (!name) return V.detail.replaceChildren(el("p", {class: "hint"}, "Choose a register by a click, or by Enter on its name, to see where its value and its derivative come from."));
  const own = line(doc, name), x = valueNow(name), d = sumNow(name), sends = r.sends.get(name) || [], symbol = derived(doc, name);
  const one = e => { const event = r.events[e], there = e <= S.step;
    return el("li", {class: there ? "" : "later"}, event.kind === "seed" ? `${symbol} = 1: here it begins` : event.python ? "as Python computed it" : `${doc.mode === "reverse" ? `from ${doc.lines[event.line][0]}` : `from ${doc.lines[event.line][2][event.place]}`} (line ${event.line + 1}): ${ruleText(doc, event, (a, t) => t ? derived(doc, a) : a)}${there ? ` = ${shown(event.part)}` : ", not there yet"}`, " ",
      el("button", {type: "button", onclick: () => go(e), "aria-label": `Go to step ${e}`}, "go")); };
  V.detail.replaceChildren(el("h2", {}, named(name), own ? [` = ${definition(own).join("")}`] : [` is ${doc.inputs[name].role === "parameter" ? "a parameter" : "an input"}`]),
    el("p", {}, `Value: ${x ? shown(x) : "not computed yet"}. ${symbol}: ${d ? shown(d) : "not there yet"}.${equation(name)} ${doc.users.has(name) ? `Read by ${[...new Set(doc.users.get(name).map(([k]) => doc.lines[k][0]))].slice(0, 12).join(", ")}.` : ""}`),
    sends.length ? el("div", {}, el("h3", {}, `What ${symbol} is the sum of`), el("ol", {}, sends.slice(0, 50).map(one))) : el("p", {class: "hint"}, r.stop ? "" : `${doc.mode === "reverse" ? `${doc.top} does not depend on ${name}` : `${name} does not depend on ${doc.along}`}, so ${symbol} never comes.`),
    ...looks(x, "The value"), ...looks(d, symbol));
}
const looks = (x, title) => !x ? [] : x.parts ? Array.from(x.parts, (p, i) => looks(p, `${title}[${i}]`)).flat() : x.s.length ? [look(x, title)] : [];
function look(x, title) {  // a look inside: the first rows and columns
  const columns = x.s[x.s.length - 1], rows = x.a.length / (columns || 1), [m, n] = [Math.min(rows, 20), Math.min(columns, 12)];
  return el("div", {class: "look"}, el("h3", {}, `${title}, ${shown(x)}`), el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, its entries`}, el("table", {class: "entries"}, el("tbody", {}, Array.from({length: m}, (_, i) => el("tr", {}, Array.from({length: n}, (_, j) => { const v = x.a[i * columns + j]; return el("td", {class: v < 0 ? "minus" : v > 0 ? "plus" : ""}, number(v)); })))))), m < rows || n < columns ? el("p", {class: "hint"}, `The first ${m} of ${plural(rows, "row")}, and ${n} of ${plural(columns, "column")}.`) : "");
}

// ---- keys ------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", e => {
  const inField = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.id !== "slider";
  if (inField || e.ctrlKey || e.altKey || e.metaKey) return;
  const act = {ArrowRight: next, ArrowLeft: () => go(S.step - 1), Home: () => go(0), End: () => go(S.run.events.length - 1), b: nextBlock, q: () => document.getElementById("quiz").click(), " ": e.target.tagName === "BUTTON" || e.target.tagName === "SUMMARY" ? null : play}[e.key];
  if (act) { e.preventDefault(); act(); }
});
document.documentElement.lang = "en";
open(DATA.documents[0]);
