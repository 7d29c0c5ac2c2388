// Heat maps of arrays, the graph, and the formula.

// ---- heat maps -------------------------------------------------------------------------------------------------------

const pictures = new WeakMap();
function heat(x) {  // a picture of an array: blue below 0, orange above, white at 0
  if (pictures.has(x)) return pictures.get(x);
  const columns = x.s[x.s.length - 1] || 1, rows = Math.max(1, x.a.length / columns), skip = Math.max(1, Math.ceil(Math.max(columns, rows) / 200));
  const canvas = el("canvas", {width: Math.ceil(columns / skip), height: Math.ceil(rows / skip)}), context = canvas.getContext("2d");
  const most = x.a.reduce((m, v) => Number.isFinite(v) ? Math.max(m, Math.abs(v)) : m, 0) || 1, image = context.createImageData(canvas.width, canvas.height);
  for (let i = 0, q = 0; i < rows; i += skip) for (let j = 0; j < columns; j += skip, q += 4) {
    const v = x.a[i * columns + j] / most, [r, g, b] = v !== v ? [120, 0, 120] : v < 0 ? [9, 105, 218] : [217, 101, 0], t = Math.min(1, Math.abs(v));
    image.data.set([255 + (r - 255) * t, 255 + (g - 255) * t, 255 + (b - 255) * t, 255], q);
  }
  context.putImageData(image, 0, 0);
  const map = {url: canvas.toDataURL(), width: Math.max(12, Math.min(90, canvas.width * 10)), height: Math.max(10, Math.min(46, canvas.height * 10))};
  pictures.set(x, map);
  return map;
}
function picture(x) {
  if (!x.s.length || !x.a.length) return "";
  const {url, width, height} = heat(x);
  return el("img", {class: "heat", src: url, width, height, alt: ""});
}
const cell = (x, waiting) => x ? [picture(x), el("span", {class: "num"}, (x.s && x.s.length > 1 ? summary(x) : shown(x)) + (x.python ? " (Python)" : ""))] : [el("span", {class: "yet", title: waiting}, el("span", {"aria-hidden": "true"}, "·"), el("span", {class: "sr"}, waiting))];

// ---- the graph

const SVG_STYLE = `text{font:12px ui-monospace,"DejaVu Sans Mono",monospace;fill:var(--ink,#1f2328)}.name{font-weight:bold}.delta{fill:var(--delta,#8a3b00);font-weight:bold}
.box rect{fill:var(--box,#ddf4ff);stroke:var(--line,#0969da)}.box.input rect{fill:var(--input,#fff8c5);stroke:#9a6700}.box.done rect{stroke-width:2.5}.box.now rect{stroke:var(--now,#bc4c00);stroke-width:3.5}.box.hot rect,.box.chosen rect{fill:var(--hot,#ffdfb6)}
.edge{fill:none;stroke:var(--edge,#6e7781);stroke-width:1.2}.edge.now{stroke:var(--now,#bc4c00);stroke-width:3.5}.edge.gone{stroke:var(--delta,#8a3b00);stroke-width:2}.head{fill:var(--edge,#6e7781)}.head.now{fill:var(--now,#bc4c00)}.head.gone{fill:var(--delta,#8a3b00)}.tail{display:none}
.label{fill:var(--soft,#57606a);text-anchor:middle;paint-order:stroke;stroke:var(--paper,#fff);stroke-width:4px}.wait{fill:var(--soft,#57606a)}`;
const labelsNow = () => S.labels ?? (S.doc.lines.length <= 12 ? "symbols" : "none");

