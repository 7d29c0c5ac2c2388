"""Workers that share the rows of a minibatch take the steps that one takes."""
from __future__ import annotations

import numpy as np
import pytest

from xman import models
from xman.train import OPTIMIZERS, fit

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(37, 6)), RNG.integers(0, 3, 37)
QUICK = {"epochs": 2, "batch_size": 10, "lr": 0.01, "progress": False, "engine": "numpy"}


def apart(model, data=(X, y), pieces=3, **settings):
    """The greatest difference between the parameters of a fit in pieces and those of a fit at once."""
    one, several = (fit(model, data, accumulate=k, **{**QUICK, **settings}) for k in (1, pieces))
    return max(np.max(np.abs(one.parameters[w] - several.parameters[w])) for w in one.parameters)


def test_pieces_take_the_steps_of_the_whole_with_every_optimizer():
    for optimizer in OPTIMIZERS:
        assert apart(models.MLP([6, 3], dtype=float), optimizer=optimizer, clip=0.5, l2=0.01) < 1e-12, optimizer


@pytest.mark.parametrize("settings", [{}, {"pieces": 13}, {"batch_size": 37}, {"class_weight": "balanced"}])
def test_batch_normalisation_noise_uneven_minibatches_and_pieces_without_rows(settings):
    assert apart(models.ResidualMLP(6, 5, 3, normalization="batch", dropout=0.3, dtype=float), **settings) < 1e-11
