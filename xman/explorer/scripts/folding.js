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
