"""RRF, and the fixed features of the same program, against recorded runs of its authors'."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.contract import RecordedDraws
from okbench.learners.rrf import FIRST_WEIGHTS, RRF
from tests.learners import rrf_oracle

CLOSE = {"atol": 1e-9, "rtol": 0}


def drawn(noise, first_weights):
    """The normals in the order in which the program drew them: those it drops are not recorded."""
    n_components = noise.shape[1]
    start = np.reshape(first_weights / FIRST_WEIGHTS, (-1, n_components))
    return RecordedDraws(np.vstack([start, np.full_like(noise, np.nan), noise]))


def theirs(weights):
    """2D × columns, as the program keeps them."""
    return weights.reshape(weights.shape[0], -1).T


def error(problem, scores, y):
    found = problem.decide(scores)
    return np.mean((found - y) ** 2 if problem.task == "regression" else found != y)


@pytest.mark.shared("recorded runs of RRF")
@pytest.mark.parametrize("name", rrf_oracle.names("rrf_*"))
def test_equals_the_recorded_run(name):
    record, X, y, problem, loss = rrf_oracle.read(name)
    learner = RRF(
        components=int(record["D"]),
        width=float(1 / record["gamma_init"]),
        step=float(record["lr_w"]),
        scale_step=float(record["lr_gamma"]),
        decay=float(record["lbd"]),
        loss=loss,
        epsilon=float(record["eps"]),
    ).begin(problem, drawn(record["e"], record["w0"]))
    np.testing.assert_allclose(learner.weights, theirs(record["w0"]), **CLOSE)
    scores, stops = [], [1, 2, 5, 10, 50, 100, 200, 400, len(X)]
    for first, stop in zip([0, *stops], stops, strict=False):
        scores.append(learner.learn_scores(X[first:stop], y[first:stop]))
        end = "final" if stop == len(X) else f"t{stop}"
        np.testing.assert_allclose(learner.weights, theirs(record[f"w_{end}"]), **CLOSE)
        np.testing.assert_allclose(learner.log_scales, record[f"gamma_{end}"], **CLOSE)
    scores = np.concatenate(scores)
    np.testing.assert_allclose(scores[:400], record["score"], **CLOSE)
    assert error(problem, scores, y) == pytest.approx(float(record["online_error"]), rel=1e-12)


@pytest.mark.shared("recorded runs of fixed random features")
@pytest.mark.parametrize("name", rrf_oracle.names("fogd_*"))
def test_scales_that_stay_are_the_recorded_fixed_features(name):
    record, X, y, problem, loss = rrf_oracle.read(name)
    scale = float(record["gamma"])
    learner = RRF(
        components=int(record["D"]),
        width=1 / scale,
        step=float(record["lr"]),
        scale_step=0.0,
        decay=float(record["lbd"]),
        loss=loss,
    ).begin(problem, drawn(record["omega"] / scale, record["w0"]))
    scores = learner.learn_scores(X, y)
    np.testing.assert_allclose(scores[:400], record["score"], **CLOSE)
    np.testing.assert_allclose(learner.weights, theirs(record["w_final"]), **CLOSE)
    assert error(problem, scores, y) == float(record["online_error"])
