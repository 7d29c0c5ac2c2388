"""Facts about the commands that write derivatives and show how they come about."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xman import WengertList, eval
from xman.cli import main

pytest.importorskip("click")

FILES = {"f.wl": "z1 = add(x1, x1)\nz2 = add(z1, x2)\nf = square(z2)\n",
         "eq17.wl": "v1 = divide(x1, x2)\nv2 = sin(v1)\nv3 = exp(x2)\nv4 = subtract(v1, v3)\nv5 = add(v2, v4)\ny = mul(v5, v4)\n",
         "h.wl": "z1 = mul(4, y)\nz2 = add(x, z1)\nz3 = add(x, y)\nz4 = mul(z3, y)\nh = mul(z2, z4)\n",
         "log.wl": "p = softmax(z)\nq = crossEntropy(p, t)\nloss = sum(q)\n",
         "triangle.py": "from xman import XMan, f\nclass Triangle(XMan):\n    h, w = f.param(), f.param()\n"
                        "    area = f.half(h * w)\n",
         "exponential.wl": "e = expm(A)\ny = sum(e)\n",
         "none.wl": "y = add(1.0, 2.0)\n"}
AT = ("x1=1.5", "x2=0.5")


@pytest.fixture
def xman(tmp_path, monkeypatch, capsys):
    """xman(*words) -> (exit status, output, errors), in a folder with FILES."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["xman", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()
    return run


def test_gradient_prints_a_list_that_reads_back_and_has_the_derivatives(xman):
    status, out, _ = xman("gradient", "f.wl")
    values = eval(WengertList.from_text(out), {"x1": 3, "x2": 7})
    assert status == 0 and (values["f"], values["df_dx1"], values["df_dx2"]) == (169, 52, 26)


def test_with_values_the_gradient_is_shorter(xman):
    long, short = (xman("gradient", "eq17.wl", *values)[1].splitlines() for values in ((), AT))
    assert len(short) < len(long) and "broadcast" not in "".join(short)


def test_raw_is_what_the_rules_write(xman):
    from xman import gradient
    written = gradient(WengertList.from_text(FILES["f.wl"]), "f", ["x1"])
    assert xman("gradient", "f.wl", "--raw", "--wrt", "x1")[1].strip() == repr(written)


def test_names_of_registers_may_be_repeated_or_have_commas_between(xman):
    assert xman("gradient", "f.wl", "--wrt", "x1, x2") == xman("gradient", "f.wl", "--wrt", "x1", "--wrt", "x2")
    assert "df_dx2" in xman("gradient", "f.wl", "--wrt", "x1,x2")[1]


def test_forward_prints_the_list_of_the_tangents(xman):
    out = xman("gradient", "eq17.wl", "--forward", "--wrt", "x1")[1]
    assert eval(WengertList.from_text(out), {"x1": 1.5, "x2": 0.5, "x1_dot": 1.0})["y_dot"] == pytest.approx(3.0118433276739065)


def test_forward_with_values_is_shorter_too(xman):
    assert "broadcast" not in xman("gradient", "eq17.wl", "--forward", "--wrt", "x1", *AT)[1]


def test_stable_puts_in_the_loss_that_does_not_overflow(xman):
    assert "softmaxCrossEntropy(z, t)" in xman("gradient", "log.wl", "--stable", "--wrt", "z")[1]


def test_source_prints_a_function_that_runs(xman):
    status, out, _ = xman("source", "eq17.wl", "--of", "y", *AT)
    space = {}
    exec(out, space)
    assert status == 0 and np.allclose(space["gradient_of_y"](1.5, 0.5), [2.01664667, 3.01184333, -13.72396151])


def test_source_can_be_named_and_written_forwards(xman):
    assert "def slope(x1, x2, x1_dot):" in xman("source", "eq17.wl", "--wrt", "x1", "--name", "slope")[1]


def test_explain_prints_the_trace_of_adams(xman):
    out = xman("explain", "eq17.wl", *AT, "--wrt", "x1")[1]
    assert out.splitlines()[3].split() == ["v1", "x1/x2", "3.0000", "2.0000", "1.5059"]


