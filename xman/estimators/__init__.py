"""Estimators for scikit-learn over any model: XManClassifier and XManRegressor, made at their first use.

    from xman.estimators import XManClassifier
    make_pipeline(StandardScaler(), XManClassifier((64, 32))).fit(X, y).predict(X)
"""
from typing import Any

from ..errors import nearest
from .estimator import Classifier, Regressor, estimator

__all__ = ["XManClassifier", "XManRegressor"]
KINDS = {"XManClassifier": ("ClassifierMixin", Classifier), "XManRegressor": ("RegressorMixin", Regressor)}


def __getattr__(name: str) -> Any:
    if name not in KINDS:
        raise AttributeError(f"module 'xman.estimators' has no attribute {name!r}{nearest(name, KINDS)}")
    globals()[name] = kind = estimator(name, *KINDS[name])
    return kind


def __dir__() -> list[str]:
    return sorted({*globals(), *KINDS})
