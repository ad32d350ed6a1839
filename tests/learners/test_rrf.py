"""RRF against its plain rendering, and what only it promises."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain.rrf import rrf
from okbench.base.errors import UsageError
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.numeric.losses import LOGISTIC, step
from okbench.learners.rrf import FIRST_WEIGHTS, RRF
from tests.learners.test_linear import N_FEATURES, N_ROWS, stream

LOSSES = [
    ("binary", "hinge"),
    ("binary", "logistic"),
    ("multiclass", "hinge"),
    ("multiclass", "logistic"),
    ("regression", "eps_insensitive"),
    ("regression", "l1"),
    ("regression", "l2"),
]
RATES = {"step": 0.01, "scale_step": 0.02, "decay": 0.03}


def both(task, loss, components=30, filled=1.0, form=np.asarray):
    """The learner after a stream, its scores, and those of the plain rendering."""
    X, y, problem = stream(task, filled=filled)
    rates = {**RATES, "epsilon": 0.05 if loss == "eps_insensitive" else 0.0}
    learner = RRF(components=components, width=1.5, loss=loss, **rates)
    learner.begin(problem, Draws(4))
    n = problem.n_columns
    drawn = Draws(4).normals(2 * n + 2 * N_FEATURES, components)
    plain = rrf(
        X,
        problem.encode(y),
        task=task,
        loss=loss,
        noise=drawn[2 * n + N_FEATURES :],
        weights=FIRST_WEIGHTS * drawn[: 2 * n].reshape(-1, n).T,
        log_scales=np.full(N_FEATURES, -math.log(1.5)),
        **rates,
    )
    return learner, learner.learn_scores(form(X), y), plain


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize(("task", "loss"), LOSSES)
def test_is_its_plain_loop(task, loss, form):
    learner, scores, (expected, weights, log_scales) = both(task, loss, filled=0.5, form=form)
    np.testing.assert_allclose(scores, expected, atol=1e-10, rtol=0)
    np.testing.assert_allclose(learner.weights, weights, atol=1e-10, rtol=0)
    np.testing.assert_allclose(learner.log_scales, log_scales, atol=1e-10, rtol=0)


@settings(max_examples=12)
@given(components=st.integers(1, 70))
def test_any_number_of_components_is_as_good(components):
    _, scores, (expected, *_) = both("multiclass", "hinge", components)
    np.testing.assert_allclose(scores, expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize(("task", "loss"), [("binary", "logistic"), ("regression", "l2")])
def test_scales_follow_the_slope_of_the_loss(task, loss):
    """One row moves the log-scales against the numerical gradient of its loss."""
    X, y, problem = stream(task, n_rows=60)
    learner = RRF(components=20, width=2.0, step=0.02, scale_step=0.01, loss=loss).begin(
        problem, Draws(1)
    )
    learner.learn(X[:50], y[:50])
    target = problem.encode(y)[50]

    def loss_at(log_scales):
        learner.log_scales[:] = log_scales
        learner._model.scales[:] = np.exp(log_scales)
        score = learner.scores(X[50:51])[0, 0]
        if loss == "logistic":
            return np.logaddexp(0.0, -target * score)
        return (score - target) ** 2 / 2

    before = learner.log_scales.copy()
    nudges = 1e-6 * np.eye(N_FEATURES)
    slopes = [(loss_at(before + nudge) - loss_at(before - nudge)) / 2e-6 for nudge in nudges]
    assert np.abs(slopes).max() > 1e-3
    loss_at(before)
    learner.learn(X[50:51], y[50:51])
    np.testing.assert_allclose(learner.log_scales - before, -0.01 * np.array(slopes), atol=1e-8)


def test_an_input_that_is_zero_keeps_its_scale():
    X, y, problem = stream("binary")
    X[:, 3] = 0.0
    learner = RRF(components=30, step=0.05, scale_step=0.05).begin(problem, Draws(0))
    learner.learn(X, y)
    moved = learner.log_scales != 0.0
    assert not moved[3]
    assert moved[[0, 1, 2, 4, 5, 6]].all()


def test_with_no_scale_step_the_features_stay():
    X, y, problem = stream("multiclass")
    learner = RRF(components=30, width=1.5, step=0.02, scale_step=0.0).begin(problem, Draws(0))
    first = learner.log_scales.copy()
    learner.learn(X, y)
    assert np.array_equal(learner.log_scales, first)
    assert learner.updates > 0


def test_decay_shrinks_the_weights_even_where_there_is_no_loss():
    problem = Problem("regression", 2)
    X = np.ones((1, 2))
    learner = RRF(components=4, step=0.5, decay=0.2, loss="eps_insensitive", epsilon=100.0)
    learner.begin(problem, Draws(0))
    before = learner.weights.copy()
    learner.learn(X, [0.0])
    np.testing.assert_allclose(learner.weights, 0.9 * before, rtol=1e-15)
    assert learner.updates == 0


@pytest.mark.parametrize("margin", [-800.0, -3.0, 0.0, 3.0, 800.0])
def test_the_logistic_step_is_the_slope_of_the_logistic_loss(margin):
    gain, plus, minus, _ = step(LOGISTIC, np.array([[margin]]), 0, 1.0, 0.0)
    assert (plus, minus) == (0, -1)
    expected = math.exp(-margin - np.logaddexp(0.0, -margin))
    assert gain == pytest.approx(expected, rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("n_components", [100, 1000])
def test_the_kernel_is_as_near_as_lemma_1_bounds_it(n_components):
    """P(|k̂ - k| >= ε) <= 2 exp(-D ε² / 2)."""
    rng = np.random.default_rng(7)
    distance = np.array([0.7, -0.4, 0.2])
    kernel = math.exp(-0.5 * float(distance @ distance))
    noise = rng.standard_normal((4000, 3, n_components))
    errors = np.abs(np.cos(np.einsum("n,rnd->rd", distance, noise)).mean(axis=1) - kernel)
    for epsilon in (0.02, 0.05, 0.1, 0.2):
        bound = 2.0 * math.exp(-n_components * epsilon**2 / 2.0)
        assert np.mean(errors >= epsilon) <= bound + 3.0 * math.sqrt(bound / 4000.0)


def test_learning_allocates_no_more_than_its_scores_and_a_stretch_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30_000, 10)), rng.integers(0, 10, 30_000)
    learner = RRF(components=50).begin(Problem("multiclass", 10, tuple(range(10))), Draws(0))
    learner.learn(X[:100], y[:100])
    tracemalloc.start()
    learner.learn_scores(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    scores, targets, entries = 8 * 30_000 * 10, 10 * 8 * 30_000, 3 * 12 * 8192 * 10
    assert peak < scores + targets + entries


def test_a_model_that_runs_away_is_told_with_its_row():
    X, y, problem = stream("regression", n_rows=N_ROWS)
    learner = RRF(components=50, step=10.0, scale_step=0.0, loss="l2").begin(problem, Draws(0))
    with pytest.raises(Diverged, match="RRF: the score of row"):
        learner.learn(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"components": 0}, "RRF: components = 0: it must be 1 or more"),
        ({"width": 0.0}, "RRF: width = 0.0: it must be above 0"),
        ({"scale_step": -1.0}, "RRF: scale_step = -1.0: it must be 0 or more"),
        ({"loss": "hing"}, "RRF: loss = 'hing': choose hinge or logistic or"),
        ({"loss": "l2"}, "RRF: loss = 'l2': choose hinge or logistic"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        RRF(**changed).begin(Problem("binary", 3, (0, 1)), Draws(0))
    assert message in str(refused.value)
