"""The figures that Matplotlib draws: legible on light and on dark pages."""

import re
from pathlib import Path
from typing import Any

import numpy as np

import ops
from xman import difference_errors, grad
from xman.models import LogisticRegression
from xman.train import fit, load

DOCS = Path(__file__).parents[1]
GREY, BLUE, GREEN, RED, YELLOW = "#8b949e", "#3b82f6", "#22a052", "#e5534b", "#c69026"
STYLE = {"font.size": 8, "svg.fonttype": "none", "savefig.transparent": True, "legend.frameon": False,
         "axes.spines.top": False, "axes.spines.right": False,
         **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), GREY)}
NARROW = {"arccosh": (1, 4), "gammaln": (0.05, 4), "digamma": (0.2, 4), "Gamma": (0.2, 4)}  # where it is worth looking
CURVES = {"functions": ("exp log sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arctanh erf gammaln "
                        "digamma").split(),
          "activations": "sigmoid logSigmoid relu leakyRelu elu softplus silu gelu".split()}
NAMES = *(f"curves-{family}.svg" for family in CURVES), "differences.svg", "learning.svg", "speed.svg"


def curves(names: list[str]) -> Any:
    """Each operator and its derivative, which `grad` finds."""
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(-(-len(names) // 6), 6, figsize=(9, 1.6 * -(-len(names) // 6)), layout="constrained")
    for ax, op in zip(axes.flat, names, strict=False):
        x = np.linspace(*NARROW.get(op, (-3, 3)), 241)
        with np.errstate(all="ignore"):
            value = np.asarray(ops.G[op](x), float)
            slope = grad(lambda x, op=op: getattr(ops.f, op)(x).sum())(x)
        for y, colour in ((slope, RED), (value, BLUE)):
            y = np.where(np.isfinite(value) & (abs(y) < 4), y, np.nan)
            ax.plot(x, np.where(abs(np.diff(y, prepend=y[0])) > 1, np.nan, y), color=colour, linewidth=1.2)
        ax.set(title=op, ylim=(-3, 3), xlim=NARROW.get(op, (-3, 3)), yticks=[-2, 0, 2])
        ax.axhline(0, color=GREY, linewidth=0.4)
    for ax in axes.flat[len(names):]:
        ax.axis("off")
    return figure


def times(ax: Any, head: list[str], rows: list[list[str]]) -> None:
    """The table of speed.md: the time of a step over that of its matrix products, nearer to 1 is better."""
    for k, (name, colour) in enumerate(zip(head[2:], (BLUE, YELLOW, GREY, GREEN, RED), strict=False)):
        numbers = [[float(cell.replace(",", "")) for cell in (row[1], row[k + 2])] for row in rows]
        ax.barh([i + 0.16 * k for i in range(len(rows))], [seconds / floor for floor, seconds in numbers], 0.14,
                color=colour, label=name)
    ax.set(yticks=[i + 0.32 for i in range(len(rows))], yticklabels=[row[0] for row in rows], xscale="log", xlim=(0.8, 60),
           xticks=[1, 2, 5, 10, 20, 50], xticklabels=["1", "2", "5", "10", "20", "50"], xlabel="time ÷ matrix products alone")
    ax.minorticks_off()
    ax.invert_yaxis()
    ax.legend(loc="lower right")


def write(folder: Path) -> None:
    """The figures, as SVG."""
    import matplotlib.pyplot as plt
    with plt.rc_context(STYLE):
        for family, names in CURVES.items():
            curves(names).savefig(folder / f"curves-{family}.svg")
        difference_errors([("z", "exp", ("x",)), ("y", "sin", ("z",))], "y", "x", {"x": 1.0}).plot(folder / "differences.svg")
        digits = load("digits")
        fit(LogisticRegression(64, 10), digits.train, validation=digits.valid, epochs=20, progress=False,
            plot=folder / "learning.svg")
        figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
        table = re.findall(r"(?m)^\| (one training step .*|.*batch.*(?:\|.*){5}) \|$", (DOCS / "speed.md").read_text("utf-8"))
        head, *rows = [[cell.strip() for cell in row.split("|")] for row in table]
        times(ax, head, rows)
        figure.savefig(folder / "speed.svg")
    plt.close("all")
