"""Facts about what a run shows: the lines, the bar on a terminal, and the learning curve as a picture."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest

from xman import XManError
from xman.models import MLP
from xman.train import fit
from xman.train.plot import learning_curve

PNG = b"\x89PNG\r\n\x1a\n"
DATA = np.random.default_rng(0).standard_normal((20, 4)).astype(np.float32), np.arange(20) % 3
TRAINING = [{"epoch": k, "loss": 1 / k, "adjustment": 0.1, "seconds": 0.1} for k in (1, 2, 3)]
VALIDATED = [{**row, "validation_loss": 2 / row["epoch"], "validation_accuracy": 0.9} for row in TRAINING]


def train(model=None, **settings):
    return fit(model or MLP([4, 3]), DATA, **{"progress": False, "epochs": 2, **settings})


def refusal(call, *args, **named):
    """The message of the XManError that the call raises: one line."""
    with pytest.raises(XManError) as caught:
        call(*args, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# while it runs


def test_elsewhere_than_on_a_terminal_it_prints_a_line_an_epoch_on_the_error_stream(capsys):
    train(progress=True, validation=DATA)
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"(epoch +\d  loss [\d.]+  validation [\d.]+  accuracy [\d.]+%  [\d.]+ s\n){2}", err)


def test_without_progress_it_prints_nothing(capsys):
    train(progress=False)
    assert capsys.readouterr() == ("", "")


def on_a_terminal(*command):
    """What the command writes to its error stream, a terminal of 24 by 80."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    shown = b""
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.DEVNULL):
        os.close(theirs)
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other end is closed
            os.close(ours)
    return shown.decode()


def test_on_a_terminal_it_draws_a_bar_of_batches_and_the_lines():
    for module in ("tqdm", "click"):
        pytest.importorskip(module)
    shown = on_a_terminal(sys.executable, "-m", "xman", "train", "logreg", "--epochs", "3", "--optimizer", "adam")
    assert "/120 [" in shown and "batch/s]" in shown and "epoch   3  loss" in shown


def test_on_a_terminal_without_tqdm_it_prints_the_lines():
    code = ("import sys; sys.modules['tqdm'] = None; import numpy as np; from xman.models import MLP; from xman.train import fit;"
            "fit(MLP([4, 3]), (np.ones((6, 4)), np.arange(6) % 3), epochs=2)")
    assert re.fullmatch(r"(epoch +\d  loss [\d.]+  [\d.]+ s\r\n){2}", on_a_terminal(sys.executable, "-c", code))


# the picture


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib")


@pytest.fixture
def figures(matplotlib, monkeypatch):
    """The figures that are saved while the test runs."""
    from matplotlib.figure import Figure
    saved = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *args, **named: saved.append(self))
    return saved


@pytest.mark.parametrize("history", [VALIDATED, TRAINING, TRAINING[:1], []], ids=["validated", "without", "one epoch", "none"])
def test_a_learning_curve_is_a_png(matplotlib, tmp_path, history):
    learning_curve(history, tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


def test_fit_draws_its_history(matplotlib, tmp_path):
    train(plot=tmp_path / "curve.png", validation=DATA)
    assert (tmp_path / "curve.png").read_bytes().startswith(PNG)


def test_the_curves_are_those_of_the_history(figures):
    learning_curve(VALIDATED, "curve.png")
    drawn = {line.get_label(): list(line.get_ydata()) for axes in figures[0].axes for line in axes.lines}
    assert drawn["training loss"] == [row["loss"] for row in VALIDATED]
    assert drawn["validation loss"] == [row["validation_loss"] for row in VALIDATED]
    assert [90, 90, 90] in drawn.values()


def test_the_best_epoch_is_marked(figures):
    learning_curve(VALIDATED, "curve.png")
    best, = (line for line in figures[0].axes[0].lines if line.get_label() == "best")
    assert (list(best.get_xdata()), list(best.get_ydata())) == ([3], [VALIDATED[2]["validation_loss"]])


def test_a_negative_loss_lies_inside_the_picture(figures):
    learning_curve([{"epoch": k, "loss": -float(k)} for k in (1, 2, 3)], "curve.png")
    low, high = figures[0].axes[0].get_ylim()
    assert low <= -3 and -1 <= high


def test_drawing_needs_no_screen_and_no_pyplot(matplotlib, tmp_path):
    code = (f"import sys; from xman.train.plot import learning_curve; learning_curve([], {str(tmp_path / 'curve.png')!r});"
            "assert 'matplotlib.pyplot' not in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("path", ["none/curve.png", "folder.png", "curve.xyz"])
def test_a_plot_that_cannot_be_written_is_one_sentence_with_its_path(matplotlib, tmp_path, path):
    (tmp_path / "folder.png").mkdir()
    assert f"the plot {tmp_path / path} could not be written" in refusal(learning_curve, VALIDATED, tmp_path / path)


@pytest.mark.parametrize("missing", ["matplotlib", "matplotlib.figure"])
def test_without_matplotlib_the_extra_that_brings_it_is_named(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.delitem(sys.modules, "matplotlib.figure", raising=False) if missing == "matplotlib" else None
    message = refusal(learning_curve, VALIDATED, "curve.png")
    assert "matplotlib" in message and "pip install 'xman[cli]'" in message


@pytest.mark.parametrize("plot, module", [("curve.png", None), ("none/curve.png", "matplotlib"), (
    "curve.xyz", "matplotlib"), ("curve", "matplotlib"), (f"{251 * 'a'}.png", "matplotlib")], ids=range(5))
def test_a_plot_that_cannot_be_drawn_is_refused_before_the_training(monkeypatch, tmp_path, plot, module):
    pytest.importorskip(module) if module else monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    model, calls = MLP([4, 3]), []
    model.feed = lambda X, y: calls.append(1) or MLP.feed(model, X, y)
    refusal(train, model, plot=tmp_path / plot)
    assert len(calls) <= 1  # a look at the shapes
