"""Programs with loops, drawn as Python's text: nested, triangular and alternating, with several carries and lags."""
import numpy as np

HEAD = """def program(P):
    a, b, s, H, c1, c2, c3 = P["b"], P["X"][0], P["c"], [], 0.5, 0.5, 0.5
"""
TAIL = """    out = np.sum(a * b) + s + c1
    return out + np.sum(np.tanh(np.stack(H))) if H else out
"""
PLACES = "{i}", "{i}", "-1 - {i}", "2 * {i}", "{i} + 1", "({i} * {i}) % 7", "{i} // 2"
# {v}, {s}: another vector or number; {i}: the index of a loop around; {p}: a place that moves with it
VECTORS = ["a", "b", "a", "P['b']", "P['X'][{p}]", "P['L'][{i} % 4]", "P['T'][{i} % 3, ({i} + 1) % 3]", "P['X'][:3, 1]"]
OF_VECTORS = ["np.tanh({v})", "({v} + {v})", "({v} * 0.3 * {v})", "({v} - {s})", "(P['W'] @ {v} * 0.2)", "np.roll({v}, 1)",
              "np.where({v} > {v}, {v}, {v})", "(np.sin({v}) / (1.0 + {v} ** 2))", "np.maximum({v}, 0.1)", "({v} * ({i} + 1))"]
NUMBERS = ["s", "c1", "c2", "P['c']", "P['y'][{p}]", "P['X'][{p}, 2]"]
OF_NUMBERS = ["np.sum({v})", "(np.dot({v}, {v}) * 0.1)", "np.tanh({s} + {s})", "np.sqrt(1.0 + {s} ** 2)"]
LINES = ["a = {v}", "b = {v}", "s = {s}", "s = s + {s}", "a, b = b, {v}", "H.append({v})",
         "c1, c2, c3 = np.tanh(c3 + 0.5 * c2 - {s}), c1, c2", "if {i} % 2:\n    a = {v}\nelse:\n    b = {v}", "if {i} > 2:\n    s = {s}"]
RANGES = ["range({n})", "range({n})", "range({n} - 1, -1, -1)", "range({i} + 1)", "range({i}, 6)"]


def drawn_text(seed):
    """The text of a function `program` of a dict of parameters."""
    draw = np.random.default_rng(seed)
    one_of = lambda choices: choices[int(draw.integers(len(choices)))]

    def filled(text, indices, depth=0):
        simple = depth > 2 or draw.random() < 0.35
        for mark, leaves, others in (("{v}", VECTORS, OF_VECTORS), ("{s}", NUMBERS, OF_NUMBERS)):
            while mark in text:
                text = text.replace(mark, filled(one_of(leaves if simple else others), indices, depth + 1), 1)
        while "{p}" in text:
            text = text.replace("{p}", one_of(PLACES), 1)
        return text.replace("{i}", one_of(indices)).replace("{n}", str(draw.integers(4, 9)))

    def loop(indices):
        index = "tij"[len(indices)]
        text = f"for {index} in {filled(one_of(RANGES if indices else RANGES[:3]), indices or ['t'])}:\n"
        inside = [*indices, index]
        for _ in range(draw.integers(1, 4)):
            line = loop(inside) if len(inside) < 3 and draw.random() < 0.25 else filled(one_of(LINES), inside)
            text += "".join(f"    {part}\n" for part in line.splitlines())
        return text
    body = "".join(f"    {line}\n" for _ in range(draw.integers(1, 3)) for line in loop([]).splitlines())
    return HEAD + body + TAIL


def drawn_program(seed):
    """(the function, its parameters), of single precision now and then."""
    space = {"np": np}
    exec(drawn_text(seed), space)
    draw = np.random.default_rng(seed)
    normal = lambda *shape: draw.normal(size=shape).astype("f" if seed % 5 == 0 else float)
    return space["program"], {"X": normal(20, 3), "y": normal(20), "T": normal(3, 3, 3), "W": normal(3, 3), "b": normal(3),
                              "c": normal(1)[0], "L": [normal(3) for _ in range(4)]}
