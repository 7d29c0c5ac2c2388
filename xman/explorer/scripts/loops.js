// Lists that apply lists: what bundle, item, call, cond, scan and while_loop compute, and what they send, by running the
// lines of the function. A bundle is {parts: arrays}; that of deltas or of tangents has a part where there is one.

const bundleOf = parts => ({parts, s: [], a: new Float64Array(0), k: "bundle"});
const plus = (x, y) => x.parts ? bundleOf(Array.from({length: Math.max(x.parts.length, y.parts.length)}, (_, i) => x.parts[i] && y.parts[i] ? plus(x.parts[i], y.parts[i]) : x.parts[i] || y.parts[i])) : G.add(x, y);
const finite = x => x.parts ? x.parts.every(p => !p || finite(p)) : x.a.every(Number.isFinite);

const read = new WeakMap();
// The function that a literal is, or null.
function functionOf(a) {
  if (!a || !a.tuple || a.tuple.length !== 5 || a.tuple[0] !== "def") return null;
  const [, name, params, lines, results] = a.tuple;
  if (!read.has(a)) read.set(a, {name, params: params.tuple, lines: lines.tuple.map(({tuple: [dst, op, args]}) => [dst, op, args.tuple]), results: results.tuple});
  return read.get(a);
}
const asLiteral = ({name, params, lines, results}) => ({tuple: ["def", name, {tuple: params}, {tuple: lines.map(([dst, op, args]) => ({tuple: [dst, op, {tuple: args}]}))}, {tuple: results}]});
const functionsOf = line => line[2].map(functionOf).filter(fn => fn);
function functionsIn(lines, functions = new Map()) {  // by name, and before each those that it applies
  for (const line of lines) for (const fn of functionsOf(line)) if (!functions.has(fn.name)) { functionsIn(fn.lines, functions); functions.set(fn.name, fn); }
  return functions;
}
const definitionText = fn => [`def ${fn.name}(${fn.params.join(", ")}):`, ...fn.lines.map(lineText), `return ${fn.results.join(", ")}`].join("\n    ") + "\n\n";
const listText = lines => [...functionsIn(lines).values()].map(definitionText).join("") + lines.map(lineText).join("\n");
const onPage = ([, op, args]) => (Object.hasOwn(G, op) || Object.hasOwn(LOOPS, op)) && args.every(a => !functionOf(a) || functionOf(a).lines.every(onPage));
const foreignIn = line => functionsOf(line).flatMap(fn => fn.lines).filter(own => !onPage(own)).map(foreignIn)[0] || line[1];

const meter = {lines: 0, most: 1e6, until: 0, seconds: 6};   // of all loops of a run together
function metered(n) {
  meter.lines += n;
  if (meter.lines > meter.most || performance.now() > meter.until) fail(`the page stops here, after ${meter.lines.toLocaleString("en")} lines in loops: this one is endless, or longer than you would wait for; Python goes on`);
}
const metersReset = () => Object.assign(meter, {lines: 0, until: performance.now() + 1000 * meter.seconds});

function valueOf(line, env) {
  const [, op, args] = line, operands = args.map(a => isRegister(a) ? env.get(a) : functionOf(a) || decode(a));
  if (Object.hasOwn(LOOPS, op)) return LOOPS[op](...operands);
  const k = operands.findIndex(x => x && x.parts);
  if (k >= 0) fail(`${args[k]} is a bundle, and ${op} takes arrays: take one out first, as in item(${args[k]}, 0)`);
  const x = T(G[op](...operands)), {gives} = ruleFor(line) || {};
  return gives === "bool" || gives === "int" ? tensor(x.s, x.a, gives[0]) : x;
}
function bodyValues(fn, inputs) {
  const env = new Map(fn.params.map((p, i) => [p, inputs[i]]));
  metered(fn.lines.length + 1);
  fn.lines.forEach((line, j) => { try { env.set(line[0], valueOf(line, env)); } catch (error) { fail(`in ${fn.name}, line ${j + 1}, ${lineText(line)}: ${error.message}`); } });
  return env;
}