def test_derivation_prints_table_1_of_the_notes(xman):
    out = xman("derivation", "f.wl")[1]
    assert "df/dx1 = 2·z2·(1·dz1/dx1 + 1·dx2/dx1)" in out and "8·x1 + 4·x2" in out.splitlines()[-1]


def test_paths_prints_both_path_problems(xman):
    out = xman("paths", "h.wl", "x=3", "y=5", "--wrt", "x")[1]
    assert out.count("155") == 2 and "forward from x" in out and "backward from h" in out


@pytest.mark.parametrize("words", [("show", "h.wl"), ("show", "triangle.py"), ("paths", "h.wl"),
                                   ("explain", "h.wl", "x=3", "y=5")])
def test_a_picture_is_text_for_graphviz_or_a_file_in_place_of_what_is_printed(xman, words):
    status, out, _ = xman(*words, "--dot")
    assert status == 0 and out.startswith("digraph {") and out.endswith("}\n")
    assert xman(*words, "--svg", "a.svg") == (0, "", "") and Path("a.svg").read_text("utf-8").startswith("<svg ")


def test_show_draws_the_objects_of_a_model_and_with_of_or_values_its_list(xman):
    assert "definedAs" in xman("show", "triangle.py", "--dot")[1]
    assert '"area" [label="area\\n0.5·z1"' in xman("show", "triangle.py", "--dot", "--of", "area")[1]
    assert '"h" [label="h\\nz2·z4\\n(2,) float64"' in xman("show", "h.wl", "x=1", "y=[1.0, 2.0]", "--dot")[1]


@pytest.mark.parametrize("way, sums", [("forward", ["x\\n= 3\\n1", "h\\nz2·z4\\n= 920\\n155"]),
                                       ("backward", ["x\\n= 3\\n155", "h\\nz2·z4\\n= 920\\n1"])])
def test_the_picture_of_paths_has_the_sums_along_one_way(xman, way, sums):
    out = xman("paths", "h.wl", "x=3", "y=5", "--wrt", "x", "--along", way, "--dot")[1]
    assert all(f'label="{text}"' in out for text in sums)
    alone = xman("paths", "h.wl", "x=3", "y=5", "--wrt", "x", "--along", way)[1]
    assert alone.startswith("x = 1, z2 = 1, z3 = 1, z4 = 5, h = 155  " if way == "forward" else "h = 1, z4 = 23, z2 = 40, ")


@pytest.mark.parametrize("words, message", [
    (("explain", "h.wl", "x=3", "y=5", "--wrt", "x", "--wrt", "y", "--dot"), "a picture has the tangents of one input"),
    (("paths", "h.wl", "--along", "forward", "--dot"), "no numbers"),
    (("show", "h.wl", "--svg", "a.svg", "--html", "a.html"), "--svg and --html: ask for one of them at a time"),
    (("paths", "h.wl", "--dot", "--symbolic"), "--dot and --symbolic: ask for one"),
    (("explain", "h.wl", "x=3", "y=5", "--svg", "a.svg", "--interleaved"), "--svg and --interleaved: ask for one"),
    (("show", "h.wl", "--svg", "a.png"), "ends in .svg")])
def test_a_picture_that_cannot_be_is_refused(xman, words, message):
    status, out, errors = xman(*words)
    assert (status, out) == (2, "") and message in errors


def test_cost_prints_counts_and_ratios(xman):
    out = xman("cost", "eq17.wl", *AT)[1]
    assert "with tangents" in out and "with adjoints" in out


@pytest.mark.parametrize("command", ["explain", "derivation"])
def test_each_wrt_that_is_repeated_has_a_table(xman, command):
    values = AT if command == "explain" else ()
    one, two, both = (xman(command, "eq17.wl", *values, *words)[1] for words in (
        ("--wrt", "x1"), ("--wrt", "x2"), ("--wrt", "x1", "--wrt", "x2")))
    assert one != two and both == f"{one}\n{two}"


