"""Compares results of a submission with the right ones, and says how they differ, but not the right result.

A difference is a Wrong, the feedback of the part: what came back, what was expected, where to look next.
"""
from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

SHOWN = 160  # the most characters of a value that is shown


class Wrong(Exception):
    """A part is not right. It says what was expected, what came back, where to look next, and what was given.

    If came_back or look is None it comes from the last call, or is left out. credit: points in spite of it.
    """

    given: str | None = None

    def __init__(self, expected: str, came_back: Any = None, look: str | None = None, credit: float = 0.0):
        super().__init__(expected)
        self.expected, self.look, self.credit = expected, look, credit
        shown = came_back is None or isinstance(came_back, str)
        self.came_back = came_back if shown else shown_value(came_back)


class Failed(Wrong):
    """The submission gave no answer: it raised an error, is not written yet, or its process ended."""


@contextlib.contextmanager
def given(call: str | list[tuple] | None = None, look: str | None = None, failed: str | None = None,
          **values: Any) -> Iterator[None]:
    """A context: a Wrong inside says that this was given, and has this hint if it has none of its own.

    call: the input in words, or a Wengert list. values: those that go with it. look: the hint. failed: the
    hint for a submission that raised an error (None: look). A function that is not written yet gets no hint.
    """
    try:
        yield
    except Wrong as wrong:
        input_text = call if call is None or isinstance(call, str) else listing(call)
        value_texts = [f"{name} = {shown_value(value, 400)}" for name, value in values.items()]
        wrong.given = wrong.given or ", ".join([*filter(None, [input_text]), *value_texts]) or None
        if not str(wrong.came_back).startswith("not written yet"):
            wrong.look = wrong.look or (failed or look if isinstance(wrong, Failed) else look)
        raise


def told(words: str) -> Callable:
    """Decorate a part with what it was given, a format of its case's arguments ("train with {0} epochs")."""
    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def with_input(student: Any, rng: Any, *case: Any) -> float | None:
            with given(words.format(*case)):
                return function(student, rng, *case)
        return with_input
    return decorate


def slip(got: Any, slips: Iterable[tuple[Any, str]], otherwise: str | None = None) -> str | None:
    """The sentence of the slip that gives the result `got`, or `otherwise`. slips: (result, sentence)."""
    if isinstance(got, (int, float, np.ndarray)):
        for value, sentence in slips:
            if np.shape(got) == np.shape(value) and np.allclose(got, value):
                return sentence
    return otherwise


def listing(steps: Sequence[tuple], width: int = 1500) -> str:
    """A Wengert list on one line: z1 = mul(h, w); z2 = half(z1)."""
    written = lambda a: a if isinstance(a, str) else repr(a)
    text = "; ".join(f"{dst} = {op}({', '.join(map(written, args))})" for dst, op, args in steps)
    text = text or "the empty list"
    return text if len(text) <= width else f"{text[:width // 2]} … {text[-width // 2:]}"


def shown_value(value: Any, width: int = SHOWN) -> str:
    """The value in at most `width` characters; an array with its shape, a function by its name."""
    if isinstance(value, np.ndarray):
        numbers = " ".join(np.array2string(value, precision=4, threshold=6, edgeitems=2).split())
        text = f"{numbers}, shape {value.shape}"
    elif callable(value):
        text = getattr(value, "__name__", "a function")
    elif isinstance(value, float):
        text = f"{value:.10g}"
    elif isinstance(value, (list, tuple)):
        ellipsis = [f"… {len(value)} in all"] * (len(value) > 8)
        inner = ", ".join([*(shown_value(item, width) for item in value[:8]), *ellipsis])
        text = f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    elif isinstance(value, dict):
        entries = [f"{shown_value(key)}: {shown_value(item, width)}"
                   for key, item in [*value.items()][:6]]
        text = f"{{{', '.join(entries + ['…'] * (len(value) > 6))}}}"
    else:
        text = repr(value)
    return text if len(text) <= width else text[:width - 2] + " …"


