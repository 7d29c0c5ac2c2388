"""A file that a command writes: refused before anything is done, and never over what the command reads."""
import os
import re
from pathlib import Path

import pytest

from tests.cli.files_of_users import command
from xman import XManError
from xman.files.whole import refuse_unwritable, write_whole

pytest.importorskip("click")


@pytest.mark.parametrize("words", [
    ["train", "mlp", "--save"], ["train", "mlp", "--report"], ["train", "mlp", "--checkpoint"], ["show", "f.wl", "--svg"],
    ["show", "f.wl", "--html"], ["predict", "model", "rows.csv", "--out"], ["export", "f.wl", "--to"],
    ["grade", "gradescope", "modes", "--out"]], ids=command)
def test_a_file_that_cannot_be_written_is_told_before_anything_is_done(xman, tmp_path, words, monkeypatch):
    monkeypatch.setattr("xman.cli.learning.plans.read", lambda *_, **__: pytest.fail("it began"))
    (tmp_path / "old").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "old")  # for root nothing is read-only
    for place, why in [("nowhere/file", "there is no folder nowhere; make it first"), (".", "this is a directory"),
                       ("old", "it is read-only")]:
        more = "; name another file" * (place != "nowhere/file")
        assert xman(*words, place) == (2, "", f"xman: {words[-1]}: {place} cannot be written: {why}{more}\n")


@pytest.mark.parametrize("name", ["curve.xyz", "curve", f"{300 * 'a'}.png"], ids=["format", "no format", "name"])
def test_a_plot_that_cannot_be_drawn_is_told_before_anything_is_done(xman, name, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("xman.cli.learning.plans.read", lambda *_, **__: pytest.fail("it began"))
    code, out, err = xman("train", "mlp", "--plot", name)
    assert (code, out) == (2, "") and f"{name} cannot be written: " in err


@pytest.mark.parametrize("words", [
    ["train", "mlp", "--data", "rows.csv", "--checkpoint", "./rows.csv"],
    ["train", "mlp", "--data", "rows.csv", "--report", "link"],
    ["train", "mlp", "--data", "rows.csv", "--checkpoint", "hard"], ["train", "mlp", "--data", "t", "--plot", "t.valid.png"],
    ["train", "mlp", "--data", ".", "--checkpoint", "rows.csv"], ["train", "own.py:Model", "--checkpoint", "own.py"],
    ["train", "mlp", "--save", "new", "--report", "../{here}/new"], ["predict", "model", "rows.csv", "--out", "model"],
    ["predict", "model", "rows.csv", "--out", "link"], ["show", "rows.csv", "x=@hard", "--html", "link"],
    ["export", "own.c", "--to", "own.c"]], ids=command)
def test_a_file_that_is_read_or_written_already_is_not_overwritten(xman, tmp_path, words, monkeypatch):
    monkeypatch.setattr("xman.cli.learning.plans.read", lambda *_, **__: pytest.fail("it began"))
    for name in ("rows.csv", "model", "own.py", "own.c", "t.train"):
        (tmp_path / name).write_text(name)
    os.link(tmp_path / "rows.csv", tmp_path / "hard")
    (tmp_path / "link").symlink_to("rows.csv")
    (tmp_path / "t.valid.png").symlink_to("t.train")
    code, out, err = xman(*(word.format(here=tmp_path.name) for word in words))
    assert (code, out) == (2, "") and re.search("is what .* reads; name another|is the file of --save, too; name another", err)
    assert (tmp_path / "rows.csv").read_text() == "rows.csv"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_pipe_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_whole(tmp_path / "pipe", "all of it")
    assert os.read(reader, 99) == b"all of it" and (tmp_path / "pipe").is_fifo()
    os.close(reader)


@pytest.mark.parametrize("words, forms", [
    (["train", "mlp", "--save", "m.onnx"], ".safetensors or .st, not .onnx"),
    (["show", "f.wl", "--html", "a.pdf"], ".html or .htm"), (["train", "mlp", "--report", "a.pdf"], ".html or .htm"),
    (["predict", "m", "rows.csv", "--out", "p.xlsx"], ".csv or .txt or "),
    (["predict", "m", "rows.csv", "--out", "p.csv.gz"], ".csv or .txt or .parquet or .pq, not .gz")], ids=command)
def test_a_file_is_not_written_under_a_name_that_says_another_format(xman, words, forms):
    status, out, errors = xman(*words)
    assert (status, out) == (2, "") and f"xman: {words[-2]}: {words[-1]} is written as {forms}" in errors


def test_a_terminal_is_written_to_where_no_file_can_be(monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    refuse_unwritable("/dev/null")
    with pytest.raises(XManError, match="the folder /dev is read-only; name another file"):
        refuse_unwritable("/dev/absent")
