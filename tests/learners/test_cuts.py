"""Rows may be cut into blocks anywhere: no score changes in its last bit."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.checks.subject import Subject
from okbench.learners.contract import Draws, Problem
from okbench.learners.fogd import FOGD
from okbench.learners.online.nystroem import NOGD
from tests.learners.online import learners_online

SUBJECTS = [Subject(entry, entry.load()) for entry in learners_online()]
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def cuts_of(n_rows, rng):
    """One row at a time, blocks of one odd size, and blocks of any size, empty ones among them."""
    yield list(range(1, n_rows))
    yield list(range(7, n_rows, 13))
    yield sorted(rng.integers(0, n_rows, 40).tolist())


def all_scores(learner, X, y, cuts):
    """Scores that were given while the rows were learned, then all scores once more."""
    spans = list(zip([0, *cuts], [*cuts, len(y)], strict=True))
    learned = [learner.learn_scores(X[first:last], y[first:last]) for first, last in spans]
    return np.concatenate(learned + [learner.scores(X[first:last]) for first, last in spans])


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.entry.name)
@FORMS
def test_any_cut_gives_the_same_bits(subject, form):
    rng = np.random.default_rng(5)
    for stream in subject.streams(n_rows=280):
        X = form(stream.X)
        expected = all_scores(subject.begun(stream, seed=1), X, stream.y, [])
        for cuts in cuts_of(len(stream.y), rng):
            found = all_scores(subject.begun(stream, seed=1), X, stream.y, cuts)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_columns", [3, 57, 300])
@pytest.mark.parametrize("size", [5, 37, 401])
@FORMS
def test_features_of_any_size_are_the_same_bits_for_any_cut(form, n_columns, size):
    rng = np.random.default_rng(size)
    X = rng.standard_normal((150, n_columns)) * (rng.random((150, n_columns)) < 0.3)
    X[:40] *= rng.random((40, n_columns)) < 0.5  # blocks are filled to other shares than the whole
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(150) > 0, 1, -1)
    problem = Problem("binary", n_columns, (-1, 1), 150)
    for learner in (
        FOGD(components=size, width=3.0),
        NOGD(budget=min(size, 60), rank=min(size, 41), width=3.0),
    ):
        learner.begin(problem, Draws(4))
        expected = all_scores(learner, form(X), y, [])
        for cuts in cuts_of(150, rng):
            found = all_scores(learner.begin(problem, Draws(4)), form(X), y, cuts)
            np.testing.assert_array_equal(found, expected)


def test_random_features_of_sparse_rows_are_those_of_dense_ones_bit_for_bit():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 20)) * (rng.random((90, 20)) < rng.random((90, 1)))
    y = rng.choice([-1, 1], 90)
    dense, sparse = FOGD(components=30).fit(X, y), FOGD(components=30).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.scores(sp.csr_array(X)), dense.scores(X))
