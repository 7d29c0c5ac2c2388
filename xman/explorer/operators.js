"use strict";
// The values of operators, in float64: what ops.G is in Python. An array is {s: shape, a: entries in C order, k: kind},
// kind "f" of floats, "i" of whole numbers, "b" of truth values. A literal comes as Python's decode() left it.
// There are no rules of derivatives here: those come with the page, as lists of these operators.

const ENTRIES = 2e7;   // of an array
const size = s => { const n = s.reduce((p, m) => p * m, 1); return n <= ENTRIES ? n : fail(`an array of shape ${shapeText(s)} is larger than this page takes`); };
const tensor = (s, a, k = "f") => ({s, a, k});
const filled = (s, value) => tensor(s, new Float64Array(size(s)).fill(value));
const T = x => x && x.s ? x : Array.isArray(x) ? nestedTensor(x) : tensor([], Float64Array.of(x === true ? 1 : x === false ? 0 : x), typeof x === "boolean" ? "b" : "f");
const fail = text => { throw new Error(text); };
const shapeText = s => s.length === 1 ? `(${s[0]},)` : `(${s.join(", ")})`;

function nestedTensor(x) {
  const shape = [];
  for (let part = x; Array.isArray(part); part = part[0]) shape.push(part.length);
  const flat = shape.length > 20 ? fail("an array has at most 20 axes") : x.flat(shape.length);
  if (flat.length !== size(shape) || flat.some(n => typeof n !== "number")) fail("an array is a nested list of numbers, its rows of one length, as in [[1, 2], [3, 4]]");
  return tensor(shape, Float64Array.from(flat));
}

function strides(s) {
  const steps = new Array(s.length);
  for (let k = s.length - 1, n = 1; k >= 0; n *= s[k--]) steps[k] = n;
  return steps;
}

// The place in memory of each entry of an array of that shape and those strides, in C order.
function positions(shape, steps, offset = 0) {
  size(shape);
  let at = Int32Array.of(offset);
  shape.forEach((n, k) => {
    const next = new Int32Array(at.length * n);
    for (let i = 0, q = 0; i < at.length; i++) for (let j = 0; j < n; j++) next[q++] = at[i] + j * steps[k];
    at = next;
  });
  return at;
}

const gather = (x, shape, at) => tensor(shape, Float64Array.from(at, i => x.a[i]), x.k);
const view = (x, shape, steps, offset = 0) => gather(x, shape, positions(shape, steps, offset));
const same = (s, t) => s.length === t.length && s.every((n, k) => n === t[k]);

function commonShape(...shapes) {
  const n = Math.max(...shapes.map(s => s.length));
  return Array.from({length: n}, (_, k) => {
    const lengths = [...new Set(shapes.map(s => s[s.length - n + k] ?? 1).filter(m => m !== 1))];
    return lengths.length > 1 ? fail(`shapes ${shapes.map(shapeText).join(" and ")} do not fit each other`) : lengths[0] ?? 1;
  });
}

function spread(x, shape) {
  if (same(x.s, shape)) return x;
  const own = strides(x.s), lead = shape.length - x.s.length;
  if (lead < 0 || x.s.some((n, k) => n !== 1 && n !== shape[k + lead])) fail(`shape ${shapeText(x.s)} does not spread to ${shapeText(shape)}`);
  return view(x, shape, shape.map((_, k) => k < lead || x.s[k - lead] === 1 ? 0 : own[k - lead]));
}

const entrywise = (fn, k) => (...args) => {
  args = args.map(T);
  const shape = commonShape(...args.map(x => x.s)), n = size(shape), out = new Float64Array(n);
  const parts = args.map(x => x.a.length === 1 && n !== 1 ? null : spread(x, shape).a), one = args.map(x => x.a[0]);
  for (let i = 0; i < n; i++) out[i] = fn(...parts.map((p, j) => p ? p[i] : one[j]));
  return tensor(shape, out, k || (args.every(x => x.k !== "f") ? "i" : "f"));
};
const real = fn => entrywise(fn, "f"), truth = fn => entrywise((...x) => fn(...x) ? 1 : 0, "b");

const places = (x, axis) => (axis === null || axis === undefined ? x.s.map((_, k) => k) : [axis].flat().map(k => place(k, x.s.length || 1)))
  .filter(k => k < x.s.length); // NumPy grants a number one axis
