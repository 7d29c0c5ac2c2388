"""The table of examples is whole, and each of its rows runs."""

import ast
import re
from types import SimpleNamespace

import pytest

try:
    import click
except ModuleNotFoundError:  # then all rows run that are no commands
    click = None

from seeds.examples import DOCUMENTS, Example
from seeds.rows import SEEDS, anchored, documents, printed, proofs, run, shown

ROWS = {name: document.EXAMPLES for name, document in documents().items()}


def test_each_test_of_the_documents_stands_in_the_table_and_each_row_names_a_test():
    named = {row.test for rows in ROWS.values() for row in rows}
    assert (sorted(proofs().keys() - named), sorted(named - proofs().keys())) == ([], [])


def test_each_row_is_proved_by_a_test_of_its_own_document():
    """The file has the document's name, or, in that of the figures, the test itself."""
    named = lambda test: test if proofs()[test].startswith("test_figures_") else proofs()[test]
    for name, rows in ROWS.items():
        assert {named(row.test).split("_")[1] for row in rows} == {name.split("_")[0]}


def test_the_table_has_all_five_documents():
    assert tuple(ROWS) == DOCUMENTS
    assert {name: len(rows) for name, rows in ROWS.items() if len(rows) < 30} == {} and sum(map(len, ROWS.values())) >= 292


@pytest.mark.parametrize("name, pattern, wanted", [
    ("cohen", r"§1\.(\d)", range(1, 7)), ("cohen", r"Table (\d)", range(1, 4)), ("cohen", r"Fig\. (\d)", [1]),
    ("reps", r"(?:box|eq\.) \((\d)\)", range(1, 4)), ("reps", r"Ex\. (\d\.\d)", [2.1, 2.2, 2.3, 4.1]), ("reps", r"Fig\. (\d)", range(1, 10)),
    ("bishop", r"\(8\.(\d+)\)(?: to \(8\.(\d+)\))?", range(1, 77)), ("bishop", r"Fig\. 8\.(\d)", range(1, 6)), ("bishop", r"Algorithm 8\.(\d)", [1]),
    ("adams", r"\((\d+)\)(?: to \((\d+)\))?", range(1, 37))])
def test_every_numbered_equation_figure_table_and_example_has_a_row(name, pattern, wanted):
    found = [[float(n) for n in match.groups() if n] for row in ROWS[name] for match in re.finditer(pattern, row.number)]
    assert {n for ends in found for n in ([ends[0]] if len(ends) == 1 else range(int(ends[0]), int(ends[1]) + 1))} == set(wanted)


def test_what_a_test_says_of_the_print_is_said_by_one_of_its_rows():
    """A test that corrects the print says so in its docstring: what the notes print, say, call or define, or what is meant."""
    says = re.compile(r"\b(meant is|prints?|notes (say|call|define)|slide says)\b")
    tests = [found for path in SEEDS.glob("test_*.py") for found in ast.parse(path.read_text("utf-8")).body if isinstance(found, ast.FunctionDef)]
    corrected = {found.name for found in tests if found.name in proofs() and says.search(ast.get_docstring(found) or "")}
    assert corrected - {row.test for rows in ROWS.values() for row in rows if row.slip} == set()


def test_the_code_of_a_row_is_short_and_fits_on_a_line():
    long = [(row.number, line) for rows in ROWS.values() for row in rows for line in row.code.splitlines() if len(line) > 112]
    assert long == [] and max(len(row.code.splitlines()) for rows in ROWS.values() for row in rows) <= 9


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_row_prints_something(name):
    rows = [row for row in ROWS[name] if click or not row.code.startswith("$ ")]
    document = SimpleNamespace(**{**vars(documents()[name]), "EXAMPLES": rows})
    assert [row.number for _, row, shown in printed(name, document) if not shown] == []


def test_a_row_shows_what_its_code_prints_and_numbers_are_rounded():
    assert run("x = 1 / 3\nx, [x, 'a']\n'text'\nprint(2)", {}) == "(0.333333, [0.333333, 'a'])\ntext\n2"
    assert shown({"x": -1e-17}) == "{'x': 0}" and shown((1.5,)) == "(1.5,)"


def test_an_error_that_is_not_expected_and_a_command_that_fails_are_errors():
    from xman import XManError, eval
    code = "eval([('y', 'sqare', ('x',))], {'x': 1.0})"
    assert run(f"{code}  # refused", {"eval": eval}).startswith("XManError: line 1")
    with pytest.raises(XManError):
        run(code, {"eval": eval})
    with pytest.raises(RuntimeError, match="ended with status"):
        run("$ xman eval no-such-file.wl", {})


def test_anchors_count_numbers_that_stand_twice():
    rows = [Example(number, "", "", "") for number in ("§1, eq. (1)", "§1, eq. (1)", "Fig. 1")]
    assert list(anchored("x", rows)) == ["x-1-eq-1", "x-1-eq-1-no-2", "x-fig-1"]
