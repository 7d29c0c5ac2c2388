"""Facts about minibatches: which rows they hold, in which order, and what is copied."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from xman.scale.shares import BLOCK, Minibatches

LABELS = np.arange(30) % 3
X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
SEQUENCES = np.eye(4, dtype=np.float32)[np.random.default_rng(1).integers(0, 4, (30, 3))]


def rows_of(x):
    return np.asarray(x.toarray() if hasattr(x, "toarray") else x)


WIDE = np.arange(40 * BLOCK // 64).reshape(40, -1)  # a block holds 8 rows of it


@pytest.mark.parametrize("x", [X, X[:, 0], np.asfortranarray(X), X[:, ::2], X.astype(">f4"), csr_matrix(X), SEQUENCES, WIDE[:30],
                               np.repeat(X, 3000, axis=1)], ids=range(9))
@pytest.mark.parametrize("size", [1, 7, 8, 29, 30, 31])
def test_the_minibatches_are_the_rows_in_the_order_that_the_seed_and_the_epoch_draw(x, size):
    minibatches = Minibatches(x, LABELS, size, seed=3)
    for epoch in (1, 2):
        order = np.random.default_rng([3, epoch]).permutation(30) if size < 30 else np.arange(30)
        for first in (0, 1, minibatches.count - 1):
            found = [(rows_of(a).copy(), b.copy(), numbers) for a, b, numbers in minibatches.epoch(epoch, first)]
            wanted = [order[k:k + size] for k in range(first * size, 30, size)]
            assert len(found) == len(wanted)
            for (a, b, numbers), some in zip(found, wanted, strict=True):
                assert a.dtype.isnative and np.array_equal(numbers, some)
                assert np.array_equal(a, rows_of(x)[some]) and np.array_equal(b, LABELS[some])


@pytest.mark.parametrize("size", [1, 8, 29])
def test_minibatches_are_views_of_one_buffer_in_one_piece(size):
    minibatches = Minibatches(X, LABELS, size, seed=0)
    owners = {id(a.base) for epoch in (1, 2) for a, _, _ in minibatches.epoch(epoch)}
    assert len(owners) == 1 and all(a.flags.c_contiguous and a.dtype == X.dtype for a, _, _ in minibatches.epoch(3))


def test_a_minibatch_of_all_rows_is_the_data():
    [(a, b, _)] = Minibatches(X, LABELS, 30, seed=0).epoch(1)
    assert a is X and b is LABELS
