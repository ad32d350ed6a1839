"""LIBSVM with the kernels of Ting et al., against kernels by hand and LIBLINEAR on maps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.svm import SVC, LinearSVC

from okbench.base.errors import UsageError
from okbench.learners.batch import base as batch_base
from okbench.learners.batch import kernel_machine
from okbench.learners.contract import Diverged, Draws, NotConverged
from okbench.learners.isolation.kernel_svm import IKLIBSVM, ChiSquareLIBSVM, LaplacianLIBSVM
from okbench.learners.isolation.maps import IsolationMap, indicators
from okbench.learners.isolation.svm import IKSVM
from okbench.learners.numeric.rules.smo import CONVERGED, Duals, KernelCache, optimise
from tests.learners.test_linear import stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
TASKS = pytest.mark.parametrize("task", ["binary", "multiclass"])
N = 200  # training rows


def compared(learner, problem, X, y, form, gram, monkeypatch):
    """The decision values of a learner are those of SVC on a kernel matrix."""
    monkeypatch.setattr(kernel_machine, "AT_ONCE", 8 * N * 30)  # 30 rows at a time
    learner.begin(problem, Draws(0)).fit(form(X[:N]), y[:N])
    theirs = SVC(kernel="precomputed", C=learner.cost).fit(gram[:N], y[:N])
    decided = theirs.decision_function(gram[N:]).reshape(len(X) - N, -1)
    np.testing.assert_allclose(learner.scores(form(X[N:])), decided, atol=5e-3)
    assert np.mean(learner.predict(form(X[N:])) != theirs.predict(gram[N:])) <= 0.01
    assert 0 < learner.support_size <= N


@FORMS
@TASKS
def test_the_laplacian_kernel_is_that_of_its_definition(monkeypatch, task, form):
    X, y, problem = stream(task, filled=0.7)
    distance = np.abs(X[:, np.newaxis] - X[np.newaxis, :N]).sum(axis=2) / X.shape[1]
    learner = LaplacianLIBSVM(psi=64, cost=2.0)
    compared(learner, problem, X, y, form, 64.0**-distance, monkeypatch)


@FORMS
@pytest.mark.parametrize("negative", [False, True])
def test_the_chi_square_kernel_is_that_of_scikit_learn_and_its_odd_extension(
    monkeypatch, form, negative
):
    X, y, problem = stream("binary", filled=0.7)
    X = X if negative else np.abs(X)
    size = np.abs(X)
    with np.errstate(invalid="ignore"):
        terms = 2 * X[:, None] * X[None, :N] / (size[:, None] + size[None, :N])
    gram = np.nan_to_num(terms).sum(axis=2)
    if not negative:
        sums = X.sum(axis=1)
        theirs = (sums[:, None] + sums[None, :N] + additive_chi2_kernel(X, X[:N])) / 2
        np.testing.assert_allclose(gram, theirs, atol=1e-9)
    compared(ChiSquareLIBSVM(cost=0.5), problem, X, y, form, gram, monkeypatch)


@FORMS
@TASKS
@pytest.mark.parametrize("kind", ["nearest", "iforest"])
def test_the_isolation_kernel_is_the_share_of_equal_cells(monkeypatch, task, form, kind):
    X, y, problem = stream(task, filled=0.7)
    cells = IsolationMap(partitionings=30, psi=16, map=kind).fit(X[:N], Draws(0)).transform(X)
    gram = (cells[:, np.newaxis] == cells[np.newaxis, :N]).mean(axis=2)
    compared(IKLIBSVM(partitionings=30, psi=16, map=kind), problem, X, y, form, gram, monkeypatch)


def test_liblinear_on_the_map_and_libsvm_on_the_kernel_agree_up_to_loss_and_bias():
    """With LIBSVM's hinge loss and a bias that costs little, the two are one problem."""
    X, y, problem = stream("binary")
    map_ = IsolationMap(partitionings=50, psi=8, map="nearest").fit(X[:N], Draws(0))
    features = indicators(map_.transform(X), map_.size, 50**-0.5)
    linear = LinearSVC(
        loss="hinge", intercept_scaling=10.0, tol=1e-5, max_iter=500_000, random_state=0
    ).fit(features[:N], y[:N])
    kernel = IKLIBSVM(partitionings=50, psi=8).begin(problem, Draws(0)).fit(X[:N], y[:N])
    ours = kernel.scores(X[N:]).ravel()
    np.testing.assert_allclose(linear.decision_function(features[N:]), ours, atol=0.02)
    shipped = IKSVM(partitionings=50, psi=8).begin(problem, Draws(0)).fit(X[:N], y[:N])
    assert np.corrcoef(shipped.scores(X[N:]).ravel(), ours)[0, 1] > 0.97  # squared loss, no bias


