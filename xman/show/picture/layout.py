"""The layout of a graph: the places of its nodes and arrows, in layers (Sugiyama, Tagawa and Toda 1981).

It is here because pages need pictures also without Graphviz, which pip cannot install. A list of 100 lines
takes half a second, an LSTM's 256 lines take three. The explorer's page draws lists that Python has not
seen, those that a reader types: `explorer/scripts/layout.js` is this file in the page's language, function by
function, and a test compares the places that both give.
"""
from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Sequence
from itertools import chain, pairwise
from operator import itemgetter
from statistics import fmean

import numpy as np

from ...errors import XManError

MOST_CELLS = 15_000  # the most cells of a layout: nodes, and places where arrows pass a layer
GAP = 24        # pixels between two layers
Pair = tuple[float, float]
Near = tuple[list[list[int]], list[list[int]]]  # the neighbours of each cell, below and above


def layout(sizes: Sequence[Pair], links: Sequence[tuple[int, int]], labels: Sequence[Pair]) -> tuple:
    """(the middle of each node, the points of each link, the middle of its label, (width, height)).

    sizes: (width, height) of each node. links: (low, high), with low before high. labels: (width, height) of
    each link's label. A link has a cell of its own in each layer between its ends; one of these cells is as
    large as its label, so that nothing overlaps.
    """
    cells, level, chains = chained(sizes, links, labels)
    near: Near = ([[] for _ in cells], [[] for _ in cells])
    for a, b in chain.from_iterable(map(pairwise, chains)):
        near[0][b].append(a)
        near[1][a].append(b)
    layers: list[list[int]] = [[] for _ in range(max(level, default=0) + 1)]
    for cell, k in enumerate(level):
        layers[k].append(cell)
    layers = ordered_layers(layers, near)
    x = column_places(layers, near, [w for w, _ in cells])
    left = min((x[c] - w / 2 for c, (w, _) in enumerate(cells)), default=0) - GAP / 2
    tall = [max(cells[c][1] for c in layer) if layer else 0 for layer in layers]
    middles = [sum(tall[k + 1:]) + tall[k] / 2 + GAP * (len(tall) - k - 0.5) for k in range(len(tall))]
    places = [(x[c] - left, middles[k]) for c, k in enumerate(level)]
    routes = routed(chains, cells, places, [tall[k] for k in level])
    marks = [next((places[c] for c in inner if cells[c][1]), way[0])
             for (_, *inner, _), way in zip(chains, routes, strict=True)]
    right = max((place[0] + w / 2 for place, (w, _) in zip(places, cells, strict=True)), default=0) + GAP / 2
    return places[:len(sizes)], routes, marks, (right, sum(tall) + GAP * len(tall))


def chained(sizes: Sequence[Pair], links: Sequence[tuple[int, int]], labels: Sequence[Pair]) -> tuple:
    """(the size of each cell, its layer, the cells of each link). A link has a cell in each layer between."""
    rank = [0] * len(sizes)
    for low, high in sorted(links, key=itemgetter(1)):
        rank[high] = max(rank[high], rank[low] + 1)
    for leaf in {low for low, _ in links} - {high for _, high in links}:  # just below its first reader
        rank[leaf] = min(rank[high] for low, high in links if low == leaf) - 1
    cells, level, chains = list(sizes), [2 * k for k in rank], []
    for (low, high), label in zip(links, labels, strict=True):
        passed = range(2 * rank[low] + 1, 2 * rank[high])
        chains.append([low, *range(len(cells), len(cells) + len(passed)), high])
        middle = (rank[low] + rank[high] - 1) // 2 * 2 + 1 if label[0] else None  # a layer without nodes
        cells += [label if k == middle else (4.0, 0.0) for k in passed]
        level += passed
        if len(cells) > MOST_CELLS:
            raise XManError(f"a picture of {len(sizes):,} nodes and {len(links):,} arrows is too large to be "
                            "read: draw a part of it, or take dot() and Graphviz")
    return cells, level, chains


def routed(chains: list[list[int]], cells: list[Pair], places: list[Pair], tall: list[float]) -> list:
    """The points of each link; several links at one node are side by side. tall: the height of each layer."""
    ends: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for k, cell in enumerate(chains):
        ends.setdefault((cell[0], True), []).append((places[cell[1]][0], k))
        ends.setdefault((cell[-1], False), []).append((places[cell[-2]][0], k))
    ports = {(cell, k, up): places[cell][0] + cells[cell][0] * 0.7 * ((i + 0.5) / len(links) - 0.5)
             for (cell, up), links in ends.items() for i, (_, k) in enumerate(sorted(links))}
    routes = []
    for k, (low, *inner, high) in enumerate(chains):
        start, end = ports[low, k, True], ports[high, k, False]
        routes.append([*((start, places[low][1] - s / 2) for s in (cells[low][1], tall[low])),
                       *((places[c][0], places[c][1] + s * tall[c] / 2) for c in inner for s in (1, -1)),
                       *((end, places[high][1] + s / 2) for s in (tall[high], cells[high][1]))])
    return routes


def ordered_layers(layers: list[list[int]], near: Near) -> list[list[int]]:
    """The layers in an order with few crossings: cells go to their neighbours' mean place, up and down."""
    best, fewest = layers, crossings(layers, near[1])  # a sweep can make it worse: the best is kept
    for turn in range(24):
        if not fewest:
            break
        layers = [list(layer) for layer in layers]
        place = {c: i for layer in layers for i, c in enumerate(layer)}
        for layer in layers[::-1] if turn % 2 else layers:
            means = {c: fmean([place[a] for a in near[turn % 2][c]] or [place[c]]) for c in layer}
            layer.sort(key=means.__getitem__)
            place |= {c: i for i, c in enumerate(layer)}
        if (crossed := crossings(layers, near[1])) < fewest:
            best, fewest = layers, crossed
    return best


def crossings(layers: list[list[int]], above: list[list[int]]) -> int:
    total = 0
    for lower, upper in pairwise(layers):
        place, passed = {c: i for i, c in enumerate(upper)}, []
        for end in (end for c in lower for end in sorted(place[a] for a in above[c])):
            total += len(passed) - bisect(passed, end)
            insort(passed, end)
    return total


def column_places(layers: list[list[int]], near: Near, widths: Sequence[float]) -> list[float]:
    """The middle of each cell, as near to its neighbours' mean as the order and the widths allow."""
    x = [0.0] * len(widths)
    for turn in range(40):  # by turns under the neighbours below and above, at the end between both
        ends = near[turn % 2] if turn < 30 else [below + above for below, above in zip(*near, strict=True)]
        for layer in layers[::-1] if turn % 2 else layers:
            targets = [sum(x[a] for a in ends[c]) / len(ends[c]) if ends[c] else x[c] for c in layer]
            places = placed_apart(targets, [widths[c] for c in layer]) if len(layer) > 1 else targets
            for c, place in zip(layer, places, strict=True):
                x[c] = place
    return x


def placed_apart(targets: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to the targets, by least squares, where cells of these widths do not overlap."""
    from scipy.optimize import isotonic_regression

    offsets = np.cumsum([0.0, *((a + b) / 2 + 14 for a, b in pairwise(widths))])
    return (isotonic_regression(np.subtract(targets, offsets)).x + offsets).tolist()