const partAt = (x, t) => x.s.length ? tensor(x.s.slice(1), x.a.slice(t * size(x.s.slice(1)), (t + 1) * size(x.s.slice(1))), x.k) : tensor([], Float64Array.of(t), "i");
const stackedUp = (arrays, n) => {
  const shape = arrays[arrays.length - 1].s, out = tensor([n, ...shape], new Float64Array(n * size(shape)), arrays[arrays.length - 1].k);
  for (let t = 0; t < n; t++) out.a.set(spread(arrays[t], shape).a, t * size(shape));
  return out;
};
const needs = (fn, what) => fn && fn.lines ? fn : fail(`${what} is a function, def step(…): …, which stands before the lines`);
const holds = (x, what) => x.parts || x.s.length ? fail(`${what} gives ${shown(x)}, where it has to give one truth value`) : x.a[0] !== 0;

// All steps of a line that applies functions: {fn, n, k, m, at(s): what step s begins with, place(s): where its slices are, out}.
// The first k parameters are carried from step to step, those up to m go along an axis, and the rest stay the same.
function applied(op, operands) {
  const isScan = op === "scan", isWhile = op === "while_loop", k = isScan || isWhile ? operands[2 - isScan] : 0, m = isScan ? k + operands[2] : k;
  const fn = needs(op === "cond" ? operands[holds(T(operands[0]), "the condition") ? 1 : 2] : operands[isWhile ? 1 : 0], `what ${op} applies`), args = op === "call" ? operands[1] : operands[3];
  if (!args || !args.parts) fail(`${fn.name} takes a bundle of ${fn.params.join(", ")}; write b = bundle(${fn.params.join(", ")})`);
  const parts = args.parts, carries = [parts.slice(0, k)], outs = [];
  if (parts.length !== fn.params.length) fail(`${fn.name} takes ${fn.params.join(", ")}, and the bundle has ${parts.length}`);
  if (![k, m].every(Number.isInteger)) fail(`${op} is told the number of carries${isScan ? " and that of slices" : ""}, as in ${isScan ? "scan(step, 1, 1, b)" : "while_loop(more, step, 1, b)"}`);
  if (!(k >= 0 && k <= fn.results.length && m >= k && m <= parts.length)) fail(`${fn.name} has ${plural(fn.params.length, "parameter")} and ${plural(fn.results.length, "result")}, too few for ${k} carries and ${m - k} slices`);
  const whole = x => !x.s.length && Number.isInteger(x.a[0]) && x.a[0] >= 0, lengths = parts.slice(k, m).map(x => x.s.length ? x.s[0] : whole(x) ? x.a[0] : fail("a slice is an array with a leading axis, or a whole number of steps"));
  if (isScan && !lengths.length) fail(`nothing says how many steps ${fn.name} takes, since it has no slices: give it a whole number of steps as one`);
  if (lengths.some(n => n !== lengths[0])) fail(`the steps of ${fn.name} are ${lengths.map((n, i) => `${n} by ${fn.params[k + i]}`).join(", ")}`);
  let n = isScan ? lengths[0] : isWhile ? Infinity : 1;
  const trace = {op, fn, k, m, args, place: s => isScan && operands[4] ? n - 1 - s : s, at: s => [...carries[s], ...parts.slice(k, m).map(x => partAt(x, trace.place(s))), ...parts.slice(m)], seeds: []};
  const step = (s, inputs) => {
    try { const env = bodyValues(fn, inputs); return fn.results.map(r => env.get(r)); } catch (error) { fail(op === "scan" || isWhile ? `step ${trace.place(s).toLocaleString("en")}: ${error.message}` : error.message); }
  };
  for (let s = 0; s < n; s++) {
    if (isWhile && !holds(bodyValues(operands[0], trace.at(s)).get(operands[0].results[0]), operands[0].name)) { n = s; break; }
    if (isWhile && s === (operands[4] ?? Infinity)) fail(`${operands[0].name} still holds after ${plural(s, "step")}`);
    const results = step(s, trace.at(s));
    for (const [i, x] of results.slice(0, k).entries()) {
      const old = carries[s][i];
      if (!same(x.s, old.s) && (s || old.s.length > x.s.length)) fail(`${fn.name} takes ${fn.params[i]} of shape ${shapeText(old.s)} and hands it on with shape ${shapeText(x.s)}; a carry keeps its shape`);
    }
    carries.push(results.slice(0, k));
    if (!isWhile) outs[trace.place(s)] = results.slice(k);
  }
  trace.n = n;
  const shapes = n || !isScan ? null : step(0, [...parts.slice(0, k), ...parts.slice(k, m).map(x => x.s.length ? filled(x.s.slice(1), 0) : T(0)), ...parts.slice(m)]).slice(k);
  trace.out = bundleOf([...carries[n], ...isWhile ? [tensor([], Float64Array.of(n), "i")] : !isScan ? outs[0] : fn.results.slice(k).map((_, j) => shapes ? tensor([0, ...shapes[j].s], new Float64Array(0)) : stackedUp(outs.map(row => row[j]), n))]);
  return trace;
}
const LOOPS = {
  bundle: (...arrays) => bundleOf(arrays.map(T)),
  item: (b, i) => !Number.isInteger(i) ? fail("item counts the arrays of a bundle from 0, as in item(b, 1)") : (b && b.parts || fail("item takes an array out of a bundle, and this is none"))[i < 0 ? i + b.parts.length : i] || fail(`the bundle has ${plural(b.parts.length, "array")}, and item asks for number ${i}`),
  ...Object.fromEntries(["call", "cond", "scan", "while_loop"].map(op => [op, (...operands) => applied(op, operands).out])),
};

