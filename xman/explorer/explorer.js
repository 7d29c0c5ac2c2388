"use strict";
// The page: it reads a list, runs it, and shows the run step by step. What is computed is in operators.js; the rules of
// derivatives come with the data, as lists.

const DATA = JSON.parse(document.getElementById("data").textContent);
const bare = entries => Object.assign(Object.create(null), entries);  // by names that readers choose: a register may be called constructor
for (const names of ["operators", "forbidden"]) DATA[names] = bare(DATA[names]);
const LIMIT = 500000, FOLD = 60, DRAWN = 140, MANY = 20000;

// ---- small helpers ---------------------------------------------------------------------------------------------------

function el(tag, props = {}, ...children) {
  const node = /^(svg|g|path|rect|text|image|style)$/.test(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "value") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return node;
}
const pressed = (text, label, act, more = {}) => el("button", {type: "button", "aria-label": label, title: label, onclick: act, ...more}, text);
const added = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
const isRegister = a => typeof a === "string";
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
const short = (text, n = 60) => text.length > n ? text.slice(0, n - 1) + "…" : text;

function number(x, digits = 6) {
  if (!Number.isFinite(x)) return x !== x ? "NaN" : x > 0 ? "∞" : "−∞";
  const text = String(Number(x.toPrecision(digits)));
  return text.replace("-", "−").replace(/e\+?/, "e");
}
function shown(x) {
  if (x.parts) return `(${Array.from(x.parts, p => p ? p.s.length ? `[${p.s.join("×")}]` : shown(p) : "·").join(", ")})`;
  if (!x.s.length) return x.k === "b" ? (x.a[0] ? "True" : "False") : number(x.a[0]);
  if (!x.a.length) return `[${x.s.join("×")}] empty`;
  const [low, high] = [x.a.reduce((p, q) => Math.min(p, q)), x.a.reduce((p, q) => Math.max(p, q))];
  return `[${x.s.join("×")}] ${number(low, 3) === number(high, 3) ? `all ${number(low, 4)}` : `${number(low, 3)} to ${number(high, 3)}`}`;
}
const inFormula = x => x.s.length ? `[${x.s.join("×")}]` : x.a[0] < 0 ? `(${shown(x)})` : shown(x);

function nearest(word, words) {
  const distance = (a, b) => {
    let row = Array.from({length: b.length + 1}, (_, j) => j);
    for (let i = 1; i <= a.length; i++) row = row.reduce((next, _, j) => [...next, j ? Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1])) : i], []);
    return row[b.length];
  };
  const candidate = words.filter(w => Math.abs(w.length - word.length) < 3).map(w => [distance(word.toLowerCase().slice(0, 40), w.toLowerCase()), w]).sort((a, b) => a[0] - b[0])[0];
  return candidate && candidate[0] <= 2 ? `; did you mean ${candidate[1]}?` : "";
}

// ---- literals, text --------------------------------------------------------------------------------------------------

function decode(a) {
  if (a === null || typeof a !== "object") return a;
  if ("float" in a) return {inf: Infinity, "-inf": -Infinity}[a.float] ?? NaN;
  if ("tuple" in a) return functionOf(a) || a.tuple.map(decode);
  if ("array" in a) return tensor(a.shape, Float64Array.from(a.array, Number), /^u?int/.test(a.dtype) ? "i" : a.dtype === "bool" ? "b" : "f");
  return a;
}
function unpack({s, k, b, parts}) {
  if (parts) return bundleOf(parts.map(part => part ? unpack(part) : undefined));
  const bytes = Uint8Array.from(atob(b), c => c.charCodeAt(0));
  return tensor(s, new Float64Array(bytes.buffer), k);
}
const PLAIN = {true: "True", false: "False", null: "None"};
function literalText(a) {
  if (typeof a === "string") return JSON.stringify(a);
  if (a === null || typeof a !== "object") return PLAIN[String(a)] ?? String(a);
  if ("float" in a) return `float('${a.float}')`;
  if (functionOf(a)) return functionOf(a).name;
  if ("tuple" in a) return `(${a.tuple.map(literalText).join(", ")}${a.tuple.length === 1 ? "," : ""})`;
  if ("slice" in a) return `slice(${a.slice.map(literalText).join(", ")})`;
  if ("array" in a) {
    const nested = (at, [n, ...rest]) => n === undefined ? String(a.array[at]) : `[${Array.from({length: n}, (_, i) => nested(at * n + i, rest)).join(", ")}]`;
    return `array(${nested(0, a.shape)}, '${a.dtype}')`;
  }
  return "...";
}
const argText = a => isRegister(a) ? a : literalText(a);
const lineText = ([dst, op, args]) => `${dst} = ${op}(${args.map(argText).join(", ")})`;

