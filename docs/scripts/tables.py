"""xman train beside scikit-learn's plain pipelines: the mean of three splits of 70/30, for tables of installed packages.

    python docs/scripts/tables.py            # linear models: a few minutes
    python docs/scripts/tables.py --mlp      # and perceptrons
    python docs/scripts/tables.py fair wine  # some tables

A row has the log loss of classes, or R² of numbers and counts, of both, and how much worse xman is; below 0.01 is the goal.
"""
from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PoissonRegressor, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from xman import load, tables
from xman.cli import derivatives, learning  # noqa: F401  (it adds the command)

bundled = lambda name: lambda: getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
statsmodels = lambda name: lambda: getattr(__import__("statsmodels.api").api.datasets, name).load_pandas().data
vega = lambda name: lambda: getattr(__import__("vega_datasets").data, name)()
pydataset = lambda name, step=1: lambda: __import__("pydataset").data(name).iloc[::step]
penguins = lambda: __import__("palmerpenguins").load_penguins()


def wide() -> pd.DataFrame:
    """120 rows of 3,000 numbers, five of which tell the class."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 3000))).add_prefix("x")
    return frame.assign(y=np.where(frame.iloc[:, :5].sum(axis=1) + random.normal(size=120) > 0, "high", "low"))


TABLES = {  # the model, the target, what gives the frame
    "penguins": ("logreg", "species", penguins), "penguins' mass": ("linear", "body_mass_g", penguins),
    "iris": ("logreg", "target", bundled("iris")), "wine": ("logreg", "target", bundled("wine")),
    "breast": ("logreg", "target", bundled("breast_cancer")), "digits": ("logreg", "target", bundled("digits")),
    "diabetes": ("linear", "target", bundled("diabetes")), "wide": ("logreg", "y", wide),
    "anes96": ("logreg", "vote", statsmodels("anes96")), "identification": ("logreg", "PID", statsmodels("anes96")),
    "fair": ("logreg", "affairs", lambda: (x := statsmodels("fair")()).assign(affairs=np.where(x.affairs > 0, "yes", "no"))),
    "marriages": ("logreg", "rate_marriage", statsmodels("fair")),
    "star98": ("linear", "above", lambda: (x := statsmodels("star98")()).assign(above=x.NABOVE / (x.NABOVE + x.NBELOW)).drop(
        columns=["NABOVE", "NBELOW"])),
    "docvis": ("poisson", "mdvis", statsmodels("randhie")), "choice": ("logreg", "choice", statsmodels("modechoice")),
    "crime": ("linear", "murder", statsmodels("statecrime")), "realgdp": ("linear", "realgdp", statsmodels("macrodata")),
    "ccard": ("linear", "AVGEXP", statsmodels("ccard")), "engel": ("linear", "foodexp", statsmodels("engel")),
    "grunfeld": ("linear", "invest", statsmodels("grunfeld")), "spector": ("logreg", "GRADE", statsmodels("spector")),
    "cars": ("linear", "Miles_per_Gallon", vega("cars")), "origin": ("logreg", "Origin", vega("cars")),
    # each fifth hour: RidgeCV takes minutes where each date is a column
    "seattle-temps": ("linear", "temp", lambda: vega("seattle_temps")().iloc[::5]),
    "seattle-weather": ("logreg", "weather", vega("seattle_weather")),
    "airports": ("linear", "latitude", vega("airports")), "barley": ("linear", "yield", vega("barley")),
    "forbes": ("linear", "pres", pydataset("forbes")), "OFP": ("poisson", "ofp", pydataset("OFP")),
    "caschool": ("linear", "testscr", pydataset("Caschool")), "chile": ("logreg", "vote", pydataset("Chile")),
    "flchain": ("logreg", "death", pydataset("flchain")), "hdma": ("logreg", "deny", pydataset("Hdma")),
    "movies": ("linear", "rating", lambda: pydataset("movies", 20)().drop(columns="title")),
    "diamonds": ("linear", "price", pydataset("diamonds", 5)), "computers": ("linear", "price", pydataset("Computers")),
    "slid": ("linear", "wages", pydataset("SLID")), "colon": ("logreg", "status", pydataset("colon")),
    "baseball": ("linear", "sal87", lambda: pydataset("Baseball")().drop(columns=["name1", "name2"])),
    "car-choice": ("logreg", "choice", pydataset("Car")),
    "stocks": ("linear", "price", vega("stocks")), "strikes": ("linear", "duration", statsmodels("strikes")),
}
PLAIN = {"logreg": LogisticRegression(max_iter=1000), "linear": RidgeCV(), "poisson": PoissonRegressor()}


def pipeline(predictor) -> object:
    """scikit-learn's plain pipeline, with this at its end."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent", add_indicator=True), OneHotEncoder(handle_unknown="ignore"))
    columns = make_column_transformer((numbers, make_column_selector(dtype_include="number")),
                                      (words, make_column_selector(dtype_exclude="number")), sparse_threshold=0)
    return make_pipeline(columns, predictor)


