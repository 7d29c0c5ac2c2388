"""The parts of the estimators; scikit-learn is imported at the first use of one."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ops.facts import taken_by

from ..engines import Compiled
from ..errors import XManError, extra, refuse_unknown
from ..manager import XMan
from ..models import MLP
from ..models.linear import Linear
from ..optimize import minimize
from ..optimize.minimize import WITH_GRADIENT, WITH_PRODUCTS
from ..tables import prepared
from ..train import fit, predict, training_list
from ..train.objective import Objective


def estimator(name: str, mixin: str, methods: type) -> type:
    """The estimator class of that name. XManError if scikit-learn is not installed."""
    base = extra("sklearn.base", "sklearn", f"{name}, an estimator of scikit-learn,")
    return type(name, (getattr(base, mixin), methods, base.BaseEstimator),
                {"__doc__": methods.__doc__, "__module__": __package__})


@dataclass(eq=False, repr=False)
class Estimator:
    """The common part of classifier and regressor."""
    model: Sequence[int] | XMan | Callable = (100,)
    _: KW_ONLY
    activation: str = "relu"
    optimizer: str = "L-BFGS-B"
    lr: float | None = None
    batch_size: int | None = None
    l1: float | None = None
    l2: float | None = 1e-4
    epochs: int = 200
    tolerance: float | None = None
    dropout: float = 0.0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    patience: int = 10
    warm_start: bool = False
    engine: str = "auto"
    random_state: Any = None
    progress: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Estimator:
        """Train on rows X (n, features), dense or sparse, with targets y and weights (n,)."""
        before = getattr(self, "parameters_", {}) if self.warm_start else {}
        (X, y), weights = self._begun(X, y, sample_weight)
        shift, scale = self._scale_of(y, weights)
        data = X, y if shift is None else ((y - shift) / scale).astype(y.dtype)
        W, b = (f"{name}{len(self.model) + 1}" if shift is not None else "" for name in "Wb")
        if before and shift is not None:
            before = before | {W: before[W] / scale, b: (before[b] - shift) / scale}
        if before and isinstance(self.model, XMan):
            raise XManError("warm_start is for models that the estimator makes, and this one is the user's")
        for name, array in self.model_.inputDict().items():
            if name in before and np.shape(before[name]) == np.shape(array):
                array[...] = before[name]
        data, weights, validation = self._held_out(data, weights)
        settings_named = lambda *names: {name: getattr(self, name) for name in names}
        settings = settings_named("l1", "l2", "engine", "progress", "epochs") | {
            "sample_weight": weights, "validation": validation}
        if self.optimizer in (*WITH_GRADIENT, *WITH_PRODUCTS):
            least = 1e-9 if self.optimizer in WITH_PRODUCTS else 1e-4
            tolerance = least if self.tolerance is None else self.tolerance
            result = minimize(self.model_, data, method=self.optimizer, tolerance=tolerance, **settings,
                              callbacks=[self._impatient()] if validation else [])
        else:
            settings |= settings_named("optimizer", "lr", "batch_size")
            result = fit(self.model_, data, seed=self.seed_, **settings,
                         patience=self.patience if validation else None)
        self.parameters_, self.history_, self.reason_ = result.parameters, result.history, result.reason
        if shift is not None:  # the last layer gives outputs on the targets' own scale
            self.parameters_ |= {W: self.parameters_[W] * scale, b: self.parameters_[b] * scale + shift}
        self.n_iter_ = len(result.history)
        return self

    def _held_out(self, data: tuple, weights: Any) -> tuple[tuple, Any, tuple | None]:
        """(the rows to train on, their weights, the rows that end the training, if it may stop early)."""
        if not self.early_stopping:
            return data, weights, None
        from sklearn.model_selection import train_test_split

        X, y = data
        rows, unseen = train_test_split(np.arange(X.shape[0]), test_size=self.validation_fraction,
                                        random_state=self.seed_, stratify=y if self.STRATIFIED else None)
        return (X[rows], y[rows]), None if weights is None else weights[rows], (X[unseen], y[unseen])

    def _impatient(self) -> Callable:
        """A callback that ends a run which has become no better for `patience` epochs."""
        best = [math.inf, 0]

        def ends(row: dict, _: Any) -> str | None:
            if row["validation_loss"] < best[0]:
                best[:] = row["validation_loss"], row["epoch"]
            late = row["epoch"] - best[1] >= self.patience
            return f"no better for {self.patience} epochs" if late else None
        return ends

    @property
    def coef_(self) -> np.ndarray:
        """The weights of a linear model, (features,) of one target, else (targets or classes, features)."""
        W = self._linear("W")
        return W[:, 0] if self.FLAT and W.shape[1] == 1 else W.T

    @property
    def intercept_(self) -> np.ndarray:
        """The biases of a linear model, (targets or classes,)."""
        return self._linear("b")[0]

    def _linear(self, name: str) -> np.ndarray:
        """A parameter of a linear model; of two classes the second less the first."""
        places = {"W": ("W", "W1"), "b": ("b", "b1")}[name]
        if self.model != () and not isinstance(getattr(self, "model_", None), Linear):
            raise AttributeError(f"{type(self).__name__} has coef_ and intercept_ only without hidden layers")
        array = next(self.parameters_[place] for place in places if place in self.parameters_)
        return array[:, 1:] - array[:, :1] if self.STRATIFIED and array.shape[1] == 2 else array

    def _scale_of(self, y: np.ndarray, weights: Any) -> tuple[Any, Any]:
        """(mean, standard deviation) of the targets (1, outputs), with which a built-in model is trained."""
        return None, None

    def _begun(self, X: Any, y: Any, sample_weight: Any, first: bool = True,
               **reading: Any) -> tuple[tuple, Any]:
        """The rows as `xman.train.fit` takes them, and their weights. first: make a model for them."""
        from sklearn.utils import check_random_state
        from sklearn.utils.class_weight import compute_sample_weight
        from sklearn.utils.validation import _check_sample_weight

        X = self._numbers(X, first)
        X, y = self._read(X, y, first, **reading)
        if hasattr(self, "prepared_"):
            names = [column.name for column in self.prepared_.columns]
            self.feature_names_in_, self.n_features_in_ = np.array(names, object), len(names)
        if first:
            self.seed_ = int(check_random_state(self.random_state).randint(2 ** 31))
            self.model_, self.steps_ = self._model(X.shape[1], self.outputs_, X.dtype), None
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)
        if self.class_weight is not None:
            of_classes = compute_sample_weight(self.class_weight, self.classes_[y])
            sample_weight = of_classes if sample_weight is None else of_classes * sample_weight
        return (X, y), sample_weight

    def _numbers(self, X: Any, first: bool) -> Any:
        """Rows of numbers of a frame that has columns of words, truth values or dates; other rows as they
        are. first: its columns are learnt."""
        if first:
            vars(self).pop("prepared_", None)
            if not hasattr(X, "columns") or np.asarray(X).dtype.kind in "iuf":
                return X
            # numbers for targets: y is scikit-learn's to judge, and "NA" may be a class
            self.prepared_ = prepared(X, np.arange(len(X)), task="regress")
        return self.prepared_.features(X) if hasattr(self, "prepared_") else X

    def _model(self, features: int, outputs: int, dtype: Any) -> XMan:
        if isinstance(self.model, XMan):
            return self.model
        options = {"seed": self.seed_, "dtype": dtype.type, "loss": self.LOSS, "dropout": self.dropout}
        if callable(self.model):
            network = self.model(features, outputs, **taken_by(self.model, **options))
            if not isinstance(network, XMan):
                raise XManError(f"model(features, outputs) gave a {type(network).__name__}, which is no XMan")
            return network
        if isinstance(self.model, str) or not isinstance(self.model, Sequence):
            raise XManError("model is a tuple of the sizes of hidden layers, an XMan, or a function "
                            f"(features, outputs) -> XMan, not {self.model!r}")
        return MLP([features, *self.model, outputs], activation=self.activation, **options)

    def _step(self, X: Any, y: Any, sample_weight: Any, **reading: Any) -> Estimator:
        """Take one step on these rows, from the parameters of the last step or of `fit`."""
        first = not hasattr(self, "model_")
        (X, y), weights = self._begun(X, y, sample_weight, first, **reading)
        if self.steps_ is None:
            optimizer = "adam" if self.optimizer in (*WITH_GRADIENT, *WITH_PRODUCTS) else self.optimizer
            self.steps_ = Steps(self.model_, X, y, getattr(self, "parameters_", {}), optimizer,
                                0.001 if self.lr is None else self.lr, self.seed_, self.engine, l1=self.l1,
                                l2=self.l2)
        self.loss_ = self.steps_.step(X, y, weights)
        registers = (*self.steps_.objective.names, *self.steps_.objective.running)
        self.parameters_ = {x: np.array(self.steps_.values[x]) for x in registers}
        return self

    def _given(self, X: Any, of: str = "outputs") -> np.ndarray:
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self, "parameters_")
        X = (self._numbers(X, False) if hasattr(self, "prepared_")
             else validate_data(self, X, reset=False, **ROWS))
        return predict(self.model_, self.parameters_, X, of)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


ROWS = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}
ABOUT = """

    model: the sizes of the hidden layers of a perceptron, () for none; an XMan, which `fit` takes; or a
    function of (features, outputs), and of seed, dtype and loss where it has such arguments, that gives one,
    as a class of xman.models. activation: of the hidden layers. optimizer: a method of `xman.minimize`, or an
    optimizer of `fit` with its lr and batch_size; tolerance, of the former, is the largest entry of the
    gradient at which it ends, where a regressor's targets have the deviation 1 (None: 1e-4, and 1e-9 of those
    that take products with the Hessian, to which that is an epoch or two more). epochs: at most. dropout: of
    the hidden layers, by an optimizer of `fit`. early_stopping: end after `patience` epochs without a better
    loss on validation_fraction of the rows, held out. warm_start: begin where the last `fit` ended. l1, l2,
    engine, progress: as there. random_state: of the parameters' beginning, the order of rows and what is
    drawn. Fitted it has model_, parameters_ by name, history_, reason_, n_iter_, n_features_in_ and
    feature_names_in_, and, without hidden layers, coef_ and intercept_. X may be a frame with columns of words,
    truth values and dates, which become numbers as `tables.prepared` says: there cells may be missing, in `fit`
    and in `predict`; in arrays, and in frames of floats and whole numbers alone, none may.
