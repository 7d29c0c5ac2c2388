"""Submissions that are alike: equal files first, then fingerprints of the syntax tree.

The fingerprints are those of winnowing (Schleimer, Wilkerson and Aiken, SIGMOD 2003): of the hashes of all
runs of K nodes the least one in each window of W. A run of K + W - 1 nodes that two programs share is always
found, whatever its names, numbers, comments and layout are, and wherever it stands.
"""
from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from ..sandbox.inside.shapes import node_words, runs

K, W = 16, 8
FEW = 4        # fingerprints in common that may be chance
COMMON = 1 / 3  # the share of a class that writes what is nobody's own; of at least FEW programs


class Pair(NamedTuple):
    """Two names, the share of the smaller one's own fingerprints that both have, and their lines in each."""
    one: str
    two: str
    share: float
    lines_of_one: set[int]
    lines_of_two: set[int]


def program_runs(source: str) -> list[tuple[str, set[int]]]:
    """(hash, lines) of each run of K nodes, in order. A program that cannot be parsed has none."""
    try:
        return [*runs([*node_words(ast.parse(source))], K)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def fingerprints(source: str) -> dict[str, set[int]]:
    """The lines of each fingerprint: in each window the last of the least hashes."""
    hashes, chosen = program_runs(source), defaultdict(set)
    for k in range(max(1, len(hashes) - W + 1)):
        if window := hashes[k:k + W]:
            key, lines = min(reversed(window), key=lambda each: each[0])
            chosen[key] |= lines
    return dict(chosen)


def similar_pairs(sources: Mapping[str, str], handed_out: Iterable[str], least: float) -> list[Pair]:
    """The pairs of programs that are alike, the most alike first.

    sources: by name. handed_out: programs that everybody has. least: the share from which on a pair is told.
    """
    handed_out = [*handed_out]
    everybody = {key for source in handed_out for key, _ in program_runs(source)}
    prints = {name: fingerprints(source) for name, source in sources.items()}
    times = Counter(key for keys in prints.values() for key in keys)
    everybody |= {key for key, n in times.items() if n > max(FEW, COMMON * len(sources))}
    rare = {name: keys.keys() - everybody for name, keys in prints.items()}
    equal = {name: source.split() for name, source in sources.items()}
    pairs = []
    for one, two in combinations(sources, 2):
        shared = rare[one] & rare[two]
        share = len(shared) / (min(len(rare[one]), len(rare[two])) or 1) if len(shared) > FEW else 0.0
        if equal[one] == equal[two] not in [source.split() for source in handed_out]:
            share, shared = 1.0, prints[one].keys()
        if share >= least:
            lines = [set().union(*(prints[name][key] for key in shared)) for name in (one, two)]
            pairs.append(Pair(one, two, share, *lines))
    return sorted(pairs, key=lambda pair: (equal[pair[0]] != equal[pair[1]], -pair.share, pair[:2]))
