// What comes with the page, literals, and lists as text: how they are read, and what is wrong with one, as a sentence.

const [SHARED, OWN] = ["shared", "own"].map(id => JSON.parse(document.getElementById(id).textContent));
const DATA = {...SHARED, ...OWN, rules: [...SHARED.rules, ...OWN.rules]};
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
// The entries of an array that is small enough to be read, or its shape and its least and greatest entry.
const isSmall = x => !x.parts && x.s.length > 0 && x.s.length < 3 && x.s.every(n => n > 0 && n < 4);
const nestedText = ([n, ...rest], entry, at = 0) => n === undefined ? entry(at) : `[${Array.from({length: n}, (_, i) => nestedText(rest, entry, at * n + i)).join(", ")}]`;
const entries = x => nestedText(x.s, i => number(x.a[i], 4));
const shown = x => isSmall(x) ? entries(x) : summary(x);
function summary(x) {
  if (x.parts) return `(${Array.from(x.parts, p => p ? p.s.length ? `[${p.s.join("×")}]` : shown(p) : "·").join(", ")})`;
  if (!x.s.length) return x.k === "b" ? (x.a[0] ? "True" : "False") : number(x.a[0]);
  if (!x.a.length) return `[${x.s.join("×")}] empty`;
  const [low, high] = [x.a.reduce((p, q) => Math.min(p, q)), x.a.reduce((p, q) => Math.max(p, q))];
  return `[${x.s.join("×")}] ${number(low, 3) === number(high, 3) ? `all ${number(low, 4)}` : `${number(low, 3)} to ${number(high, 3)}`}`;
}
const inFormula = x => isSmall(x) ? entries(x) : x.s.length ? `[${x.s.join("×")}]` : x.a[0] < 0 ? `(${shown(x)})` : shown(x);

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
  if ("array" in a) return tensor(a.shape, entriesOf(a), /^u?int/.test(a.dtype) ? "i" : a.dtype === "bool" ? "b" : "f");
  return a;
}
// All entries; of an array that is one number everywhere the list has that number alone.
function entriesOf({array, shape}) {
  return Array.isArray(array) ? Float64Array.from(array, Number) : new Float64Array(shape.reduce((p, n) => p * n, 1)).fill(Number(array));
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
  if (!("array" in a)) return "...";
  if (!Array.isArray(a.array)) return `array(${a.array}, '${a.dtype}', ${literalText({tuple: a.shape})})`;
  return `array(${nestedText(a.shape, i => String(a.array[i]))}, '${a.dtype}')`;
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
      fail(`Line ${k + 1} cannot be read: ${short(row.trim(), 80)}. A line assigns one operator on registers and literals, as in z1 = mul(h, 2.0)${/^\s*(def|return)\b/.test(row) ? ", or a function, as in def step(h, x): with its lines indented under it, the last one return h1" : ""}.`);
    }
  });
  if (fn) fail(`The text ends before ${fn.name} returns; a function ends with a line such as return h1.`);
  return lines.length ? lines : fail("The list is empty: write a line such as z1 = mul(h, w).");
}
// An argument is written as JSON: of (1, 'a') it is {"tuple": [1, {"text": "a"}]}, of slice(None, 3) {"slice": [null, 3]}.
const TOKEN = /'[^']*'|"[^"]*"|\.\.\.|(?:-\s*)?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?:float|slice|array)\s*\(|[\p{L}_][\p{L}\p{N}_]*|[^\s]/gu;
const PLAIN_TOKENS = {None: "null", True: "true", False: "false", "...": '{"ellipsis": true}', "(": '{"tuple": [', "[": '{"list": [', ")": "]}", "]": "]}", ",": ","};
function jsonToken(token) {
  if (Object.hasOwn(PLAIN_TOKENS, token)) return PLAIN_TOKENS[token];
  if (/^['"]/.test(token)) return JSON.stringify({text: token.slice(1, -1)});
  if (/^\p{L}+\s*\($/u.test(token)) return `{"${token.match(/\p{L}+/u)[0]}": [`;
  if (/^[-\d.]/.test(token)) return String(Number(token.replace(/\s/g, "")));
  return /^[\p{L}_]/u.test(token) ? JSON.stringify({name: token}) : fail("a sign");
}
function parsedLine(row, functions) {
  const [, dst, op, rest] = row.replace(/\s#.*$/, "").match(/^([\p{L}_][\p{L}\p{N}_]*)\s*=\s*([\p{L}_][\p{L}\p{N}_]*)\s*\((.*)\)\s*$/u);
  const inside = x => { if (x && (x.name !== undefined || x.list)) fail("a name in a tuple"); return x && x.text !== undefined ? x.text : x; };
  const nested = x => x && x.list ? x.list.map(nested) : x;
  const literal = x => {
    if (!x || typeof x !== "object") return x;
    if (x.float) return {float: x.float[0].text};
    if (x.slice) return {slice: x.slice.map(literal).map(inside)};
    if (x.tuple) return x.tuple.length === 1 && !x.comma ? literal(x.tuple[0]) : {tuple: x.tuple.map(literal).map(inside)};
    if (!x.array) return x;
    const entries = nestedTensor([nested(x.array[0])].flat());
    return {array: x.array[2] && !x.array[0].list ? entries.a[0] : Array.from(entries.a), dtype: x.array[1] ? x.array[1].text : "float64", shape: x.array[2] ? x.array[2].tuple : x.array[0].list ? entries.s : []};
  };
  const text = (rest.match(TOKEN) || []).map(jsonToken).join(" ").replace(/, (\]\})/g, '], "comma": true}').replace(/,\s*$/, "");
  return [dst, op, JSON.parse(`[${text}]`).map(literal).map(a => a && a.name !== undefined ? functions.get(a.name) || a.name : a && (a.text !== undefined || a.list) ? fail("text") : a)];
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
    if (args.length < least || args.length > most) return `Line ${k + 1}: ${op} takes ${least === most ? plural(least, "argument") : most > 99 ? `${least} arguments or more` : `${least} to ${most} arguments`}, not ${args.length}.`;
    for (const fn of functionsOf(line)) {
      const names = new Set(fn.params.concat(fn.lines.map(([own]) => own))), wrong = fn.results.find(r => !names.has(r)), twice = fn.params.find((p, i) => fn.params.indexOf(p) < i || fn.lines.some(([own]) => own === p));
      const said = misnamed([fn.name, ...fn.params]) || complaint(fn.lines, fn.params) || (wrong !== undefined ? `${short(wrong, 40)} is returned, and is neither a parameter nor assigned.` : twice ? `${twice} is a parameter, and is given a second time.` : fn.results.length ? "" : "it returns nothing.");
      if (said) return `In ${fn.name}: ${said}`;
    }
    for (const a of args.filter(isRegister)) {
      if (params && !params.includes(a) && !at.has(a)) return `Line ${k + 1}: ${a} is neither a parameter nor assigned; a function is closed, so make it a parameter.`;
      if (a === dst) return `Line ${k + 1}: ${a} is computed from itself, which is a circle.`;
      if (at.has(a) && at.get(a) > k) return `Line ${k + 1} reads ${a}, which is assigned below it, in line ${at.get(a) + 1}${reaches(lines, at, a, dst) ? `, and ${a} needs ${dst}, which is a circle; break it.` : ": move that line up."}`;
      if (operators[a]) return `Line ${k + 1}: ${a} is the name of an operator, not of a register.`;
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