"""


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(Estimator):
    __doc__ = ("A classifier: outputs (n, classes) are probabilities; class_weight is a dict by class or "
               "'balanced'." + ABOUT)
    LOSS, STRATIFIED, FLAT = "softmaxCrossEntropy", True, False
    class_weight: Any = None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Classifier:
        """Take a step with these rows, by `optimizer` or Adam. classes: all of them, at the first call."""
        return self._step(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row, (n,)."""
        probable = self.predict_proba(X).argmax(1)
        return self.classes_[probable]

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the classes, (n, classes); of two, by how much that of the second is larger, (n,)."""
        scores = self._given(X, "scores")
        return (scores[:, -1] - (scores[:, 0] if scores.shape[1] == 2 else 0)
                if len(self.classes_) == 2 else scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, (n, classes)."""
        outputs = self._given(X)
        outputs = outputs[:, None] if outputs.ndim == 1 else outputs
        return np.hstack([1 - outputs, outputs]) if outputs.shape[1] < len(self.classes_) == 2 else outputs

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of each class's probability, (n, classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _read(self, X: Any, y: Any, first: bool, classes: Any = None) -> tuple[Any, np.ndarray]:
        from sklearn.utils.multiclass import check_classification_targets
        from sklearn.utils.validation import column_or_1d, validate_data

        X, y = validate_data(self, X, y, reset=first or hasattr(self, "prepared_"), **ROWS)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        if first:
            self.classes_ = np.unique(y if classes is None else classes)
            self.outputs_ = len(self.classes_)
        refuse_unknown(sorted({*y.tolist()}), self.classes_.tolist(), "y has the class {!r}")
        return X, np.searchsorted(self.classes_, y)


