"""Facts about the lists, values and derivatives that the notes, Reps, Adams and Bishop print, and about the House."""

import numpy as np
import pytest

from xman import WengertList, XMan, backprop, eval, f, forward


def model(**inputs):
    """A model with an input for each name; its expressions are set on it afterwards."""
    result = XMan()
    for name, default in inputs.items():
        setattr(result, name, f.input(default=default))
    return result


def run(m, output):
    """(list, values, deltas) of the register `output` of the model, at its defaults."""
    steps = m.setup().operationSequence(getattr(m, output))
    values = eval(steps, m.inputDict())
    return steps, values, backprop(steps, values, **{output: 1.0})


def adams(x1, x2):
    return (np.sin(x1 / x2) + x1 / x2 - np.exp(x2)) * (x1 / x2 - np.exp(x2))


def bishop(x1, x2):
    return x1 * x2 + np.exp(x1 * x2) - np.sin(x2)


def bishop_second(x1, x2):
    return (x1 * x2 - np.sin(x2)) * np.exp(x1 * x2)


# the notes: Triangle, equation 1, the cube, logistic regression


class Triangle(XMan):
    h = f.param()
    w = f.param()
    area = f.half(h * w)


def test_triangle_is_the_list_of_the_notes():
    steps = Triangle().setup().operationSequence(Triangle.area)
    assert steps == [("z1", "mul", ("h", "w")), ("area", "half", ("z1",))]


def test_triangle_at_3_and_6_is_9_with_all_deltas():
    m = Triangle().setup()
    steps = m.operationSequence(m.area)
    values = eval(steps, m.inputDict(h=3, w=6))
    assert values["area"] == 9
    assert backprop(steps, values, area=1.0) == {"area": 1, "z1": 0.5, "h": 3, "w": 1.5}


def equation_1():
    m = model(x1=3.0, x2=7.0)
    m.f = f.square((m.x1 + m.x1) + m.x2)
    return run(m, "f")


def test_equation_1_is_the_list_of_the_notes():
    assert equation_1()[0] == [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]


def test_equation_1_at_3_and_7_is_169_with_derivatives_52_and_26():
    _, values, deltas = equation_1()
    assert (values["f"], deltas["x1"], deltas["x2"]) == (169, 52, 26)


def test_the_notes_own_list_of_equation_1_evaluates_as_they_print_it_but_for_the_tuple_of_one():
    steps = [("z1", "add", ("x1", "x1")), ("z2", "add", ("z1", "x2")), ("f", "square", ("z2",))]
    assert eval(steps, {"x1": 3, "x2": 7})["f"] == 169


def cube():
    m = model(x=5.0)
    m.f = (m.x * m.x) * m.x
    return run(m, "f")


def test_the_cube_is_the_list_of_the_notes():
    assert cube()[0] == [("z1", "mul", ("x", "x")), ("f", "mul", ("z1", "x"))]


def test_the_cube_at_5_is_125_with_derivative_75():
    _, values, deltas = cube()
    assert (values["f"], deltas["x"]) == (125, 75)


def test_the_deltas_of_the_cube_are_those_that_the_notes_step_through():
    _, _, deltas = cube()
    assert deltas == {"f": 1, "z1": 5, "x": 75}


def logistic_regression():
    m = model(x=np.array([[1.0, 2.0]]), y=np.array([[0.0, 1.0, 0.0]]))
    m.W = f.param(default=np.array([[0.1, 0.2, 0.3], [0.4, 0.5, -0.6]]))
    m.f = f.crossEntropy(f.softmax(f.dot(m.x, m.W)), m.y) + f.frobeniusNorm(m.W)
    return run(m, "f")


def test_crossentropy_takes_the_logarithm_of_the_prediction_and_not_of_the_target():
    _, values, _ = logistic_regression()
    np.testing.assert_allclose(values["z3"], -np.log(values["z2"][:, 1:2]), rtol=1e-14)


# Reps, Adams, Bishop


def reps(x, y):
    return (x + 4 * y) * ((x + y) * y)


def test_reps_h_at_3_and_5_is_920_with_derivatives_155_and_459():
    m = model(x=3.0, y=5.0)
    m.h = reps(m.x, m.y)
    _, values, deltas = run(m, "h")
    assert (values["h"], deltas["x"], deltas["y"]) == (920, 155, 459)


def test_adams_equation_17_and_its_derivatives_are_the_printed_ones_but_for_their_rounding():
    """Adams multiplies numbers that are rounded to four decimals already: 1.4924 × 1.3513 = 2.0167, exactly 2.01665."""
    m = model(x1=1.5, x2=0.5)
    m.f = adams(m.x1, m.x2)
    _, values, deltas = run(m, "f")
    np.testing.assert_allclose([values["f"], deltas["x1"], deltas["x2"]], [2.0167, 3.0118, -13.7239], rtol=0, atol=1e-4)


POINTS = [(0.7, 1.3), (-1.2, 0.4), (2.0, -1.5), (0.0, 0.0), (1.9, 1.8)]


@pytest.mark.parametrize("function", [bishop, bishop_second, adams, reps])
@pytest.mark.parametrize("x1, x2", [point for point in POINTS if all(point)])
def test_both_modes_agree_to_1e_14(function, x1, x2):
    m = model(x1=x1, x2=x2)
    m.f = function(m.x1, m.x2)
    steps, values, deltas = run(m, "f")
    for name in ("x1", "x2"):
        tangent = forward(steps, values, {name: 1.0})["f"]
        assert abs(tangent - deltas[name]) <= 1e-14 * max(1, abs(tangent))