// The lines of a text; an Error names the line that is none.
function parsed(text) {
  if (text.length > LIMIT) fail(`The list has ${text.length.toLocaleString("en")} characters, and this page takes ${LIMIT.toLocaleString("en")}; make its page in Python: xman show FILE.wl --html out.html.`);
  const lines = [], functions = new Map();
  let fn = null;
  text.replace(/^\ufeff/, "").split(/\r?\n/).forEach((row, k) => {
    if (!row.trim() || row.trim().startsWith("#")) return;
    const header = row.match(/^def\s+([\p{L}_][\p{L}\p{N}_]*)\s*\(([^()]*)\)\s*:\s*$/u), ends = row.match(/^\s+return\s+(.+)$/), names = words => words.split(",").map(word => word.trim()).filter(word => word);
    if (fn && !/^\s/.test(row)) fail(`Line ${k + 1} stands where ${fn.name} has not returned; a function ends with a line such as return h1.`);
    if (header) { fn = {name: header[1], params: names(header[2]), lines: []}; return; }
    if (fn && ends) { functions.set(fn.name, asLiteral({...fn, results: names(ends[1])})); fn = null; return; }
    try { (fn || {lines}).lines.push(parsedLine(row.trim(), functions)); } catch (error) {
      fail(`Line ${k + 1} cannot be read: ${short(row.trim(), 80)}. Wanted is an assignment of one operator on registers and literals, as in z1 = mul(h, 2.0)${/^\s*(def|return)\b/.test(row) ? ", or a function, as in def step(h, x): with its lines indented under it, the last one return h1" : ""}.`);
    }
  });
  if (fn) fail(`The text ends before ${fn.name} returns; a function ends with a line such as return h1.`);
  return lines.length ? lines : fail("The list is empty: write a line such as z1 = mul(h, w).");
}
function parsedLine(row, functions) {
  const tokens = row.replace(/\s#.*$/, "").match(/'[^']*'|"[^"]*"|\.\.\.|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[\p{L}_][\p{L}\p{N}_]*|[^\s]/gu);
  let at = 0, depth = 0;
  const next = want => { const token = tokens[at++]; if (token === undefined || want && token !== want) throw new Error("end"); return token; };
  const list = end => {
    const values = [];
    let comma = false;
    if (++depth > 50) throw new Error("deep");
    while (tokens[at] !== end) { values.push(value()); comma = tokens[at] === ","; if (comma) at++; else if (tokens[at] !== end) throw new Error("comma"); }
    at++; depth--;
    return [values, comma];
  };
  function value() {
    const token = next();
    if (token === "-") { const x = value(); if (typeof x !== "number") throw new Error("sign"); return -x; }
    if (/^[\d.]/.test(token)) return token === "..." ? {ellipsis: true} : Number(token);
    if (/^['"]/.test(token)) return {text: token.slice(1, -1)};
    if (token === "(") { const [parts, comma] = list(")"); return parts.length === 1 && !comma ? parts[0] : {tuple: parts.map(inside)}; }
    if (token === "[") return {list: list("]")[0]};
    const plain = {None: null, True: true, False: false};
    if (Object.hasOwn(plain, token)) return plain[token];
    if (tokens[at] === "(" && ["float", "slice", "array"].includes(token)) {
      at++;
      const [parts] = list(")");
      if (token === "float") return {float: parts[0].text};
      if (token === "slice") return {slice: parts.map(inside)};
      const nested = x => x && x.list ? x.list.map(nested) : x, entries = nestedTensor([nested(parts[0])].flat(0)[0].length === undefined ? [nested(parts[0])] : nested(parts[0]));
      return {array: Array.from(entries.a), dtype: parts[1] ? parts[1].text : "float64", shape: parts[0].list ? entries.s : []};
    }
    if (!/^[\p{L}_]/u.test(token)) throw new Error("token");
    return {name: token};
  }
  const inside = x => { if (x && (x.name !== undefined || x.list)) throw new Error("name in a tuple"); return x && x.text !== undefined ? x.text : x; };
  const dst = next();
  next("=");
  const op = next();
  next("(");
  const [args] = list(")");
  if (at !== tokens.length || ![dst, op].every(t => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(t))) throw new Error("rest");
  return [dst, op, args.map(a => a && a.name !== undefined ? functions.get(a.name) || a.name : a && (a.text !== undefined || a.list) ? fail("text") : a)];
}

// ---- the list --------------------------------------------------------------------------------------------------------

const misnamed = names => names.filter(name => DATA.forbidden[name]).map(name => `a register cannot be called '${name}', which ${DATA.forbidden[name]}; choose another name`)[0];
// What is wrong with lines as a sentence, or null; params: those of the function whose lines they are.
function complaint(lines, params = null) {
  const at = new Map(), operators = DATA.operators;
  for (const [k, [dst]] of lines.entries()) {
    if (at.has(dst)) return `Line ${k + 1}: ${dst} is assigned a second time, after line ${at.get(dst) + 1}; give it a name of its own.`;
    if (operators[dst]) return `Line ${k + 1}: ${dst} is the name of an operator; call the register something else.`;
    at.set(dst, k);
  }
  for (const [k, line] of lines.entries()) {
    const [dst, op, args] = line, odd = misnamed([dst, ...args]);
    if (odd) return `Line ${k + 1}: ${odd}`;
    if (!operators[op]) return `Line ${k + 1}: there is no operator ${short(op, 40)}${nearest(op, Object.keys(operators))}${/\?$/.test(nearest(op, Object.keys(operators))) ? "" : "."}`;
    const [least, most] = operators[op];
    if (args.length < least || args.length > most) return `Line ${k + 1}: ${op} takes ${least === most ? plural(least, "argument") : most > 99 ? `${least} arguments or more` : `${least} to ${most} arguments`}, and found are ${args.length}.`;
    for (const fn of functionsOf(line)) {
      const names = new Set(fn.params.concat(fn.lines.map(([own]) => own))), wrong = fn.results.find(r => !names.has(r)), twice = fn.params.find((p, i) => fn.params.indexOf(p) < i || fn.lines.some(([own]) => own === p));
      const said = misnamed([fn.name, ...fn.params]) || complaint(fn.lines, fn.params) || (wrong !== undefined ? `${short(wrong, 40)} is returned, and is neither a parameter nor assigned.` : twice ? `${twice} is a parameter, and is given a second time.` : fn.results.length ? "" : "it returns nothing.");
      if (said) return `In ${fn.name}: ${said}`;
    }
    for (const a of args.filter(isRegister)) {
      if (params && !params.includes(a) && !at.has(a)) return `Line ${k + 1}: ${a} is neither a parameter nor assigned; a function is closed, so make it a parameter.`;
      if (a === dst) return `Line ${k + 1}: ${a} is computed from itself, which is a circle.`;
      if (at.has(a) && at.get(a) > k) return `Line ${k + 1} reads ${a}, which is assigned below it, in line ${at.get(a) + 1}${reaches(lines, at, a, dst) ? `, and ${a} needs ${dst}, which is a circle; break it.` : ": move that line up."}`;
      if (operators[a]) return `Line ${k + 1}: ${a} is the name of an operator, and a register is wanted.`;
    }
  }
  return null;
}
function reaches(lines, at, from, to) {
  const todo = [from], seen = new Set();
  while (todo.length) {
    const name = todo.pop();
    if (name === to) return true;
    if (seen.has(name) || !at.has(name)) continue;
    seen.add(name);
    todo.push(...lines[at.get(name)][2].filter(isRegister));
  }
  return false;
}
function inputsOf(lines) {
  const defined = new Set(lines.map(([dst]) => dst));
  return [...new Set(lines.flatMap(([, , args]) => args.filter(isRegister)).filter(a => !defined.has(a)))];
}

const RULES = new Map();
for (const rule of DATA.rules) RULES.set(rule.op, [...(RULES.get(rule.op) || []), rule]);
const ruled = new WeakMap();
function ruleFor(line) {
  if (!ruled.has(line)) ruled.set(line, ruleOf(line));
  return ruled.get(line);
}
function ruleOf([, op, args]) {
  const rules = RULES.get(op) || [], exact = rules.find(rule => rule.args.length >= args.length && rule.args.every((p, i) => i === args.length ? p === null : isRegister(p) ? isRegister(args[i]) : JSON.stringify(p) === JSON.stringify(args[i])));
  const numbers = args.every(a => isRegister(a) || typeof a === "number");
  return exact || numbers && rules.find(rule => rule.args.length === args.length && rule.args.every(isRegister)) || null;
}

const varies = x => x.k === "f" || x.k === "i" && !x.s.length || x.k === "bundle";

// What a rule's part sends, from the values that its names stand for.
function sent(part, names) {
  const values = {...names};
  for (const [dst, op, args] of part.lines) {
    if (!Object.hasOwn(G, op)) fail(`this page does not compute ${op}`);
    values[dst] = G[op](...args.map(a => isRegister(a) ? values[a] : decode(a)));
  }
  return T(isRegister(part.end) ? values[part.end] : part.end);
}

// ---- a run: all values and all derivatives, with the step at which each appears -----------------------------------------

function run(doc) {
  const {lines, of, mode, along} = doc, values = new Map(), events = [{kind: "given"}], born = new Map(), notes = [], traces = new Map();
  if (!doc.within) metersReset();
  const sums = new Map(), sends = new Map();   // by register: [{e, total}], the events that add to it
  const travelled = new Map();   // by edge: the event at which it is
  let stop = null;
  for (const [name, x] of doc.values) { values.set(name, x); born.set(name, 0); }
  const foreign = table => !doc.edited && doc.computed[table];
  const total = (name, part, event) => {
    const before = (sums.get(name) || []).at(-1), from = event.python || (before && before.total.python) ? foreign(mode === "reverse" ? "adjoints" : "tangents") : null;
    const fromPython = from && (mode === "reverse" ? from[name] : (from[along] || {})[name]);
    const sum = fromPython ? Object.assign(unpack(fromPython), {python: true}) : before ? plus(before.total, part) : part;
    Object.assign(event, {name, part, before: before && before.total, total: sum, e: events.length});
    added(sums, name, {e: events.length, total: sum});
    added(sends, name, events.length);
    if (event.kind === "send") travelled.set(`${event.line}.${event.place}`, events.length);
    events.push(event);
  };
  const names = (line, d) => Object.fromEntries([["d", d], ["out", values.get(line[0])], ...line[2].map((a, i) => [`x${i}`, isRegister(a) ? values.get(a) : decode(a)])]);
  const pass = (k, i, d, to, table) => {
    const line = lines[k], rule = ruleFor(line), part = rule && rule[table][i], event = {kind: "send", line: k, place: i};
    if (rule && !part) return;
    try {
      if (Object.hasOwn(LOOPS, line[1])) {
        const x = sentByLoop(line, i, d, traces.get(k), mode);
        return x && total(to, x, event);
      }
      if (!rule) fail(`this page has no rule of ${lineText(line)}`);
      let x = sent(part, names(line, d));
      const like = values.get(to);
      event.summed = table === "adjoint" && !same(d.s, like.s) && (!same(x.s, like.s) || part.lines.some(([, own]) => own === "unbroadcast"));
      if (!same(x.s, like.s)) x = G.unbroadcast(x, like);
      total(to, x, {...event, rule: part});
    } catch (error) {
      event.python = true;
      const fromPython = mode === "reverse" ? foreign("adjoints") : (foreign("tangents") || {})[along];
      if (fromPython && fromPython[to]) total(to, unpack(fromPython[to]), event);
      else { stop = `Line ${k + 1}, ${lineText(line)}: ${error.message}, so what depends on it is not known here; make the page in Python again.`; notes.push(stop); }
    }
  };
  const ones = x => !x.parts ? filled(x.s, 1) : bundleOf(x.parts.map(p => varies(p) ? ones(p) : undefined));
  const seed = (name, x, carried) => total(name, x || ones(values.get(name)), {kind: "seed", carried});
  const seeds = () => doc.seeds.forEach(([name, x, carried]) => { if (varies(values.get(name))) seed(name, x, carried); });
  if (mode === "forward" && doc.seeds) seeds();
  else if (mode === "forward" && values.has(along) && varies(values.get(along))) seed(along);
  for (let k = 0; k < lines.length; k++) {
    const [dst, op, args] = lines[k];
    const lacking = args.find(a => isRegister(a) && !values.has(a));
    if (lacking !== undefined) { stop = doc.inputs[lacking] ? `${lacking} has no value yet: type one at Inputs, and all is computed.` : stop || `${lacking} is not known, so ${dst} is not either.`; break; }
    try {
      let x;
      if (onPage(lines[k]) && functionsOf(lines[k]).length) {
        traces.set(k, applied(op, args.map(a => isRegister(a) ? values.get(a) : decode(a))));
        x = traces.get(k).out;
      } else if (onPage(lines[k])) x = valueOf(lines[k], values);
      else if (foreign("values") && doc.computed.values[dst]) x = Object.assign(unpack(doc.computed.values[dst]), {python: true});
      else fail(`this page does not compute ${foreignIn(lines[k])}, and Python did not for these inputs`);
      values.set(dst, x);
      if (!notes.length && !finite(x) && args.every(a => !isRegister(a) || finite(values.get(a))))
        notes.push(["divide", "reciprocal", "remainder"].includes(op) ? `Line ${k + 1}, ${lineText(lines[k])}: a division by zero, whose result is ${x.a.some(v => v !== v) ? "NaN" : "infinite"}.` : `Line ${k + 1}, ${lineText(lines[k])}: the result is not finite; look at its arguments.`);
    } catch (error) { stop = `Line ${k + 1}, ${lineText(lines[k])}: ${error.message}.`; break; }
    born.set(dst, events.length);
    events.push({kind: "value", line: k, name: dst});
    if (mode === "forward" && varies(values.get(dst)))
      args.forEach((a, i) => { if (isRegister(a) && sums.has(a)) passForward(k, i, sums.get(a).at(-1).total, dst); });
  }
  function passForward(k, i, d, to) { pass(k, i, d, to, "tangent"); }
  if (mode === "reverse" && !stop) {
    if (doc.seeds) seeds();
    else if (values.get(of).parts) stop = `${of} holds a bundle, which has no derivative of its own; choose a register that holds an array, such as an item of it.`;
    else if (varies(values.get(of))) seed(of); else stop = `${of} holds whole numbers or truth values, which have no derivative.`;
    for (let k = lines.length - 1; k >= 0 && !stop; k--) {
      const d = sums.get(lines[k][0]);
      if (d) lines[k][2].forEach((a, i) => { if (!stop && isRegister(a) && varies(values.get(a))) pass(k, i, d.at(-1).total, a, "adjoint"); });
    }
  }
  if (!stop) events.push({kind: "end"});
  doc.top = doc.target || (values.has(of) && values.get(of).s.length ? `Σ${of}` : of);   // what is differentiated
  if (stop && !notes.includes(stop)) notes.unshift(stop);
  return {values, born, events, sums, sends, travelled, notes, stop, traces};
}

// ---- formulas --------------------------------------------------------------------------------------------------------

const INFIX = {add: [" + ", 1, 1], subtract: [" − ", 1, 2], mul: ["·", 2, 3], divide: ["/", 2, 3], dot: [" @ ", 2, 3], power: ["^", 5, 4]};
// An operator on parts, each [pieces, how tightly it binds]: pieces are text or nodes.
function written(op, parts, raw) {
  const around = ([pieces, tight], least) => tight < least ? ["(", ...pieces, ")"] : pieces;
  if (INFIX[op] && parts.length === 2) { const [sign, tight, right] = INFIX[op]; return [[...around(parts[0], tight), sign, ...around(parts[1], right)], op === "power" ? 4 : tight]; }
  if (op === "negative") return [["−", ...around(parts[0], 3)], 3];
  if (op === "square") return [[...around(parts[0], 5), "²"], 4];
  if (op === "half") return [["½·", ...around(parts[0], 3)], 2];
  if (op === "reciprocal") return [["1/", ...around(parts[0], 3)], 2];
  if (op === "alias") return parts[0];
  if (op === "transpose" && parts.length === 1 || op === "mT") return [[...around(parts[0], 5), "ᵀ"], 5];
  if (op === "getitem") return [[...around(parts[0], 5), "[", raw.slice(1).map(a => a && a.slice ? a.slice.slice(0, 2).map(x => x ?? "").join(":") : argText(a)).join(", "), "]"], 6];
  return [[op, "(", ...parts.flatMap(([pieces], i) => i ? [", ", ...pieces] : pieces), ")"], 6];
}
const numeral = a => typeof a === "number" ? [[a < 0 ? `−${-a}` : String(a)], a < 0 ? 3 : 6] : [[literalText(a)], 6];
function definition(line, name = a => [[a], 6]) {
  return written(line[1], line[2].map(a => isRegister(a) ? name(a) : numeral(a)), line[2])[0];
}
const dotted = name => name[0] + "\u0307" + name.slice(1);
const derived = (doc, name) => doc.mode === "reverse" ? `δ${name}` : dotted(name);
const RULE_NAMES = /(?<![\p{L}\p{N}_.])(d|out|x\d+)(?![\p{L}\p{N}_(])/gu;
function ruleText(doc, event, name, direct) {
  const line = doc.lines[event.line], text = event.rule ? event.rule[direct ? "label" : "text"] : "";
  const from = doc.mode === "reverse" ? line[0] : line[2][event.place];
  if (!text) return direct ? `∂${line[0]}/∂${line[2][event.place]}` : name(from, true) + ` through ${line[1]}`;
  return text.replaceAll("-", "−").replace(RULE_NAMES, (_, word) => {
    if (word === "d") return name(from, true);
    const a = word === "out" ? line[0] : line[2][Number(word.slice(1))];
    return isRegister(a) ? name(a, false) : numeral(a)[0][0];
  });
}

// ---- the state -------------------------------------------------------------------------------------------------------

const S = {doc: null, run: null, step: 0, hot: null, selected: null, quiz: null, open: new Set(), labels: null, timer: null, blocks: new Map(), extra: []};
const line = (doc, name) => doc.at.has(name) ? doc.lines[doc.at.get(name)] : null;

function opened(raw) {
  const doc = {...raw, inputs: bare(raw.inputs), values: new Map(), mode: "reverse", edited: false, computed: raw.computed || {}};
  for (const [name, {value}] of Object.entries(raw.inputs)) if (value) doc.values.set(name, unpack(value));
  indexed_(doc);
  return doc;
}
function indexed_(doc) {
  doc.at = new Map(doc.lines.map(([dst], k) => [dst, k]));
  doc.users = new Map();
  doc.lines.forEach(([, , args], k) => args.forEach((a, i) => { if (isRegister(a)) added(doc.users, a, [k, i]); }));
  const inputs = Object.keys(doc.inputs);
  if (!inputs.includes(doc.along)) doc.along = inputs.find(x => doc.values.has(x) && varies(doc.values.get(x))) || inputs[0];
  doc.groups = grouped(doc.lines);
}

// What is folded, [{from, to, title}]: the parts of a model, by the names that its registers have there, as layers_0_W or
// h3; in a long part the runs of lines that repeat the operators of those before them; and what lies between.
function grouped(lines) {
  if (lines.length <= FOLD) return [{from: 0, to: lines.length, title: ""}];
  const least = Math.max(20, Math.ceil(lines.length / 100)), ops = lines.map(([, op, args]) => `${op}/${args.length}`), groups = [];
  for (const part of partsOfModel(lines)) {
    const before = groups.at(-1);
    if (part.to - part.from > 2 * least) groups.push(...repeated(ops, part, least).map(group => ({...group, title: [part.title, group.title].filter(x => x).join(", ")})));
    else if (before && before.stem === part.stem && part.to - before.from <= 2 * least && before.to - before.from < least) Object.assign(before, {to: part.to, title: `${before.first} to ${part.title}`});
    else groups.push({...part, first: part.title});
  }
  return groups.length < 300 ? groups : repeated(ops, {from: 0, to: lines.length}, least);
}
const isTemporary = name => /^(d+\w+_d)?z\d+$/.test(name);
// The lines up to each register with a name, together where the names say the same place.
function partsOfModel(lines) {
  const shared = new Map(), prefix = name => name.slice(0, Math.max(0, name.lastIndexOf("_")));
  for (const name of new Set(lines.flatMap(([dst, , args]) => [dst, ...args.filter(isRegister)]))) if (prefix(name)) shared.set(prefix(name), (shared.get(prefix(name)) || 0) + 1);
  const place = name => { const [, of, x] = name.match(/^d+(\w+?)_d(\w+)$/) || [null, "", name]; return (of && `∂${of}/∂… `) + (shared.get(prefix(x)) > 1 ? prefix(x) : (x.match(/\d+$/) || [""])[0]); };
  const defined = new Set(lines.map(([dst]) => dst)), sections = [];
  let now;
  const places = lines.map(([dst, , args]) => isTemporary(dst) ? args.filter(a => isRegister(a) && !defined.has(a) && shared.get(prefix(a)) > 1).map(prefix).at(-1) : place(dst));
  for (let k = lines.length - 1; k >= 0; k--) now = places[k] = places[k] ?? now;  // what leads to a name belongs to it
  lines.forEach(([dst], k) => {
    const part = k && sections.at(-1), same = part && (places[k] === undefined || part.place === places[k] || /^\d+$/.test(places[k]) && part.place && part.place.endsWith(`_${places[k]}`)), named = isTemporary(dst) ? [] : [dst];
    if (same) { part.to = k + 1; part.names.push(...named); } else sections.push({from: k, to: k + 1, place: places[k], names: named});
  });
  return sections.map(({from, to, place: at, names}) => ({from, to, stem: (at || "").replace(/_?\d*$/, ""), title: /[^\d\s]$/.test(at || "") || shared.has(at) ? at : short(names.length > 3 ? `${names[0]} … ${names.at(-1)}` : names.join(", "), 40)}));
}
function repeated(ops, {from, to}, least) {
  const groups = [];
  let start = from, k = from;
  const rest = end => { for (; start < end; start += 2 * least) groups.push({from: start, to: Math.min(start + 2 * least, end), title: ""}); start = end; };
  while (k < to) {
    let best = null;
    for (let p = 4; p <= 300 && k + 2 * p <= to; p++) {
      let n = 1, same = true;
      while (same && k + (n + 1) * p <= to) { for (let j = 0; j < p && same; j++) same = ops[k + n * p + j] === ops[k + j]; if (same) n++; }
      if (n > 1) { best = [p, n]; break; }
    }
    if (!best) { k++; continue; }
    rest(k);
    const [p, n] = best, each = Math.max(1, Math.floor(least / p));
    for (let i = 0; i < n; i += each) {
      const last = Math.min(i + each, n);
      groups.push({from: k + i * p, to: k + last * p, title: last - i === 1 ? `block ${i + 1} of ${n}` : `blocks ${i + 1} to ${last} of ${n}`});
    }
    start = k += p * n;
  }
  rest(to);
  return groups;
}

function show(doc) {
  Object.assign(S, {doc, blocks: new Map(), selected: null, hot: null, quiz: S.quiz && {right: 0, asked: 0}, open: new Set([0]), labels: S.labels});
  S.run = run(doc);
  S.step = 0;
  layout = null;
  build();
}
function recompute(keep = true) {
  S.doc.edited = true;
  const before = S.step;
  S.run = run(S.doc);
  S.step = keep ? Math.min(before, S.run.events.length - 1) : 0;
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

// What is known of a register at the step: its value, and its delta or tangent.
const valueNow = name => S.run.born.has(name) && S.run.born.get(name) <= S.step ? S.run.values.get(name) : null;
function sumNow(name) {
  const entry = (S.run.sums.get(name) || []).filter(({e}) => e <= S.step).at(-1);
  return entry ? entry.total : null;
}

// ---- what a step says ------------------------------------------------------------------------------------------------

function sentence(event) {
  const {doc, run: r} = S, name = (a, d) => d ? derived(doc, a) : a, mode = doc.mode;
  if (doc.outer && event.kind !== "value" && event.kind !== "send") return sentenceInStep(event);
  if (event.kind === "given") {
    const lacking = Object.keys(doc.inputs).filter(x => !doc.values.has(x));
    return lacking.length ? `The inputs are to be given: ${lacking.join(", ")}.` : `The inputs are given. ${plural(doc.lines.length, "line")} compute ${doc.of}; ${mode === "reverse" ? `then the deltas come, in reverse: δv is ∂${doc.top}/∂v, how fast ${doc.top} moves when v does` : `beside each value goes its derivative by ${doc.along}`}.`;
  }
  if (event.kind === "value") {
    const own = doc.lines[event.line], x = r.values.get(event.name);
    const numbers = definition(own, a => [[inFormula(r.values.get(a))], 6]).join("");
    const said = x.python ? `${own[0]} = ${shown(x)}, which Python computed: the page has no ${own[1]}` : `${own[0]} = ${definition(own).join("")} = ${numbers} = ${shown(x)}`;
    return `Line ${event.line + 1} of ${doc.lines.length}: ${saidOfLoop(own, r.traces.get(event.line)) || said}.${equation(own[0])}`;
  }
  if (event.kind === "seed") return mode === "reverse"
    ? `The backward pass begins at the end: δ${event.name} = ∂${doc.top}/∂${event.name} = 1${event.total.s.length ? ", for each entry" : ""}. All other deltas are not there yet.`
    : `${dotted(event.name)} = ∂${event.name}/∂${event.name} = 1${event.total.s.length || event.total.parts ? " for each entry" : ""}: how all moves with ${event.name} is asked. The other inputs stand still.`;
  if (event.kind === "end") {
    const reached = Object.keys(doc.inputs).filter(x => r.sums.has(x));
    if (mode === "reverse") return reached.length ? `Done. ${reached.slice(0, 8).map(x => `∂${doc.top}/∂${x} = ${shown(sumNow(x))}`).join(", ")}${reached.length > 8 ? " and others" : ""}.` : `Done. ${doc.of} depends on no input that has a derivative.`;
    if (doc.along === undefined) return "Done. The list has no input to move.";
    return `Done. ∂${doc.of}/∂${doc.along} = ${r.sums.has(doc.of) ? shown(sumNow(doc.of)) : `0: ${doc.of} does not depend on ${doc.along}`}.`;
  }
  const own = doc.lines[event.line], sign = event.before ? "+=" : "=", edge = mode === "reverse" ? `${own[0]} → ${event.name}` : `${own[2][event.place]} → ${own[0]}`;
  const where = mode === "reverse" ? `Line ${event.line + 1} in reverse, ${own[0]} = ${definition(own).join("")}` : `Line ${event.line + 1}, ${own[0]} = ${definition(own).join("")}`;
  if (event.python) return `${where}: ${derived(doc, event.name)} = ${shown(event.total)}, as Python computed it: the page has no rule here.`;
  if (Object.hasOwn(LOOPS, own[1])) return `${where}: ${saidOfSending(event, own, sign)}${event.before ? ` Here paths meet, and what comes along each is added: ${shown(event.total)}.` : ""}${toCome(event)}`;
  const symbols = ruleText(doc, event, name), numbers = ruleText(doc, event, (a, d) => inFormula(d ? r.sums.get(a).at(-1).total : r.values.get(a)));
  const result = shown(event.part), given = result.startsWith(`${numbers} `) ? "" : ` = ${numbers}`;
  const meets = event.before ? ` Here paths meet, and what comes along each is added: ${shown(event.before)} + ${inFormula(event.part)} = ${shown(event.total)}.` : "";
  const whole = ruleFor(own), slope = whole && whole.adjoint[event.place] && whole.adjoint[event.place].label;  // where it is a factor
  const since = slope ? `, since ∂${own[0]}/∂${own[2][event.place]} = ${ruleText(doc, {...event, rule: {label: slope}}, a => a, true)}` : "";
  return `${where}: ${derived(doc, event.name)} ${sign} ${symbols}${given}${symbols === numbers || result === numbers ? "" : ` = ${result}`}${since}${event.summed ? ", summed to its shape" : ""}, along the edge ${edge}.${meets}${toCome(event)}`;
}
function toCome(event) {
  const sends = S.run.sends.get(event.name), left = sends.filter(e => e > event.e).length;
  return left ? ` ${plural(left, "more contribution")} to ${derived(S.doc, event.name)} will come.` : sends.length > 1 ? ` ${derived(S.doc, event.name)} is complete.` : "";
}
const equation = name => S.doc.equations && Object.hasOwn(S.doc.equations, name) ? ` It is ${S.doc.equations[name]}.` : "";

// ---- what a step says of a loop

function saidOfLoop(own, trace) {
  const [dst, op, args] = own;
  if (op === "bundle") return `${dst} = ${definition(own).join("")} holds ${plural(args.length, "array")} in one register`;
  if (op === "item") return `${dst} = ${definition(own).join("")} takes array ${args[1]} out of ${args[0]}, counted from 0: ${shown(S.run.values.get(dst))}`;
  if (!trace) return "";
  const {fn, k, m, n} = trace, names = (words, text) => words.length ? `${short(words.join(", "), 60)} ${text}` : "", often = op === "scan" || op === "while_loop";
  const roles = often ? [names(fn.params.slice(0, k), "from step to step"), names(fn.params.slice(k, m), "along an axis"), names(fn.params.slice(m), "the same in all")].filter(text => text).join("; ") : "";
  return `${dst} = ${definition(own).join("")} runs ${fn.name}${often ? ` ${n === 1 ? "once" : `${n.toLocaleString("en")} times`}, ${roles}` : ""}. It gives ${shown(trace.out)}. Its lines are under this one, folded`;
}
function saidOfSending(event, own, sign) {
  const {doc, run: r} = S, [dst, op, args] = own, forward = doc.mode === "forward", trace = r.traces.get(event.line), from = derived(doc, forward ? args[event.place] : dst), to = derived(doc, event.name);
  if (op === "item") return forward ? `${to} ${sign} ${from}[${args[1]}] = ${shown(event.part)}.` : `${to}[${args[1]}] ${sign} ${from}: the other arrays of ${event.name} get nothing here.`;
  if (op === "bundle") return forward ? `${to}[${event.place}] ${sign} ${from}.` : `${to} ${sign} ${from}[${event.place}] = ${shown(event.part)}.`;
  const {fn, k, m, n} = trace;
  if (op === "call" || op === "cond") return `${to} ${sign} ${shown(event.part)}: the lines of ${fn.name} ${forward ? "with their tangents" : "in reverse"}.`;
  return forward ? `${to} ${sign} ${shown(event.part)}: each step of ${fn.name} with its tangents, which the next one begins with.`
    : `${fn.name} is gone through in reverse, ${plural(n, "step")}, from the last: ${k ? `the delta of ${fn.params.slice(0, k).join(", ")} that a step ends with is where the step before it begins` : "none waits for another"}${fn.params.length > m ? `; those of ${short(fn.params.slice(m).join(", "), 60)} are summed over all steps` : ""}. ${to} ${sign} ${shown(event.part)}.`;
}
function sentenceInStep(event) {  // of a document that is one step of a loop
  const {doc, run: r} = S, {name} = doc.outer.trace.fn, forward = doc.mode === "forward";
  if (event.kind === "given") return `${name} begins with what it is given. ${plural(doc.lines.length, "line")} compute ${doc.results.join(", ")}; ${forward ? "the tangents come in with the values" : `then come the deltas, ∂${doc.target}/∂…, in reverse`}.`;
  if (event.kind === "seed") return `${derived(doc, event.name)} ${event.before ? "+=" : "="} ${shown(event.part)} comes from outside: ${forward ? event.carried ? "as the step before ended" : "with what the loop is given" : event.carried ? `from the step after, which begins with it` : `from those who read what each step gives`}.`;
  const sums = names => [...new Set(names)].filter(x => r.sums.has(x)).map(x => `${derived(doc, x)} = ${shown(sumNow(x))}`).join(", ");
  return forward ? `The step is done: ${sums(doc.results) || "nothing moves"}.` : `The step is done: ${sums(Object.keys(doc.inputs)) || "no delta reaches it"}${sums(Object.keys(doc.inputs)) ? ". They go on to the step before, along the axes, and into sums over all steps" : ""}.`;
}

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
function cell(x, waiting) {
  return x ? [picture(x), el("span", {class: "num"}, shown(x) + (x.python ? " (Python)" : ""))] : [el("span", {class: "yet", title: waiting}, el("span", {"aria-hidden": "true"}, "·"), el("span", {class: "sr"}, waiting))];
}

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
          button("play", S.timer ? "Pause" : "Play", "Play or pause", play, "space"), V.slider, V.count),
        V.said, V.question, V.notes),
      el("div", {id: "panels"},
        panel("list-title", "List", V.list),
        panel("graph-title", "Graph", V.graph, el("span", {class: "row"},
          choose("labels", "Labels", ["none", "symbols", "numbers"].map(x => option(x, x, labelsNow())), v => { S.labels = v; layout = null; drawGraph(); update(); }),
          el("button", {id: "svg", type: "button", onclick: saveSvg}, "Save as SVG"))),
        panel("formula-title", "Formula", V.formula)),
      V.detail,
      el("div", {id: "more"}, inputsView(doc), doc.outer ? [] : [editView(doc), folded("gradient", "The gradient is a list, too", () => gradientView(doc)), folded("paths", "Sums over paths", () => pathsView(doc))], folded("help", "Keys, and what is seen", helpView))),
    el("footer", {}, "Written by xman. This page computes in float64 and loads nothing."));
  drawList();
  drawGraph();
  drawFormula();
  update();
  if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
}
const panel = (id, title, body, more = "") => el("section", {class: "panel", "aria-labelledby": id}, el("div", {class: "row"}, el("h2", {id}, title), more), body);
function folded(id, title, make) {
  const body = el("div"), node = el("details", {id}, el("summary", {}, title), body);
  const fill = () => { if (node.open && node.isConnected && !body.hasChildNodes()) body.replaceChildren(...[make()].flat()); };
  node.addEventListener("toggle", fill);
  if (S[`open_${id}`]) node.open = true;
  node.addEventListener("toggle", () => { S[`open_${id}`] = node.open; });
  return node;
}
function rerun() { S.run = run(S.doc); S.step = 0; layout = null; build(); }
function open(raw) { const doc = opened(raw); doc.raw = raw; show(doc); }
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

