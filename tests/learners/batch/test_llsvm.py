"""LLSVM: landmarks, their map, and the dual descent against plain renderings and records."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain.batch import dual_descent, gaussian, k_means, nystroem
from okbench.base.errors import DataError, UsageError
from okbench.learners.batch import base, llsvm
from okbench.learners.batch.llsvm import LLSVM
from okbench.learners.contract import Draws, Problem
from okbench.learners.numeric.kernels import Gaussian
from tests.learners import rrf_oracle
from tests.learners.batch.clocks import Marking
from tests.learners.test_linear import stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
WIDTH = 1.5


def recorded(kind):
    """A record, and the rows of german in its order, of which 800 train."""
    folder = rrf_oracle.SHARED / "oracle" / "bsgd"
    with np.load(folder / f"llsvm_german_{kind}.npz") as held:
        record = {key: held[key] for key in held.files}
    with np.load(folder / "exact_german_merging_e1.npz") as held:
        order = held["perm"]
    X, y = rrf_oracle.rows("german")
    return record, X[order], y[order]


def objective(weights, features, y, decay):
    return 0.5 * weights @ weights + np.maximum(0.0, 1.0 - y * (features @ weights)).sum() / decay


@pytest.mark.shared("recorded runs of LLSVM")
@pytest.mark.parametrize("kind", ["kmeans", "random"])
def test_the_recorded_parts_make_the_recorded_scores(kind):
    record, X, _ = recorded(kind)
    width = 1.0 / np.sqrt(float(record["gamma"]))
    learner = LLSVM(budget=50, width=width).begin(Problem("binary", 24, (-1.0, 1.0)), Draws(0))
    formula = Gaussian(-0.5 * float(record["gamma"]))
    lanes, _ = llsvm.nystroem(record["landmarks"], formula)
    basis = np.zeros((lanes.matrix.shape[1], 50))
    basis[:50] = record["projection"]
    weights = record["weights"][np.newaxis]
    learner._model = llsvm.LLSVMModel(50, lanes, formula, basis, weights)
    found = learner.scores(X[800:])[:, 0]
    np.testing.assert_allclose(found, record["scores_from_model"], atol=1e-11, rtol=0)


@pytest.mark.shared("recorded runs of LLSVM")
@pytest.mark.parametrize("kind", ["kmeans", "random"])
def test_the_map_of_the_recorded_landmarks_is_the_recorded_one(kind):
    """Eigenvectors have no sign of their own, so P Pᵀ is compared; six digits are recorded."""
    record, _, _ = recorded(kind)
    _, basis = llsvm.nystroem(record["landmarks"], Gaussian(-0.5 * float(record["gamma"])))
    theirs = record["projection"] @ record["projection"].T
    np.testing.assert_allclose(basis[:50] @ basis[:50].T, theirs, atol=2e-6 * np.abs(theirs).max())


@pytest.mark.shared("recorded runs of LLSVM")
@pytest.mark.parametrize("kind", ["kmeans", "random"])
def test_on_the_recorded_landmarks_it_solves_the_recorded_problem(monkeypatch, kind):
    """The order of the rows in the recorded passes is not known: objectives are compared."""
    record, X, y = recorded(kind)
    monkeypatch.setattr(llsvm, "chosen_landmarks", lambda *given: record["landmarks"])
    decay, width = float(record["lam"]), 1.0 / np.sqrt(float(record["gamma"]))
    kernel = gaussian(X[:800], record["landmarks"], width)
    theirs = objective(record["weights"], kernel @ record["projection"], y[:800], decay)
    for passes, tolerance, worse, better in ((30, 0.01, 1.02, 0.97), (3000, 1e-8, 1.0, 0.98)):
        learner = LLSVM(budget=50, width=width, decay=decay, passes=passes, tolerance=tolerance)
        learner.begin(Problem("binary", 24, (-1.0, 1.0)), Draws(0)).fit(X[:800], y[:800])
        ours = objective(learner.weights[0], kernel @ learner.basis, y[:800], decay)
        assert better * theirs < ours < worse * theirs
    accuracy = np.mean((record["scores_from_model"] >= 0) == (y[800:] > 0))
    assert np.mean(learner.predict(X[800:]) == y[800:]) == pytest.approx(accuracy, abs=0.03)


@FORMS
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("landmarks", ["kmeans", "random"])
def test_is_its_plain_rendering(landmarks, task, form):
    """Where the tolerance is 0 and no pass shrinks, the passes are those of the plain loop."""
    X, y, problem = stream(task, filled=0.6)
    learner = (
        LLSVM(budget=10, width=WIDTH, decay=0.5, landmarks=landmarks, passes=1)
        .begin(problem, Draws(3))
        .fit(form(X), y)
    )
    draws = Draws(3)
    chosen = draws.stream("landmarks").choice(len(y), 10)
    centres = X[chosen]
    if landmarks == "kmeans":
        centres = k_means(X, centres, iter(()))
    np.testing.assert_allclose(learner.landmark_rows, centres, atol=1e-12, rtol=0)
    basis = nystroem(centres, WIDTH)
    features = gaussian(X, centres, WIDTH) @ basis
    targets = problem.encode(y)
    for column in range(problem.n_columns):
        own = targets if problem.n_columns == 1 else targets == column
        order = draws.stream("passes").permutation(len(y))
        weights = dual_descent(features, np.where(own > 0, 1, -1), box=2.0, orders=[order])
        found = learner.scores(form(X))[:, column]
        np.testing.assert_allclose(found, features @ weights, atol=1e-9, rtol=0)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_shrinking_changes_the_way_and_not_the_end(task):
    X, y, problem = stream(task)
    learner = LLSVM(budget=20, width=WIDTH, decay=1.0, passes=5000, tolerance=1e-10).begin(
        problem, Draws(0)
    )
    learner.fit(X, y)
    features = gaussian(X, learner.landmark_rows, WIDTH) @ learner.basis
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(y)) for _ in range(400)]
    targets = problem.encode(y)
    own = targets if problem.n_columns == 1 else targets == 0
    signs = np.where(own > 0, 1.0, -1.0)
    plain = dual_descent(features, signs, box=1.0, orders=orders)
    np.testing.assert_allclose(
        objective(learner.weights[0], features, signs, 1.0),
        objective(plain, features, signs, 1.0),
        rtol=1e-4,
    )


def test_a_next_chunk_goes_on_with_the_weights_and_has_duals_of_its_own():
    X, y, problem = stream("binary")
    learner = LLSVM(
        budget=8, width=WIDTH, decay=0.5, landmarks="random", passes=1, chunk=200
    ).begin(problem, Draws(1))
    learner.fit(X, y)
    draws = Draws(1)
    draws.stream("landmarks").choice(len(y), 8)
    features = gaussian(X, learner.landmark_rows, WIDTH) @ learner.basis
    weights, signs = None, problem.encode(y)
    for first, stop in ((0, 200), (200, 300)):
        rows = slice(first, stop)
        order = draws.stream("passes").permutation(stop - first)
        weights = dual_descent(features[rows], signs[rows], box=2.0, orders=[order],
                               weights=weights)  # fmt: skip
    np.testing.assert_allclose(learner.weights[0], weights, atol=1e-9, rtol=0)


def test_a_centre_without_rows_becomes_a_random_row():
    rng = np.random.default_rng(2)
    X = np.repeat(rng.standard_normal((3, 4)), 10, axis=0)  # three places, and more landmarks
    y = np.tile([0, 1], 15)
    learner = LLSVM(budget=6, width=WIDTH).begin(Problem("binary", 4, (0, 1)), Draws(0)).fit(X, y)
    places = {tuple(row.round(12)) for row in X}
    assert {tuple(row.round(12)) for row in learner.landmark_rows} <= places
    assert np.isfinite(learner.scores(X)).all()
    assert learner.basis.shape[1] <= 3


@pytest.mark.parametrize("questions", [0, 1, 3])
def test_a_fit_that_is_stopped_can_predict(monkeypatch, questions):
    monkeypatch.setattr(base, "ASKED_EVERY", 0.0)
    X, y, problem = stream("multiclass")
    learner = LLSVM(budget=10, width=WIDTH).begin(problem, Draws(0)).fit(X, y, Marking(questions))
    assert np.isin(learner.predict(X), problem.classes).all()


def test_more_landmarks_than_rows_are_refused():
    X, y, problem = stream("binary", n_rows=20)
    with pytest.raises(DataError, match="LLSVM: budget = 21: there are only 20 training rows"):
        LLSVM(budget=21).begin(problem, Draws(0)).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"landmarks": "means"}, "LLSVM: landmarks = 'means': choose kmeans or random."),
        ({"budget": 0}, "LLSVM: budget = 0: it must be 1 or more"),
        ({"decay": 0.0}, "LLSVM: decay = 0.0: it must be above 0"),
        ({"chunk": 0}, "LLSVM: chunk = 0: it must be 1 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        LLSVM(**changed).begin(Problem("binary", 3, (0, 1)))
    assert message in str(refused.value)