// The list of step s as a document: its inputs are what it begins with, its seeds what comes from outside.
function stepDocument(trace, s, mode) {
  const inputs = trace.at(s), {fn, k, m} = trace, role = i => i < k ? "carried" : i < m ? `at ${trace.place(s).toLocaleString("en")}` : "";
  return {lines: fn.lines, inputs: bare(Object.fromEntries(fn.params.map((p, i) => [p, {role: role(i)}]))), values: new Map(fn.params.map((p, i) => [p, inputs[i]])), seeds: trace.seeds[s] || [], mode, computed: {}, edited: true};
}

// What a line sends from the delta d (or, forward, the tangent) of what it computes (or reads) to its argument i; null is nothing.
function sentByLoop([, op, args], i, d, trace, mode) {
  const forward = mode === "forward", alone = (x, j) => { const parts = []; parts[j] = x; return bundleOf(parts); };
  if (op === (forward ? "item" : "bundle")) return d.parts[forward ? args[1] : i] || null;
  if (op === (forward ? "bundle" : "item")) return alone(d, forward ? i : args[1]);
  if (!trace) fail("this page does not compute what it applies");
  if (i < args.findLastIndex(isRegister)) return null;   // the condition of cond
  const {fn, k, m, n} = trace, parts = [], into = (j, s, x) => { parts[j] ||= []; parts[j][trace.place(s)] = x; };
  const whole = (j, like) => parts[j] && Array.isArray(parts[j]) ? stackedUp(Array.from({length: n}, (_, t) => parts[j][t] || filled(like.slice(1), 0)), n) : parts[j];
  const walked = s => {
    metered(2 * fn.lines.length + 1);
    const {sums, stop} = run({...stepDocument(trace, s, mode), within: true});
    return stop ? fail(`step ${trace.place(s)}: ${stop}`) : name => sums.has(name) ? sums.get(name).at(-1).total : undefined;
  };
  const stacked = (j, s) => d.parts[j] && (trace.op === "scan" ? partAt(d.parts[j], trace.place(s)) : d.parts[j]);
  trace.seeds = [];
  let carried = Array.from({length: k}, (_, j) => d.parts[j]);
  if (forward) {
    for (let s = 0; s < n; s++) {
      trace.seeds[s] = fn.params.map((p, j) => [p, j < k ? carried[j] : j < m ? d.parts[j] && d.parts[j].s.length ? stacked(j, s) : undefined : d.parts[j], j < k]).filter(([, x]) => x);
      const total = walked(s);
      carried = fn.results.slice(0, k).map(total);
      fn.results.slice(k).forEach((r, j) => { const x = total(r); if (x) if (trace.op === "scan") into(k + j, s, x); else parts[k + j] = x; });
    }
    carried.forEach((x, j) => { if (x) parts[j] = x; });
    return bundleOf(Array.from(parts, (_, j) => whole(j, trace.out.parts[j].s)));
  }
  for (let s = n - 1; s >= 0; s--) {
    trace.seeds[s] = fn.results.map((r, j) => [r, j < k ? carried[j] : trace.op === "while_loop" ? undefined : stacked(j, s), j < k]).filter(([, x]) => x);
    const total = walked(s);
    carried = fn.params.slice(0, k).map(total);
    fn.params.forEach((p, j) => { const x = j >= k && total(p); if (x) if (j < m) { if (trace.args.parts[j].s.length) into(j, s, x); } else parts[j] = parts[j] ? plus(parts[j], x) : x; });
  }
  carried.forEach((x, j) => { if (x) parts[j] = x; });
  return bundleOf(Array.from(parts, (_, j) => whole(j, trace.args.parts[j].s)));
}