def expect(got: Any, want: Any, what: str, look: str | None = None, tolerance: float = 1e-9) -> None:
    """Wrong unless got equals want: in type, shape, finiteness, and in each element up to the tolerance.

    want: a number, an array, a string, None, or lists, tuples and dicts of them. what: its name in words.
    look: a hint. tolerance: relative and absolute.
    """
    if isinstance(want, Mapping):
        expect_mapping(got, want, what)
        for name, want_item in want.items():
            expect(got[name], want_item, f"{what}[{name!r}]", look, tolerance)
    elif isinstance(want, (list, tuple)):
        expect_that(isinstance(got, (list, tuple)), f"{what}: {len(want)} items", sort_of(got), look)
        if len(got) != len(want):
            raise Wrong(f"{what}: {len(want)} items", f"{len(got)} items: {shown_value(got)}", look)
        for k, (got_item, want_item) in enumerate(zip(got, want, strict=True)):
            expect(got_item, want_item, f"{what}[{k}]", look, tolerance)
    elif want is None or isinstance(want, (str, bool)):
        if type(got) is not type(want) or got != want:
            kind = "None" if want is None else sort_of(want)
            description = f"another {type(want).__name__}" if type(got) is type(want) else kind
            raise Wrong(f"{what}: {description}", got, look)
    else:
        expect_numbers(got, want, what, look, tolerance)


def expect_numbers(got: Any, want: Any, what: str, look: str | None, tolerance: float) -> None:
    """Wrong unless both are numbers of one shape and agree; an infinite or NaN element has to be the same."""
    bools, want = np.asarray(want).dtype == bool, np.asarray(want, dtype=float)
    kind = f"an array of shape {want.shape}" if want.ndim else "a number"
    numbers = isinstance(got, (int, float, np.ndarray)) and not isinstance(got, bool)
    expect_that(numbers, f"{what}: {kind}", sort_of(got), look)
    if isinstance(got, np.ndarray) and got.dtype == bool and not bools:
        raise Wrong(f"{what}: numbers", "True and False", look)
    got = np.asarray(got, dtype=float)
    if got.shape != want.shape:
        look = look or about_shapes(got.shape, want.shape)
        raise Wrong(f"{what}: shape {want.shape}", f"shape {got.shape}", look)
    with np.errstate(all="ignore"):
        close = np.isfinite(want) & (np.abs(got - want) <= tolerance * (1 + np.abs(want)))
    wrong = ~(close | (got == want) | (np.isnan(got) & np.isnan(want)))
    if not wrong.any():
        return
    strange = ~np.isfinite(got) & np.isfinite(want)
    place = tuple(np.argwhere(strange if strange.any() else wrong)[0].tolist())
    at_place = f" at {list(place)}" if place else ""
    if strange.any():
        raise Wrong(f"{what}: finite numbers", f"{got[place]}{at_place}", look or NOT_FINITE)
    off = f"and {wrong.sum()} of {want.size} elements that are off" if want.size > 1 else "which is off"
    with np.errstate(all="ignore"):
        about = about_numbers(got, want, tolerance)
    if look and about:
        about = f"{look} {about}" if look[-1] in ".?!…" else f"{look}. {about}"
    raise Wrong(f"{what} to agree to {tolerance:.0e}", f"{got[place]:.10g}{at_place}, {off}", about or look)


NOT_FINITE = "Where does it overflow, or divide by zero? Look at large exponents and small denominators."
DIAGNOSES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "It is twice what it should be.": lambda x: 2 * x,
    "It is half of what it should be.": lambda x: x / 2,
    "It is transposed.": lambda x: x.T,
    "It is too large by the number of rows, as a sum in the place of a mean is.": lambda x: x * len(x),
    "It is too small by the number of rows, as a mean in the place of a sum is.": lambda x: x / len(x),
}


