"""LIBSVM and LIBLINEAR: the decision values of scikit-learn, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, UsageError
from okbench.learners.batch import base as batch_base
from okbench.learners.batch import scikit
from okbench.learners.batch.scikit import LIBLINEAR, LIBSVM
from okbench.learners.contract import Diverged, Draws, NotConverged, Problem
from okbench.learners.isolation.svm import IKSVM, ChiSquareSVM
from tests.learners.batch.clocks import Marking
from tests.learners.test_linear import stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
TASKS = pytest.mark.parametrize("task", ["binary", "multiclass"])
CLOSE = {"atol": 1e-12, "rtol": 0}


@FORMS
@TASKS
def test_decision_values_and_predictions_are_those_of_svc(task, form):
    from sklearn.svm import SVC

    X, y, problem = stream(task, filled=0.7)
    learner = LIBSVM(cost=3.0, width=1.5).begin(problem, Draws(0)).fit(form(X[:200]), y[:200])
    theirs = SVC(C=3.0, gamma=1 / (2 * 1.5**2)).fit(form(X[:200]), y[:200])
    decided = theirs.decision_function(form(X[200:])).reshape(100, -1)
    np.testing.assert_allclose(learner.scores(form(X[200:])), decided, **CLOSE)
    np.testing.assert_array_equal(learner.predict(form(X[200:])), theirs.predict(form(X[200:])))
    np.testing.assert_allclose(learner.scores(X[200:]), decided, atol=1e-9)
    assert learner.support_size == len(theirs.support_)


@FORMS
@TASKS
def test_the_laplacian_kernel_is_that_of_its_gram_matrix(monkeypatch, task, form):
    from sklearn.svm import SVC

    monkeypatch.setattr(scikit, "AT_ONCE", 8 * 200 * 30)  # 30 rows at a time
    X, y, problem = stream(task, filled=0.7)
    learner = LIBSVM(width=2.0, kernel="laplacian").begin(problem, Draws(0))
    learner.fit(form(X[:200]), y[:200])
    gram = np.exp(-np.abs(X[:, np.newaxis] - X[np.newaxis, :200]).sum(axis=2) / 2.0)
    theirs = SVC(kernel="precomputed").fit(gram[:200], y[:200])
    decided = theirs.decision_function(gram[200:]).reshape(100, -1)
    np.testing.assert_allclose(learner.scores(form(X[200:])), decided, atol=1e-3)
    np.testing.assert_array_equal(learner.predict(X[200:]), theirs.predict(gram[200:]))
    alike = LIBSVM(kernel="precomputed")
    alike.begin(Problem(problem.task, 200, problem.classes), Draws(0)).fit(gram[:200], y[:200])
    np.testing.assert_allclose(alike.scores(gram[200:]), decided, **CLOSE)


@FORMS
@TASKS
@pytest.mark.parametrize("several", ["one_against_rest", "crammer_singer"])
def test_liblinear_has_the_decision_values_of_linear_svc(several, task, form):
    from sklearn.svm import LinearSVC

    X, y, problem = stream(task, filled=0.7)
    given = {"cost": 0.5, "several": several, "tolerance": 1e-6}
    learner = LIBLINEAR(**given).begin(problem, Draws(0)).fit(form(X[:200]), y[:200])
    multi = "ovr" if several == "one_against_rest" else several
    seed = int(Draws(0).stream("solver").uniforms(1)[0] * 2**31)
    theirs = LinearSVC(C=0.5, loss="hinge", tol=1e-6, multi_class=multi, max_iter=100_000,
                       random_state=seed)  # fmt: skip
    theirs.fit(form(X[:200]), y[:200])
    decided = theirs.decision_function(form(X[200:])).reshape(100, -1)
    np.testing.assert_allclose(learner.scores(form(X[200:])), decided, **CLOSE)
    np.testing.assert_array_equal(learner.predict(X[200:]), theirs.predict(form(X[200:])))


@pytest.mark.parametrize("cls", [LIBSVM, LIBLINEAR])
def test_not_to_converge_is_an_error_that_counts_as_a_divergence(cls):
    X, y, problem = stream("multiclass")
    learner = cls(cost=1e4, max_iterations=3).begin(problem, Draws(0))
    with pytest.raises(NotConverged, match=f"{cls.__name__} did not converge in 3 iterations"):
        learner.fit(X, y)
    assert issubclass(NotConverged, Diverged)


@pytest.mark.parametrize("cls", [LIBSVM, LIBLINEAR, IKSVM, ChiSquareSVM])
def test_more_iterations_than_the_libraries_count_are_as_many_as_they_count(cls):
    X, y, problem = stream("binary")
    name = "iterations" if cls in (IKSVM, ChiSquareSVM) else "max_iterations"
    made = [cls(**{name: most}) for most in (10**5, 10**12)]
    scores = [learner.begin(problem, Draws(0)).fit(X, y).scores(X) for learner in made]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("cls", [LIBSVM, LIBLINEAR])
def test_a_class_without_rows_is_never_predicted(cls):
    X, y, problem = stream("multiclass")
    for lacking in ((0,), (1, 3)):
        kept = ~np.isin(y, lacking)
        learner = cls().begin(problem, Draws(0)).fit(X[kept], y[kept])
        assert not np.isin(learner.predict(X), lacking).any()
        assert len(np.unique(learner.predict(X))) > 1
        scores = learner.scores(X)
        assert np.isfinite(scores).all()
        assert not np.isin(scores.argmax(axis=1), lacking).any()


@TASKS
@pytest.mark.parametrize("cls", [LIBSVM, LIBLINEAR])
def test_a_fit_that_was_stopped_predicts_the_class_with_most_rows(cls, task):
    X, y, problem = stream(task)
    learner = cls().begin(problem, Draws(0)).fit(X, y, Marking(questions=0))
    names, counts = np.unique(y, return_counts=True)
    assert set(learner.predict(X)) == {names[counts.argmax()]}
    assert (learner.support_size, learner.nbytes) == (0, 0)


def test_rows_of_a_precomputed_kernel_are_square():
    X, y, problem = stream("binary")
    message = "LIBSVM: kernel = 'precomputed': each of the 300 training rows needs its kernel with"
    with pytest.raises(DataError, match=message):
        LIBSVM(kernel="precomputed").begin(problem, Draws(0)).fit(X, y)


def test_memory_is_estimated_before_the_solver_begins(monkeypatch):
    assert LIBSVM(cache=100).needed_bytes(10**6) == 100 * 2**20
    assert LIBSVM(cache=100).needed_bytes(1000) == 4 * 1000**2
    assert LIBSVM(cache=100, kernel="laplacian").needed_bytes(10**4) == 8 * 10**8 + 100 * 2**20
    free = SimpleNamespace(available=1_000_000)
    monkeypatch.setattr(batch_base.psutil, "virtual_memory", lambda: free)
    X, y, problem = stream("binary")
    LIBSVM(cache=0.5).begin(problem, Draws(0)).fit(X, y)
    message = "LIBSVM: the kernel of 300 training rows needs about 1 MB and 1 MB are free"
    with pytest.raises(MemoryError, match=message):
        LIBSVM(kernel="laplacian").begin(problem, Draws(0)).fit(X, y)


def test_scikit_learn_is_imported_by_a_fit_alone():
    script = (
        "import sys; from okbench.learners.contract import Draws, Problem\n"
        "from okbench.learners.batch.scikit import LIBLINEAR, LIBSVM\n"
        "LIBSVM().begin(Problem('binary', 2, (0, 1)), Draws(0))\n"
        "assert 'sklearn' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("cls", "changed", "message"),
    [
        (LIBSVM, {"kernel": "rfb"}, "LIBSVM: kernel = 'rfb': choose rbf or laplacian or"),
        (LIBSVM, {"cost": 0.0}, "LIBSVM: cost = 0.0: it must be above 0"),
        (LIBSVM, {"width": 1e-200}, "LIBSVM: width = 1e-200: the factor"),
        (LIBSVM, {"cache": 0}, "LIBSVM: cache = 0: it must be above 0"),
        (LIBSVM, {"cost": float("inf")}, "LIBSVM: cost = inf: a finite number is expected"),
        (LIBLINEAR, {"loss": "log"}, "LIBLINEAR: loss = 'log': choose hinge or squared_hinge"),
        (LIBLINEAR, {"max_iterations": 0}, "LIBLINEAR: max_iterations = 0: it must be 1 or more"),
    ],
)
def test_settings_that_make_no_sense_are_refused(cls, changed, message):
    with pytest.raises(UsageError) as refused:
        cls(**changed).begin(Problem("binary", 3, (0, 1)))
    assert message in str(refused.value)
