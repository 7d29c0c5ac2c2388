"""Tasks 1 and 2: names as numbers, and where the parameters begin."""
import math

import numpy as np

from xman.grade import expect, expect_mapping, expect_that, given

from ..public.checks import beginning, reading
from ..solution import mlp as reference

LETTERS = "abcdefghijklmnopqrstuvwxyzäéíñøőšž '-"
CLASSES = [f"language {k}" for k in range(7)]
SIZES = [("two layers", (11, 5, 3)), ("four layers", (4, 9, 6, 7, 2)), ("one layer", (13, 6))]


def shuffled(rng, items):
    """The items in another order, Python's strings again."""
    return [str(item) for item in rng.permutation(list(items))]


def words(rng, how_many, longest, letters=LETTERS):
    """Random titles of at least one letter."""
    return ["".join(rng.choice(list(letters), rng.integers(1, longest + 1))) for _ in range(how_many)]


@reading.part("lines of a file", points=5, cases=["plain", "line ends", "percent signs", "an encoded tab", "nothing else"])
def lines_of_a_file(student, rng, kind):
    titles = [word + "x" for word in words(rng, 6, 8, LETTERS.replace(" ", ""))]
    labels, encoded, ends, look = shuffled(rng, CLASSES)[:6], titles, [""] * 6, None
    if kind == "line ends":
        ends, look = ["\n", "\r\n", ""] * 2, "is the line's end, \\n or \\r\\n, still there?"
    elif kind == "percent signs":
        titles = [f"{title}%é" for title in titles]
        encoded = [title.replace("%", "%25").replace("é", "%C3%A9").replace("ž", "%c5%be") for title in titles]
        look = "a title is percent-encoded: see urllib.parse.unquote"
    elif kind == "an encoded tab":
        titles = [f"{title}\tx" for title in titles]
        encoded = [title.replace("\t", "%09") for title in titles]
        look = "%09 is a character of the title: which comes first, cutting at the TAB or decoding?"
    elif kind == "nothing else":
        titles = encoded = [f" {title}+" for title in titles]
        labels, look = [f"{label} 5%25" for label in labels], "blanks and + stand for themselves, and a label is not encoded"
    lines = [f"{title}\t{label}{end}" for title, label, end in zip(encoded, labels, ends, strict=True)]
    found = student.read(lines)
    expect_that(isinstance(found, (tuple, list)) and len(found) == 2, "two lists: titles, labels", look="return titles, labels")
    expect(found[0], titles, "the titles", look=look)
    expect(found[1], labels, "the labels", look=look)


@reading.part("the order of characters and classes", points=2, cases=["characters", "classes"])
def the_order(student, rng, kind):
    items = "bAaB" + "".join(words(rng, 5, 9)) if kind == "characters" else shuffled(rng, CLASSES * 3)
    expect(student.distinct(items), reference.distinct(items), "the items, each once",
           look="their order numbers the columns: it has to be the same at each run, which the order of a set is not")


@reading.part("one-hot characters", points=6, cases=["as long as max_len", "shorter", "cut off"])
def one_hot_characters(student, rng, kind):
    alphabet, look = shuffled(rng, LETTERS), "X[title, position, column of the character] is 1, all else 0"
    titles = words(rng, 9, 5 if kind == "shorter" else 15)
    if kind == "as long as max_len":
        titles = [title.ljust(7, "e")[:7] for title in titles]
    elif kind == "shorter":
        look = "behind the end of a title every column is 0, the last one too"
    else:
        look = "of a long title the first max_len characters are kept"
    with given(failed="X[title, position, column of the character]: which of the three comes first?"):
        got = student.encode(titles, alphabet, 7)
    expect(got, reference.encode(titles, alphabet, 7), "X", look=look)