@pytest.mark.parametrize("learner", [LaplacianLIBSVM, ChiSquareLIBSVM, IKLIBSVM])
def test_the_cache_decides_the_memory_and_not_the_result(learner):
    """Half a megabyte has room for all 200 rows, a thousandth of one for the least number: 32."""
    X, y, problem = stream("binary")
    large, small = learner(cache=0.5), learner(cache=1e-3)
    assert (large.needed_bytes(N), small.needed_bytes(N)) == (4 * N * N, 4 * N * 32)
    assert learner(cache=100).needed_bytes(60_000) == 100 * 2**20 // 240_000 * 240_000
    scores = [each.begin(problem, Draws(0)).fit(X[:N], y[:N]).scores(X) for each in (large, small)]
    np.testing.assert_array_equal(*scores)


def test_a_cache_that_does_not_fit_into_memory_is_refused(monkeypatch):
    X, y, problem = stream("binary")
    free = type("Free", (), {"available": 10_000})
    monkeypatch.setattr(batch_base.psutil, "virtual_memory", lambda: free)
    with pytest.raises(MemoryError, match="rows of the kernel of 200 training rows needs about"):
        LaplacianLIBSVM().begin(problem, Draws(0)).fit(X[:N], y[:N])


class Stopped:
    """A clock that lets a fit ask so many times."""

    def __init__(self, answers):
        self.answers, self.marks = answers, []

    def should_stop(self):
        self.answers -= 1
        return self.answers < 0

    def mark(self, rows_seen, total=None):
        self.marks.append(rows_seen)


@TASKS
@pytest.mark.parametrize("answers", [0, 3])
def test_a_clock_stops_a_fit_and_what_was_solved_predicts(monkeypatch, task, answers):
    monkeypatch.setattr(batch_base, "ASKED_EVERY", 0.0)
    monkeypatch.setattr(kernel_machine, "STEPS", 2)
    X, y, problem = stream(task)
    clock = Stopped(answers)
    learner = LaplacianLIBSVM().begin(problem, Draws(0)).fit(X[:N], y[:N], clock)
    assert clock.marks == []
    assert set(learner.predict(X)) <= set(problem.classes)
    if answers == 0:
        names, counts = np.unique(y[:N], return_counts=True)
        assert set(learner.predict(X)) == {names[counts.argmax()]}
    whole = LaplacianLIBSVM().begin(problem, Draws(0)).fit(X[:N], y[:N], Stopped(10**6))
    assert learner.steps < whole.steps


def test_a_fit_that_needs_too_many_steps_is_an_error(monkeypatch):
    monkeypatch.setattr(kernel_machine, "MOST_STEPS", 5)
    X, y, problem = stream("binary")
    with pytest.raises(NotConverged, match="did not converge in 5 steps"):
        LaplacianLIBSVM().begin(problem, Draws(0)).fit(X[:N], y[:N])


def test_a_class_without_training_rows_is_never_predicted():
    X, y, problem = stream("multiclass")
    kept = y[:N] != 2
    learner = LaplacianLIBSVM().begin(problem, Draws(0)).fit(X[:N][kept], y[:N][kept])
    assert 2 not in learner.predict(X)


@pytest.mark.parametrize("learner", [LaplacianLIBSVM, IKLIBSVM])
def test_a_psi_that_is_set_after_a_fit_leaves_the_predictions(learner):
    X, y, problem = stream("binary")
    made = learner().begin(problem, Draws(0)).fit(X[:N], y[:N])
    expected = made.scores(X)
    np.testing.assert_array_equal(made.set_params(psi=4096).scores(X), expected)


def test_a_kernel_that_overflows_is_named():
    X, y, problem = stream("binary")
    with pytest.raises(Diverged, match="kernel of two rows is no finite number"):
        ChiSquareLIBSVM().begin(problem, Draws(0)).fit(X[:N] * 1e50, y[:N])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 1.0, 100.0]))
