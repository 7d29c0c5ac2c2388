// A run of a list: all values and all derivatives, with the step at which each appears. The rules come with the data.

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

// operators that are written in others, as their rows say: Python writes their lines
for (const {op, defaults, ...part} of DATA.values) G[op] = (...args) => sent(part, Object.fromEntries(defaults.map((x, i) => [`x${i}`, i < args.length ? args[i] : decode(x)])));

// ---- a run: all values and all derivatives, with the step at which each appears -----------------------------------------

function run(doc) {
  const {lines, of, mode, along} = doc, values = new Map(), events = [{kind: "given"}], born = new Map(), notes = doc.edited || !doc.reason ? [] : [...doc.reason], traces = new Map();
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
      args.forEach((a, i) => { if (isRegister(a) && sums.has(a)) pass(k, i, sums.get(a).at(-1).total, dst, "tangent"); });
  }
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