function place(k, n) {
  if (!Number.isInteger(k) || k < -n || k >= n) fail(`axis ${k} is out of bounds for an array with ${n} axes`);
  return k < 0 ? k + n : k;
}

// Over an axis (null: all): from a start, one entry after another.
function reduced(x, axis, keepdims, start, step, end = y => y) {
  x = T(x);
  const over = new Set(places(x, axis)), kept = x.s.map((n, k) => over.has(k) ? 1 : n), own = strides(kept);
  const at = positions(x.s, own.map((n, k) => over.has(k) ? 0 : n)), out = new Float64Array(size(kept)).fill(start);
  for (let i = 0; i < at.length; i++) out[at[i]] = step(out[at[i]], x.a[i], i);
  return tensor(keepdims ? kept : kept.filter((_, k) => !over.has(k)), out.map(end));
}
const add = (p, q) => p + q, greater = (p, q) => q > p || q !== q ? q : p, less = (p, q) => q < p || q !== q ? q : p;
const count = (x, axis) => places(T(x), axis).reduce((n, k) => n * T(x).s[k], 1);
const nonempty = (x, axis, op) => count(x, axis) ? x : fail(`${op} over no entries has no value`);

// Along one axis: each line of entries is given to fn, which changes it.
function along(x, axis, fn) {
  if (axis === null || axis === undefined || !T(x).s.length) { x = G.reshape(x, [-1]); axis = place(axis ?? 0, 1); }
  x = tensor(x.s, Float64Array.from(x.a), x.k);
  axis = place(axis, x.s.length);
  const n = x.s[axis], own = strides(x.s), starts = positions(x.s.map((m, k) => k === axis ? 1 : m), own);
  if (n) for (const p of starts) {
    const line = Array.from({length: n}, (_, i) => x.a[p + i * own[axis]]);
    fn(line, p);
    line.forEach((y, i) => { x.a[p + i * own[axis]] = y; });
  }
  return x;
}

// ---- shapes ----------------------------------------------------------------------------------------------------------

function shapeOf(like, n) {
  const shape = like.s ? like.s : [like].flat(), k = shape.indexOf(-1);
  return k < 0 || like.s ? shape : shape.map((m, i) => i === k ? n / (-size(shape)) : m);
}

function transposed(x, axes) {
  axes = axes ? axes.map(k => place(k, x.s.length)) : x.s.map((_, k) => x.s.length - 1 - k);
  const own = strides(x.s);
  return view(x, axes.map(k => x.s[k]), axes.map(k => own[k]));
}
const mT = x => transposed(x, x.s.map((_, k) => k < x.s.length - 2 ? k : 2 * x.s.length - 3 - k));

function slicePart([start, stop, step], n) {
  step = step ?? 1;
  if (step === 0) fail("a slice has a step of 0");
  const clip = (v, low, high) => Math.min(Math.max(v < 0 ? v + n : v, low), high);
  start = start === null ? (step > 0 ? 0 : n - 1) : step > 0 ? clip(start, 0, n) : clip(start, -1, n - 1);
  stop = stop === null ? (step > 0 ? n : -1) : step > 0 ? clip(stop, 0, n) : clip(stop, -1, n - 1);
  return [start, Math.max(0, Math.ceil((stop - start) / step)), step];
}