// ---- the list

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
  indexed_(doc);
  Object.assign(S, {doc, run: run(doc), open: new Set([0]), opened: undefined, blocks: new Map(), selected: null});
  S.step = Math.min(step, S.run.events.length - 1);
  layout = null;
  build();
  if (document.activeElement === document.body) document.getElementById("leave").focus();
}
function leave({doc, run: r, step, open: opened, blocks}) {
  Object.assign(S, {doc, run: r, step, open: opened, blocks, opened: undefined, selected: null});
  layout = null;
  build();
  document.getElementById("next").focus();
}
function stepView({outer}) {
  const {trace, s, doc} = outer, to = t => t >= 0 && t < trace.n && enter(outer, t);
  return el("div", {class: "row"}, el("button", {id: "leave", type: "button", onclick: () => leave(outer)}, `◂ Back to ${short(doc.title, 40)}`),
    trace.n > 1 ? [pressed("◀", "The step of the loop before", () => to(s - 1), {id: "before"}), el("input", {id: "turn", type: "range", min: 0, max: trace.n - 1, value: s, "aria-label": "Step of the loop", onchange: e => to(Number(e.target.value))}), pressed("▶", "The next step of the loop", () => to(s + 1), {id: "after"})] : "");
}

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
  const fit = Math.min(1, (V.graph.clientWidth - 4) / width, 560 / height), scale = fit < 0.65 ? 1 : fit;
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
    value.textContent = x ? short(shown(x), letters) : "";
    delta.textContent = d ? short(`${derived(doc, name)} = ${shown(d)}`, letters) : "";
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