class Regressor(Estimator):
    __doc__ = "A regressor: outputs (n, targets) are fitted to y (n,) or (n, targets)." + ABOUT
    LOSS, STRATIFIED, FLAT, class_weight = "squaredError", False, True, None

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """Take a step with these rows, by `optimizer` or Adam."""
        return self._step(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """The targets of each row, in the shape that y had: (n,) or (n, targets)."""
        outputs = self._given(X)
        return outputs.reshape(-1) if self.flat_ else outputs

    def _read(self, X: Any, y: Any, first: bool) -> tuple[Any, np.ndarray]:
        from sklearn.utils.validation import validate_data

        reset = first or hasattr(self, "prepared_")
        if y is not None and np.asarray(y).dtype.kind in "OUS":
            for row, target in enumerate(np.asarray(y, object).ravel()):
                try:
                    float(target)
                except (TypeError, ValueError):
                    raise XManError(f"y holds {repr(target)[:40]}, its entry {row}; a regressor's targets are numbers, "
                                    "and XManClassifier is for classes") from None
        X, y = validate_data(self, X, y, reset=reset, multi_output=True, y_numeric=True, **ROWS)
        if first:
            self.flat_, self.outputs_ = y.ndim == 1, math.prod(y.shape[1:])
        y = y.reshape(len(y), -1).astype(X.dtype, copy=False)
        if y.shape[1] != self.outputs_:
            raise XManError(f"y has {y.shape[1]} targets a row, and the first rows had {self.outputs_}")
        return X, y

    def _scale_of(self, y: np.ndarray, weights: Any) -> tuple[Any, Any]:
        if isinstance(self.model, XMan) or callable(self.model) or self.l1 is not None:
            return None, None  # they have a loss of their own; the sum of sizes would be another
        mean = np.average(y.astype(float), 0, weights)[None]
        deviations = np.sqrt(np.average((y - mean) ** 2, 0, weights))[None]
        return mean, np.where(deviations > 0, deviations, 1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Steps:
    """An optimizer at work: its moments, and the present parameters.

    model, X, y: as `fit` takes them, with the first rows. start: first values of all or some parameters, by
    name. optimizer, lr, seed, engine, penalties: as for `fit`. Rows without weights have the weight 1.
    """

    def __init__(self, model: XMan, X: Any, y: np.ndarray, start: dict[str, np.ndarray], optimizer: Any,
                 lr: float, seed: int, engine: str, **penalties: Any):
        self.objective = Objective(model, (X, y), seed, np.ones(len(y)), **penalties)
        names, inputs = self.objective.names, self.objective.inputs | start
        self.list = training_list(self.objective.steps, self.objective.loss, names, optimizer,
                                  running=self.objective.running)
        self.values = {x: inputs[x] for x in self.list.steps.inputs if x in inputs}
        self.values |= {moment: np.zeros_like(inputs[w]) for moment, w in self.list.moments.items()}
        self.number = min((np.asarray(inputs[w]).dtype for w in names), key=lambda dtype: dtype.itemsize).type
        self.lr, self.t = self.number(lr), 0
        self.program = Compiled(self.list.steps, [self.objective.loss, *self.list.inplace.values()], engine,
                                None, adapts=False)

    def step(self, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        """The loss before one step with these rows, which is then taken."""
        self.t += 1
        inputs = self.objective.minibatch_inputs(X, y, np.zeros(len(y), int), self.t)
        if weights is not None:
            inputs[self.objective.weight] = weights
        numbers = {self.list.lr: self.lr, self.list.t: self.number(self.t)}
        outputs = self.program(self.values | inputs | numbers)
        self.values.update((x, outputs[after]) for x, after in self.list.inplace.items())
        return float(outputs[self.objective.loss])
