"""Maps of several psi that share products: each has the cells that it has alone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.checks.fit_checks import CheckClock
from okbench.learners.checks.subject import a_stream
from okbench.learners.contract import Draws
from okbench.learners.isolation import nearest, shared_maps
from okbench.learners.isolation.descent import IKOGD
from okbench.learners.isolation.dual import IKOGDDual
from okbench.learners.isolation.maps import IsolationMap
from okbench.learners.isolation.shared_maps import SharedMaps
from okbench.learners.rows import Block
from tests.learners.isolation_material import KINDS, rows

PSIS = (2, 4, 16, 50)


def shared_of(psis, map, partitionings=7):
    maps = [IsolationMap(partitionings=partitionings, psi=psi, map=map) for psi in psis]
    return SharedMaps(maps, [Draws(4) for _ in maps])


def alone(psi, X, map, partitionings=7):
    return IsolationMap(partitionings=partitionings, psi=psi, map=map).fit(X, Draws(4))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_those_of_maps_that_are_made_alone(kind, form):
    X = rows(kind)
    made, some = Block.of(form(X[:150])), form(X)
    shared = shared_of(PSIS, "nearest")
    for number, psi in enumerate(PSIS):
        found = shared.fit(number, made)
        expected = alone(psi, form(X[:150]), "nearest")
        assert found.size == expected.size
        assert found.device == expected.device
        for part in (slice(100), slice(100, 240), slice(100)):  # some rows come twice
            cells = found.transform(some[part])
            assert cells.dtype == expected.transform(some[part]).dtype
            np.testing.assert_array_equal(cells, expected.transform(some[part]))


@pytest.mark.parametrize(
    ("psis", "map", "products"),
    [
        (PSIS, "nearest", 1),  # 7 × 50 points are all of 150 rows
        ((2, 4, 16), "nearest", 3),  # 7 × 16 are not
        (PSIS, "iforest", 0),
    ],
)
def test_rows_are_multiplied_once_where_the_points_are_all_rows(monkeypatch, psis, map, products):
    X, calls = rows("real"), []
    cells = nearest.PointTable.cells
    monkeypatch.setattr(
        nearest.PointTable, "cells", lambda *given: (calls.append(1), cells(*given))
    )
    shared = shared_of(psis, map)
    for number, psi in enumerate(psis):
        found = shared.fit(number, Block(X[:150])).transform(X)
        np.testing.assert_array_equal(found, alone(psi, X[:150], map).transform(X))
        calls = calls[: len(calls) - (map == "nearest")]  # of the one that is alone
    assert len(calls) == products


def test_other_rows_make_a_map_of_their_own():
    X = rows("real")
    shared = shared_of(PSIS, "nearest")
    shared.fit(0, Block(X[:150]))
    other = shared.fit(1, Block(X[50:200])).transform(X)
    np.testing.assert_array_equal(other, alone(4, X[50:200], "nearest").transform(X))
    again = shared.fit(1, Block(X[:150])).transform(X)
    np.testing.assert_array_equal(again, alone(4, X[:150], "nearest").transform(X))


def test_psi_beyond_the_rows_is_cut_and_said():
    X = rows("real")
    shared = shared_of((4, 16, 64), "nearest")
    found = [shared.fit(number, Block(X[:10])) for number in range(3)]
    assert [made.size for made in found] == [4, 10, 10]
    assert found[0].remark is None
    assert found[2].remark == "psi = 64 was cut to the 10 rows of the map"


def test_cells_that_cannot_be_kept_are_found_alone(monkeypatch):
    monkeypatch.setattr(shared_maps, "MOST_BYTES", 1)
    X, shared = rows("real"), shared_of(PSIS, "nearest")
    for number, psi in enumerate(PSIS):
        made = shared.fit(number, Block(X[:150]))
        for part in (X[:100], X[100:]):
            expected = alone(psi, X[:150], "nearest").transform(part)
            np.testing.assert_array_equal(made.transform(part), expected)


@pytest.mark.parametrize("cls", [IKOGD, IKOGDDual])
@pytest.mark.parametrize("map", ["nearest", "iforest"])
@pytest.mark.parametrize("psis", [PSIS, (16, 2, 50)])
def test_learners_that_share_learn_what_they_learn_alone(cls, map, psis):
    stream = a_stream("multiclass", 300)

    def scores(learner):
        learner.fit(stream.X[:200], stream.y[:200], CheckClock())
        return learner.learn_scores(stream.X[200:], stream.y[200:])

    def begun(psi):
        learner = cls(partitionings=9, psi=psi, map=map)
        return learner.begin(stream.problem, Draws(3))

    learners = [begun(psi) for psi in psis]
    cls.share(learners)
    for psi, learner in zip(psis, learners, strict=True):
        expected = begun(psi)
        np.testing.assert_array_equal(scores(learner), scores(expected))
        assert learner.updates == expected.updates