def ours(model: str, target: str, seed: int, train: pd.DataFrame, test: pd.DataFrame) -> float:
    """The log loss or R² of xman train on the test rows, from and to files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        parts = Path(folder, "train.csv"), Path(folder, "test.csv")
        for part, frame in zip(parts, (train, test), strict=True):
            frame.to_csv(part, index=False)
        words = ["train", model, "--data", str(parts[0]), "--target", target, "--save", f"{folder}/m", "--seed", str(seed)]
        task = ["--task", "regress"] if model == "mlp" and test[target].dtype.kind in "iuf" else []
        derivatives.xman([*words, *task, "--quiet"], standalone_mode=False)
        trained = load(f"{folder}/m")
        outputs, truth = trained.outputs(rows := tables.read(parts[1]), strange={}), trained.truth(rows)
    if trained.classes:
        return log_loss(truth.astype(str), trained.probabilities(outputs).astype(float), labels=list(trained.classes))
    return r2_score(truth, outputs[:, 0])


def theirs(predictor, target: str, train: pd.DataFrame, test: pd.DataFrame) -> float:
    """The same of the plain pipeline."""
    fitted = pipeline(predictor).fit(train.drop(columns=target), train[target])
    if hasattr(predictor, "predict_proba"):
        return log_loss(test[target].astype(str), fitted.predict_proba(test.drop(columns=target)),
                        labels=[str(x) for x in fitted.classes_])
    return r2_score(test[target], fitted.predict(test.drop(columns=target)))


def compared(name: str, mlp: bool) -> None:
    """Print the row of a table."""
    model, target, frame_of = TABLES[name]
    try:
        frame = frame_of().dropna(subset=[target]).reset_index(drop=True)
        frame = frame.assign(**{column: cells.astype(str) for column, cells in frame.select_dtypes("datetime").items()})
    except ImportError as error:
        return print(f"{name:18}{error}")
    classes = model == "logreg"
    if classes:
        frame[target] = frame[target].map(lambda x: f"{x:g}" if isinstance(x, float) else str(x))
    network = (MLPClassifier if classes else MLPRegressor)(early_stopping=True, max_iter=1000, random_state=0)
    for kind, predictor in [(model, PLAIN[model])] + [("mlp", network)] * mlp:
        scores = []
        for seed in range(3):
            train, test = train_test_split(frame, test_size=0.3, random_state=seed, stratify=frame[target] if classes else None)
            scores.append((ours(kind, target, seed, train, test), theirs(predictor, target, train, test)))
        own, plain = np.mean(scores, 0)
        worse = own - plain if classes else plain - own
        each = " ".join(f"{(1 if classes else -1) * (x - y):+.3f}" for x, y in scores)
        print(f"{name:18}{len(frame):7,}  {kind:8}{own:9.4f}{plain:9.4f}{worse:+9.4f}  {each}", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    names = [word for word in sys.argv[1:] if word != "--mlp"]
    print(f"{'table':18}{'rows':>7}  {'model':8}{'xman':>9}{'sklearn':>9}{'worse by':>9}")
    for name in names or TABLES:
        compared(name, "--mlp" in sys.argv)