// The shape of x[keys] and the place of each of its entries, as NumPy indexes: basic keys first, arrays of indices then.
function indexed(s, keys) {
  keys = keys.flatMap(key => key && key.s && key.k === "b" ? (key.s.length ? nonzero(key) : fail("a truth value is no key")) : [key]);
  const used = keys.filter(key => key !== null && !(key && key.ellipsis)).length;
  if (used > s.length) fail(`${used} keys for an array with ${s.length} axes`);
  const gap = keys.findIndex(key => key && key.ellipsis), rest = Array(s.length - used).fill({slice: [null, null, null]});
  keys = gap < 0 ? [...keys, ...rest] : [...keys.slice(0, gap), ...rest, ...keys.slice(gap + 1)];
  const own = strides(s), isArray = key => key && key.s && key.s.length > 0;
  const fancy = keys.some(isArray), shape = [], steps = [], arrays = [];
  let axis = 0, offset = 0, before = -1, apart = false, ended = false;
  for (const key of keys) {
    if (key === null) { shape.push(1); steps.push(0); if (before >= 0) ended = true; continue; }
    const n = s[axis], step = own[axis++];
    if (key.slice) {
      const [start, m, by] = slicePart(key.slice, n);
      shape.push(m); steps.push(by * step); offset += m ? start * step : 0;
      if (before >= 0) ended = true;
    } else {
      const at = T(key), inside = i => Number.isInteger(i) && i >= -n && i < n ? (i < 0 ? i + n : i) : fail(`index ${i} is out of bounds for an axis of ${n}`);
      const places = tensor(at.s, Float64Array.from(at.a, i => inside(i) * step));
      if (!fancy) { offset += places.a[0]; continue; }
      if (before < 0) before = shape.length; else if (ended) apart = true;
      arrays.push(places);
    }
  }
  const base = positions(shape, steps, offset);
  if (!fancy) return [shape, base];
  const front = apart ? 0 : before, inner = commonShape(...arrays.map(x => x.s));
  const sums = arrays.map(x => spread(x, inner)).reduce((x, y) => tensor(inner, x.a.map((v, i) => v + y.a[i])));
  const whole = [...shape.slice(0, front), ...inner, ...shape.slice(front)], m = size(shape.slice(front)), at = new Int32Array(size(whole));
  for (let i = 0, q = 0; i < size(shape.slice(0, front)); i++)
    for (let j = 0; j < sums.a.length; j++) for (let k = 0; k < m; k++) at[q++] = base[i * m + k] + sums.a[j];
  return [whole, at];
}

function nonzero(x) {
  const at = [], own = strides(x.s);
  x.a.forEach((v, i) => v && at.push(i));
  return x.s.map((n, k) => tensor([at.length], Float64Array.from(at, i => Math.floor(i / own[k]) % n), "i"));
}

function joined(axis, arrays) {
  arrays = arrays.map(T);
  axis = place(axis, arrays[0].s.length);
  const shape = arrays[0].s.map((n, k) => k === axis ? arrays.reduce((m, x) => m + x.s[axis], 0) : n), out = filled(shape, 0), own = strides(shape);
  let start = 0;
  for (const x of arrays) {
    if (x.s.length !== shape.length || x.s.some((n, k) => k !== axis && n !== shape[k])) fail(`shapes ${arrays.map(y => shapeText(y.s)).join(" and ")} do not fit each other`);
    positions(x.s, own, start * own[axis]).forEach((at, i) => { out.a[at] = x.a[i]; });
    start += x.s[axis];
  }
  return out;
}

const widthsOf = (widths, n) => Array.from({length: n}, (_, k) => typeof widths === "number" ? [widths, widths] : Array.isArray(widths[0]) ? widths[k % widths.length] : widths.length === 1 ? [widths[0], widths[0]] : widths);

// ---- products --------------------------------------------------------------------------------------------------------

function dot(a, b) {
  [a, b] = [T(a), T(b)];
  if (!a.s.length || !b.s.length) fail("a product of matrices needs arrays with an axis; of numbers write mul");
  const A = a.s.length === 1 ? G.reshape(a, [1, a.s[0]]) : a, B = b.s.length === 1 ? G.reshape(b, [b.s[0], 1]) : b;
  const [n, k] = A.s.slice(-2), [k2, m] = B.s.slice(-2);
  if (k !== k2) fail(`${shapeText(a.s)} @ ${shapeText(b.s)}: ${k} and ${k2} do not agree`);
  const batch = commonShape(A.s.slice(0, -2), B.s.slice(0, -2)), X = spread(A, [...batch, n, k]), Y = spread(B, [...batch, k, m]);
  const out = filled([...batch, n, m], 0);
  for (let q = 0; q < size(batch); q++) for (let i = 0; i < n; i++) for (let l = 0; l < k; l++) {
    const x = X.a[(q * n + i) * k + l];
    for (let j = 0; j < m; j++) out.a[(q * n + i) * m + j] += x * Y.a[(q * k + l) * m + j];
  }
  return tensor([...batch, ...(a.s.length === 1 ? [] : [n]), ...(b.s.length === 1 ? [] : [m])], out.a);
}

