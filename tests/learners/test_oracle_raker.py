"""Raker and AdaRaker in the released program's form against recorded runs of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.contract import Diverged, Problem
from okbench.learners.many_kernels.adaraker import AdaRaker
from okbench.learners.many_kernels.raker import Raker
from tests.learners import raker_oracle

CLOSE = {"atol": 1e-9, "rtol": 0}


def released(record, problem):
    """AdaRaker as the program runs it: its step is 0.1 in regression and 1 in classification."""
    step = 0.1 if problem.task == "regression" else 1.0
    learner = AdaRaker(
        widths=record["sigma"], step=step, decay=float(record["lam"]), form="released"
    )
    return learner.begin(problem, raker_oracle.drawn(record))


@pytest.mark.shared("recorded runs of AdaRaker")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_regression_equals_the_recorded_run(form):
    record, X, y, problem = raker_oracle.read("ada_twitter6000_s1")
    learner = released(record, problem)
    scores = learner.learn_scores(form(X), y)[:, 0]
    np.testing.assert_allclose(scores, record["prediction"], **CLOSE)
    errors = (scores - y) ** 2
    errors[0] = 1.0  # the program counts the first round as an error of 1
    np.testing.assert_allclose(raker_oracle.curve(errors), record["mse_curve"], **CLOSE)
    expected = record["final_kernel_weights"]
    expected = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.kernel_weights, expected, **CLOSE)


@pytest.mark.shared("recorded runs of AdaRaker")
@pytest.mark.parametrize("name", ["adalog_device_s1", "adalog_movement_s1"])
def test_classification_equals_the_recorded_run(name):
    record, X, y, problem = raker_oracle.read(name)
    scores = released(record, problem).learn_scores(X, y)[:, 0]
    assert np.array_equal(np.sign(scores), record["prediction"])
    mistakes = (np.sign(scores) != y).astype(float)
    mistakes[0] = 1.0
    np.testing.assert_allclose(raker_oracle.curve(mistakes), record["mse_curve"], **CLOSE)


@pytest.mark.shared("recorded runs of AdaRaker")
def test_a_single_instance_equals_the_recorded_run():
    record, X, y, problem = raker_oracle.read("raker_twitter6000_etasqrt")
    learner = Raker(
        widths=record["sigma"],
        step=float(record["eta"]),
        decay=float(record["lam"]),
        form="released",
    )
    learner.begin(problem, raker_oracle.drawn(record))
    shares, scores = [], []
    for first in range(0, len(y), 10):
        shares.append(learner.kernel_weights[0])
        scores.append(learner.learn_scores(X[first : first + 10], y[first : first + 10])[:, 0])
    scores = np.concatenate(scores)
    np.testing.assert_allclose(scores, record["prediction"], **CLOSE)
    np.testing.assert_allclose(raker_oracle.curve((scores - y) ** 2), record["mse_curve"], **CLOSE)
    expected = record["kernel_weights"]
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), **CLOSE)


@pytest.mark.shared("recorded features of AdaRaker")
@pytest.mark.parametrize("step", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("places", [[0, 1, 2], [0], [1], [2]], ids=str)
def test_the_released_step_diverges_where_the_paper_sets_it(step, places):
    """Its features have a squared length of 50, so that steps of 0.2 and more are unstable."""
    record, X, y, problem = raker_oracle.read("ada_twitter6000_s1")
    chosen = {"features": record["features"][places], "sigma": record["sigma"][places]}
    learner = Raker(widths=chosen["sigma"], step=step, decay=0.01, form="released")
    with pytest.raises(Diverged):
        learner.begin(problem, raker_oracle.drawn(chosen)).learn(X, y)


@pytest.mark.shared("the rows of Twitter")
def test_single_kernels_end_where_they_were_measured_to():
    """Three digits of an independent implementation on the same rows."""
    from okbench.learners.many_kernels.rbf import RBF

    _, X, y, _ = raker_oracle.read("ada_twitter6000_s1")
    problem = Problem("regression", X.shape[1], (), len(y))
    for square, expected in ((0.1, 11.7e-3), (1.0, 6.10e-3), (10.0, 11.4e-3)):
        learner = RBF(width=square**0.5, step=len(y) ** -0.5).begin(problem)
        found = np.mean((learner.learn(X, y) - y) ** 2)
        assert found == pytest.approx(expected, rel=5e-3)
