"""Rows far from zero: the same kernel makes the same decisions, or the rows are refused."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError
from okbench.learners.batch.rks import RKS
from okbench.learners.checks.subject import Subject
from okbench.learners.contract import Draws, Problem
from okbench.learners.fogd import FOGD
from okbench.learners.isolation.kernel_svm import LaplacianLIBSVM
from okbench.learners.isolation.laplacian import LaplacianOGD
from okbench.learners.isolation.laplacian_kernel import laplacian_kernel
from okbench.learners.isolation.laplacian_nogd import LaplacianNOGD
from okbench.learners.many_kernels.fogd_orf import FOGDORF
from okbench.learners.many_kernels.raker import Raker
from okbench.learners.ogd import OGD
from okbench.learners.origin import MOVED_FROM, REFUSED_FROM, Origin
from okbench.learners.registry import catalogue
from okbench.learners.rows import Block
from okbench.learners.rrf import RRF
from tests.learners import rrf_oracle
from tests.learners.online import learners_online

SUBJECTS = [Subject(entry, entry.load()) for entry in learners_online()]
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
# RRF learns scales by the slopes of angles, which depend on where rows are measured from.
MOVABLE = [subject for subject in SUBJECTS if subject.entry.name != "RRF"]
NEAR = 1e-5  # how close scores come that rounding is multiplied in, such as Projectron's


def of_every_learner(subjects):
    return pytest.mark.parametrize("subject", subjects, ids=lambda subject: subject.entry.name)


@of_every_learner(MOVABLE)
def test_rows_far_from_zero_make_the_decisions_of_the_same_rows_near_it(subject):
    forms_and_places = product((np.asarray, sp.csr_array), (1e3, 1e6, 1e8, -1e8))
    for (form, far), stream in product(forms_and_places, list(subject.streams(n_rows=300))):
        there = stream.X + far
        here = there - far  # exactly, so that what a double loses is lost in both
        one, other = subject.begun(stream, seed=1), subject.begun(stream, seed=1)
        found, expected = one.learn(form(there), stream.y), other.learn(here, stream.y)
        asked, answered = one.predict(form(there)), other.predict(here)
        if stream.problem.task == "regression":
            np.testing.assert_allclose(found, expected, atol=NEAR, rtol=0)
            np.testing.assert_allclose(asked, answered, atol=NEAR, rtol=0)
        else:
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(asked, answered)


@pytest.mark.shared("the rows of german")
@of_every_learner([subject for subject in MOVABLE if "binary" in subject.entry.tasks])
@FORMS
def test_a_column_of_times_in_seconds_changes_no_mistake(subject, form):
    X, y = rrf_oracle.rows("german")
    timed = X.copy()
    timed[:, 3] = np.round(timed[:, 3]) + 1.6e9
    X[:, 3] = np.round(X[:, 3])
    problem = Problem("binary", 24, tuple(np.unique(y).tolist()), len(y))
    found, expected = (
        subject.entry.load()().begin(problem, Draws(1)).learn(form(rows), y) for rows in (timed, X)
    )
    np.testing.assert_array_equal(found, expected)


def test_a_learner_of_scales_sees_far_rows_from_the_first_of_them():
    rng = np.random.default_rng(2)
    there, y = rng.standard_normal((300, 4)) + 1e8, rng.choice([-1, 1], 300)
    given = {"components": 40, "width": 1.5, "scale_step": 0.01}
    problem = Problem("binary", 4, (-1, 1))
    far, near = RRF(**given).begin(problem, Draws(3)), RRF(**given).begin(problem, Draws(3))
    found, expected = far.learn_scores(there, y), near.learn_scores(there - there[0], y)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(
        far.kernel_gaps(there), near.kernel_gaps(there - there[0]), atol=1e-12
    )


@of_every_learner(SUBJECTS)
def test_far_rows_may_be_cut_anywhere(subject):
    stream = next(subject.streams(n_rows=200))
    far = stream.X + 1e7
    far[100:, 1] += 300.0
    for form in (np.asarray, sp.csr_array):
        whole, cut = subject.begun(stream, seed=1), subject.begun(stream, seed=1)
        expected = whole.learn_scores(form(far), stream.y)
        found = [
            cut.learn_scores(form(far[first : first + size]), stream.y[first : first + size])
            for first, size in [(0, 1), (1, 2), (3, 0), (3, 96), (99, 101)]
        ]
        np.testing.assert_array_equal(np.concatenate(found), expected)


@pytest.mark.filterwarnings("ignore::okbench.learners.column_scales.ScaleWarning")
def test_sparse_rows_without_an_entry_in_a_far_column_are_zero_there():
    y = np.array([1, -1, 1, -1, 1, 1])
    X = np.zeros((6, 2000))
    X[:, 7] = 1e5
    X[[2, 4], 7] = 0.0  # no entry, and within reach of the others
    X[np.arange(6), np.arange(6) * 300] = 1.0
    dense, sparse = OGD(width=8.0).fit(X, y), OGD(width=8.0).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.scores(sp.csr_array(X)), dense.scores(X), atol=1e-12)
    assert sparse.support_size == dense.support_size
    moved = sparse._origin.moved(Block.of(sp.csr_array(X)))
    assert moved.matrix.nnz < 12  # only what is far has been filled in
    assert sparse._origin.columns.tolist() == [7]


def test_only_far_columns_are_moved_and_they_are_part_of_the_model():
    X = np.random.default_rng(0).standard_normal((50, 6))
    y = np.where(X[:, 0] > 0, 1, -1)
    near = OGD().fit(X, y)
    X[:, 2] += 1e9
    far = OGD().fit(X, y)
    assert len(near._origin.columns) == 0
    assert far._origin.columns.tolist() == [2]
    assert far._origin.values.tolist() == [X[0, 2]]
    assert far.nbytes == near.nbytes + 16
    again = pickle.loads(pickle.dumps(far))
    np.testing.assert_array_equal(again.scores(X), far.scores(X))
    far.begin(Problem("binary", 6, (-1, 1)))
    far.learn(X - X[0], y)
    assert len(far._origin.columns) == 0


def test_vectors_of_the_model_are_rows_of_the_stream():
    for name in ("BSGD-M", "BSGD-R", "DualSGD"):
        X = 100.0 * np.random.default_rng(0).standard_normal((5, 3)) + 1e9
        learner = catalogue()[name].load()(budget=10).fit(X, [1, -1, 1, -1, 1])
        np.testing.assert_array_equal(learner.support_vectors, X)


@pytest.mark.parametrize("cls", [OGD, RRF])
@FORMS
def test_rows_further_apart_than_kernels_can_tell_are_refused(cls, form):
    learner = cls(width=2.0)
    X = np.zeros((4, 3))
    X[:, 0] = 1.0
    X[2, 1] = 1e9
    with pytest.raises(DataError) as refused:
        learner.fit(form(X), [1, -1, 1, -1])
    assert str(refused.value) == (
        "row 2: column 1 (counted from 0) reaches from 0 to 1e+09, 5.0e+08 times the width, and "
        "kernels that far apart have no correct digits; scale the column, or raise the width"
    )
    learner.begin(Problem("binary", 3, (-1, 1)))
    X[:, 1] += 3e9
    with pytest.raises(DataError, match=r"row 2: column 1 .* reaches from 3e\+09 to 4e\+09, 5"):
        learner.learn(form(X), [1, -1, 1, -1])
    assert learner.updates == 0
    learner.learn(form(X[:2] - [0, 3e9, 0]), [1, -1])  # what was refused left no origin behind


@pytest.mark.parametrize("cls", [FOGD, FOGDORF, Raker, RKS])
@FORMS
def test_angles_tell_rows_that_are_much_further_apart(cls, form):
    """Up to 4.5e9 widths: their rounding grows with the length of a row, not with its square."""
    X = np.zeros((4, 3))
    X[:, 0] = 1.0
    X[2, 1] = 1e9
    learner = cls().fit(form(X), [1, -1, 1, -1])
    assert np.isfinite(learner.scores(form(X))).all()
    X[2, 1] = 1e11 * learner.width
    with pytest.raises(DataError, match=r"row 2: column 1 .* 1\.0e\+11 times the width"):
        learner.fit(form(X), [1, -1, 1, -1])


def test_an_angle_loses_no_more_than_its_bound():
    """Just below the bound, features computed in doubles are those of exact angles."""
    rng, reach = np.random.default_rng(1), 0.99 * REFUSED_FROM / 2.0**-52
    x, w = rng.standard_normal((200, 2)), rng.standard_normal((2, 50))
    x *= reach / np.linalg.norm(x, axis=1)[:, np.newaxis]
    exact = x.astype(np.longdouble) @ w.astype(np.longdouble)
    assert np.abs(np.cos(x @ w) - np.cos(exact)).max() < 4 * REFUSED_FROM
    Origin.for_width(1.0, has_angles=True).check(Block.of(x))  # not refused


LAPLACIAN = pytest.mark.parametrize("cls", [LaplacianOGD, LaplacianNOGD, LaplacianLIBSVM])


@LAPLACIAN
@FORMS
@pytest.mark.parametrize("far", [1e9, 1e12, -1e15])
def test_the_laplacian_kernel_of_far_rows_is_that_of_rows_near_zero(cls, form, far):
    X = np.random.default_rng(3).integers(0, 6, (300, 5)).astype(float)
    y = np.where(X[:, 0] * X[:, 1] > 6, 1, -1)
    near, there = X.copy(), X.copy()
    there[:, [1, 3]] += far
    near[:, [1, 3]] -= X[0, [1, 3]]  # the first row is where the others are measured from
    found, expected = cls(psi=4096).fit(form(there), y), cls(psi=4096).fit(near, y)
    np.testing.assert_allclose(found.scores(form(there)), expected.scores(near), atol=1e-9)
    assert found._origin.columns.tolist() == [1, 3]
    kernel = laplacian_kernel(form(there), form(there), 4096)
    np.testing.assert_allclose(kernel, laplacian_kernel(X, X, 4096), atol=1e-12)


@LAPLACIAN
@FORMS
def test_rows_further_apart_than_the_laplacian_kernel_can_tell_are_refused(cls, form):
    X = np.zeros((4, 3))
    X[:, 0], X[2, 1] = 1.0, 1e10
    with pytest.raises(DataError) as refused:
        cls(psi=4096).fit(form(X), [1, -1, 1, -1])
    assert str(refused.value) == (
        "row 2: column 1 (counted from 0) reaches from 0 to 1e+10, and kernels that far apart have "
        "no correct digits; scale the column, or lower psi"
    )


@FORMS
def test_rows_to_predict_may_be_anywhere(form):
    X = np.random.default_rng(0).standard_normal((20, 3))
    learner = OGD(width=2.0).fit(X, np.where(X[:, 0] > 0, 1, -1))
    for far in (1e6, 1e12, 1e170):
        assert learner.scores(form(X + far)).tolist() == [[0.0]] * 20


@pytest.mark.parametrize("width", [1e-3, 1.0, 300.0])
def test_the_bounds_are_those_of_a_kernels_exponent(width):
    """Just below a bound, the exponent computed in doubles is off by no more than it."""
    for bound in (MOVED_FROM, REFUSED_FROM):
        reach = 0.99 * width * np.sqrt(2 * bound / 2.0**-52)
        rng = np.random.default_rng(1)
        x = rng.standard_normal((200, 2))
        x *= reach / np.linalg.norm(x, axis=1)[:, np.newaxis]
        z = x + width * rng.standard_normal((200, 2)) / 2
        exact = ((x.astype(np.longdouble) - z) ** 2).sum(axis=1)
        found = (x * x).sum(axis=1) + (z * z).sum(axis=1) - 2 * (x * z).sum(axis=1)
        off = np.abs(found - exact) / (2 * width**2)
        assert off.max() < 4 * bound
        origin = Origin.for_width(width).chosen(Block.of(x))
        assert (len(origin.columns) > 0) == (bound > MOVED_FROM)
        origin._replace(columns=origin.columns[:0]).check(Block.of(x))  # not refused