@reading.part("characters that training has not seen", points=4, hidden=True, cases=["some", "a whole title", "an empty title"])
def unseen_characters(student, rng, kind):
    alphabet = shuffled(rng, LETTERS)[:12]
    titles = {"some": words(rng, 9, 9), "a whole title": ["№§№"], "an empty title": ["", "№", ""]}[kind]
    expect(student.encode(titles, alphabet, 6), reference.encode(titles, alphabet, 6), "X",
           look="an unknown character goes to the last column; padding goes to none")


@reading.part("one-hot labels", points=3, cases=["all classes", "some of the classes"])
def one_hot_labels(student, rng, kind):
    labels = shuffled(rng, CLASSES * 2 if kind == "all classes" else CLASSES[1:4] * 3)
    classes = shuffled(rng, CLASSES)
    expect(student.targets(labels, classes), reference.targets(labels, classes), "Y",
           look="a column for each of the classes that are given, in their order, also where no label has it")


class Draws:
    """A `uniform` whose place between low and high depends on the size of the array alone: any order of drawing serves."""

    def __init__(self, rng):
        self.rng, self.places, self.calls = rng, {}, 0

    def uniform(self, low, high, shape):
        self.calls += 1
        shape = tuple(int(n) for n in np.atleast_1d(shape))
        size = math.prod(shape)
        if not 0 <= size <= 10_000:
            raise ValueError(f"uniform was asked for an array of shape {shape}; no layer here is as large as that")
        if size not in self.places:
            self.places[size] = self.rng.uniform(0, 1, size)
        return float(low) + (float(high) - float(low)) * self.places[size].reshape(shape)


def begun(student, rng, sizes):
    """The student's parameters, those of the reference, and how often uniform was called by the student."""
    draws = Draws(rng)
    found, calls = student.start(list(sizes), draws.uniform), draws.calls
    want = reference.start(sizes, draws.uniform)
    expect_mapping(found, want, "the parameters")
    return found, want, calls


def in_shape(found, want):
    """The array in the shape that is wanted, where it has as many elements: shapes are another part."""
    return found.reshape(want.shape) if isinstance(found, np.ndarray) and found.size == want.size else found


@beginning.part("a matrix and a row of biases for each layer", points=4, cases=SIZES)
def the_shapes(student, rng, kind, sizes):
    found, want, calls = begun(student, rng, sizes)
    expect_that(len(found) == len(want), f"{len(want)} parameters, two for each of the {len(sizes) - 1} layers", list(found))
    for name, w in want.items():
        look = "(rows, inputs)·(inputs, outputs) is the product" if name[0] == "W" else "a row, which is added to each row of X·W"
        expect_that(isinstance(found[name], np.ndarray), f"{name}: an array", found[name])
        expect_that(found[name].shape == w.shape, f"{name} of shape {w.shape}", f"shape {found[name].shape}", look)
        expect_that(np.isfinite(found[name]).all(), f"{name} of finite numbers", found[name])
    expect_that(calls == len(want), f"uniform called {len(want)} times, once for each array", f"{calls} calls")


@beginning.part("Glorot's bounds", points=6, cases=SIZES)
def the_bounds(student, rng, kind, sizes):
    found, want, _ = begun(student, rng, sizes)
    for name in [name for name in want if name[0] == "W"]:
        w = in_shape(found[name], want[name])
        expect_that(not isinstance(w, np.ndarray) or len(np.unique(w)) > 1, f"{name} with different elements", w,
                    "where all weights are alike, all hidden units compute the same and have the same delta (8.13), forever")
        expect(w, want[name], f"{name}, drawn between −limit and limit",
               look="limit = √(6/(inputs + outputs)) of this layer, and each element a draw: uniform(-limit, limit, shape)")


@beginning.part("biases within ±0.1", points=4, cases=SIZES)
def the_biases(student, rng, kind, sizes):
    found, want, _ = begun(student, rng, sizes)
    for name in [name for name in want if name[0] == "b"]:
        expect(in_shape(found[name], want[name]), want[name], f"{name}, drawn between −0.1 and 0.1",
               look="the biases' bounds are the same for every layer: uniform(-0.1, 0.1, shape)")
