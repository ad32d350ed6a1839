"""FOGD and NOGD against their plain renderings, and what only they promise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain.maps import fogd, nogd
from okbench.base.errors import UsageError
from okbench.learners.contract import Diverged, Draws, Problem, RecordedDraws
from okbench.learners.fogd import FOGD
from okbench.learners.online.nystroem import NOGD
from okbench.learners.rows import Block

TASKS = ("binary", "multiclass", "regression")
N_ROWS, N_FEATURES = 300, 7


def stream(task, n_rows=N_ROWS, filled=1.0):
    """Rows, labels and the problem; `filled` is the share of values that are not zero."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((n_rows, N_FEATURES)) * (rng.random((n_rows, N_FEATURES)) < filled)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    if task == "regression":
        return X, 0.3 * signal, Problem(task, N_FEATURES)
    classes = ("no", "yes") if task == "binary" else (0, 1, 2, 3)
    edges = [0.2] if task == "binary" else [-0.8, 0.2, 1.0]
    y = np.array(classes)[np.digitize(signal, edges)]
    return X, y, Problem(task, N_FEATURES, classes)


def small_fogd(**changed):
    return FOGD(**{"components": 30, "width": 1.5, "step": 0.02, **changed})


def small_nogd(**changed):
    return NOGD(**{"budget": 20, "rank": 6, "width": 1.5, **changed})


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("filled", [0.2, 1.0])
@pytest.mark.parametrize("task", TASKS)
def test_fogd_is_its_plain_loop(task, filled, form):
    X, y, problem = stream(task, filled=filled)
    normals = np.random.default_rng(3).standard_normal((N_FEATURES, 30))
    learner = small_fogd().begin(problem, RecordedDraws(normals))
    plain = fogd(
        X,
        problem.encode(y),
        task=task,
        n_columns=problem.n_columns,
        frequencies=normals / 1.5,
        step=0.02,
        epsilon=0.1,
    )
    np.testing.assert_allclose(learner.learn_scores(form(X), y), plain, atol=1e-12, rtol=0)
    assert learner.updates > 20


@pytest.mark.parametrize("switch", ["reference", "paper"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("task", TASKS)
def test_nogd_is_its_plain_loop(task, form, switch):
    X, y, problem = stream(task, filled=0.6)
    learner = small_nogd(switch=switch).begin(problem)
    plain = nogd(
        X,
        problem.encode(y),
        task=task,
        n_columns=problem.n_columns,
        budget=20,
        rank=6,
        width=1.5,
        step=0.2,
        epsilon=0.1,
        paper_switch=switch == "paper",
    )
    np.testing.assert_allclose(learner.learn_scores(form(X), y), plain, atol=1e-11, rtol=0)
    assert learner.support_size == 20


def test_the_two_switches_of_nogd_differ_in_the_rows_between():
    X, y, problem = stream("binary")
    scores = [
        small_nogd(switch=switch).begin(problem).learn_scores(X, y)
        for switch in ("reference", "paper")
    ]
    assert (scores[0] != scores[1]).any()


@pytest.mark.parametrize("make", [small_fogd, small_nogd, lambda: small_nogd(switch="paper")])
@pytest.mark.parametrize("task", TASKS)
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=6))
@settings(max_examples=15)
def test_cutting_the_rows_changes_no_score(make, task, cuts):
    X, y, problem = stream(task)
    whole = make().begin(problem).learn_scores(X, y)
    learner, edges = make().begin(problem), [0, *sorted(cuts), N_ROWS]
    cut = [learner.learn_scores(X[a:b], y[a:b]) for a, b in pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(cut), whole, atol=1e-11, rtol=0)


@pytest.mark.parametrize("make", [small_fogd, small_nogd])
@pytest.mark.parametrize("task", TASKS)
def test_predicting_scores_the_next_row_as_learning_does(make, task):
    X, y, problem = stream(task)
    learner = make().begin(problem)
    for stop in (1, 5, 60, 200):
        learner.begin(problem).learn(X[:stop], y[:stop])
        ahead = learner.scores(X[stop : stop + 1])
        learned = learner.learn_scores(X[stop : stop + 1], y[stop : stop + 1])
        np.testing.assert_allclose(ahead, learned, atol=1e-12, rtol=0)


