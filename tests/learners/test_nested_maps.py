"""Maps of several psi that share their points: each is the map of the first of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain import isolation as plain
from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import Draws, NotBegun
from okbench.learners.isolation.forest import tree_uniforms
from okbench.learners.isolation.maps import IsolationMap
from okbench.learners.isolation.nested import NestedMaps
from okbench.learners.isolation.references import sub_samples
from tests.learners.isolation_material import KINDS, rows

MAPS = pytest.mark.parametrize("map", ["iforest", "nearest"])
PSIS = (2, 4, 16, 50)


@MAPS
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_psi_has_the_cells_of_a_plain_map_of_the_first_points(kind, form, map):
    X = rows(kind)
    found = NestedMaps(7, PSIS, map).fit(form(X[:150]), Draws(4)).transform(form(X))
    assert found.shape == (len(PSIS), 240, 7)
    samples = sub_samples(Draws(4), 150, 7, max(PSIS))
    uniforms = tree_uniforms(Draws(4), *samples.shape)
    for psi, cells in zip(PSIS, found, strict=True):
        for i, sample in enumerate(samples):
            points = X[:150][sample[:psi]]
            with np.errstate(over="ignore"):
                expected = (
                    plain.nearest_cells(X, points)
                    if map == "nearest"
                    else plain.tree_cells(X, plain.tree(points, uniforms[i]))
                )
            np.testing.assert_array_equal(cells[:, i], expected)


@MAPS
def test_the_largest_psi_has_the_cells_of_a_map_of_its_own(map):
    X = rows("real")
    found = NestedMaps(9, (4, 64), map).fit(X, Draws(2)).transform(X)
    np.testing.assert_array_equal(found[-1], IsolationMap(9, 64, map).fit(X, Draws(2)).transform(X))


@MAPS
def test_psis_beyond_the_rows_take_all_of_them(map):
    X = rows("real")
    made = NestedMaps(3, (4, 16, 64), map).fit(X[:10], Draws(0))
    assert made.sizes.tolist() == [4, 10, 10]
    found = made.transform(X)
    np.testing.assert_array_equal(found[1], found[2])
    assert found[2].max() < 10


@MAPS
def test_the_maps_say_how_much_they_hold(map):
    X = rows("real")
    assert NestedMaps(3, (4, 16), map).nbytes == 0
    single = IsolationMap(3, 16, map).fit(X, Draws(0)).nbytes
    several = NestedMaps(3, (4, 16), map).fit(X, Draws(0)).nbytes
    assert single == several if map == "nearest" else single < several < 2 * single


def test_the_copy_in_single_precision_counts_as_held():
    X = rows("real")
    made = IsolationMap(4, 16, "nearest").fit(X, Draws(0))
    points, width = 64, X.shape[1]
    assert made.nbytes >= points * (8 * width + 4 * (width + 1) + 4)


@pytest.mark.parametrize("psis", [(), (1, 4), (4, 4), (16, 4)])
def test_psis_that_do_not_ascend_are_refused(psis):
    with pytest.raises(UsageError, match="they ascend, and are 2 or more"):
        NestedMaps(3, psis).fit(rows("real"), Draws(0))


def test_bad_rows_are_refused():
    X = rows("real")
    made = NestedMaps(3, (4, 16), "nearest")
    with pytest.raises(NotBegun, match="fit\\(\\) it first"):
        made.transform(X)
    with pytest.raises(DataError, match="there are no rows"):
        made.fit(X[:0], Draws(0))
    made.fit(X, Draws(0))
    with pytest.raises(DataError, match="rows have 5 columns; 6 were announced"):
        made.transform(X[:, :5])
    with pytest.raises(DataError, match="a value is not a finite number"):
        made.transform(np.full((1, 6), np.nan))