def about_numbers(got: np.ndarray, want: np.ndarray, tolerance: float) -> str | None:
    """A sentence for a slip that the numbers reveal: the sign, zeros, a transposition, a factor."""
    if np.allclose(got, -want, tolerance, tolerance):
        return "Its sign is the other way round."
    sizes = np.unique(np.abs(want[want.astype(bool) & np.isfinite(want)]))
    if len(sizes) < 2:
        return None
    if not got.any():
        return "It is zero everywhere: does anything arrive here?"
    for sentence, slip in DIAGNOSES.items():
        guess = slip(want)
        alike = guess.shape == got.shape and np.allclose(got, guess, tolerance, tolerance)
        if alike and not np.allclose(guess, want, tolerance, tolerance):
            return sentence
    largest = np.unravel_index(np.nanargmax(np.where(np.isfinite(want), np.abs(want), 0)), want.shape)
    factor = got[largest] / want[largest]
    same = factor != 1 and np.allclose(got, factor * want, 1e-6)
    return "All elements are off by one and the same factor." if same else None


def about_shapes(got: tuple[int, ...], want: tuple[int, ...]) -> str | None:
    """A sentence for two shapes that are alike."""
    if got == want[::-1]:
        return "Is it transposed?"
    if math.prod(got) == math.prod(want):
        return "Did a sum or a reshape lose an axis, or keep one too many (keepdims)?"
    if len(got) == len(want) and all(g in (w, 1) or w == 1 for g, w in zip(got, want, strict=True)):
        return "Was a broadcast not undone, or done twice? The derivative has the shape of its argument."
    return None


def sort_of(value: Any) -> str:
    """The kind of a value in words, without the value itself."""
    if value is None:
        return "nothing (None): is a return missing?"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return {int: "a number", float: "a number", str: "a string"}.get(type(value), f"a {type(value).__name__}")


def expect_that(condition: Any, expected: str, came_back: Any = None, look: str | None = None) -> None:
    """Wrong, with expected ("rows that sum to 1"), came_back and look, a hint, unless the condition holds."""
    if not condition:
        raise Wrong(expected, came_back, look)


def expect_mapping(got: Any, names: Iterable[Any], what: str, look: str | None = None) -> None:
    """Wrong unless got is a dict with these names as keys. what: its name. look: a hint for a missing one."""
    expect_that(isinstance(got, dict), f"{what}: a dict", sort_of(got))
    if missing := [name for name in names if name not in got]:
        keys = ", ".join(map(shown_value, missing[:4]))
        raise Wrong(f"{what}: an entry for {keys}", f"entries for {shown_value(list(got))}", look)


def expect_probabilities(got: Any, shape: tuple[int, ...], what: str, tolerance: float = 1e-6) -> None:
    """Wrong unless got is an array of this shape whose rows are probabilities with sum 1 ± tolerance.
    what: its name in words."""
    if not isinstance(got, np.ndarray) or got.shape != shape or got.dtype == bool:
        raise Wrong(f"{what}: an array of shape {shape}", sort_of(got))
    expect_that(np.isfinite(got).all(), f"{what}: finite numbers", got, NOT_FINITE)
    expect_that((got >= -tolerance).all(), f"{what}: no negative probability", f"{got.min(initial=0):.6g}")
    with np.errstate(all="ignore"):
        sums = got.sum(-1)
    if not np.allclose(sums, 1, atol=tolerance):
        worst = f"a row of sum {sums.flat[np.abs(sums - 1).argmax()]:.6g}"
        raise Wrong(f"{what}: rows that sum to 1", worst, "Over which axis does softmax normalise?")


def expect_share(credit: float, expected: str, came_back: Any, look: str | None = None) -> None:
    """Wrong with this credit if that is below 1: so the feedback is in words, not the call's arguments."""
    if credit < 1:
        raise Wrong(expected, came_back, look, credit)


def scale(x: float, none: float, full: float) -> float:
    """The credit for x: 0 at `none`, 1 at `full`, linear in between; 0 for NaN."""
    share = (float(x) - none) / (full - none)
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0
