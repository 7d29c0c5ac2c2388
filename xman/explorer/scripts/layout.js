// The layout of a graph in layers (Sugiyama, Tagawa and Toda 1981): xman/show/picture/layout.py once more, since the page
// draws lists that Python has not seen. Both give the same places; the steps and their names are the same, and explained there.

const GAP = 24;  // pixels between two layers
const sumOf = numbers => numbers.reduce((total, x) => total + x, 0);

// {places: the middle of each node, routes: the points of each link, marks: the middle of its label, width, height}
// sizes: [width, height] of each node. links: [low, high]. labels: [width, height] of each link's label.
function layered(sizes, links, labels) {
  const {cells, level, chains} = chained(sizes, links, labels), near = [cells.map(() => []), cells.map(() => [])];
  for (const chain of chains) chain.slice(1).forEach((b, i) => { near[0][b].push(chain[i]); near[1][chain[i]].push(b); });
  const layers = Array.from({length: 1 + Math.max(0, ...level)}, () => []);
  level.forEach((k, cell) => layers[k].push(cell));
  const order = orderedLayers(layers, near), x = columnPlaces(order, near, cells.map(([w]) => w));
  const left = Math.min(...cells.map(([w], c) => x[c] - w / 2)) - GAP / 2, tall = order.map(layer => Math.max(0, ...layer.map(c => cells[c][1])));
  const middle = tall.map((t, k) => sumOf(tall.slice(k + 1)) + t / 2 + GAP * (tall.length - k - 0.5));
  const places = level.map((k, c) => [x[c] - left, middle[k]]), routes = routed(chains, cells, places, level.map(k => tall[k]));
  const marks = chains.map((chain, k) => { const label = chain.slice(1, -1).find(c => cells[c][1]); return label === undefined ? routes[k][0] : places[label]; });
  const width = Math.max(...places.map(([at], c) => at + cells[c][0] / 2)) + GAP / 2;
  return {places: places.slice(0, sizes.length), routes, marks, width, height: sumOf(tall) + GAP * tall.length};
}

function chained(sizes, links, labels) {
  const rank = sizes.map(() => 0), readers = sizes.map(() => []), computed = new Set(links.map(([, high]) => high));
  for (const [low, high] of [...links].sort((a, b) => a[1] - b[1])) { rank[high] = Math.max(rank[high], rank[low] + 1); readers[low].push(high); }
  readers.forEach((highs, low) => { if (highs.length && !computed.has(low)) rank[low] = Math.min(...highs.map(high => rank[high])) - 1; });
  const cells = [...sizes], level = rank.map(k => 2 * k);
  const chains = links.map(([low, high], i) => {
    const chain = [low], middle = labels[i][0] ? 2 * Math.floor((rank[low] + rank[high] - 1) / 2) + 1 : null;
    for (let k = 2 * rank[low] + 1; k < 2 * rank[high]; k++) { chain.push(cells.length); cells.push(k === middle ? labels[i] : [4, 0]); level.push(k); }
    return [...chain, high];
  });
  return {cells, level, chains};
}

function routed(chains, cells, places, tall) {
  const ends = new Map(), ports = new Map();
  chains.forEach((chain, k) => { added(ends, `${chain[0]} up`, [places[chain[1]][0], k]); added(ends, `${chain.at(-1)} down`, [places[chain.at(-2)][0], k]); });
  for (const [end, others] of ends) {
    const cell = parseInt(end);
    others.sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([, k], i) => ports.set(`${end} ${k}`, places[cell][0] + cells[cell][0] * 0.7 * ((i + 0.5) / others.length - 0.5)));
  }
  return chains.map((chain, k) => {
    const [low, high] = [chain[0], chain.at(-1)], [start, end] = [ports.get(`${low} up ${k}`), ports.get(`${high} down ${k}`)];
    return [...[cells[low][1], tall[low]].map(s => [start, places[low][1] - s / 2]),
      ...chain.slice(1, -1).flatMap(c => [1, -1].map(s => [places[c][0], places[c][1] + s * tall[c] / 2])),
      ...[tall[high], cells[high][1]].map(s => [end, places[high][1] + s / 2])];
  });
}

function orderedLayers(layers, near) {
  let best = layers, fewest = crossings(layers, near[1]);
  for (let turn = 0; turn < 24 && fewest; turn++) {
    const place = new Map(layers.flatMap(layer => layer.map((c, i) => [c, i])));
    const mean = c => { const ends = near[turn % 2][c]; return ends.length ? sumOf(ends.map(a => place.get(a))) / ends.length : place.get(c); };
    layers = layers.map(layer => [...layer]);
    for (const layer of turn % 2 ? [...layers].reverse() : layers) {
      const means = new Map(layer.map(c => [c, mean(c)]));
      layer.sort((a, b) => means.get(a) - means.get(b)).forEach((c, i) => place.set(c, i));
    }
    const crossed = crossings(layers, near[1]);
    if (crossed < fewest) [best, fewest] = [layers, crossed];
  }
  return best;
}
function crossings(layers, above) {
  let total = 0;
  layers.slice(1).forEach((upper, k) => {
    const place = new Map(upper.map((c, i) => [c, i])), passed = Array(upper.length).fill(0);  // how many links ended at each place
    for (const c of layers[k]) for (const end of above[c].map(a => place.get(a)).sort((a, b) => a - b)) { total += sumOf(passed.slice(end + 1)); passed[end]++; }
  });
  return total;
}

function columnPlaces(layers, near, widths) {
  const x = widths.map(() => 0), both = near[0].map((below, c) => [...below, ...near[1][c]]);
  for (let turn = 0; turn < 40; turn++) {
    const ends = turn < 30 ? near[turn % 2] : both;
    for (const layer of turn % 2 ? [...layers].reverse() : layers) {
      const targets = layer.map(c => ends[c].length ? sumOf(ends[c].map(a => x[a])) / ends[c].length : x[c]);
      placedApart(targets, layer.map(c => widths[c])).forEach((place, i) => { x[layer[i]] = place; });
    }
  }
  return x;
}
// Least squares by pooling: neighbours that would overlap become one block, at the mean of what they aim at.
function placedApart(targets, widths) {
  const offsets = [0], blocks = [];
  widths.slice(1).forEach((w, i) => offsets.push(offsets[i] + (widths[i] + w) / 2 + 14));
  targets.forEach((target, i) => {
    let block = [target - offsets[i], 1];
    while (blocks.length && blocks.at(-1)[0] >= block[0]) { const [mean, n] = blocks.pop(), m = n + block[1]; block = [(mean * n + block[0] * block[1]) / m, m]; }
    blocks.push(block);
  });
  return blocks.flatMap(([mean, n]) => Array(n).fill(mean)).map((place, i) => place + offsets[i]);
}