function einsumParts(subscripts) {
  const [left, arrow] = subscripts.replace(/ /g, "").split("->"), letters = left.replace(/[,.]/g, "");
  const out = arrow ?? (left.includes(".") ? "..." : "") + [...new Set(letters)].filter(c => letters.split(c).length === 2).sort().join("");
  return [left.split(","), out];
}

// A sum over all letters that the result does not have; an ellipsis stands for the capital letters of as many axes.
function einsum([subscripts], ...arrays) {
  arrays = arrays.map(T);
  let [parts, out] = einsumParts(subscripts), most = 0;
  const dots = parts.map((p, i) => p.includes("...") ? arrays[i].s.length - p.replace("...", "").length : 0);
  most = Math.max(0, ...dots);
  const lead = n => "αβγδεζηθ".slice(most - n, most);
  parts = parts.map((p, i) => p.replace("...", lead(dots[i])));
  out = out.replace("...", lead(most));
  const sizes = {};
  parts.forEach((p, i) => [...p].forEach((c, k) => { if ((sizes[c] ?? 1) === 1) sizes[c] = arrays[i].s[k]; }));
  const letters = [...out, ...Object.keys(sizes).filter(c => !out.includes(c))], shape = letters.map(c => sizes[c]);
  const walk = (s, p) => positions(shape, letters.map(c => [...p].reduce((sum, d, k) => sum + (d === c && s[k] !== 1 ? strides(s)[k] : 0), 0)));
  const at = arrays.map((x, i) => walk(x.s, parts[i])), result = filled([...out].map(c => sizes[c]), 0), to = walk(result.s, out);
  for (let q = 0; q < to.length; q++) result.a[to[q]] += arrays.reduce((product, x, i) => product * x.a[at[i][q]], 1);
  return result;
}

// ---- square matrices -------------------------------------------------------------------------------------------------

// Each matrix of a batch as rows of an Array, given to fn, which returns an array of entries of the shape `to`.
function each(x, to, fn) {
  x = T(x);
  const [n, m] = x.s.slice(-2), batch = x.s.slice(0, -2), out = filled([...batch, ...to], 0), step = size(to);
  if (x.s.length < 2) fail(`a matrix is wanted, not an array of shape ${shapeText(x.s)}`);
  for (let q = 0; q < size(batch); q++) {
    const rows = Array.from({length: n}, (_, i) => Array.from(x.a.slice((q * n + i) * m, (q * n + i + 1) * m)));
    out.a.set(fn(rows, q).flat(), q * step);
  }
  return out;
}

// Gauss and Jordan, with row pivots: [the determinant's sign, its logarithm, the right-hand sides solved].
function eliminated(a, b) {
  let sign = 1, log = 0;
  const n = a.length;
  a = a.map(row => [...row]); b = b.map(row => [...row]);
  for (let k = 0; k < n; k++) {
    const p = a.reduce((best, row, i) => i >= k && Math.abs(row[k]) > Math.abs(a[best][k]) ? i : best, k), pivot = a[p][k];
    if (pivot === 0) return [0, -Infinity, null];
    if (p !== k) { [a[p], a[k], b[p], b[k]] = [a[k], a[p], b[k], b[p]]; sign = -sign; }
    sign *= Math.sign(pivot); log += Math.log(Math.abs(pivot));
    for (let i = 0; i < n; i++) if (i !== k && a[i][k]) {
      const by = a[i][k] / pivot;
      for (let j = k; j < n; j++) a[i][j] -= by * a[k][j];
      for (let j = 0; j < b[i].length; j++) b[i][j] -= by * b[k][j];
    }
  }
  return [sign, log, b.map((row, k) => row.map(v => v / a[k][k]))];
}
const unit = n => Array.from({length: n}, (_, i) => Array.from({length: n}, (_, j) => i === j ? 1 : 0));
const solved = (a, b) => eliminated(a, b)[2] ?? fail("the matrix is singular");
const last = x => T(x).s[T(x).s.length - 1];

// ---- special functions -----------------------------------------------------------------------------------------------