// ---- what the reader changes

function inputText(x) {
  if (!x) return "";
  if (x.parts) { const texts = x.parts.map(inputText); return texts.includes(null) ? null : `(${texts.join(", ")})`; }
  if (x.a.length > 200) return null;
  const nested = (at, [n, ...rest]) => n === undefined ? String(x.a[at]) : `[${Array.from({length: n}, (_, i) => nested((at * n + i), rest)).join(", ")}]`;
  return nested(0, x.s);
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
    S.open = new Set([0]);
    S.opened = undefined;
    S.selected = null;
    layout = null;
    doc.equations = null;
    indexed_(doc);
    recompute(false);
  } catch (error) { problem.textContent = error.message; }
}
function gradientView(doc) {
  let lines;
  try { lines = gradientLines(doc); } catch (error) { return el("p", {}, `There is no list of the gradient: ${error.message}.`); }
  const ops = lines.length, raw = {title: short(`The gradient of ${doc.title}`), lines: [...doc.lines, ...lines], of: lines.findLast(([dst]) => dst.startsWith(`d${doc.of}_d`))[0], inputs: doc.inputs};
  return [el("p", {}, `The rules write ${plural(ops, "line")} behind the ${plural(doc.lines.length, "line")} of the list: δx is called d${doc.of}_dx. It is a list like any other, so it can be differentiated again. broadcast and unbroadcast make shapes agree, and change no number. Python's simplify makes the list shorter.`),
    doc.lines.length + ops > MANY ? "" : el("button", {id: "onwards", type: "button", onclick: () => { S.extra = [raw]; const next = opened(raw); for (const [x, v] of doc.values) next.values.set(x, v); indexed_(next); next.raw = raw; show(next); }}, "Step through it"),
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
const helpView = () => el("dl", {}, [["→ and ←", "a step on, and back"], ["Home and End", "to the first step and to the last"], ["Space", "play, pause"], ["q", "the quiz"], ["Tab, Enter", "to a name, and choose it"],
  ["·", "what is not there yet. A delta that is not there is not 0: it is not known"], ["orange line", "the edge that is travelled at this step"], ["heat map", "blue below 0, white 0, orange above; the strongest colour is the entry farthest from 0"]].flatMap(([a, b]) => [el("dt", {}, a), el("dd", {}, b)]));

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
  V.question.replaceChildren(el("form", {onsubmit: judge}, el("label", {for: "answer"}, `${own ? `Line ${event.line + 1}, ${own[0]} = ${definition(own).join("")}, ${doc.mode === "reverse" ? `sends to ${event.name}` : `moves with ${own[2][event.place]}`}. ` : "It begins. "}${shape ? `Which shape has ${symbol}?` : `What is ${symbol} after this step?`} `), input,
    el("button", {id: "check", type: "submit"}, "Check"), el("button", {id: "tell", type: "button", onclick: () => { S.quiz.asked += first; go(event.e); document.getElementById("next").focus(); }}, "Show me")), verdict);
  input.focus();
}
function near(typed, right, text) {  // as good as the digits that were typed, and to 1 in 1,000 at least
  const digits = (text.split(".")[1] || "").replace(/e.*/i, "").length;
  return text !== "" && Number.isFinite(typed) && (Math.abs(typed - right) <= 1e-3 * Math.abs(right) || digits > 1 && Math.abs(typed - right) <= 0.5000001 * 10 ** -digits);
}

// ---- keys ------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", e => {
  const inField = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.id !== "slider";
  if (inField || e.ctrlKey || e.altKey || e.metaKey) return;
  const act = {ArrowRight: next, ArrowLeft: () => go(S.step - 1), Home: () => go(0), End: () => go(S.run.events.length - 1), q: () => document.getElementById("quiz").click(), " ": e.target.tagName === "BUTTON" || e.target.tagName === "SUMMARY" ? null : play}[e.key];
  if (act) { e.preventDefault(); act(); }
});
document.documentElement.lang = "en";
open(DATA.documents[0]);
