"""LIBSVM with the kernels of Ting et al., against kernels by hand and LIBLINEAR on maps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import additive_chi2_kernel
from sklearn.svm import SVC, LinearSVC

from okbench.base.errors import UsageError
from okbench.learners.batch import scikit
from okbench.learners.contract import Draws
from okbench.learners.isolation.kernel_svm import IKLIBSVM, ChiSquareLIBSVM, LaplacianLIBSVM
from okbench.learners.isolation.maps import IsolationMap, indicators
from okbench.learners.isolation.svm import IKSVM
from tests.learners.test_linear import stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
TASKS = pytest.mark.parametrize("task", ["binary", "multiclass"])
N = 200  # training rows


def compared(learner, problem, X, y, form, gram, monkeypatch):
    """The decision values of a learner are those of SVC on a kernel matrix."""
    monkeypatch.setattr(scikit, "AT_ONCE", 8 * N * 30)  # 30 rows at a time
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
    cells = IsolationMap(30, 16, kind).fit(X[:N], Draws(0)).transform(X)
    gram = (cells[:, np.newaxis] == cells[np.newaxis, :N]).mean(axis=2)
    compared(IKLIBSVM(30, 16, kind), problem, X, y, form, gram, monkeypatch)


def test_liblinear_on_the_map_and_libsvm_on_the_kernel_agree_up_to_loss_and_bias():
    """With LIBSVM's hinge loss and a bias that costs little, the two are one problem."""
    X, y, problem = stream("binary")
    map_ = IsolationMap(50, 8, "nearest").fit(X[:N], Draws(0))
    features = indicators(map_.transform(X), map_.size, 50**-0.5)
    linear = LinearSVC(
        loss="hinge", intercept_scaling=10.0, tol=1e-5, max_iter=500_000, random_state=0
    ).fit(features[:N], y[:N])
    kernel = IKLIBSVM(50, 8).begin(problem, Draws(0)).fit(X[:N], y[:N])
    ours = kernel.scores(X[N:]).ravel()
    np.testing.assert_allclose(linear.decision_function(features[N:]), ours, atol=0.02)
    shipped = IKSVM(50, 8).begin(problem, Draws(0)).fit(X[:N], y[:N])
    assert np.corrcoef(shipped.scores(X[N:]).ravel(), ours)[0, 1] > 0.97  # squared loss, no bias


def test_a_kernel_that_does_not_fit_into_memory_is_refused_before_it_is_made(monkeypatch):
    X, y, problem = stream("binary")
    for learner in (LaplacianLIBSVM(cache=100), ChiSquareLIBSVM(cache=100), IKLIBSVM(cache=100)):
        assert learner.needed_bytes(60_000) == 8 * 60_000**2 + 100 * 2**20
        free = type("Free", (), {"available": 10_000})
        monkeypatch.setattr(scikit.psutil, "virtual_memory", lambda free=free: free)
        with pytest.raises(
            MemoryError, match=r"the kernel of 200 training rows needs about \d+ MB"
        ):
            learner.begin(problem, Draws(0)).fit(X[:N], y[:N])


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