function erfc(x) {
  if (x < 1.5) {  // erf by its series of positive terms (Abramowitz and Stegun 7.1.6)
    if (x < -6) return 2;
    let term = x, sum = x;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= 2 * x * x / (2 * n + 1);
    return 1 - 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
  let c = 0;
  for (let k = 120; k > 0; k--) c = k / 2 / (x + c);  // its continued fraction (7.1.14)
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + c);
}
function erf(x) {
  if (Math.abs(x) > 1.5) return x > 0 ? 1 - erfc(x) : erfc(-x) - 1;
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= 2 * x * x / (2 * n + 1);
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}
function gammaln(x) {  // Stirling's series above 10, the recurrence below it (6.1.41)
  if (x <= 0) return Number.isInteger(x) ? Infinity : Math.log(Math.PI / Math.abs(Math.sin(Math.PI * x))) - gammaln(1 - x);
  let product = 1;
  while (x < 10) product *= x++;
  const y = 1 / (x * x);
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x - Math.log(product);
}
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510];
function digamma(x) {
  if (x <= 0) return Number.isInteger(x) ? NaN : digamma(1 - x) - Math.PI / Math.tan(Math.PI * x);
  let sum = 0;
  while (x < 12) sum -= 1 / x++;
  return sum + Math.log(x) - 0.5 / x - BERNOULLI.reduce((total, b, k) => total + b / (2 * k + 2) / x ** (2 * k + 2), 0);
}
const factorial = n => n < 2 ? 1 : n * factorial(n - 1);
function polygamma(n, x) {  // 6.4.11
  if (n === 0) return digamma(x);
  let sum = 0;
  for (; x < 15; x++) sum += factorial(n) / x ** (n + 1);
  sum += factorial(n - 1) / x ** n + factorial(n) / 2 / x ** (n + 1);
  BERNOULLI.forEach((b, k) => { sum += b * factorial(2 * k + 1 + n) / factorial(2 * k + 2) / x ** (2 * k + 2 + n); });
  return n % 2 ? sum : -sum;
}