function partOfGraph() {  // the lines that are drawn: all, or those near the one that the step is at
  const {doc} = S;
  if (doc.lines.length <= DRAWN) return doc.lines.map((_, k) => k);
  const event = S.run.events[S.step], middle = event.line ?? (event.kind === "given" ? 0 : doc.lines.length - 1), drawn = new Set([middle]), todo = [[middle, 0]];
  while (todo.length && drawn.size < 30) {
    const [k, depth] = todo.shift();
    const near = [...doc.lines[k][2].filter(isRegister).map(a => doc.at.get(a)), ...(doc.users.get(doc.lines[k][0]) || []).slice(0, 6).map(([user]) => user)];
    for (const j of near) if (j !== undefined && !drawn.has(j) && depth < 3) { drawn.add(j); todo.push([j, depth + 1]); }
  }
  return [...drawn].sort((a, b) => a - b);
}
function edgeLabel(k, i, how) {
  const {doc, run: r} = S, rule = ruleFor(doc.lines[k]), part = rule && rule.adjoint[i], event = {line: k, place: i, rule: part};
  if (how === "none" || !part) return "";
  const [dst, , args] = doc.lines[k];
  if (how === "symbols") { const text = ruleText(doc, event, a => a, true); return text.length > 24 ? "" : text; }
  const values = [dst, ...args.filter(isRegister)].map(a => r.values.get(a));
  if (values.some(x => !x || x.s.length)) return "";
  try { return number(sent(part, {d: T(1), out: r.values.get(dst), ...Object.fromEntries(args.map((a, j) => [`x${j}`, isRegister(a) ? r.values.get(a) : decode(a)]))}).a[0]); } catch (error) { return "?"; }
}
function drawGraph() {
  const {doc} = S, lines = partOfGraph(), how = labelsNow(), key = [lines, how, ...[...doc.values.values()].map(x => how === "numbers" ? x.a[0] : x.s)].join(";");
  const place = () => V.graph.replaceChildren(layout.svg, lines.length < doc.lines.length ? el("p", {class: "hint"}, `${lines.length} of ${doc.lines.length.toLocaleString("en")} lines, those around the present one.`) : "");
  if (layout && layout.key === key) return V.graph.contains(layout.svg) || place();
  const names = [...new Set(lines.flatMap(k => [doc.lines[k][0], ...doc.lines[k][2].filter(isRegister)]))];
  const title = name => { const own = line(doc, name); return own ? `${name} = ${short(definition(own).join(""), 26)}` : name; };
  names.sort((a, b) => (doc.at.get(a) ?? -1) - (doc.at.get(b) ?? -1));
  const index = new Map(names.map((name, k) => [name, k])), edges = [];
  const sizes = names.map(name => {  // a box has room for its derivative, which comes later
    const {s} = S.run.values.get(name) || T(0), letters = derived(doc, name).length + (s.length ? s.join("×").length + 22 : 13);
    return [Math.max(title(name).length, letters) * 7.4 + 16, s.length ? 92 : 56];
  });
  for (const k of lines) doc.lines[k][2].forEach((a, i) => { if (isRegister(a)) edges.push({key: `${k}.${i}`, link: [index.get(a), index.get(doc.lines[k][0])], text: edgeLabel(k, i, how)}); });
  const {places, routes, marks, width, height} = layered(sizes, edges.map(({link}) => link), edges.map(({text}) => text ? [text.length * 7.4, 16] : [0, 0]));
  const fit = Math.min(1, (V.graph.clientWidth - 4) / width, 560 / height), scale = (fit < 0.65 && S.zoom !== "fit" ? 1 : fit) * (S.zoom > 0 ? S.zoom : 1);
  const svg = el("svg", {width: width * scale, height: height * scale, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Graph of ${plural(lines.length, "line")}: inputs below, ${doc.of} above; the list says the same in words`}, el("style", {}, SVG_STYLE));
  layout = {key, nodes: new Map(), edges: new Map(), svg};
  const arrows = el("g"), boxes = el("g"), texts = el("g"), at = ([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  edges.forEach(({key: edge, text}, e) => {  // upright within layers, and curved from one layer to the next
    const route = routes[e], d = route.map(([x, y], i) => { const [x0, y0] = route[i - 1] || []; return !i ? `M${at([x, y])}` : i % 2 ? `L${at([x, y])}` : `C${at([x0, (y0 + y) / 2])} ${at([x, (y0 + y) / 2])} ${at([x, y])}`; }).join("");
    const path = el("path", {class: "edge", d}), tail = el("path", {class: "tail", d: "M0 0l-4-9h8z", transform: `translate(${at(route[0])})`}), head = el("path", {class: "head", d: "M0 0l-4 9h8z", transform: `translate(${at(route.at(-1))})`});
    arrows.append(path, head, tail);
    if (text) texts.append(el("text", {class: "label", x: marks[e][0], y: marks[e][1] + 4}, text));
    layout.edges.set(edge, {path, head, tail});
  });
  names.forEach((name, k) => {
    const [x, y] = places[k], [w, h] = sizes[k];
    const value = el("text", {x: x - w / 2 + 8, y: y - h / 2 + 33}), delta = el("text", {class: "delta", x: x - w / 2 + 8, y: y - h / 2 + 49});
    const [image, second] = [0, 1].map(right => el("image", {x: x - w / 2 + 8 + right * w / 2, y: y - h / 2 + 55, height: 32, width: w / 2 - 14, preserveAspectRatio: "xMinYMid", style: "image-rendering:pixelated"}));
    const box = el("g", {class: `box${doc.inputs[name] ? " input" : ""}`, "data-r": name, onclick: () => choose(name)}, el("rect", {x: x - w / 2, y: y - h / 2, width: w, height: h, rx: 6}), el("text", {class: "name", x: x - w / 2 + 8, y: y - h / 2 + 17}, title(name)), value, delta, h > 60 ? [image, second] : []);
    boxes.append(box);
    layout.nodes.set(name, {box, value, delta, image, second, y: y * scale, x: x * scale, letters: Math.floor((w - 16) / 7.3)});
  });
  svg.append(arrows, boxes, texts);
  place();
}
function saveSvg() {
  const copy = layout.svg.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const link = el("a", {href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], {type: "image/svg+xml"})), download: "graph.svg"});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- the formula

function drawFormula() {
  const {doc} = S, sizes = new Map(), nodes = new Map();
  for (const [dst, , args] of doc.lines) sizes.set(dst, 1 + args.reduce((n, a) => n + (isRegister(a) ? sizes.get(a) ?? 1 : 1), 0));
  V.pieces = [];
  if ((sizes.get(doc.of) ?? 1) > 120) return V.formula.replaceChildren(el("p", {}, `${doc.of}, written out in its inputs, has ${sizes.get(doc.of) > 1e9 ? "more than 10⁹" : plural(sizes.get(doc.of), "part")}: the list names each result once.`));
  const build = (name, collapsed) => {  // with values in the place of what is computed, where collapsed
    const own = line(doc, name), value = collapsed && valueNow(name);
    if (value) return [[el("span", {class: "reg", "data-r": name}, inFormula(value))], 6];
    if (!own) return [[el("span", {class: "reg", "data-r": name}, name)], 6];
    const [pieces, tight] = written(own[1], own[2].map(a => isRegister(a) ? build(a, collapsed) : numeral(a)), own[2]);
    return [[el("span", {class: "reg part", "data-r": name}, ...pieces)], tight];
  };
  V.pieces = collapsed => build(doc.of, collapsed)[0];
  V.now = el("p", {class: "math"});
  V.formula.replaceChildren(el("p", {class: "math"}, `${doc.of} = `, ...V.pieces(false)), V.now);
}