def test_paths_give_the_derivative_as_a_formula_too(xman):
    words = "paths", "h.wl", "--symbolic", "--wrt", "x", "--wrt", "y"
    assert xman(*words)[1] == "dh/dx = 2*x*y + 5*y**2\ndh/dy = x**2 + 10*x*y + 12*y**2\n"


def test_paths_are_from_each_wrt_that_is_repeated(xman):
    out = xman("paths", "eq17.wl", "--wrt", "x1", "--wrt", "x2")[1]
    assert "path x1 → v1" in out and "path x2 → v3" in out


@pytest.mark.parametrize("encoding", ["ascii", "cp437"])
@pytest.mark.parametrize("words", [
    ("explain", "eq17.wl", *AT, "--wrt", "x1"), ("derivation", "eq17.wl"), ("paths", "eq17.wl", *AT),
    ("source", "eq17.wl", "--of", "y"), ("differences", "eq17.wl", *AT), ("cost", "eq17.wl", *AT), ("ops",)],
    ids=lambda words: words[0])
def test_a_terminal_of_another_encoding_gets_letters_for_what_it_has_not(xman, monkeypatch, encoding, words):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    assert xman(*words)[0] == 0
    terminal.flush()
    text = terminal.buffer.getvalue().decode(encoding)
    assert "\ufffd" not in text and ("dy/dx1" in text or "∂y/∂x1" in text or words[0] not in ("derivation", "source"))


def test_print_own_cache_gets_them_too():
    program = "from xman import explain; print(explain([('y', 'sin', ('x',))], 'y', 'x', {'x': 0.0}))"
    ascii = os.environ | {"PYTHONIOENCODING": "ascii"}
    assert b"adjoint dy/d" in subprocess.run([sys.executable, "-c", program], env=ascii, capture_output=True, check=True).stdout


@pytest.mark.parametrize(("columns", "words"), [(80, ()), (60, ()), (60, ("--lines",))])
def test_tables_keep_the_width_of_a_terminal_and_a_pipe_has_all_in_a_line(xman, monkeypatch, columns, words):
    values = "z=[0.1,0.2,0.3,0.4]", "t=[0.0,1.0,0.0,0.0]"
    commands = ("explain", "log.wl", *values, "--wrt", "z"), ("cost", "log.wl", *values, *words)
    monkeypatch.setenv("COLUMNS", str(columns))
    whole = [xman(*command)[1] for command in commands]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for plain, command in zip(whole, commands, strict=True):
        narrow = xman(*command)[1]
        assert max(map(len, narrow.splitlines())) <= columns
        assert words or columns < max(map(len, plain.splitlines()))
        if "cost" not in command or words:  # the same but for where it is cut
            assert sorted(narrow.split()) == sorted(plain.split())


def test_cost_line_by_line(xman):
    assert len(xman("cost", "eq17.wl", *AT, "--lines")[1].splitlines()) == 7


def test_differences_prints_the_slopes_and_draws_them(xman, tmp_path):
    pytest.importorskip("matplotlib")
    out = xman("differences", "eq17.wl", *AT, "--plot", "errors.png")[1]
    assert "(8.24)    1.0" in out and (tmp_path / "errors.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("words, said", [
    (("gradient", "eq17.wl", "--of", "z"), "of names 'z', which the list does not have"),
    (("gradient", "eq17.wl", "--wrt", "x3"), "wrt names 'x3', which the list does not have"),
    (("gradient", "none.wl"), "the list has no inputs"),
    (("gradient", "nothing.wl"), "nothing.wl cannot be read"),
    (("source", "eq17.wl", "--of", "z"), "of names 'z', which the list does not have"),
    (("source", "eq17.wl", "--name", "1st"), "is not an identifier"),
    (("explain", "eq17.wl", "x1=1.5"), "no value for the input 'x2'"),
    (("explain", "eq17.wl", *AT, "--wrt", "x3"), "wrt names 'x3', which the list does not have"),
    (("explain", "eq17.wl", "x1=one"), "the value is not a number"),
    (("derivation", "exponential.wl"), "has no short formula; `explain` and `paths` take it"),
    (("derivation", "none.wl"), "the list has no inputs"),
    (("paths", "h.wl", "--wrt", "w"), "wrt names 'w', which the list does not have"),
    (("paths", "h.wl", "x=3"), "no value for the input 'y'"),
    (("cost", "eq17.wl"), "no value for the input 'x1'"),
    (("cost", "none.wl"), "there is nothing to differentiate by"),
    (("differences", "eq17.wl", *AT, "--plot", "no/such/folder.png"), "cannot be written"),
    (("differences", "none.wl"), "there is nothing to differentiate by")])
