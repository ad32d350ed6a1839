"""Rows and labels in the forms they come in: what they are taken for, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError
from okbench.learners.contract import Problem
from okbench.learners.online.simple_budget import RBP
from okbench.learners.perceptron import Perceptron
from okbench.learners.rows import Block
from okbench.learners.rrf import RRF

RNG = np.random.default_rng(4)
TABLE = np.round(RNG.standard_normal((60, 5)) * (RNG.random((60, 5)) < 0.6), 2)
LABELS = np.where(TABLE[:, 0] + TABLE[:, 1] * TABLE[:, 2] > 0, 1, -1)
BINARY = Problem("binary", 5, (-1, 1), 60)


def wrong(indices, indptr):
    """Sparse rows of five columns whose arrays SciPy has not checked."""
    rows = sp.csr_array((len(indptr) - 1, 5))
    rows.data = np.ones(len(indices))
    rows.indices, rows.indptr = np.array(indices, np.int32), np.array(indptr, np.int32)
    return rows


def strided(X):
    """The same sparse rows in every other item of longer arrays."""
    rows = sp.csr_array(X)
    data, indices = np.full(2 * rows.nnz, 777.0), np.zeros(2 * rows.nnz, dtype=np.int32)
    data[::2], indices[::2] = rows.data, rows.indices
    return sp.csr_array((data[::2], indices[::2], rows.indptr), shape=X.shape)


def with_long_indices(X):
    rows = sp.csr_array(X)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


@pytest.mark.parametrize("cls", [Perceptron, RBP, RRF])
@pytest.mark.parametrize("form", [strided, with_long_indices, sp.csc_array, sp.coo_matrix])
def test_sparse_rows_are_read_however_their_arrays_lie(cls, form):
    tidy, other = (cls(width=1.5).begin(BINARY) for _ in range(2))
    expected = tidy.learn_scores(sp.csr_array(TABLE), LABELS)
    np.testing.assert_array_equal(other.learn_scores(form(TABLE), LABELS), expected)


def test_what_is_mapped_from_a_file_is_learned_as_it_stands(tmp_path):
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=TABLE.shape)
    mapped[:] = TABLE
    mapped.flush()
    expected = Perceptron().fit(TABLE, LABELS).scores(TABLE)
    read = np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=TABLE.shape)
    np.testing.assert_array_equal(Perceptron().fit(read, LABELS).scores(read), expected)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (wrong([7], [0, 1]), "sparse rows that are none: indices must be < 5"),
        (wrong([-3], [0, 1]), "sparse rows that are none: indices must be >= 0"),
        (wrong([0, 1], [0, 2, 1, 2]), "sparse rows that are none"),
        (sp.csr_array((2, 2**31)), r"sparse rows of shape \(2, 2147483648\)"),
        (sp.coo_array(np.ones(3)), "rows come as a table with two axes, not 1"),
        ([1.0, 2.0], "rows come as a table with two axes, not 1"),
        ([[1.0, 2.0], [3.0]], "rows must be numbers"),
        ([["a", "b"]], "rows must be numbers: could not convert string to float"),
        ([[1j, 1.0]], "rows must be numbers: these are complex"),
        (sp.csr_array([[1j, 1.0]]), "rows must be numbers: these are complex"),
        (pd.DataFrame({"word": ["x"]}), "rows must be numbers"),
        ([[1.0, 10**400]], "rows must be numbers"),
        ([[0.0, 1.0], [np.longdouble(10) ** 400, 0.0]], "row 1: a value is not a finite number"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_rows_that_are_none_are_refused(rows, message):
    with pytest.raises(DataError, match=message):
        Block.of(rows)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([1, "a"], dtype=object), "labels of several kinds do not make classes"),
        ([[1], [1, 2]], "labels"),
        ([[1], [2]], r"2 rows came with labels of shape \(2, 1\)"),
        ([1.0, np.inf], "row 1: the target is not finite"),
        ([np.nan, 1.0], "row 0: the target is not finite"),
    ],
    ids=repr,
)
def test_labels_that_are_none_are_refused_and_leave_nothing_behind(labels, message):
    learner = Perceptron()
    with pytest.raises(DataError, match=message):
        learner.learn(TABLE[:2], labels)
    assert learner.problem is None


@pytest.mark.parametrize(
    ("problem", "labels", "message"),
    [
        (Problem("binary", 5, ("no", "yes")), ["no", "maybe"], "row 1: label 'maybe' is not among"),
        (Problem("multiclass", 5, (0, 1, 2)), [0, 3], "row 1: label 3 is not among"),
        (
            Problem("multiclass", 5, ("a", "b", "c")),
            np.array([1, "a"], dtype=object),
            "labels of another kind than the classes",
        ),
        (Problem("regression", 5), ["a", "b"], "targets must be numbers: could not convert"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_labels_that_are_not_the_problems_are_refused(problem, labels, message):
    with pytest.raises(DataError, match=message):
        Perceptron().begin(problem).learn(TABLE[:2], labels)


def test_a_column_of_objects_that_are_all_numbers_is_a_column_of_numbers():
    targets = 0.3 * TABLE[:, 0] + 0.01
    objects = pd.Series(targets, dtype=object)
    assert Problem.of(TABLE, objects) == Problem("regression", 5)
    expected = Perceptron().fit(TABLE, targets).scores(TABLE)
    np.testing.assert_array_equal(Perceptron().fit(TABLE, objects).scores(TABLE), expected)
    assert Problem.of(TABLE, pd.Series(LABELS, dtype=object)).classes == (-1, 1)


@pytest.mark.parametrize(
    ("names", "kind"),
    [(("no", "yes"), "U"), ((False, True), "b"), ((3, 8), "i"), ((-1.0, 1.0), "f")],
)
def test_predictions_are_labels_of_the_kind_that_was_given(names, kind):
    labels = np.array(names)[(LABELS > 0).astype(int)]
    for given in (labels, labels.tolist(), pd.Series(labels, index=range(60, 0, -1))):
        told = Perceptron(width=1.0).fit(pd.DataFrame(TABLE), given).predict(TABLE)
        assert told.dtype.kind == kind
        assert set(told.tolist()) == set(names)
