// The values of operators, in float64: what ops.G is in Python. A literal comes as Python's decode() left it.
// There are no rules of derivatives here: those come with the page, as lists of these operators.

// ---- special functions -----------------------------------------------------------------------------------------------

const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510];
const factorial = n => n < 2 ? 1 : n * factorial(n - 1);
function polygamma(n, x) {  // 6.4.11
  let sum = 0;
  for (; x < 15; x++) sum += factorial(n) / x ** (n + 1);
  sum += factorial(n - 1) / x ** n + factorial(n) / 2 / x ** (n + 1);
  BERNOULLI.forEach((b, k) => { sum += b * factorial(2 * k + 1 + n) / factorial(2 * k + 2) / x ** (2 * k + 2 + n); });
  return n % 2 ? sum : -sum;
}

const rounded = x => { const r = Math.round(x); return Math.abs(x % 1) === 0.5 && r % 2 ? r - 1 : r; };
const modulo = (x, y) => { const r = x % y; return r && (r < 0) !== (y < 0) ? r + y : r; };
const power = (x, y) => x === 1 || y === 0 ? 1 : Math.pow(x, y);

function oneHot(y, like) {
  y = T(y); like = T(like);
  if (y.k === "f" || same(y.s, like.s)) return tensor(y.s, y.a);
  const rows = like.s.slice(0, -1), n = last(like);
  if (!like.s.length || !(same(y.s, rows) || same(y.s, [...rows, 1]))) fail(`labels of shape ${shapeText(y.s)} do not fit predictions of shape ${shapeText(like.s)}`);
  if (n === 1) return tensor([...rows, 1], y.a);
  if (y.a.some(c => c < 0 || c >= n)) fail(`a label is not one of the ${n} classes 0 … ${n - 1}`);
  return tensor([...rows, n], Float64Array.from({length: y.a.length * n}, (_, i) => y.a[Math.floor(i / n)] === i % n ? 1 : 0));
}
const minus = (x, y) => G.subtract(x, y);
// Zeros like an array, with d added where the entries lie that fn picks.
function scattered(d, like, fn) {
  const at = fn(tensor(like.s, Float64Array.from(like.a.keys()), "i")), out = filled(like.s, 0), parts = spread(T(d), at.s);
  at.a.forEach((p, i) => { out.a[p] += parts.a[i]; });
  return out;
}

// ---- the table -------------------------------------------------------------------------------------------------------
// Python reads the names at the beginning of its lines, and those of `byName`.

// functions that JavaScript has too, arcsin as Math.asin
const byName = (kind, names) => Object.fromEntries(names.split(" ").map(op => [op, kind(Math[op.replace("arc", "a")])]));

