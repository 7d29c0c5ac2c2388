"""The graded parts of tasks 4 and 5: descent, and what is wrong with a list."""
import re

from xman.grade import Wrong, expect, expect_mapping, expect_that, given, scale

from .answers import expect_sentence
from .lists import ARITY, DG, FAULTS, G, bowl, number, planted, random_list
from .public.checks import descent, pair, validity
from .solution import wengert as reference

# ---- task 4: descend -------------------------------------------------------------------------------------------------

@descent.part("descend: the inputs after the updates", points=5,
              cases=[("one update", [1]), ("seven updates", [7]), ("no update", [2, 0])])
def updates(student, rng, name, numbers):
    for n in numbers:
        evaluate, differentiate, start, _ = bowl(rng)
        (got, _), (want, _) = descended(student, evaluate, differentiate, start, ["x", "y"], "loss", 0.1, n)
        expect_mapping(got, want, "the inputs after the updates", "All inputs: those that are not in wrt keep their values.")
        for x in "ct":
            expect(got[x], want[x], f"{x}, which is not in wrt", "Only the names in wrt are moved.")
        for x in "xy":
            expect(got[x], want[x], f"{x} after the updates",
                   "The new value is the old one minus rate times its delta, for all names in wrt from the same deltas.")


def descended(student, *arguments):
    """What the submission's descend gives, and the reference's."""
    takes = "evaluate takes the inputs, and differentiate takes what evaluate returned: the values of all registers."
    with given(None, failed=takes):
        got = pair(student.descend(*arguments))
    return got, reference.descend(*arguments)


@descent.part("descend: the losses", points=4)
def losses(student, rng):
    evaluate, differentiate, start, _ = bowl(rng)
    (_, got), (_, want) = descended(student, evaluate, differentiate, start, ["x"], "loss", 0.1, 5)
    expect(got, want, "the losses", "The loss before each update: as many as there are updates, the first at the start.")


@descent.part("descend: start stays as it is", points=1, cases=["one name moved", "two names moved"])
def start_stays(student, rng, which):
    evaluate, differentiate, start, _ = bowl(rng)
    wrt = ["x", "y"][:1 + (which == "two names moved")]
    want, _ = reference.descend(evaluate, differentiate, start, wrt, "loss", 0.1, 3)
    got = student.frozen("descend", evaluate, differentiate, start, wrt, "loss", 0.1, 3,
                         look="inputs = start gives the same dictionary a second name: begin with a copy, dict(start).")
    expect(pair(got)[0], want, "the inputs after 3 updates", "That start stays counts where the result is right.")


@descent.part("descend: the house", points=3)
def house(student, rng):
    start = {"h": 5.0, "w": 10.0, "targetArea": number(rng, 150, 250), "targetHeight": 8.0, "heightFactor": 100.0}
    (got, _), (want, _) = descended(
        student, lambda inputs: reference.eval(reference.HOUSE, inputs, G),
        lambda values: reference.backprop(reference.HOUSE, values, DG, "loss"), start, ["h", "w"], "loss", 0.001, 20)
    expect(got, want, "the house after 20 updates",
           "Print the losses: do they go down? Does it move h and w, and nothing else?", tolerance=1e-7)


@descent.part("descend: one evaluation and one gradient for each update", points=3)
def once_each(student, rng):
    evaluate, differentiate, start, calls = bowl(rng)
    (got, _), (want, _) = descended(student, evaluate, differentiate, start, ["x", "y"], "loss", 0.1, 6)
    calls = calls[:-12]  # without the reference's
    expect(got, want, "the inputs after 6 updates", "The work counts where the result is right.")
    at = start
    for name, values in calls:
        if name == "evaluate":
            at = values
        else:
            expect_that("loss" in values, "differentiate is given all that evaluate returned", list(values))
            expect_that(all(values.get(x) == at.get(x) for x in "xy"), "each gradient is taken where the inputs are now",
                        f"differentiate at x = {values.get('x')}", "Evaluate, then differentiate at these values, then move.")
    evaluations, gradients = (sum(name == which for name, _ in calls) for which in ("evaluate", "differentiate"))
    if (evaluations, gradients) != (6, 6):
        raise Wrong("6 calls of evaluate and 6 of differentiate, for 6 updates", f"{evaluations} and {gradients}",
                    "Are the values that were computed for the loss used again for the gradient?",
                    credit=scale(max(evaluations, gradients) / 6, none=3, full=1) if min(evaluations, gradients) >= 6 else 0)


# ---- task 5: fault ---------------------------------------------------------------------------------------------------

@validity.part("valid lists and their twins with a fault", points=14, cases=list(FAULTS))
def twins(student, rng, kind):
    faulty = [True, False, bool(rng.integers(2))]  # in any order, and unrelated: what was asked before tells nothing
    rng.shuffle(faulty)
    raised = "fault returns its verdict, also about a list that is not valid; it raises nothing."
    said = []
    for is_faulty in faulty:
        steps, inputs, _ = random_list(rng, 8, literals=True)
        inputs = [*inputs, "u"]
        if not is_faulty:
            with given(f"fault({steps}, {inputs}, {ARITY})", failed=raised):
                got = student.fault(steps, inputs, ARITY)
                expect_that(got is None, "None, as nothing is wrong with this list", got, about_no_fault(got, steps, inputs))
            continue
        steps, n, culprit = planted(rng, steps, kind)
        own = steps[n - 1][1] if kind == "an unknown operator" and culprit in ARITY else None
        arity = {g: m for g, m in ARITY.items() if g != own}  # what it lacks is unknown, whatever it is called
        with given(f"fault({steps}, {inputs}, {arity})", FAULTS[kind], raised):
            got = student.fault(steps, inputs, arity)
            pair_of = isinstance(got, (tuple, list)) and len(got) == 2 and isinstance(got[0], int) and isinstance(got[1], str)
            expect_that(pair_of, "the number of the line at fault and a sentence", "None" if got is None else got,
                        None if got is None else "A pair: the number itself, a whole number from 1 on, and the sentence.")
            expect_that(got[0] == n, "the number of the first line at fault, counted from 1", got,
                        "Is the first line number 1?" if got[0] == n - 1 and culprit in got[1] else
                        about_no_fault(got, steps, inputs) if 1 <= got[0] < n else FAULTS[kind])
            said.append((got[1], steps, n, culprit))
    for sentence, steps, n, culprit in said:
        with given(f"fault({steps}, …)"):
            expect_sentence(sentence, steps[n - 1], culprit, n)


def about_no_fault(got, steps, inputs):
    """The hint where a fault is told of a line that has none."""
    if not isinstance(got, (tuple, list)):
        return "What is returned is None itself, and no other word for it."
    n = got[0] if got and isinstance(got[0], int) and 1 <= got[0] <= len(steps) else len(steps)
    named = [a for a in re.findall(r"\w+", str(got[1:])) if a in steps[n - 1][2]]
    if entered := [a for a in named if a in inputs]:
        return f"{entered[0]} is among the inputs, and has a value from the start."
    read = [z for z, _, _ in steps[:n - 1] if z in named]
    return (f"{read[0]} has a value: a line above assigns it." if read else
            "A number among the arguments needs no register, and an input need not be used.")
