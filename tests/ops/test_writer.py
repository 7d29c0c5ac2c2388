"""The writer: names, literals and lines that operators record."""
import numpy as np
import pytest

from ops import DG, f
from ops.writer import Recording, Traced, Writer, defining_line, fresh, temporaries
from xman.errors import XManError
from xman.passes.writer import ListWriter


def test_operators_on_symbols_are_lines_with_temporaries_in_order():
    writer = Writer()
    f.exp(2 * writer.symbol("x"))
    assert [*writer.named({"x"})] == [("z1", "mul", (2, "x")), ("z2", "exp", ("z1",))]


def test_temporaries_skip_names_that_there_are():
    writer = Writer()
    f.exp(2 * writer.symbol("z1"))
    assert [dst for dst, _, _ in writer.named({"z1"})] == ["z2", "z3"]
    assert next(temporaries({"w1"}, "w")) == "w2"


def test_a_symbol_keeps_the_name_that_it_was_given_before_the_end():
    writer = Writer()
    y = f.exp(2 * writer.symbol("x"))
    y.name = "y"
    assert [dst for dst, _, _ in writer.named({"x"})] == ["z1", "y"]


def test_a_symbol_knows_the_line_that_defines_it():
    x = Writer().symbol("x")
    assert defining_line(y := f.exp(x)) == ("exp", (x,)) and defining_line(x) == defining_line(2.0) == ("", ())
    assert defining_line(f.add(x, y))[1][1] is y


def test_an_array_in_a_line_is_a_copy_that_nobody_can_change():
    writer, table = Writer(), np.ones(2)
    table_in_line = defining_line(writer.symbol("x") * table)[1][1]
    table[0] = 5.0
    assert (table_in_line == 1.0).all() and not table_in_line.flags.writeable


def test_a_rule_given_symbols_writes_the_lines_of_the_adjoint():
    writer = Writer()
    d, out, x = map(writer.symbol, ("d", "out", "x"))
    DG["exp"][0](d, out, x)
    assert ("z1", "mul", ("d", "out")) in [*writer.named({"d", "out", "x"})]


def test_a_list_holds_no_symbol_of_another_writer():
    with pytest.raises(XManError):
        f.exp(ListWriter().symbol("x")).writer.write("add", (1.0, ListWriter().symbol("y")))


def test_the_lines_of_a_tape_are_plain_and_its_values_have_their_names():
    tape = Recording()
    x = Traced(np.array([0.0, 1.0]), tape)
    y = f.sum(f.exp(x))
    assert tape.lines == [("z1", "exp", ("z0",)), ("z2", "sum", ("z1",))] and y.name == "z2"
    assert tape.values["z2"] == y.value == 1.0 + np.e and tape.values["z0"] is x.value


def test_a_taken_name_gets_underscores():
    taken = {"x", "x_"}
    assert fresh("x", taken) == "x__" and "x__" in taken and fresh("y", taken) == "y"