def test_more_rows_than_a_stretch_are_learned_in_order():
    X, y, problem = stream("binary", n_rows=1500)
    learner = small_fogd().begin(problem, Draws(5))
    frequencies = Draws(5).normals(N_FEATURES, 30) / 1.5
    plain = fogd(
        X,
        problem.encode(y),
        task="binary",
        n_columns=1,
        frequencies=frequencies,
        step=0.02,
        epsilon=0.1,
    )
    np.testing.assert_allclose(learner.learn_scores(X, y), plain, atol=1e-11, rtol=0)


def test_far_angles_of_fogd_fall_back_on_the_systems_functions():
    X, _, problem = stream("binary")
    X = X * 1e9
    normals = np.random.default_rng(3).standard_normal((N_FEATURES, 30))
    learner = small_fogd().begin(problem, RecordedDraws(normals))
    # One row, so that both ways form the same angles: at 1e9 a last bit is seen in the cosine.
    angles = learner.map.frequencies.T @ X[0]
    out = np.empty((1, 30))
    learner.map.project(Block.of(X[:1]), 0, out)
    learner.weights[:] = 1.0
    expected = np.cos(out).sum() + np.sin(out).sum()
    assert learner.scores(X[:1])[0, 0] == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(out[0], angles, rtol=1e-13)


def test_nogd_drops_eigenvalues_that_are_rounding():
    X = np.repeat(np.eye(N_FEATURES)[:3], 40, axis=0)
    y = np.where(np.arange(len(X)) % 2, 1, -1)
    learner = NOGD(budget=20, rank=10, width=1.0).begin(Problem.of(X, y))
    scores = learner.learn_scores(X, y)
    assert np.abs(scores).max() < 10
    assert learner.support_size == 20


def test_nogd_flushes_scores_near_zero():
    X, y, problem = stream("binary")
    plain = small_nogd().begin(problem).learn_scores(X, y)
    flushed = small_nogd(flush=0.05).begin(problem).learn_scores(X, y)
    near = np.abs(plain) <= 0.05
    assert near[1:].any()
    assert (flushed[near] == 0.0).all()
    assert (flushed[~near] == plain[~near]).all()


def test_the_frozen_supports_of_nogd_do_not_change_after_the_switch():
    X, y, problem = stream("binary")
    learner = small_nogd().begin(problem)
    learner.learn(X[:150], y[:150])
    rows, coefficients = learner.support_rows.copy(), learner.coefficients.copy()
    learner.learn(X[150:], y[150:])
    assert (learner.support_rows == rows).all()
    assert (learner.coefficients == coefficients).all()


@pytest.mark.parametrize(
    ("learner", "setting"),
    [
        (FOGD(components=0), "components"),
        (FOGD(components=2.5), "components"),
        (FOGD(width=0.0), "width"),
        (FOGD(step=-1.0), "step"),
        (FOGD(step=float("nan")), "step"),
        (FOGD(epsilon=-0.1), "epsilon"),
        (NOGD(rank=0), "rank"),
        (NOGD(rank=20.0), "rank"),
        (NOGD(budget=10, rank=11), "rank"),
        (NOGD(budget=0), "budget"),
        (NOGD(flush=-1.0), "flush"),
        (NOGD(switch="papre"), "switch"),
        (NOGD(width=True), "width"),
    ],
    ids=repr,
)
def test_settings_that_make_no_sense_are_refused_by_name(learner, setting):
    with pytest.raises(UsageError, match=rf"{learner.name}: {setting} ="):
        learner.begin(Problem("regression", 2))


def test_diverging_says_at_which_row():
    X, y, problem = stream("regression")
    learner = small_fogd(step=50.0).begin(problem)
    with pytest.raises(Diverged, match="row") as stopped:
        learner.learn(np.tile(X, (3, 1)), np.tile(y, 3))
    assert stopped.value.row > 0


@pytest.mark.parametrize("make", [small_fogd, small_nogd])
def test_bytes_count_the_map(make):
    X, y, problem = stream("binary")
    learner = make().begin(problem)
    learner.learn(X, y)
    held = learner.map.frequencies if isinstance(learner, FOGD) else learner._map.basis
    assert learner.nbytes > held.nbytes
