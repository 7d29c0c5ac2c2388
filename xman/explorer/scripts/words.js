// What the page says: formulas, and a sentence for each step.

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
const definition = (line, name = a => [[a], 6]) => written(line[1], line[2].map(a => isRegister(a) ? name(a) : numeral(a)), line[2])[0];
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
  }).replace(/\((\d+) − 1\)/g, (_, n) => n - 1).replace(/\^1(?![\d.])/g, "");  // 2·x^(2 − 1) is 2·x
}

// ---- what a step says ------------------------------------------------------------------------------------------------

const LEGIBLE = 150;  // characters of a formula in numbers
function sentence(event) {
  const {doc, run: r} = S, name = (a, d) => d ? derived(doc, a) : a, mode = doc.mode;
  if (doc.outer && event.kind !== "value" && event.kind !== "send") return sentenceInStep(event);
  if (event.kind === "given") {
    const lacking = Object.keys(doc.inputs).filter(x => !doc.values.has(x));
    return lacking.length ? `These inputs have no value yet: ${lacking.join(", ")}.` : `The inputs are given. ${plural(doc.lines.length, "line")} compute ${doc.of}; ${mode === "reverse" ? `then the deltas come, in reverse: δv is ∂${doc.top}/∂v, how fast ${doc.top} moves when v does` : `beside each value goes its derivative by ${doc.along}`}.`;
  }
  if (event.kind === "value") {
    const own = doc.lines[event.line], x = r.values.get(event.name);
    const numbers = definition(own, a => [[inFormula(r.values.get(a))], 6]).join("");  // left out where nobody would read them
    const said = x.python ? `${own[0]} = ${shown(x)}, which Python computed: the page has no ${own[1]}` : `${own[0]} = ${definition(own).join("")}${numbers.length > LEGIBLE ? "" : ` = ${numbers}`} = ${shown(x)}`;
    return `Line ${event.line + 1} of ${doc.lines.length}: ${saidOfLoop(own, r.traces.get(event.line)) || said}.${explained([own])}${equation(own[0])}`;
  }
  if (event.kind === "seed") return mode === "reverse"
    ? `The backward pass begins at the end: δ${event.name} = ∂${doc.top}/∂${event.name} = 1${event.total.s.length ? ", for each entry" : ""}. All other deltas are not there yet.`
    : `${dotted(event.name)} = ∂${event.name}/∂${event.name} = 1${event.total.s.length || event.total.parts ? " for each entry" : ""}: the question is how everything moves with ${event.name}, while the other inputs stand still.`;
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
  const result = shown(event.part), given = numbers.length > LEGIBLE || result.startsWith(`${numbers} `) ? "" : ` = ${numbers}`;
  const meets = event.before ? ` Here paths meet, and what comes along each is added: ${shown(event.before)} + ${inFormula(event.part)} = ${shown(event.total)}.` : "";
  const whole = ruleFor(own), slope = whole && whole.adjoint[event.place] && whole.adjoint[event.place].label;  // where it is a factor
  const since = slope ? `, since ∂${own[0]}/∂${own[2][event.place]} = ${ruleText(doc, {...event, rule: {label: slope}}, a => a, true)}` : "";
  return `${where}: ${derived(doc, event.name)} ${sign} ${symbols}${given}${symbols === numbers || result === numbers ? "" : ` = ${result}`}${since}${event.summed ? ", summed to its shape" : ""}, along the edge ${edge}.${meets}${toCome(event)}${explained(event.rule.lines.filter(([, op]) => symbols.includes(op)))}`;
}
// what operators do that stand in no textbook
const EXPLAINED = bare({oneHot: "oneHot makes a row of zeros with a single 1 of each label: of label 2 among four classes (0, 0, 1, 0).",
  count: "count is the number of entries, by which a mean divides; no derivative goes through it.",
  broadcast: "broadcast repeats its first argument until it has the shape of the second.",
  unbroadcast: "unbroadcast sums over the places to which an argument was repeated, until it has its own shape again."});
const explained = lines => Object.keys(EXPLAINED).filter(op => lines.some(own => own[1] === op)).map(op => ` ${EXPLAINED[op]}`).join("");
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
    : `${fn.name} runs in reverse, ${plural(n, "step")}, from the last one: ${k ? `the delta of ${fn.params.slice(0, k).join(", ")} that a step ends with is where the step before it begins` : "none waits for another"}${fn.params.length > m ? `; those of ${short(fn.params.slice(m).join(", "), 60)} are summed over all steps` : ""}. ${to} ${sign} ${shown(event.part)}.`;
}
function sentenceInStep(event) {  // of a document that is one step of a loop
  const {doc, run: r} = S, {name} = doc.outer.trace.fn, forward = doc.mode === "forward";
  if (event.kind === "given") return `${name} begins with what it is given. ${plural(doc.lines.length, "line")} compute ${doc.results.join(", ")}; ${forward ? "the tangents come in with the values" : `then come the deltas, ∂${doc.target}/∂…, in reverse`}.`;
  if (event.kind === "seed") return `${derived(doc, event.name)} ${event.before ? "+=" : "="} ${shown(event.part)} comes from outside: ${forward ? event.carried ? "as the step before ended" : "with what the loop is given" : event.carried ? `from the step after, which begins with it` : `from those who read what each step gives`}.`;
  const sums = names => [...new Set(names)].filter(x => r.sums.has(x)).map(x => `${derived(doc, x)} = ${shown(sumNow(x))}`).join(", ");
  return forward ? `The step is done: ${sums(doc.results) || "nothing moves"}.` : `The step is done: ${sums(Object.keys(doc.inputs)) || "no delta reaches it"}${sums(Object.keys(doc.inputs)) ? ". They go on to the step before, along the axes, and into sums over all steps" : ""}.`;
}
