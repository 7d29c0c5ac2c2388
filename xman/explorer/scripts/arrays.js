// Arrays in float64, as operators take and give them: {s: shape, a: entries in C order, k: kind}, kind "f" of floats, "i" of
// whole numbers, "b" of truth values; their axes, indices and products, and square matrices.

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

const matrices = (a, b) => [T(a).s.length === 1 ? G.reshape(a, [1, -1]) : T(a), T(b).s.length === 1 ? G.reshape(b, [-1, 1]) : T(b)];
const productLike = (d, A, B) => G.reshape(d, [...commonShape(A.s.slice(0, -2), B.s.slice(0, -2)), A.s.at(-2), last(B)]);
function dot(a, b) {
  [a, b] = [T(a), T(b)];
  if (!a.s.length || !b.s.length) fail("a product of matrices needs arrays with an axis; of numbers write mul");
  const [A, B] = matrices(a, b);
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
  if (x.s.length < 2) fail(`this operator takes a matrix, not an array of shape ${shapeText(x.s)}`);
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