def test_what_is_wrong_gets_one_sentence(xman, words, said):
    status, out, errors = xman(*words)
    assert status == 2 and said in errors and errors.startswith("xman: ") and errors.count("\n") == 1


# bugs that had survived planting


@pytest.mark.parametrize("command", [("gradient", "norm.wl", "x=3"), ("source", "norm.wl", "--of", "y", "x=3")])
def test_algebra_turns_a_power_into_a_root_and_leaves_a_ratio_whose_zero_is_a_mask(xman, command):
    Path("norm.wl").write_text("n = norm(x)\nr = power(x, 0.5)\ny = add(n, r)\n", "utf-8")
    exact, short = xman(*command)[1], xman(*command, "--algebra")[1]
    assert "sqrt(" not in exact and "sqrt(" in short
    assert "ratio(" in exact and "ratio(" in short


def test_raw_is_not_simplified(xman):
    assert "broadcast(1.0" in xman("gradient", "eq17.wl", "--raw", *AT)[1]


def test_jacobian_and_hessian_print_a_line_for_each_pair(xman):
    both = {"dh/dx": 155.0, "dh/dy": 459.0, "dz4/dx": 5.0, "dz4/dy": 13.0}
    assert json.loads(xman("jacobian", "h.wl", "x=3", "y=5", "--of", "h,z4", "--json")[1]) == both
    assert xman("jacobian", "h.wl", "x=3", "y=5", "--mode", "reverse", "--wrt", "x")[1] == "dh/dx = 155.0\n"
    assert xman("jacobian", "log.wl", "z=[[0, 0]]", "t=[[1, 0]]", "--wrt", "z", "--of", "p")[1] == (
        "dp/dz = [[[[0.25, -0.25]], [[-0.25, 0.25]]]]\n")
    lines = sorted(xman("hessian", "h.wl", "x=3", "y=5")[1].splitlines())   # h = x²y + 5xy² + 4y³
    assert lines == ["d²h/dxdx = 10.0", "d²h/dxdy = 56.0", "d²h/dydx = 56.0", "d²h/dydy = 150.0"]
    status, _, errors = xman("hessian", "log.wl", "z=[[0, 0]]", "t=[[1, 0]]", "--of", "p", "--wrt", "z")
    assert status == 2 and "a Hessian is that of one number" in errors


def test_jacobian_and_hessian_along_a_direction_are_products_with_it(xman):
    at = "h.wl", "x=3", "y=5"  # slopes 155 and 459, of z4 5 and 13
    assert xman("jacobian", *at, "--along", "x=2", "--along", "y=-1", "--of", "h,z4")[1] == "h_dot = -149.0\nz4_dot = -3.0\n"
    assert xman("hessian", *at, "--along", "y=1")[1] == "dh_dy_dot = 150.0\ndh_dx_dot = 56.0\n"
    assert xman("hessian", *at, "--along", "x=1", "--wrt", "x", "--of", "h,z4")[1] == "dh_dx_dot = 10.0\ndz4_dx_dot = 0.0\n"
    for words, refusal in ((("--along", "y=1", "--wrt", "x"), "--wrt does not name"), (("--along", "u=1"), "no input 'u'"),
                           (("--along", "x=1", "--mode", "reverse"), "one of them at a time")):
        status, _, errors = xman("jacobian", *at, *words)
        assert status == 2 and refusal in errors


