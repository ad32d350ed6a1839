"""The learners on isolation maps with rows that a map can make little of."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.base.errors import DataError
from okbench.learners.contract import Draws, Problem
from okbench.learners.isolation.descent import IKOGD
from okbench.learners.isolation.dual import IKOGDDual
from okbench.learners.isolation.kernel_svm import IKLIBSVM
from okbench.learners.isolation.svm import IKSVM
from tests.learners.isolation_material import rows

ONLINE = pytest.mark.parametrize("learner", [IKOGD, IKOGDDual])
MAPS = pytest.mark.parametrize("map", ["iforest", "nearest"])
PROBLEM = Problem("binary", 6, (-1, 1), 240)
SIGNS = np.where(np.arange(240) % 3 == 0, 1, -1)


@ONLINE
@MAPS
def test_one_class_in_the_initial_part_leaves_the_other_to_be_learned(learner, map):
    X = rows("real")
    y = np.where(X[:, 0] > 0, 1, -1)
    first = np.argsort(y, kind="stable")[:60]  # of class -1 alone
    made = (
        learner(partitionings=20, psi=16, map=map).begin(PROBLEM, Draws(0)).fit(X[first], y[first])
    )
    assert set(made.predict(X).tolist()) == {-1}
    for _ in range(5):
        made.learn(X, y)
    assert set(made.predict(X).tolist()) == {-1, 1}


@ONLINE
@MAPS
def test_constant_rows_are_one_cell_and_constant_columns_change_nothing(learner, map):
    same = (
        learner(partitionings=10, psi=16, map=map)
        .begin(PROBLEM, Draws(0))
        .fit(rows("constant"), SIGNS)
    )
    assert len(set(same.predict(rows("constant")).tolist())) == 1
    X = rows("real")
    X[:, 3] = 7.0
    made = learner(partitionings=10, psi=16, map=map).begin(PROBLEM, Draws(0)).fit(X, SIGNS)
    alone = learner(partitionings=10, psi=16, map=map).begin(
        Problem("binary", 5, (-1, 1), 240), Draws(0)
    )
    alone.fit(np.delete(X, 3, axis=1), SIGNS)
    np.testing.assert_array_equal(made.scores(X), alone.scores(np.delete(X, 3, axis=1)))


@MAPS
@pytest.mark.parametrize("learner", [IKOGD, IKOGDDual, IKSVM, IKLIBSVM])
def test_rows_of_another_width_and_values_that_are_no_numbers_are_refused(learner, map):
    X = rows("real")
    made = learner(partitionings=5, psi=4, map=map).begin(PROBLEM, Draws(0))
    with pytest.raises(DataError, match="5 columns"):
        made.fit(X[:, :5], SIGNS)
    with pytest.raises(DataError, match="not a finite number"):
        made.fit(np.where(np.arange(6) == 2, np.nan, X), SIGNS)
    made.fit(X, SIGNS)
    with pytest.raises(DataError, match="5 columns"):
        made.predict(X[:, :5])


@MAPS
@pytest.mark.parametrize("learner", [IKOGD, IKSVM, IKLIBSVM])
def test_a_psi_beyond_the_rows_is_cut_and_said(learner, map):
    X = rows("real")
    made = learner(partitionings=5, psi=64, map=map).begin(PROBLEM, Draws(0))
    assert made.remark is None
    made.fit(X[:30], SIGNS[:30])
    assert made.remark == "psi = 64 was cut to the 30 rows of the map"
    assert (
        learner(partitionings=5, psi=16, map=map)
        .begin(PROBLEM, Draws(0))
        .fit(X[:30], SIGNS[:30])
        .remark
        is None
    )


@ONLINE
def test_a_stream_that_ends_before_there_is_a_map_is_said(learner):
    made = learner(partitionings=5, psi=4, initial=100).begin(PROBLEM, Draws(0))
    for first, there in ((0, 40), (40, 99)):
        made.learn(rows("real")[first:there], SIGNS[first:there])
        expected = f"nothing was learned, as initial = 100 rows make the map: {there} came"
        assert made.remark == expected
    made.learn(rows("real")[99:100], SIGNS[99:100])
    assert made.remark is None
