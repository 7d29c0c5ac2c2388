"""Facts about trained tables in other systems: cells in, the same probabilities out."""

import numpy as np
import pytest

from xman.export import to_onnx
from xman.export.tables import portable
from xman.files.model import trained
from xman.models import MLP, LinearRegression, LogisticRegression
from xman.tables import prepared
from xman.tables.columns import inputs
from xman.wengert import registers

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
pa = pytest.importorskip("pyarrow")

WORDS = "the old house by a sea-side road has no roof, it's been said".split()


def table_of(random, rows, strange=False):
    """A table with columns of all kinds, with cells that are missing, and if strange, cells of other tables."""
    def column(cells, gaps=0.1):
        return pa.array([None if random.random() < gaps else cell for cell in cells])
    towns = ["Köln", "Łódź", "new york", "", "nan"] + ["Atlantis", "'; drop"] * strange
    days = np.datetime64("1999-12-31") + random.integers(-9000, 9000, rows)
    return {
        "size of it": column(random.normal(5, 3, rows)), "count": column(random.integers(0, 9, rows).tolist(), 0),
        "wild": column(random.choice([1e-30, 1e30, -1.0, np.inf], rows)),
        "town": column(random.choice(towns, rows).tolist()), "double": column((random.random(rows) < 0.5).tolist()),
        "when": column(days.tolist()), "notes": column([" ".join(random.choice(WORDS, 9)) for _ in range(rows)]),
        "code": column([f"{random.choice(WORDS)[:3]}{n}" for n in range(rows)], 0)}


def numbers(model, arrays):
    """The inputs of the exported list: what a caller without xman makes of dates and texts."""
    out = {}
    for c in model.columns:
        line = next((op, args) for _, op, args in model.steps if c.register in registers(args))
        x = arrays[c.register]
        if line[0] == "days":
            x = np.array([np.nan if np.isnat(day) else (day - np.datetime64("1970-01-01")) / np.timedelta64(1, "D") for day in x])
        elif line[0] == "words":
            texts = [text.lower().replace(",", " ").replace("-", " ").split() for text in x]
            x = np.array([[text.count(word) for word in line[1][1]] for text in texts], float)
        elif line[0] == "characters":
            x = np.array([[*map(ord, text[:line[1][1]])] + [0] * (line[1][1] - len(text)) for text in x])
        out[c.register] = x
    return out


def trained_on(table, y, seed):
    """A model of that table with its first parameters: an export is right or wrong with any."""
    facts = prepared(table, y)
    features, outputs = facts.shape[-1] * (facts.shape[0] if len(facts.shape) > 1 else 1), len(facts.classes) or 1
    loss = {"loss": "softmaxCrossEntropy"} if facts.classes else {"loss": "squaredError"}
    network = MLP([features, 5, outputs], seed=seed, last=None, **loss) if seed % 2 else (
        LogisticRegression if facts.classes else LinearRegression)(features, outputs)
    return trained(network, {}, facts)


# words that are unseen, and infinite numbers, are what is tested
@pytest.mark.filterwarnings("ignore:.*no training row had", "ignore:.*infinite numbers")
@pytest.mark.parametrize("seed", range(20))
def test_a_table_of_all_kinds_gives_the_same_numbers_in_onnx_runtime_for_cells_missing_and_unseen(seed):
    random = np.random.default_rng(seed)
    names = random.permutation([*table_of(random, 1)])[:random.integers(2, 9)]
    of_these = lambda rows, strange: pa.table({name: x for name, x in table_of(random, rows, strange).items() if name in names})
    y = random.normal(1e3, 50, 60) if seed % 5 == 4 else random.choice(["yes", "no", "maybe"][:2 + seed % 2], 60)
    model, fresh = trained_on(of_these(60, False), y, seed), of_these(40, True)
    file = portable(model, ["codes"])
    exported = to_onnx(file.steps, {**model.values, **file.examples}, outputs=[model.output], constants=[*model.values],
                       rows=[*file.inputs])
    session = ort.InferenceSession(exported.SerializeToString(), providers=["CPUExecutionProvider"])
    arrays = numbers(model, inputs(model.columns, fresh))
    got, = session.run(None, {x.name: arrays[x.name] for x in session.get_inputs()})
    np.testing.assert_allclose(got, model.outputs(fresh), 1e-6, 1e-6)