const rounded = x => { const r = Math.round(x); return Math.abs(x % 1) === 0.5 && r % 2 ? r - 1 : r; };
const modulo = (x, y) => { const r = x % y; return r && (r < 0) !== (y < 0) ? r + y : r; };
const sigmoid = x => x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
const logAddExp = (x, y) => x === y ? x + Math.LN2 : Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)));
const scale = (x, w) => x === 0 || x !== x && w === 0 ? x * 0 || 0 : x * w;
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
const weighted = (y, x) => last(y) === last(x) ? reduced(G.scale(y, x), -1, true, 0, add) : fail(`a target of shape ${shapeText(T(y).s)} does not have the ${last(x)} classes of the prediction`);
const minus = (x, y) => G.subtract(x, y);
const inSlices = (x, axis, fn) => along(T(x), axis, line => { fn(line).forEach((v, i) => { line[i] = v; }); });
const scaled = line => { const top = Math.max(...line), e = line.map(v => Math.exp(v - top)), sum = e.reduce(add, 0); return [e, sum, top]; };

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
  floor_divide: entrywise((x, y) => Math.floor(x / y)),
  ratio: real((x, y) => x === 0 ? 0 : x / y),
  scale: real(scale),
  maximum: entrywise((x, y) => greater(x, y)),
  minimum: entrywise((x, y) => less(x, y)),
  where: (c, x, y) => entrywise((p, q, r) => p ? q : r, T(x).k === "f" || T(y).k === "f" ? "f" : T(x).k)(c, x, y),
  clip: (x, lo = null, hi = null) => entrywise((v, p, q) => Math.min(Math.max(v, p), q), "f")(x, lo ?? -Infinity, hi ?? Infinity),
  negative: entrywise(x => -x),
  reciprocal: real(x => 1 / x),
  square: entrywise(x => x * x),
  half: real(x => 0.5 * x),
  alias: x => x,
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
  signbit: truth(x => x < 0 || Object.is(x, -0)),
  round: (x, digits = 0) => entrywise(v => rounded(v * 10 ** digits) / 10 ** digits)(x),
  argmax: (x, axis = null) => {
    x = T(x);
    const lines = [];
    if (axis === null) return tensor([], Float64Array.of(Array.from(x.a).indexOf(Math.max(...x.a))), "i");
    along(x, axis, line => lines.push(line.indexOf(Math.max(...line))));
    return tensor(x.s.filter((_, k) => k !== place(axis, x.s.length)), Float64Array.from(lines), "i");
  },
  argsort: (x, axis = -1) => ({...along(T(x), axis, line => { [...line.keys()].sort((i, j) => line[i] - line[j]).map((i, k) => [k, i]).forEach(([k, i]) => { line[k] = i; }); }), k: "i"}),
  stopGradient: x => x,
  exp2: real(x => 2 ** x),
  erf: real(erf),
  erfc: real(erfc),
  gammaln: real(gammaln),
  digamma: real(digamma),
  polygamma: (n, x) => real(v => polygamma(n, v))(x),
  Gamma: real(x => x > 0 ? Math.exp(gammaln(x)) : Math.PI / Math.sin(Math.PI * x) / Math.exp(gammaln(1 - x))),
  Beta: real((x, y) => Math.exp(gammaln(x) + gammaln(y) - gammaln(x + y))),
  betaln: real((x, y) => gammaln(x) + gammaln(y) - gammaln(x + y)),
  sum: (x, axis = null, keepdims = false) => ({...reduced(x, axis, keepdims, 0, add), k: T(x).k === "f" ? "f" : "i"}),
  mean: (x, axis = null, keepdims = false) => reduced(x, axis, keepdims, 0, add, total => total / (count(x, axis) || NaN)),
  cumsum: (x, axis = null) => along(T(x), axis, line => { for (let i = 1; i < line.length; i++) line[i] += line[i - 1]; }),
  trace: x => T(x).s.length === 2 ? G.sum(G.diag(x)) : fail("trace takes a matrix"),
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
  norm: (x, axis = null, keepdims = false) => reduced(G.square(x), axis, keepdims, 0, add, Math.sqrt),
  squaredNorm: (x, axis = null, keepdims = false) => reduced(G.square(x), axis, keepdims, 0, add),
  frobeniusNorm: x => G.norm(x),
  logsumexp: (x, axis = null, keepdims = false) => {
    const top = reduced(x, axis, true, -Infinity, greater, v => Number.isFinite(v) ? v : 0);
    const sums = G.add(G.log(G.sum(G.exp(minus(x, top)), axis, true)), top);
    return keepdims ? sums : tensor(G.sum(x, axis).s, sums.a);
  },
  logaddexp: real(logAddExp),
  exp_difference: real((x, y) => x === y ? (x === -Infinity ? 0 : 1) : Math.exp(x - y)),
  cumprod: (x, axis = null) => along(T(x), axis, line => { for (let i = 1; i < line.length; i++) line[i] *= line[i - 1]; }),
  recurrence: (x, a, axis) => {
    a = spread(T(a), T(x).s);
    const step = strides(a.s)[place(axis, a.s.length)];
    return along(T(x), axis, (line, p) => { for (let i = 1; i < line.length; i++) line[i] += a.a[p + i * step] * line[i - 1]; });
  },
  shift: (x, axis, first = 0) => along(T(x), axis, line => { line.unshift(first); line.pop(); }),
  ties: (x, out, axis = null) => {
    const hit = entrywise((p, q) => p === q || p !== p && q !== q ? 1 : 0, "f")(x, out);
    return G.divide(hit, reduced(hit, axis, true, 0, add, total => Math.max(total, 1)));
  },
  count: (x, axis = null, less = 0) => tensor([], Float64Array.of(count(x, axis) - less), Number.isInteger(less) ? "i" : "f"),
  sigmoid: real(sigmoid),
  logSigmoid: real(x => -logAddExp(0, -x)),
  relu: entrywise(x => x > 0 || x !== x ? x : 0),
  leakyRelu: real((x, slope = 0.01) => x > 0 ? x : slope * x),
  elu: real((x, alpha = 1) => x > 0 ? x : alpha * Math.expm1(x)),
  softplus: real(x => logAddExp(0, x)),
  silu: real(x => x * sigmoid(x)),
  gelu: real(x => x * 0.5 * (1 + erf(x * Math.SQRT1_2))),
  softmax: (x, axis = -1) => inSlices(x, axis, line => { const [e, sum] = scaled(line); return e.map(v => v / sum); }),
  logSoftmax: (x, axis = -1) => inSlices(x, axis, line => { const [, sum, top] = scaled(line); return line.map(v => v - top - Math.log(sum)); }),
  crossEntropy: (p, y) => G.negative(weighted(oneHot(y, p), G.log(p))),
  softmaxCrossEntropy: (z, y) => G.negative(weighted(oneHot(y, z), G.logSoftmax(z))),
  sigmoidCrossEntropy: (z, y) => real((v, t) => scale(t, logAddExp(0, -v)) + scale(1 - t, logAddExp(0, v)))(z, oneHot(y, z)),
  squaredError: (x, v) => G.half(G.square(minus(x, oneHot(v, x)))),
  hinge: (z, y) => {
    const target = oneHot(y, z), margin = minus(G.add(1, z), G.sum(G.scale(target, z), -1, true));
    return G.sum(G.mul(minus(1, target), G.relu(margin)), -1, true);
  },
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
  dot_left: (d, a, b) => {
    [d, a, b] = [T(d), T(a), T(b)];
    if (b.s.length === 1) return G.unbroadcast(G.mul(G.reshape(d, [...d.s, 1]), b), a);
    if (a.s.length > 1) return G.unbroadcast(dot(d, mT(b)), a);
    const rows = dot(G.reshape(d, [...d.s.slice(0, -1), 1, last(d)]), mT(b));
    return G.unbroadcast(tensor(rows.s.filter((_, k) => k !== rows.s.length - 2), rows.a), a);
  },
  dot_right: (d, a, b) => {
    [d, a, b] = [T(d), T(a), T(b)];
    if (a.s.length === 1) return G.unbroadcast(b.s.length === 1 ? G.mul(a, d) : G.mul(G.reshape(a, [a.s[0], 1]), G.reshape(d, [...d.s.slice(0, -1), 1, last(d)])), b);
    if (b.s.length > 1) return G.unbroadcast(dot(mT(a), d), b);
    return tensor(b.s, G.unbroadcast(dot(mT(a), G.reshape(d, [...d.s, 1])), tensor([...b.s, 1], b.a)).a);
  },
  outer: (a, b) => G.mul(G.reshape(T(a), [-1, 1]), G.reshape(T(b), [1, -1])),
  einsum,
  einsum_back: (x, like, [kept, mine]) => {
    x = T(x);
    const unique = [...new Set(mine)], lead = like.s.length - mine.length, own = strides(like.s), out = filled(like.s, 0);
    const shape = [...like.s.slice(0, lead), ...unique.map(c => like.s[lead + mine.indexOf(c)])];
    const at = positions(shape, [...own.slice(0, lead), ...unique.map(c => [...mine].reduce((sum, d, k) => sum + (d === c ? own[lead + k] : 0), 0))]);
    const dots = x.s.length - kept.length, spreadShape = [...x.s.slice(0, dots), ...unique.map(c => kept.includes(c) ? x.s[dots + kept.indexOf(c)] : 1)];
    const whole = [...spreadShape.slice(0, dots), ...unique.map((c, k) => kept.includes(c) ? spreadShape[dots + k] : shape[lead + k])];
    const y = G.unbroadcast(spread(tensor(spreadShape, x.a), whole), filled(shape, 0));
    at.forEach((p, i) => { out.a[p] = y.a[i]; });
    return out;
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
    x = T(x);
    const pairs = widthsOf(widths, x.s.length), shape = x.s.map((n, k) => n + pairs[k][0] + pairs[k][1]), out = filled(shape, 0), own = strides(shape);
    positions(x.s, own, pairs.reduce((sum, [before], k) => sum + before * own[k], 0)).forEach((p, i) => { out.a[p] = x.a[i]; });
    return out;
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
  diag_back: (d, x, k = 0) => {
    x = T(x);
    if (x.s.length === 1) return G.diag(d, k);
    const out = filled(x.s, 0), m = x.s[1];
    T(d).a.forEach((v, i) => { out.a[(i + Math.max(0, -k)) * m + i + Math.max(0, k)] = v; });
    return out;
  },
  concat: (axis, ...arrays) => joined(axis, arrays),
  stack: (axis, ...arrays) => {
    const n = T(arrays[0]).s.length + 1, k = place(axis, n);
    return joined(k, arrays.map(T).map(x => tensor([...x.s.slice(0, k), 1, ...x.s.slice(k)], x.a)));
  },
  getitem: (x, ...keys) => gather(T(x), ...indexed(T(x).s, keys)),
  scatterAdd: (d, like, ...keys) => {
    const [shape, at] = indexed(like.s, keys), out = filled(like.s, 0), parts = spread(T(d), shape);
    at.forEach((p, i) => { out.a[p] += parts.a[i]; });
    return out;
  },
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
