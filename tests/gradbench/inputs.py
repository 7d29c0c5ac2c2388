"""What GradBench's evals send: drawn as their generators say, or read from files where they have such."""
from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

# ba/ and ht/
FILES = Path(os.environ.get("GRADBENCH_FILES") or Path(__file__).parents[3] / "shared" / "data" / "gradbench")
SEED = 31337


def hello() -> Iterator[tuple[str, str, object]]:
    yield "square", "1", 1.0
    yield "double", "3", 3.0


def gmm(d: int = 2, k: int = 5, n: int = 1000, m: int = 0) -> Iterator[tuple[str, str, object]]:
    rng = np.random.default_rng(seed=SEED)
    rows = lambda draw, count, size: [list(draw(size=size)) for _ in range(count)]
    given = {"d": d, "k": k, "n": n, "m": m, "gamma": 1.0, "x": rows(rng.normal, n, d),
             "alpha": list(rng.normal(size=k)),
             "mu": rows(rng.uniform, k, d), "q": rows(rng.normal, k, d),
             "l": rows(rng.normal, k, d * (d - 1) // 2)}
    return both("objective jacobian", f"{d}·{k}·{n}", given)


def lstm(layers: int = 2, steps: int = 1024, bits: int = 14) -> Iterator[tuple[str, str, object]]:
    rng = np.random.default_rng(SEED)
    draw = lambda *shape: rng.random(shape).tolist()
    given = {"main_params": draw(2 * layers, 4 * bits), "extra_params": draw(3, bits),
             "state": draw(2 * layers, bits),
             # the text's file is not to be had
             "sequence": rng.integers(0, 2, (steps, bits)).astype(float).tolist()}
    return both("objective jacobian", f"{layers}·{steps}", given)


def drawn(*shape: int) -> list:
    return np.random.RandomState(SEED).rand(*shape).tolist()


def lse(n: int = 80_000) -> Iterator[tuple[str, str, object]]:
    return both("primal gradient", f"{n}", {"x": drawn(n)})


def llsq(n: int = 1024, m: int = 128) -> Iterator[tuple[str, str, object]]:
    return both("primal gradient", f"{n}·{m}", {"x": drawn(m), "n": n})


def det(size: int = 8) -> Iterator[tuple[str, str, object]]:
    return both("primal gradient", f"{size}", {"A": drawn(size * size), "ell": size})


def ode(n: int = 1000, steps: int = 10) -> Iterator[tuple[str, str, object]]:
    return both("primal gradient", f"{n}·{steps}", {"x": drawn(n), "s": steps})


def kmeans(k: int = 10, n: int = 10_000, d: int = 16) -> Iterator[tuple[str, str, object]]:
    points = drawn(n, d)
    return both("cost dir", f"{k}·{n}·{d}", {"points": points, "centroids": points[-k:]})


def particle() -> Iterator[tuple[str, str, object]]:
    return both("rr ff fr rf", "w = 0", {"w": 0.0})


def saddle() -> Iterator[tuple[str, str, object]]:
    return both("rr ff fr rf", "(1, 1)", {"start": [1.0, 1.0]})


def ba(number: int = 1) -> Iterator[tuple[str, str, object]]:
    file = only(FILES / "ba", f"ba{number}_*.txt")
    sizes, camera, point, weight, feature = map(str.split, file.read_text().splitlines()[:5])
    given = {**dict(zip("nmp", map(int, sizes), strict=True)), "cam": [*map(float, camera)],
             "x": [*map(float, point)],
             "w": float(weight[0]), "feat": [*map(float, feature)]}
    return both("objective jacobian", file.stem.split("_")[0], given)


def ht(number: int = 1, kind: str = "complicated") -> Iterator[tuple[str, str, object]]:
    file = only(FILES / "ht" / kind, f"hand{number}_*.txt")
    rows = [line.split() for line in file.read_text().splitlines()]
    count, pose = map(int, rows[0][:2])
    seen, rest = rows[1:count + 1], [[*map(float, row)] for row in rows[count + 1:]]
    us = rest[:count] if kind == "complicated" else []
    data = {"model": model(), "correspondences": [int(row[0]) for row in seen],
            "points": [[*map(float, row[1:])] for row in seen]}
    given = {"theta": [row[0] for row in rest[len(us):len(us) + pose]], "data": data, "us": us}
    return both("objective jacobian", f"hand{number} {kind}", given)


@functools.cache
def model() -> dict:
    """The hand: its bones, with a parent each, and its skin, with up to a few bones a vertex."""
    lines = {name: [line.split(":")
                    for line in (FILES / "ht" / "model" / f"{name}.txt").read_text().splitlines()]
             for name in ("bones", "vertices", "triangles")}
    bones, vertices = lines["bones"], lines["vertices"]
    matrices = np.array([[float(x) for x in bone[2:34]] for bone in bones]).reshape(len(bones), 2, 4, 4)
    weights = np.zeros((len(vertices), len(bones)))
    for row, vertex in zip(weights, vertices, strict=True):
        for k in range(int(vertex[8])):
            row[int(vertex[9 + 2 * k])] = float(vertex[10 + 2 * k])
    return {"bone_count": len(bones), "bone_names": [bone[0] for bone in bones],
            "parents": [int(bone[1]) for bone in bones],
            "base_relatives": matrices[:, 0].tolist(), "inverse_base_absolutes": matrices[:, 1].tolist(),
            "base_positions": [[*map(float, vertex[:3]), 1.0] for vertex in vertices],
            "weights": weights.tolist(),
            "triangles": [[*map(int, triangle)] for triangle in lines["triangles"]], "is_mirrored": False}


def both(functions: str, size: str, given: dict) -> Iterator[tuple[str, str, object]]:
    yield from ((function, size, given) for function in functions.split())


def only(folder: Path, pattern: str) -> Path:
    """The file of that name; FileNotFoundError, with the folder, where there is none."""
    if not (found := [*folder.glob(pattern)]):
        raise FileNotFoundError(f"there is no {pattern} in {folder}: it is of GradBench's repository, "
                                "evals/ba/data and evals/ht/data; GRADBENCH_FILES names their folder")
    return found[0]


EVALS: dict[str, Callable] = {make.__name__: make for make in
                              (hello, gmm, ba, ht, lstm, ode, det, lse, llsq, kmeans, particle, saddle)}
