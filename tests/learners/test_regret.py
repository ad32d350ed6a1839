"""The arithmetic of the regret of Raker: what is subtracted, and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.regret import best_function, drawn, experts, features_of, measured
from okbench.learners.contract import Draws, Problem
from okbench.learners.many_kernels.raker import Raker


def rows(n_rows=300):
    rng = np.random.default_rng(4)
    X = rng.random((n_rows, 3))
    return X, np.clip(0.5 + 0.3 * np.sin(5 * X[:, 0]) + 0.05 * rng.standard_normal(n_rows), 0, 1)


def begun(step, widths=(0.5, 1.0, 4.0)):
    learner = Raker(components=20, widths=widths, step=step, decay=0.0)
    return learner.begin(Problem("regression", 3), Draws(2))


def test_the_experts_together_are_the_learner():
    X, y = rows()
    learner = begun(0.2)
    outputs = experts(features_of(learner, X), y, 0.2)
    losses = np.cumsum((y - outputs) ** 2, axis=1)
    before = np.hstack([np.zeros((3, 1)), losses[:, :-1]])
    weights = np.exp(-0.2 * before)
    expected = (weights * outputs).sum(axis=0) / weights.sum(axis=0)
    np.testing.assert_allclose(learner.learn(X, y), expected, atol=1e-10, rtol=0)


def test_the_best_function_is_a_minimum():
    X, y = rows()
    features, step = features_of(begun(0.1), X)[0], 0.1
    loss, norm = best_function(features, y, step)
    weights = np.linalg.lstsq(
        np.vstack([features, np.eye(40) / np.sqrt(2 * step)]), np.concatenate([y, np.zeros(40)]),
        rcond=None,
    )[0]  # fmt: skip
    assert loss == pytest.approx(np.sum((y - features @ weights) ** 2), rel=1e-10)
    assert norm == pytest.approx(weights @ weights, rel=1e-10)


def test_regrets_are_differences_within_their_bounds():
    X, y = rows()
    found = measured("made", X, y)
    step = 1 / np.sqrt(300)
    assert found.largest_loss <= 1.0
    assert found.expert_regret == pytest.approx(found.loss - found.best_expert)
    assert found.function_regret == pytest.approx(found.loss - found.best_function)
    assert found.expert_bound == pytest.approx(np.log(3) / step + step * 300)
    assert found.expert_regret < found.expert_bound < found.function_bound
    assert 0 < found.function_regret < found.function_bound


def test_the_figure_has_the_same_bytes_again():
    X, y = rows()
    found = [measured("made", X[:size], y[:size]) for size in (50, 100)]
    pages = drawn(found)
    assert pages == drawn(found)
    assert pages["png"].startswith(b"\x89PNG")