const G = {
  ...byName(real, "exp expm1 log log1p log2 log10 sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh arctan2 hypot"),
  ...byName(entrywise, "abs sign floor ceil trunc"),
  add: entrywise(add),
  subtract: entrywise((x, y) => x - y),
  mul: entrywise((x, y) => x * y),
  divide: real((x, y) => x / y),
  power: entrywise(power),
  remainder: entrywise(modulo),
  maximum: entrywise((x, y) => greater(x, y)),
  minimum: entrywise((x, y) => less(x, y)),
  where: (c, x, y) => entrywise((p, q, r) => p ? q : r, T(x).k === "f" || T(y).k === "f" ? "f" : T(x).k)(c, x, y),
  clip: (x, lo = null, hi = null) => entrywise((v, p, q) => Math.min(Math.max(v, p), q), "f")(x, lo ?? -Infinity, hi ?? Infinity),
  negative: entrywise(x => -x),
  equal: truth((x, y) => x === y),
  not_equal: truth((x, y) => x !== y),
  logical_and: truth((x, y) => x && y),
  logical_or: truth((x, y) => x || y),
  less: truth((x, y) => x < y),
  less_equal: truth((x, y) => x <= y),
  greater: truth((x, y) => x > y),
  greater_equal: truth((x, y) => x >= y),
  share: real((x, y) => x > y ? 1 : x === y ? 0.5 : x !== x ? 1 : 0),
  logical_not: truth(x => !x),
  isnan: truth(x => x !== x),
  isfinite: truth(Number.isFinite),
  round: (x, digits = 0) => entrywise(v => rounded(v * 10 ** digits) / 10 ** digits)(x),
  argmax: (x, axis = null) => {
    const at = [];
    along(T(x), axis, line => at.push(line.indexOf(Math.max(...line))));
    return tensor(axis === null ? [] : T(x).s.toSpliced(place(axis, T(x).s.length), 1), Float64Array.from(at), "i");
  },
  argsort: (x, axis = -1) => ({...along(T(x), axis, line => { [...line.keys()].sort((i, j) => line[i] - line[j]).map((i, k) => [k, i]).forEach(([k, i]) => { line[k] = i; }); }), k: "i"}),
  polygamma: (n, x) => n ? real(v => polygamma(n, v))(x) : G.digamma(x),
  sum: (x, axis = null, keepdims = false) => ({...reduced(x, axis, keepdims, 0, add), k: T(x).k === "f" ? "f" : "i"}),
  cumsum: (x, axis = null) => along(T(x), axis, line => { for (let i = 1; i < line.length; i++) line[i] += line[i - 1]; }),
  centered: (x, axis = null) => minus(x, G.mean(x, axis, true)),
  max: (x, axis = null, keepdims = false) => reduced(nonempty(x, axis, "max"), axis, keepdims, -Infinity, greater),
  min: (x, axis = null, keepdims = false) => reduced(nonempty(x, axis, "min"), axis, keepdims, Infinity, less),
  prod: (x, axis = null, keepdims = false) => reduced(x, axis, keepdims, 1, (p, q) => p * q),
  prod_of_others: (x, axis = null) => {
    x = T(x);
    const over = new Set(places(x, axis)), own = strides(x.s.map((n, k) => over.has(k) ? 1 : n)), at = positions(x.s, own.map((n, k) => over.has(k) ? 0 : n));
    const slices = new Map(), out = filled(x.s, 1);
    at.forEach((p, i) => slices.set(p, [...(slices.get(p) || []), i]));
    for (const all of slices.values()) for (const i of all) for (const j of all) if (i !== j) out.a[i] *= x.a[j];
    return out;
  },
  var: (x, axis = null, keepdims = false, ddof = 0) => reduced(G.square(G.centered(x, axis)), axis, keepdims, 0, add, total => total / Math.max(count(x, axis) - ddof, 0)),
  std: (x, axis = null, keepdims = false, ddof = 0) => G.sqrt(G.var(x, axis, keepdims, ddof)),
  logsumexp: (x, axis = null, keepdims = false) => {
    const top = reduced(x, axis, true, -Infinity, greater, v => Number.isFinite(v) ? v : 0);
    const sums = G.add(G.log(G.sum(G.exp(minus(x, top)), axis, true)), top);
    return keepdims ? sums : tensor(G.sum(x, axis).s, sums.a);
  },
  cumprod: (x, axis = null) => along(T(x), axis, line => { for (let i = 1; i < line.length; i++) line[i] *= line[i - 1]; }),
  recurrence: (x, a, axis) => {
    a = spread(T(a), T(x).s);
    const step = strides(a.s)[place(axis, a.s.length)];
    return along(T(x), axis, (line, p) => { for (let i = 1; i < line.length; i++) line[i] += a.a[p + i * step] * line[i - 1]; });
  },
  shift: (x, axis, first = 0) => along(T(x), axis, line => { line.unshift(T(first).a[0]); line.pop(); }),
  ties: (x, out, axis = null) => {
    const hit = entrywise((p, q) => p === q || p !== p && q !== q ? 1 : 0, "f")(x, out);
    return G.divide(hit, reduced(hit, axis, true, 0, add, total => Math.max(total, 1)));
  },
  count: (x, axis = null, less = 0) => tensor([], Float64Array.of(count(x, axis) - less), Number.isInteger(less) ? "i" : "f"),
  oneHot,
  broadcast: (x, like, axis = []) => {
    x = T(x);
    const missing = [axis].flat(), n = x.s.length + missing.length, gone = new Set(missing.map(k => place(k, n))), rest = [...x.s];
    return {...spread(tensor(Array.from({length: n}, (_, k) => gone.has(k) ? 1 : rest.shift()), x.a), shapeOf(like, 0)), k: "f"};
  },
  unbroadcast: (x, like, axis = []) => {
    x = T(x);
    if ([axis].flat().length) x = reduced(x, axis, false, 0, add);
    const want = like && like.s ? like.s : [], extra = x.s.length - want.length;
    if (same(x.s, want)) return x;
    if (extra < 0) return spread(x, want);
    const over = x.s.map((_, k) => k).filter(k => k < extra || want[k - extra] === 1 && x.s[k] !== 1);
    return tensor(want, spread(reduced(x, over, true, 0, add), [...Array(extra).fill(1), ...want]).a);
  },
  astype: x => T(x),
  dot,
  dot_left: (d, a, b) => {  // a vector is a row on the left of a product, and a column on its right
    const [A, B] = matrices(a, b);
    return G.reshape(G.unbroadcast(dot(productLike(d, A, B), mT(B)), A), T(a).s);
  },
  dot_right: (d, a, b) => {
    const [A, B] = matrices(a, b);
    return G.reshape(G.unbroadcast(dot(mT(A), productLike(d, A, B)), B), T(b).s);
  },
  einsum,
  einsum_back: (x, like, [kept, mine]) => {
    x = T(x);
    const letters = [...new Set(mine)], dots = x.s.length - kept.length;
    const shape = [...x.s.slice(0, dots), ...letters.map(c => kept.includes(c) ? x.s[dots + kept.indexOf(c)] : 1)];
    const diagonal = at => einsum([`...${mine}->...${letters.join("")}`], at), whole = commonShape(shape, diagonal(like).s);
    return scattered(G.unbroadcast(spread(tensor(shape, x.a), whole), diagonal(like)), like, diagonal);
  },
  convolve: (a, v) => {
    [a, v] = [T(a), T(v)];
    const out = filled([a.a.length + v.a.length - 1], 0);
    a.a.forEach((x, i) => v.a.forEach((y, j) => { out.a[i + j] += x * y; }));
    return out;
  },
  correlate: (a, v) => {
    [a, v] = [T(a), T(v)];
    const swap = v.a.length > a.a.length, [x, y] = swap ? [v, a] : [a, v], out = filled([x.a.length - y.a.length + 1], 0);
    out.a.forEach((_, k) => y.a.forEach((w, j) => { out.a[swap ? out.a.length - 1 - k : k] += x.a[k + j] * w; }));
    return out;
  },
  reshape: (x, shape) => {
    x = T(x);
    const to = shapeOf(shape, x.a.length);
    return size(to) === x.a.length ? tensor(to, x.a, x.k) : fail(`${x.a.length} entries do not make the shape ${shapeText(to)}`);
  },
  transpose: (x, axes = null) => transposed(T(x), axes),
  mT: x => mT(T(x)),
  flip: (x, axis = null) => places(T(x), axis).reduce((y, k) => along(y, k, line => line.reverse()), T(x)),
  roll: (x, shift, axis = null) => {
    x = T(x);
    const turn = (y, n, k) => along(y, k, line => { const m = modulo(n, line.length || 1); line.unshift(...line.splice(line.length - m, m)); });
    return axis === null ? tensor(x.s, turn(G.reshape(x, [-1]), shift, 0).a, x.k) : [axis].flat().reduce((y, k, i) => turn(y, [shift].flat()[i] ?? shift, k), x);
  },
  pad: (x, widths) => {
    const pairs = widthsOf(widths, T(x).s.length), shape = T(x).s.map((n, k) => n + pairs[k][0] + pairs[k][1]);
    return scattered(x, filled(shape, 0), at => G.unpad(at, pairs));
  },
  unpad: (x, widths) => {
    const pairs = widthsOf(widths, T(x).s.length);
    return G.getitem(x, ...pairs.map(([before, after], k) => ({slice: [before, T(x).s[k] - after, null]})));
  },
  part: (x, i, axis, ...arrays) => {
    axis = place(axis, T(x).s.length);
    const start = arrays.slice(0, i).reduce((n, a) => n + T(a).s[axis], 0);
    return G.getitem(x, ...Array(axis).fill({slice: [null, null, null]}), {slice: [start, start + T(arrays[i]).s[axis], null]});
  },
  diag: (x, k = 0) => {
    x = T(x);
    if (x.s.length === 1) return G.diag_back(x, filled([x.s[0] + Math.abs(k), x.s[0] + Math.abs(k)], 0), k);
    const [n, m] = x.s, length = Math.max(0, Math.min(n + Math.min(k, 0), m - Math.max(k, 0)));
    return view(x, [length], [m + 1], Math.max(0, -k) * m + Math.max(0, k));
  },
  diag_back: (d, x, k = 0) => T(x).s.length === 1 ? G.diag(d, k) : scattered(d, T(x), at => G.diag(at, k)),
  concat: (axis, ...arrays) => joined(axis, arrays),
  stack: (axis, ...arrays) => {
    const n = T(arrays[0]).s.length + 1, k = place(axis, n);
    return joined(k, arrays.map(T).map(x => tensor([...x.s.slice(0, k), 1, ...x.s.slice(k)], x.a)));
  },
  getitem: (x, ...keys) => gather(T(x), ...indexed(T(x).s, keys)),
  scatterAdd: (d, like, ...keys) => scattered(d, like, at => G.getitem(at, ...keys)),
  take: (x, indices, axis = null) => axis === null ? G.getitem(G.reshape(x, [-1]), indices) : G.getitem(x, ...Array(place(axis, T(x).s.length)).fill({slice: [null, null, null]}), indices),
  inv: x => each(x, [last(x), last(x)], rows => solved(rows, unit(rows.length))),
  det: x => each(x, [], rows => { const [sign, log] = eliminated(rows, unit(rows.length)); return [sign && sign * Math.exp(log)]; }),
  det_sign: x => each(x, [], rows => [eliminated(rows, unit(rows.length))[0]]),
  logabsdet: x => each(x, [], rows => [eliminated(rows, unit(rows.length))[1]]),
  cofactor: x => each(x, [last(x), last(x)], rows => rows.map((row, i) => row.map((_, j) => {
    const [sign, log] = eliminated(rows.filter((_, p) => p !== i).map(r => r.filter((_, q) => q !== j)), rows.slice(1).map(() => []));
    return (i + j) % 2 ? -(sign && sign * Math.exp(log)) : sign && sign * Math.exp(log);
  }))),
  solve: (a, b) => {
    [a, b] = [T(a), T(b)];
    const B = b.s.length === 1 ? G.reshape(b, [b.s[0], 1]) : b, [n, m] = B.s.slice(-2), batch = commonShape(a.s.slice(0, -2), B.s.slice(0, -2));
    const right = spread(B, [...batch, n, m]), solution = each(spread(a, [...batch, n, n]), [n, m], (rows, q) =>
      solved(rows, Array.from({length: n}, (_, i) => Array.from(right.a.slice((q * n + i) * m, (q * n + i + 1) * m)))));
    return b.s.length === 1 ? tensor([...batch, n], solution.a) : solution;
  },
  cholesky: x => each(G.half(G.add(x, mT(T(x)))), [last(x), last(x)], rows => {
    const out = rows.map(row => row.map(() => 0));
    rows.forEach((row, i) => { for (let j = 0; j <= i; j++) {
      const rest = row[j] - out[i].slice(0, j).reduce((sum, v, k) => sum + v * out[j][k], 0);
      if (i === j && !(rest > 0)) fail("the matrix is not positive definite");
      out[i][j] = i === j ? Math.sqrt(rest) : rest / out[j][j];
    } });
    return out;
  }),
  lower_half: x => each(x, T(x).s.slice(-2), rows => rows.map((row, i) => row.map((v, j) => i > j ? v : i === j ? v / 2 : 0))),
  column: (x, b) => T(b).s.length === 1 ? G.reshape(x, [...T(x).s, 1]) : T(x),
};