@settings(max_examples=20, deadline=None)
def test_the_solution_satisfies_the_conditions_of_the_optimum(seed, cost):
    """0 ≤ y β ≤ C, Σ β = 0, and no pair of rows violates the optimality by the tolerance."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((60, 3))
    signs = np.where(rng.random(60) < 0.5, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    gram = np.exp(-((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    duals = Duals.of(signs, cost, np.diag(gram).copy())
    cache = KernelCache.empty(60, 60)
    cache.hold(np.arange(60), gram.astype(np.float32), 0)
    why, _ = optimise(duals, cache, 1e-3, 0, 10**6)
    assert why == CONVERGED
    held = duals.coefficients * signs
    assert held.min() >= 0.0
    assert held.max() <= cost
    assert abs(duals.coefficients.sum()) < 1e-9 * max(1.0, cost)
    gradient = signs - gram @ duals.coefficients
    can_rise = duals.coefficients < duals.highest
    can_sink = duals.coefficients > duals.lowest
    assert gradient[can_rise].max() - gradient[can_sink].min() < 2e-3


def plain_steps(signs, cost, gram, tolerance, steps):
    """Coefficients after some steps of Fan, Chen and Lin (2005), by whole arrays."""
    lowest, highest = np.minimum(0.0, cost * signs), np.maximum(0.0, cost * signs)
    beta, gradient, diagonal = np.zeros(len(signs)), signs.copy(), np.diag(gram).astype(float)
    last = len(signs) - 1
    for _ in range(steps):
        rising = np.where(beta < highest, gradient, -np.inf)
        i = last - np.argmax(rising[::-1])
        slope, sinks = gradient[i] - gradient, beta > lowest
        curvature = diagonal[i] + diagonal - 2.0 * gram[i].astype(float)
        gains = np.where(sinks & (slope > 0), slope**2 / np.maximum(curvature, 1e-12), 0.0)
        j = last - np.argmax(gains[::-1])
        if gains[j] == 0.0 or gradient[i] - gradient[sinks].min() < tolerance:
            break
        up, down = highest[i] - beta[i], beta[j] - lowest[j]
        length = min(slope[j] / max(curvature[j], 1e-12), up, down)
        beta[i] = highest[i] if length == up else beta[i] + length
        beta[j] = lowest[j] if length == down else beta[j] - length
        gradient -= length * (gram[i] - gram[j]).astype(float)
    return beta


@pytest.mark.parametrize(("n_rows", "cost"), [(1023, 1.0), (1024, 0.3), (2500, 10.0)])
def test_the_steps_are_those_of_whole_arrays_however_many_rows_there_are(n_rows, cost):
    """The compiled search looks at 1,024 rows at a time."""
    rng = np.random.default_rng(n_rows)
    rows = rng.integers(0, 8, (n_rows, 2)) / 4.0  # of equal rows the last is chosen
    signs = np.where(rows[:, 0] + rng.normal(size=n_rows) > 1.0, 1.0, -1.0)
    gram = np.exp(-((rows[:, None] - rows[None]) ** 2).sum(axis=2)).astype(np.float32)
    cache = KernelCache.empty(n_rows, n_rows)
    cache.hold(np.arange(n_rows), gram, 0)
    duals = Duals.of(signs, cost, np.diag(gram).astype(float))
    optimise(duals, cache, 1e-3, 0, 400)
    expected = plain_steps(signs, cost, gram, 1e-3, 400)
    assert np.count_nonzero(expected) > 30
    np.testing.assert_array_equal(duals.coefficients, expected)


def test_of_rows_that_are_equally_far_from_the_optimum_those_are_computed_that_are_needed_next(
    monkeypatch,
):
    """Of two classes of 100 rows far apart each step needs two rows, and none a second time."""
    counts, fill = [], LaplacianLIBSVM._fill_kernel

    def counting(self, points, others, out):
        counts.append(len(out))
        fill(self, points, others, out)

    monkeypatch.setattr(LaplacianLIBSVM, "_fill_kernel", counting)
    X, _, problem = stream("binary")
    y = np.tile(problem.classes, N // 2)
    LaplacianLIBSVM(cache=1e-2).begin(problem, Draws(0)).fit(1e6 * X[:N], y)
    assert len(counts) == -(-N // LaplacianLIBSVM.together)


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (LaplacianLIBSVM(psi=1), "psi = 1: it must be 2 or more"),
        (ChiSquareLIBSVM(cost=0.0), "cost = 0.0: it must be above 0"),
        (IKLIBSVM(map="voronoi"), "map = 'voronoi': choose iforest or nearest"),
        (IKLIBSVM(cache=float("inf")), "cache = inf: a finite number"),
    ],
)
def test_bad_settings_are_refused(learner, said):
    _, _, problem = stream("binary")
    with pytest.raises(UsageError, match=said):
        learner.begin(problem, Draws(0))