def test_explain_takes_several_outputs_a_direction_and_puts_the_numbers_in(xman):
    lines = xman("explain", "h.wl", "x=3", "y=5", "--of", "h", "--of", "z4", "--along", "x=2", "--along", "y=-1")[1].splitlines()
    assert lines[0].split("  ")[-3:] == ["tangent along x, y", "adjoint ∂h/∂", "adjoint ∂z4/∂"]
    assert lines[-1].split()[-3:] == ["-149.0000", "1.0000", "0.0000"]
    trace = xman("explain", "eq17.wl", *AT, "--wrt", "x1", "--interleaved")[1]
    assert "v2′ = cos(v1)·v1′ = cos(3.0000)·2.0000 = -1.9800" in trace.splitlines()
    assert "say --wrt and --of once" in xman("explain", "h.wl", "x=3", "y=5", "--of", "h,z4", "--dot")[2]


def test_a_derivation_on_arrays_has_shapes_where_values_give_them_and_comes_in_latex_too(xman):
    lines = xman("derivation", "log.wl")[1].splitlines()
    assert [line.split("   ")[0] for line in lines[-2:]] == ["dloss/dz = p ∘ (dloss/dp - Σ(dloss/dp ∘ p)) = p ∘ Σ(t) - t = p - t",
                                                             "dloss/dz = softmax(z) - t"]
    assert xman("derivation", "log.wl", "z=[[1, 2]]", "t=[[0, 1]]")[1].splitlines()[-1].endswith("   1×2")
    assert r"\frac{d\mathrm{loss}}{dz} &= \operatorname{softmax}(z) - t &&" in xman("derivation", "log.wl", "--latex")[1]


def test_a_brief_derivation_has_fewer_steps(xman):
    assert len(xman("derivation", "f.wl", "--brief")[1].splitlines()) < len(xman("derivation", "f.wl")[1].splitlines())


def test_a_derivation_is_by_the_input_and_of_the_register_that_are_named(xman):
    assert xman("derivation", "f.wl", "--wrt", "x2", "--of", "z2")[1].splitlines()[-1].startswith("dz2/dx2 = 1")


def test_explain_prints_as_many_decimals_as_are_asked_for(xman):
    out = xman("explain", "eq17.wl", *AT, "--digits", "2", "--of", "v1")[1]
    assert "∂v1/∂" in out and "3.00 " in out and "3.000" not in out


def test_paths_cost_and_differences_are_of_the_register_that_is_named(xman):
    assert "backward from v3" in xman("paths", "eq17.wl", *AT, "--of", "v3", "--wrt", "x2")[1]
    assert len(xman("cost", "eq17.wl", *AT, "--of", "v3", "--lines")[1].splitlines()) == 2
    assert "∂v3/∂x2" in xman("differences", "eq17.wl", *AT, "--of", "v3", "--wrt", "x2")[1]


def test_cost_is_by_the_inputs_that_are_named(xman):
    tangents = lambda *words: xman("cost", "eq17.wl", *AT, *words)[1].splitlines()[2].split()[2]
    assert int(tangents("--wrt", "x1")) < int(tangents())


def test_why_names_the_line_of_the_list_and_of_its_file(xman):
    Path("norm.wl").write_text("# a norm\ns = dot(x, x)\n\nn = sqrt(s)\n")
    status, told, _ = xman("why", "norm.wl", "x=[0.0, 0.0]")
    assert status == 1 and told.startswith("dn_dx is NaN at [0]: line 2, n = sqrt(s) (norm.wl:4), has an infinite slope")
    assert xman("why", "norm.wl", "x=[0.0, 0.0]", "--chain", "--register", "dn_dx")[1].count("the adjoint of") == 2
    assert xman("why", "norm.wl", "x=[3.0, 4.0]")[:2] == (0, "nothing is wrong: n = 5, dn_dx from 0.6 to 0.8\n")


def test_why_names_the_line_of_a_models_file(xman):
    lines = "from xman import XMan, f", "class Model(XMan):", "    x = f.input(default=-1.0)", "    y = f.square(", "  f.log(x))"
    Path("model.py").write_text("\n".join(lines))
    assert "line 1, z1 = log(x) (model.py:5), is NaN at x = -1" in xman("why", "model.py:Model", "--of", "y")[1]