// ---- the gradient as a list --------------------------------------------------------------------------------------------

// The lines behind a list that compute the gradient of its register `of`, as the rules write them.
function gradientLines({lines, of, inputs}) {
  const taken = new Set([...Object.keys(inputs), ...lines.map(([dst]) => dst)]), called = new Map(), seed = `d${of}_d${of}`;
  const {sending, now} = backLines(lines, [[of, seed]], new Set(functionsIn(lines).keys())), aliases = [];
  for (const [a, x] of now) if (a !== of && !Array.isArray(x)) {
    if (isRegister(x) && x !== seed && !called.has(x)) called.set(x, `d${of}_d${a}`); else if (inputs[a]) aliases.push([`d${of}_d${a}`, "alias", [x]]);
  }
  return [[seed, "broadcast", [1, of]], ...withNames([...sending, ...aliases], called, taken)];
}
// The lines with names in the place of numbers: those they are called by, else z1, z2, … that are not taken.
function withNames(lines, called, taken, names = new Map(called)) {
  let z = 0;
  for (const [dst] of lines) if (dst.startsWith("#") && !names.has(dst)) { do z++; while (taken.has(`z${z}`)); names.set(dst, `z${z}`); }
  const named = a => names.get(a) || a;
  return lines.map(([dst, op, args]) => [named(dst), op, args.map(named)]);
}
// The lines that send the deltas `starts`, [register, delta], back through lines: {sending, now: the delta of each register,
// that of a bundle by its arrays, put: adds a line and gives its result, a number until all are named}.
function backLines(lines, starts, functions) {
  const sending = [], now = new Map(), made = new Map(lines.map(line => [line[0], line]));
  const put = (op, ...args) => { sending.push([`#${sending.length}`, op, args]); return sending.at(-1)[0]; };
  const sum = (x, y) => x === undefined || y === undefined ? x ?? y : put("add", x, y);
  const add = (a, x) => now.set(a, !now.has(a) ? x : !Array.isArray(x) ? sum(now.get(a), x) : Array.from({length: Math.max(x.length, now.get(a).length)}, (_, i) => sum(now.get(a)[i], x[i])));
  starts.forEach(([a, x]) => add(a, x));
  for (const line of [...lines].reverse()) {
    const [dst, op, args] = line, d = now.get(dst), rule = ruleFor(line);
    if (d === undefined) continue;
    if (op === "bundle") args.forEach((a, i) => { if (isRegister(a) && d[i] !== undefined) add(a, d[i]); });
    else if (op === "item") add(args[0], Object.assign([], {[args[1]]: d}));
    else if (functionsOf(line).length) add(args[args.findLastIndex(isRegister)], backThrough(line, d, put, made, functions));
    else if (!rule) fail(`this page has no rule of ${lineText(line)}`);
    else args.forEach((a, i) => {
      const part = isRegister(a) && rule.adjoint[i], names = {d, out: dst, ...Object.fromEntries(args.map((x, j) => [`x${j}`, x]))}, named = x => isRegister(x) ? names[x] : x;
      if (!part) return;
      part.lines.forEach(([own, by, xs]) => { names[own] = put(by, ...xs.map(named)); });
      add(a, named(part.end));
    });
  }
  return {sending, now, put};
}
// What a line that applies functions sends to each array of its bundle, where d are the deltas of its results.
function backThrough([dst, op, args], d, put, made, functions) {
  const b = args[args.findLastIndex(isRegister)], isWhile = op === "while_loop", sent = [], whole = made.get(b) && made.get(b)[1] === "bundle";
  let fns = args.map(functionOf).filter(fn => fn).slice(isWhile ? 1 : 0), [fn] = fns, withDelta = Object.keys(d).map(Number).filter(j => d[j] !== undefined);
  const entries = fn.params.map((_, i) => whole ? made.get(b)[2][i] : put("item", b, i));
  if (op === "call" || op === "cond") {
    const all = fns.map(one => backStep(one, 0, one.params.length, withDelta, new Set())), moving = entries.map((_, i) => i).filter(i => all.some(one => one.sent.includes(i)));
    const out = put(op, ...op === "cond" ? [args[0]] : [], ...fns.map(one => backStep(one, 0, one.params.length, withDelta, functions, moving).literal), put("bundle", ...entries, ...withDelta.map(j => d[j])));
    moving.forEach((i, j) => { sent[i] = put("item", out, j); });
    return sent;
  }
  const k = args[isWhile ? 2 : 1], m = isWhile ? k + 1 : k + args[2], forth = !isWhile && args[4] === true;
  if (isWhile) {   // as a scan over the steps that were made
    fn = {...fn, params: fn.params.toSpliced(k, 0, unlike("t", new Set([...fn.params, ...fn.lines.map(([x]) => x)])))};
    entries.splice(k, 0, put("item", dst, k));
    withDelta = withDelta.filter(j => j < k);
  }
  withDelta = withDelta.filter(j => j >= k);
  const step = backStep(fn, k, m, withDelta, functions), ends = entries.slice(0, k).map((_, i) => put("item", dst, i)), q = k + step.sums.length;
  const kept = k && put("scan", asLiteral({...fn, name: unlike(`${fn.name}_kept`, functions), results: [...fn.results.slice(0, k), ...fn.params.slice(0, k)]}), k, m - k, put("bundle", ...ends.map((x, i) => put("broadcast", entries[i], x)), ...entries.slice(k)), ...forth ? [true] : []);
  const out = put("scan", step.literal, q, m + withDelta.length, put("bundle", ...ends.map((x, i) => d[i] ?? put("broadcast", 0, x)), ...step.sums.map(i => put("broadcast", 0, entries[i])),
    ...ends.map((_, i) => put("item", kept, k + i)), ...entries.slice(k, m), ...withDelta.map(j => d[j]), ...entries.slice(m)), ...forth ? [] : [true]);
  const back = (i, place) => { if (isRegister(entries[i])) sent[i] = put("unbroadcast", put("item", out, place), entries[i]); };
  ends.forEach((_, i) => back(i, i));
  step.sums.forEach((i, j) => back(i, k + j));
  step.sent.filter(i => i < m).forEach((i, j) => back(i, q + j));
  if (isWhile) sent.splice(k, 1);
  return sent;
}
// One step in reverse: from the deltas of its k carries and of the results `withDelta`, those of the carries that it began with,
// the sums for what is the same in all steps, the parameters from m on, and those of its slices.
function backStep(fn, k, m, withDelta, functions, moving) {
  const taken = new Set([...fn.params, ...fn.lines.map(([x]) => x)]), own = x => unlike(`d${x}`, taken);
  const ends = fn.params.slice(0, k).map(own), along = withDelta.map(j => own(fn.results[j]));
  const {sending, now, put} = backLines(fn.lines, [...ends.map((x, i) => [fn.results[i], x]), ...withDelta.map((j, q) => [fn.results[j], along[q]])], functions);
  const sent = moving || fn.params.map((_, i) => i).filter(i => i >= k && now.has(fn.params[i])), sums = sent.filter(i => i >= m), starts = sums.map(i => own(fn.params[i]));
  const delta = i => { const x = now.get(fn.params[i]); return isRegister(x) ? x : put("broadcast", x ?? 0, fn.params[i]); };
  const ended = [...ends.map((_, i) => delta(i)), ...sums.map((i, j) => put("add", starts[j], delta(i))), ...sent.filter(i => i < m).map(delta)];
  const [results, ...lines] = withNames([["return", "", ended], ...fn.lines, ...sending], new Map(), taken), needed = new Set(results[2]);
  const used = lines.reverse().filter(([x, , args]) => needed.has(x) && (args.forEach(a => needed.add(a)), true)).reverse();
  return {sent, sums, literal: asLiteral({name: unlike(`${fn.name}_back`, functions), params: [...ends, ...starts, ...fn.params.slice(0, m), ...along, ...fn.params.slice(m)], lines: used, results: results[2]})};
}
function unlike(word, taken) {
  while (taken.has(word) || DATA.operators[word]) word += "_";
  taken.add(word);
  return word;
}
