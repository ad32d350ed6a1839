"""Learners with the isolation kernel and with the Laplacian one, against plain renderings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain import isolation as plain
from okbench.base.errors import DataError, UsageError
from okbench.learners.checks.fit_checks import CheckClock
from okbench.learners.checks.subject import a_stream
from okbench.learners.contract import Diverged, Draws
from okbench.learners.isolation.array_libraries import described
from okbench.learners.isolation.descent import IKOGD
from okbench.learners.isolation.dual import IKOGDDual
from okbench.learners.isolation.kernel_svm import IKLIBSVM
from okbench.learners.isolation.laplacian import LaplacianOGD
from okbench.learners.isolation.laplacian_nogd import LaplacianNOGD
from okbench.learners.isolation.maps import IsolationMap
from okbench.learners.isolation.svm import IKSVM, ChiSquareSVM
from okbench.protocols.contract import BATCH, FITTED, ONLINE, RowCounts
from okbench.protocols.registry import PROTOCOLS
from tests.learners.isolation_material import permutations

TASKS = pytest.mark.parametrize("task", ["binary", "multiclass"])
MAPS = pytest.mark.parametrize("map", ["iforest", "nearest"])
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
SETTINGS = {"partitionings": 10, "psi": 16, "step": 0.5, "averages": True, "initial": 50}


def plain_scores(rule, stream, seed=0, **settings):
    given = {**SETTINGS, "map": "iforest", **settings}
    inner = 2 ** (given["psi"] - 1).bit_length() - 1
    return rule(
        stream.X,
        stream.problem.encode(stream.y),
        n_columns=stream.problem.n_columns,
        permutations=permutations(seed, given["initial"]),
        uniforms=Draws(seed).stream("trees").uniforms(2 * given["partitionings"] * inner),
        **given,
    )


@TASKS
@MAPS
@FORMS
@pytest.mark.parametrize("changed", [{}, {"averages": False}, {"step": 0.3}])
def test_scores_are_those_of_the_plain_loops_to_the_last_bit(task, map, form, changed):
    """In a single pass, for the map, the naive product and the dual alike."""
    stream = a_stream(task, 300)
    expected = plain_scores(plain.ik_ogd, stream, map=map, **changed)
    dual = plain_scores(plain.ik_dual, stream, map=map, **changed)
    np.testing.assert_array_equal(dual, expected)
    given = {**SETTINGS, "map": map, **changed}
    for learner in (IKOGD(**given), IKOGD(**given, product="naive"), IKOGDDual(**given)):
        learner.begin(stream.problem, Draws(0))
        found = learner.learn_scores(form(stream.X), stream.y)
        np.testing.assert_array_equal(found, expected)
        assert 0 < learner.updates < 300
    assert learner.support_size == learner.updates


@TASKS
@MAPS
def test_a_fit_learns_what_the_plain_loop_learns_on_a_map_of_all_rows(task, map):
    stream = a_stream(task, 200)
    expected = plain_scores(plain.ik_ogd, stream, map=map, initial=200)
    assert (expected == 0.0).all()  # a single pass would have waited for all of them
    for learner in (IKOGD(**SETTINGS, map=map), IKOGDDual(**SETTINGS, map=map)):
        clock = CheckClock()
        learner.begin(stream.problem, Draws(0)).fit(stream.X, stream.y, clock)
        waited = IKOGD(**{**SETTINGS, "initial": 200}, map=map).begin(stream.problem, Draws(0))
        waited.learn(stream.X, stream.y)
        asked = a_stream(task, 90).X[::-1]
        np.testing.assert_array_equal(learner.scores(asked), waited.scores(asked))
        assert learner.updates == waited.updates
        assert [rows for rows, _ in clock.marks] == list(range(10, 201, 10))
        assert 0 < clock.marks[-1][1] <= 200


def test_rows_with_a_margin_of_exactly_one_have_no_loss():
    """Scores are multiples of step / partitionings: with ten equal rows f = 1 is met exactly."""
    X, y = np.zeros((20, 2)), np.ones(20)
    for step, updates in ((0.1, 10), (0.3, 4), (0.5, 2), (1.0, 1)):
        for learner in (IKOGD, IKOGDDual):
            found = learner(partitionings=7, psi=2, step=step).fit(X, y)
            assert found.updates == updates


def test_one_class_in_the_training_part_is_learned():
    learner = IKOGD().begin(a_stream("binary").problem, Draws(0))
    learner.fit(a_stream("binary").X, np.ones(120, dtype=int))
    assert (learner.predict(a_stream("binary").X) == 1).all()


def test_a_fit_without_rows_is_refused():
    with pytest.raises(DataError, match="IK-OGD: there are no rows to fit"):
        IKOGD().fit(np.zeros((0, 3)), [])


@pytest.mark.parametrize("cls", [IKOGD, IKOGDDual])
def test_the_protocols_run_it_as_they_should(cls):
    stream, train_test = PROTOCOLS["block-stream"], PROTOCOLS["train-test"]
    assert stream.role_of(cls) == FITTED
    assert train_test.role_of(cls) == BATCH
    assert PROTOCOLS["single-pass"].role_of(cls) == ONLINE
    assert [stage.verbs for stage in stream.stages(FITTED, RowCounts(600, 400), 50)] == [
        ("fit",),
        ("predict", "learn"),
    ]
    assert stream.stages(FITTED, RowCounts(600), 50)[0].verbs == ("learn",)


@TASKS
@FORMS
@pytest.mark.parametrize("averages", [True, False])
def test_laplacian_learners_are_their_plain_loops(task, form, averages):
    stream = a_stream(task, 400)
    targets, n_columns = stream.problem.encode(stream.y), stream.problem.n_columns
    learner = LaplacianOGD(psi=64, step=0.5).begin(stream.problem, Draws(0))
    found = learner.learn_scores(form(stream.X), stream.y)
    expected = plain.laplacian_ogd(stream.X, targets, n_columns=n_columns, psi=64, step=0.5)
    np.testing.assert_allclose(found, expected, atol=1e-10, rtol=0)
    given = {"psi": 64, "step": 0.5, "budget": 20, "rank": 6, "averages": averages}
    learner = LaplacianNOGD(**given).begin(stream.problem, Draws(0))
    found = learner.learn_scores(form(stream.X), stream.y)
    expected = plain.laplacian_nogd(stream.X, targets, n_columns=n_columns, **given)
    np.testing.assert_allclose(found, expected, atol=1e-9, rtol=0)
    assert learner.support_size == 20
    assert learner.updates > 40


def test_raw_bytes_do_not_underflow():
    """At psi = 4096 kernels of such rows are about 2^-900."""
    X = np.random.default_rng(0).integers(0, 256, (60, 500)).astype(float)
    y = np.where(X[:, :250].sum(axis=1) > X[:, 250:].sum(axis=1), 1, -1)
    learner = LaplacianOGD(psi=4096).fit(X, y)
    others = X + np.random.default_rng(1).integers(-1, 2, X.shape)
    scores = learner.scores(others)
    assert (scores != 0.0).all()
    assert (np.sign(scores[:, 0]) == y).all()


def test_a_rank_beyond_the_budget_is_refused():
    with pytest.raises(UsageError, match="LaplacianNOGD: rank = 30: it must not exceed budget = 9"):
        LaplacianNOGD(budget=9, rank=30).begin(a_stream("binary").problem)


@TASKS
@MAPS
def test_liblinear_on_the_map_agrees_with_libsvm_on_the_kernel(task, map):
    """Up to the losses of the two solvers: the squared hinge and the hinge."""
    from sklearn.svm import SVC

    stream, half = a_stream(task, 600), 300
    learner = IKSVM(partitionings=100, psi=8, map=map).begin(stream.problem, Draws(0))
    learner.fit(stream.X[:half], stream.y[:half])
    cells = (
        IsolationMap(partitionings=100, psi=8, map=map)
        .fit(stream.X[:half], Draws(0))
        .transform(stream.X)
    )
    kernel = (cells[:, np.newaxis] == cells[np.newaxis, :half]).mean(axis=2)
    machine = SVC(kernel="precomputed").fit(kernel[:half], stream.y[:half])
    found, other = learner.predict(stream.X[half:]), machine.predict(kernel[half:])
    truth = stream.y[half:]
    assert np.mean(found == truth) == pytest.approx(np.mean(other == truth), abs=0.04)
    assert np.mean(found == other) > 0.9


@pytest.mark.parametrize("cls", [IKSVM, ChiSquareSVM])
def test_an_svm_refuses_rows_of_one_class(cls):
    stream = a_stream("binary")
    learner = cls().begin(stream.problem, Draws(0))
    message = f"{cls.name}: all 120 training rows are of class 0; rows of two classes are needed"
    with pytest.raises(DataError, match=message):
        learner.fit(stream.X, np.zeros(120, dtype=int))
    with pytest.raises(UsageError, match=f"{cls.name} has learned nothing yet"):
        cls().predict(stream.X)


@FORMS
@pytest.mark.parametrize(("scale", "cost"), [(1e200, 1.0), (1.0, 1e200), (1e80, 1e80)])
def test_a_primal_that_would_never_end_is_refused(form, scale, cost):
    stream = a_stream("binary")
    learner = ChiSquareSVM(cost=cost).begin(stream.problem, Draws(0))
    with pytest.raises(Diverged, match="ChiSquare-SVM: cost × the sum of all absolute values is"):
        learner.fit(form(stream.X * scale), stream.y)
    smallest = ChiSquareSVM(cost=1e-300).begin(stream.problem, Draws(0))
    with pytest.raises(Diverged, match=r"cost × the root of the largest value is .* raise"):
        smallest.fit(form(stream.X), stream.y)
    largest = ChiSquareSVM(cost=1e85).begin(stream.problem, Draws(0))
    assert largest.fit(stream.X, stream.y).score(stream.X, stream.y) > 0.5


@pytest.mark.parametrize("learner", [IKOGD, IKOGDDual, IKSVM, IKLIBSVM])
def test_the_device_is_stated_where_rows_are_multiplied_with_points(learner):
    stream = a_stream("binary", 60)
    wide = sp.csr_array((stream.X.shape[0], 1500))  # not multiplied as a table

    def device(map, X):
        return learner(partitionings=3, psi=4, map=map).fit(X, stream.y).device

    assert learner().device is None
    assert device("nearest", stream.X) == described("numpy")
    assert device("nearest", wide) is None
    assert device("iforest", stream.X) is None
