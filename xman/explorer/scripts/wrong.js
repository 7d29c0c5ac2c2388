// The wrong ways that many have gone in a backward pass of their own: what comes out, beside what is right.

const WRONG_WAYS = [
  ["= in the place of +=", {overwrites: true}, "A contribution takes the place of the one before it, so a register that is read twice keeps only the last one."],
  ["not in topological order", {deep: true}, "A register sends on as soon as something has reached it, depth first, and not when all who read it have sent. What arrives later is not sent on."],
  ["zeros forgotten", {twice: true}, "The second pass begins with the deltas of the first, and adds to them."],
  ["a broadcast not summed", {spread: true}, "An argument that was spread gets a delta of the result's shape, and not the sum over the places where it was read."]];

// The deltas of a list's registers, of which each line sends one to each argument; with no flag they are the right ones.
function deltasBy(doc, values, {overwrites, deep, twice, spread}) {
  const deltas = new Map(), sentOn = new Set(), unsummed = own => own[1] === "unbroadcast" && spread ? [own[0], "alias", own[2].slice(0, 1)] : own;
  const send = (k, i) => {
    const [dst, op, args] = doc.lines[k], a = args[i], rule = ruleFor(doc.lines[k]);
    if (!isRegister(a) || !varies(values.get(a)) || rule && !rule.adjoint[i]) return;
    if (!rule || Object.hasOwn(LOOPS, op)) fail(`this page goes no wrong way through ${op}`);
    const names = Object.fromEntries([["d", deltas.get(dst)], ["out", values.get(dst)], ...args.map((b, j) => [`x${j}`, isRegister(b) ? values.get(b) : decode(b)])]);
    const x = sent({...rule.adjoint[i], lines: rule.adjoint[i].lines.map(unsummed)}, names);
    const part = spread || same(x.s, values.get(a).s) ? x : G.unbroadcast(x, values.get(a));
    deltas.set(a, deltas.has(a) && !overwrites ? plus(deltas.get(a), part) : part);
    if (deep && doc.at.has(a) && !sentOn.has(a)) visit(a);  // before the next argument
  };
  const todo = [], visit = name => { sentOn.add(name); todo.push([doc.at.get(name), 0]); };
  for (let pass = 0; pass < (twice ? 2 : 1); pass++) {
    deltas.set(doc.of, filled(values.get(doc.of).s, 1));
    for (let k = doc.lines.length - 1; k >= 0 && !deep; k--) if (deltas.has(doc.lines[k][0])) doc.lines[k][2].forEach((_, i) => send(k, i));
    if (deep) visit(doc.of);
    while (todo.length) {
      const [k, i] = todo.at(-1);
      if (i < doc.lines[k][2].length) { todo.at(-1)[1]++; send(k, i); } else todo.pop();
    }
  }
  return deltas;
}
function wrongView(doc) {
  const names = Object.keys(doc.inputs).filter(x => S.run.values.has(x) && varies(S.run.values.get(x))).slice(0, 12), text = (deltas, x) => deltas.has(x) ? shown(deltas.get(x)) : "none";
  if (S.run.stop || doc.lines.length > 2000) return el("p", {}, S.run.stop || "This list is too long for it.");
  const by = way => { try { const deltas = deltasBy(doc, S.run.values, way); return x => text(deltas, x); } catch (error) { return () => error.message; } };
  const right = by({}), ways = WRONG_WAYS.map(([, way]) => by(way));
  const cellOf = (x, way) => way(x) === right(x) ? el("td", {class: "role"}, "right") : el("td", {}, way(x));
  return [el("p", {}, "Four mistakes that nearly everyone makes once, and the deltas of the inputs that each gives here. Where a cell says right, this list does not show the mistake: take another to test yours."),
    el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Wrong deltas"}, el("table", {}, el("thead", {}, el("tr", {}, ["", "right", ...WRONG_WAYS.map(([title]) => title)].map((title, i) => el("th", {scope: "col"}, title || el("span", {class: "sr"}, "input"))))),
      el("tbody", {}, names.map(x => el("tr", {}, el("th", {scope: "row"}, `δ${x}`), el("td", {}, right(x)), ways.map(way => cellOf(x, way))))))),
    el("dl", {}, WRONG_WAYS.flatMap(([title, , said]) => [el("dt", {}, title), el("dd", {}, said)]))];
}
