"""Mini-batches: how rows are drawn, and in what form they are taken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.batch.mini_batches import Picked, mini_batches, updates_in
from okbench.learners.contract import Draws, RecordedDraws
from okbench.learners.rows import Block


@pytest.mark.parametrize("how", ["choice", "permutation"])
def test_a_mini_batch_has_different_rows_of_all_and_another_follows(how):
    batches = mini_batches(Draws(1).stream("batches"), 50, 20, how)
    drawn = np.array([next(batches) for _ in range(400)])
    assert all(len(np.unique(chosen)) == 20 for chosen in drawn)
    assert not np.array_equal(drawn[0], drawn[1])
    counts = np.bincount(drawn.ravel(), minlength=50)
    assert len(counts) == 50
    assert np.abs(counts - 160.0).max() < 6.0 * np.sqrt(400 * 0.4 * 0.6)


def test_a_permutation_gives_its_first_rows():
    recorded = [np.array([3, 1, 4, 0, 2]), np.array([0, 1, 2, 3, 4])]
    draws = RecordedDraws(named={("batches", "permutation"): recorded})
    batches = mini_batches(draws.stream("batches"), 5, 2, "permutation")
    assert next(batches).tolist() == [3, 1]
    assert next(batches).tolist() == [0, 1]


@pytest.mark.parametrize("how", ["choice", "permutation"])
def test_more_rows_than_there_are_become_all_of_them(how):
    chosen = next(mini_batches(Draws(0).stream("batches"), 7, 100, how))
    assert sorted(chosen.tolist()) == list(range(7))


@pytest.mark.parametrize(
    ("epochs", "rows", "size", "expected"), [(3, 800, 100, 24), (3, 1400, 100, 42), (2, 7, 3, 6)]
)
def test_an_epoch_covers_the_rows(epochs, rows, size, expected):
    assert updates_in(epochs, rows, size) == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_picked_rows_are_the_chosen_ones(form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.6)
    picked = Picked(Block.of(form(X)), 6)
    for size in (6, 2, 6):
        chosen = rng.choice(30, size, replace=False)
        values, columns, starts, stops, _ = picked.take(chosen)
        assert len(starts) == len(stops) == size
        found = np.zeros((size, 4))
        for i in range(size):
            found[i, columns[starts[i] : stops[i]]] = values[starts[i] : stops[i]]
        np.testing.assert_array_equal(found, X[chosen])