@pytest.mark.parametrize("x1, x2", POINTS)
def test_bishops_two_outputs_are_derived_from_one_list_in_both_modes(x1, x2):
    m = model(x1=x1, x2=x2)
    m.f1, m.f2 = bishop(m.x1, m.x2), bishop_second(m.x1, m.x2)
    steps = m.setup().operationSequence(m.f1, m.f2)
    values = eval(steps, m.inputDict())
    jacobian = np.array([[backprop(steps, values, **{out: 1.0})[x] for x in ("x1", "x2")] for out in ("f1", "f2")])
    tangents = np.array([[forward(steps, values, {x: 1.0})[out] for x in ("x1", "x2")] for out in ("f1", "f2")])
    assert np.all(abs(jacobian - tangents) <= 1e-14 * np.maximum(1, abs(tangents)))


@pytest.mark.parametrize("x1, x2", POINTS)
def test_bishops_8_49_has_the_derivatives_found_by_hand(x1, x2):
    m = model(x1=x1, x2=x2)
    m.f = bishop(m.x1, m.x2)
    _, values, deltas = run(m, "f")
    e = np.exp(x1 * x2)
    found = [values["f"], deltas["x1"], deltas["x2"]]
    right = [x1 * x2 + e - np.sin(x2), x2 + x2 * e, x1 + x1 * e - np.cos(x2)]
    np.testing.assert_allclose(found, right, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("x1, x2", POINTS)
def test_bishops_8_65_has_the_derivatives_found_by_hand(x1, x2):
    m = model(x1=x1, x2=x2)
    m.f = bishop_second(m.x1, m.x2)
    _, values, deltas = run(m, "f")
    e, g = np.exp(x1 * x2), x1 * x2 - np.sin(x2)
    found = [values["f"], deltas["x1"], deltas["x2"]]
    np.testing.assert_allclose(found, [g * e, (1 + g) * x2 * e, (x1 - np.cos(x2) + g * x1) * e], rtol=1e-14, atol=1e-14)


# House and Skyscraper


class House(XMan):
    h = f.param(default=5.0)
    w = f.param(default=10.0)
    targetArea = f.input(default=200.0)
    targetHeight = f.input(default=8.0)
    heightFactor = f.input(default=100.0)
    area = h * w + f.half(f.half(h) * w)
    loss = f.square(area - targetArea) + f.square(h - targetHeight) * heightFactor


HOUSE = """\
z1 = mul(h, w)
z2 = half(h)
z3 = mul(z2, w)
z4 = half(z3)
area = add(z1, z4)
z5 = subtract(area, targetArea)
z6 = square(z5)
z7 = subtract(h, targetHeight)
z8 = square(z7)
z9 = mul(z8, heightFactor)
loss = add(z6, z9)"""


def descend(m, rate, evaluations):
    """The values of the last of so many evaluations, with a step of gradient descent between each two."""
    m.setup()
    steps, inputs = m.operationSequence(m.loss), m.inputDict()
    for _ in range(evaluations - 1):
        deltas = backprop(steps, eval(steps, inputs), loss=1.0)
        inputs = {name: x - rate * deltas[name] if m.isParam(name) else x for name, x in inputs.items()}
    return eval(steps, inputs)


def test_house_is_its_list_to_the_letter():
    m = House().setup()
    assert repr(m.operationSequence(m.loss)) == HOUSE


def test_the_letters_of_house_read_back_to_its_list():
    m = House().setup()
    assert WengertList.from_text(HOUSE) == m.operationSequence(m.loss)


def test_house_at_5_and_10_loses_19806_25_with_derivatives_4037_5_and_1718_75():
    _, values, deltas = run(House(), "loss")
    assert (values["loss"], deltas["h"], deltas["w"]) == (19806.25, -4037.5, -1718.75)


def test_house_after_one_step_of_descent():
    values = descend(House(), 0.001, 2)
    assert [round(float(values[name]), 4) for name in ("h", "w")] == [9.0375, 11.7188]
    assert round(float(values["loss"]), 2) == 4679.39


def test_house_at_the_20th_evaluation_loses_183_108():
    assert round(float(descend(House(), 0.001, 20)["loss"]), 3) == 183.108


def skyscraper(floors):
    m = XMan()
    m.h, m.w = f.param(default=5.0), f.param(default=10.0)
    m.zero, m.targetArea = f.input(default=0.0), f.input(default=1500.0)
    m.targetHeight, m.heightFactor = f.input(default=8.0), f.input(default=100.0)
    area = m.zero
    for k in range(1, floors + 1):
        floor = m.h * m.w
        floor.name = f"floor_{k}"
        area = area + floor
    m.area = area
    m.loss = f.square(m.area - m.targetArea) + f.square(m.h - m.targetHeight) * m.heightFactor
    return m


def test_a_skyscraper_of_10_floors_is_26_lines_and_begins_with_its_first_floor():
    m = skyscraper(10).setup()
    steps = m.operationSequence(m.loss)
    assert (len(steps), repr(steps).splitlines()[0]) == (26, "floor_1 = mul(h, w)")


def test_each_floor_of_a_skyscraper_goes_by_the_name_it_was_given():
    m = skyscraper(10).setup()
    floors = [line for line in m.operationSequence(m.loss) if line[0].startswith("floor_")]
    assert floors == [(f"floor_{k}", "mul", ("h", "w")) for k in range(1, 11)]


def test_a_skyscraper_at_the_20th_evaluation_loses_830_192():
    assert round(float(descend(skyscraper(10), 1e-5, 20)["loss"]), 3) == 830.192
