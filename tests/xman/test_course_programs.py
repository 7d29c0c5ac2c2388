"""Facts about whole programs of the course: they come to what the notes' own pseudo-code comes to, to the last bit."""

import re
from pathlib import Path

import course_programs as course
import numpy as np
import pytest
from course_programs import BP_FUNS, EVAL_FUNS, PROGRAMS, Notes, f

from xman import COURSE, Autograd, XMan, backprop, compile, eval

PAGE = (Path(__file__).parents[2] / "docs" / "course-code.md").read_text("utf-8")


class Course(Autograd):
    """Autograd with the student's tables, as one of 2016 has them: not as arguments."""
    EVAL_FUNS, BP_FUNS = EVAL_FUNS, BP_FUNS


class Traced(Course):
    """An Autograd of a student's own, made without the original's __init__, who goes through the lines himself."""

    def __init__(self, xman):
        self.xman, self.trace = xman, []

    def optimizeForBProp(self, opseq):
        self.trace = [(z, g, list(ys)) for z, g, ys in super().optimizeForBProp(opseq) if not self.xman.isInput(z)]
        return iter(self.trace)


def same(one, other):
    """Whether two results have the same bits."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return np.array_equal(one, other)


@pytest.mark.parametrize("Kind", [Course, Traced, lambda net: Autograd(net, EVAL_FUNS, BP_FUNS)],
                         ids=["subclass with tables", "subclass with lines of its own", "tables as arguments"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_of_the_course_comes_to_what_the_notes_come_to(program, Kind):
    assert same(program(Kind), program(Notes))


@pytest.mark.parametrize("program", [course.one_dictionary, course.fresh_dictionaries, course.names_by_hand,
                                     course.registers_in_lists])
def test_its_loss_goes_down(program):
    losses = program(Course, 20)[0]
    assert np.mean(losses[-3:]) < 0.95 * np.mean(losses[:3])


def test_bprop_goes_through_the_lines_that_a_student_returns():
    class Halting(Course):
        def optimizeForBProp(self, opseq):
            return super().optimizeForBProp(opseq)[:2]

    net = course.perceptron()
    ad, opseq = Halting(net), net.operationSequence(net.loss)
    deltas = ad.bprop(opseq, ad.eval(opseq, net.inputDict()), loss=1.0)
    assert ad.xman is net and deltas.keys() == {"loss", "z5", "out2", "y"}


def test_its_line_is_found():
    loss, weights, bias, _ = course.class_of_registers(Course)
    assert loss < 0.3 and weights[0] > 0.5 > 0 > weights[1] and bias > 0.3


def test_training_in_fresh_dictionaries_is_training_in_one():
    assert same(course.fresh_dictionaries(Course)[0], course.one_dictionary(Course)[0])


def test_keys_that_the_list_does_not_read_are_left_as_they_are():
    data = {"x": 3, "note": "tiny", "history": [1, [2, 3]], "best": None, "epoch": 4, "net": XMan()}
    before = dict(data)
    Course(XMan()).eval([("z", "square", ("x",))], data)
    assert data.pop("z") == 9 and data.keys() == before.keys() and all(data[key] is before[key] for key in list(data)[1:])


@pytest.mark.parametrize("ints", [np.ones((2, 1), int), np.ones((2, 1), bool), [[1], [1]]], ids=["int", "bool", "list"])
@pytest.mark.parametrize("given", ["default", "inputDict", "dictionary"])
def test_a_parameter_in_whole_numbers_has_a_gradient_and_is_trained_in_place(ints, given):
    net = XMan()
    net.x, net.W = f.input(default=np.ones((3, 2))), f.param(default=ints if given == "default" else None)
    net.loss = f.mean(f.mul(net.x, net.W))
    data = net.setup().inputDict(**({"W": ints} if given == "inputDict" else {})) | ({"W": ints} if given == "dictionary" else {})
    ad, opseq = Course(net), net.operationSequence(net.loss)
    if given != "dictionary":
        assert backprop(opseq, eval(opseq, data, EVAL_FUNS), BP_FUNS, loss=1.0)["W"].tolist() == [[1.0], [1.0]]
    deltas = ad.bprop(opseq, ad.eval(opseq, data), loss=1.0)
    data["W"] -= 0.5 * deltas["W"]
    assert data["W"].tolist() == [[0.5], [0.5]]


def test_the_names_of_the_page_are_those_of_the_table():
    rows = [[re.findall("`(.*?)`", cell) for cell in row.split(" | ")[:2]] for row in re.findall("^[|] `.*", PAGE, re.M)]
    pairs = [(a, b) for there, here in rows for k, a in enumerate(there) for b in [here[min(k, len(here) - 1)] if here else a]]
    assert len(pairs) > 15 and all(COURSE.get(a, a) == b for a, b in pairs)


def test_a_compiled_list_leaves_keys_alone_that_it_does_not_read():
    data = {"x": 3, "note": "tiny", "history": [1, [2, 3]]}
    assert compile([("z", "square", ("x",))], engine="numpy")(data) == {"z": 9} and data["history"] == [1, [2, 3]]
