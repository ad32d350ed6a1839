"""Isolation maps against their plain rendering: the same whole numbers, however rows come."""

from __future__ import annotations

import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain import isolation as plain
from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import Draws, NotBegun, RecordedDraws
from okbench.learners.fogd import FOGD
from okbench.learners.isolation import array_libraries
from okbench.learners.isolation.array_libraries import described, device_of, finder_of
from okbench.learners.isolation.laplacian_kernel import laplacian_kernel
from okbench.learners.isolation.maps import ChiSquareMap, IsolationMap, indicators
from okbench.learners.isolation.references import sub_samples
from okbench.learners.isolation.shared_maps import SharedMaps
from okbench.learners.numeric.forest import _smallest_but
from okbench.learners.rows import Block
from tests.learners.isolation_material import KINDS, permutations, plain_cells, rows

MAPS = pytest.mark.parametrize("map", ["iforest", "nearest"])
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


@MAPS
@FORMS
@pytest.mark.parametrize("psi", [2, 8, 50])
@pytest.mark.parametrize("kind", KINDS)
def test_the_cells_are_those_of_the_plain_rendering(kind, psi, form, map):
    X = rows(kind)
    with np.errstate(over="ignore"):
        expected = plain_cells(X, X[:150], partitionings=7, psi=psi, map=map)
    found = (
        IsolationMap(partitionings=7, psi=psi, map=map)
        .fit(form(X[:150]), Draws(0))
        .transform(form(X))
    )
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found, expected)


@MAPS
@pytest.mark.parametrize("kind", ["thirds", "wide"])
def test_neither_the_form_of_rows_nor_how_they_are_cut_matters(kind, map):
    X = rows(kind)
    for fitted in (X[:150], sp.csr_array(X[:150])):
        made = IsolationMap(partitionings=9, psi=16, map=map).fit(fitted, Draws(3))
        expected = made.transform(X)
        assert (expected != expected[0]).any()
        for form in (np.asarray, sp.csr_array, np.asfortranarray):
            for size in (1, 7, 239):
                parts = [made.transform(form(X[at : at + size])) for at in range(0, 240, size)]
                np.testing.assert_array_equal(np.concatenate(parts), expected)


@MAPS
def test_a_map_replays_from_recorded_draws(map):
    X = rows("real")
    taken = [next(permutations(5, 240))]
    uniforms = Draws(5).stream("trees").uniforms(2 * 7 * 15)
    named = {("samples", "permutation"): taken, ("trees", "uniforms"): [uniforms]}
    found = (
        IsolationMap(partitionings=7, psi=16, map=map)
        .fit(X, RecordedDraws(named=named))
        .transform(X)
    )
    expected = IsolationMap(partitionings=7, psi=16, map=map).fit(X, Draws(5)).transform(X)
    np.testing.assert_array_equal(found, expected)


def test_samples_use_up_all_rows_before_one_is_drawn_again():
    found = sub_samples(Draws(0), 20, 8, 6)
    np.testing.assert_array_equal(found, plain.samples(permutations(0, 20), 20, 8, 6))
    assert all(len(set(sample)) == 6 for sample in found.tolist())
    assert len(set(found[:3].ravel().tolist())) == 18
    assert set(found[:4].ravel().tolist()) == set(range(20))


@MAPS
@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_psi_beyond_the_rows_takes_all_of_them(map, n_rows):
    X = rows("real")
    made = IsolationMap(partitionings=4, psi=4096, map=map).fit(X[:n_rows], Draws(0))
    assert made.size == n_rows
    assert made.transform(X).max(initial=0) < n_rows


def test_every_point_is_in_a_cell_of_its_own_and_the_first_of_equals_is_nearest():
    X = rows("thirds")
    made = IsolationMap(partitionings=5, psi=64, map="nearest").fit(X, Draws(1))
    found = made.transform(X)
    for i, sample in enumerate(sub_samples(Draws(1), len(X), 5, 64)):
        points = X[sample].tolist()
        assert found[sample, i].tolist() == [points.index(point) for point in points]


def test_trees_are_no_deeper_than_the_logarithm_of_psi():
    X = rows("real")
    made = IsolationMap(partitionings=30, psi=64, map="iforest").fit(X, Draws(1))
    assert made.fitted.partitions.depth == 6
    assert 20 < made.transform(X).max() < 64


def test_cells_beyond_16_bits_take_32():
    X = np.arange(70_000.0)[:, np.newaxis]
    found = (
        IsolationMap(partitionings=1, psi=70_000, map="nearest")
        .fit(X[:, :1], Draws(0))
        .transform(X[:50])
    )
    assert found.dtype == np.uint32
    assert len(np.unique(found)) == 50


@MAPS
def test_sparse_rows_of_millions_of_columns_are_mapped_in_little_memory(map):
    """A hundredth of the rows of 2.4 million × 3.2 million: 24,000, with all columns."""
    n_rows, n_columns, filled = 24_000, 3_200_000, 20
    rng = np.random.default_rng(0)
    columns = rng.integers(0, n_columns, (n_rows, filled)).astype(np.int32)
    columns[:, :10] %= 300
    columns.sort(axis=1)
    starts = np.arange(n_rows + 1, dtype=np.int32) * filled
    parts = rng.random(n_rows * filled), columns.ravel(), starts
    X = sp.csr_array(parts, shape=(n_rows, n_columns))
    X.sum_duplicates()
    IsolationMap(partitionings=2, psi=4, map=map).fit(X[:50], Draws(0)).transform(
        X[:50]
    )  # compiles
    tracemalloc.start()
    found = IsolationMap(partitionings=100, psi=16, map=map).fit(X[:300], Draws(0)).transform(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.nbytes == 2 * 100 * n_rows
    assert peak < 120e6  # rows × columns in bytes would be 77 GB
    few = rng.permutation(n_rows)[:40]
    used = np.unique(np.r_[X[:300].indices, X[few].indices])  # others are zero in all of them
    dense = [X[part][:, used].toarray() for part in (few, slice(0, 300))]
    expected = plain_cells(*dense, partitionings=100, psi=16, map=map)
    np.testing.assert_array_equal(found[few], expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"psi": 1}, "IsolationMap: psi = 1: it must be 2 or more"),
        ({"partitionings": 0}, "IsolationMap: partitionings = 0: it must be 1 or more"),
        ({"map": "forest"}, "IsolationMap: map = 'forest': choose iforest or nearest"),
        ({"library": "cupy"}, "IsolationMap: library = 'cupy': choose numpy or torch"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        IsolationMap(**settings).fit(rows("real"), Draws(0))


def test_bad_rows_are_refused():
    X = rows("real")
    for made in (IsolationMap(), ChiSquareMap()):
        with pytest.raises(NotBegun, match="fit\\(\\) it first"):
            made.transform(X)
        made.fit(X, Draws(0))
        with pytest.raises(DataError, match="rows have 5 columns; 6 were announced"):
            made.transform(X[:, :5])
        with pytest.raises(DataError, match="row 3: a value is not a finite number"):
            made.transform(np.where(np.arange(240)[:, np.newaxis] == 3, np.nan, X))
    with pytest.raises(DataError, match="there are no rows to make partitionings of"):
        IsolationMap().fit(X[:0], Draws(0))


@pytest.mark.parametrize("cls", [IsolationMap, ChiSquareMap])
def test_a_map_counts_its_seconds_from_its_last_fit_on(cls, monkeypatch):
    now = iter(range(100))
    clock = SimpleNamespace(perf_counter=lambda: float(next(now)))
    monkeypatch.setattr("okbench.learners.isolation.maps.time", clock)
    made, X = cls(), np.ones((20, 3))
    for _ in range(2):
        made.fit(X)
        at_fit = made.seconds
        made.transform(X)
        made.transform(X)
        assert made.seconds == at_fit + 2.0


@MAPS
def test_a_map_stays_as_it_was_fitted(map):
    """Whatever is set later, and where another fit is refused."""
    X = rows("real")
    made = IsolationMap(partitionings=5, psi=16, map=map).fit(X, Draws(0))
    expected = made.transform(X)
    made.psi, made.library = 8, "torch"
    with pytest.raises(DataError, match="no rows to make"):
        made.fit(X[:0], Draws(0))
    made.partitionings = 10**15  # of which there is no memory for the samples
    with pytest.raises(MemoryError):
        made.fit(X[:3], Draws(0))
    assert made.size == 16
    assert made.remark is None
    assert made.device == (described("numpy") if map == "nearest" else None)
    np.testing.assert_array_equal(made.transform(X), expected)


def test_a_map_takes_draws_and_no_labels():
    X = rows("real")
    with pytest.raises(UsageError, match="fit\\(\\) takes rows and Draws; a map has no labels"):
        IsolationMap().fit(X, X[:, 0] > 0)


def test_indicators_have_one_column_for_every_cell():
    found = (
        IsolationMap(partitionings=5, psi=8, map="nearest")
        .fit(rows("real"), Draws(0))
        .transform(rows("real"))
    )
    features = indicators(found, 8, 0.5)
    np.testing.assert_array_equal(features.toarray(), 0.5 * plain.one_hot(found, 8))
    learner = FOGD(components=20).fit(features, rows("real")[:, 0] > 0)  # any learner takes them
    assert np.isfinite(learner.scores(features)).all()


@FORMS
def test_the_chi_square_map_is_the_signed_root(form):
    X = rows("wide")
    found = ChiSquareMap().fit(form(X)).transform(form(X))
    assert sp.issparse(found) == (form is sp.csr_array)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_allclose(dense * np.abs(dense), X, rtol=1e-14)
    np.testing.assert_array_equal(np.sign(dense), np.sign(X))


@FORMS
@pytest.mark.parametrize("kind", ["real", "whole", "wide"])
def test_the_laplacian_kernel_is_that_of_the_formula(kind, form):
    X = rows(kind)
    found = laplacian_kernel(form(X), form(X[:37]), 256)
    np.testing.assert_allclose(found, plain.laplacian(X, X[:37], 256), rtol=1e-12)
    np.testing.assert_array_equal(np.diag(found[:37]), 1.0)


def test_the_isolation_kernel_of_uniform_rows_falls_with_the_distance():
    """The paper's figure 1: psi = 256 trees on uniform rows of two columns."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4000, 2))
    asked = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.3], [0.0, 0.9]])
    found = (
        IsolationMap(partitionings=2000, psi=256, map="iforest").fit(X, Draws(0)).transform(asked)
    )
    shares = (found[1:] == found[0]).mean(axis=1)
    assert (np.diff(shares) < 0).all()
    assert shares[0] > 4 * shares[2]


class FakeTorch(SimpleNamespace):
    """As much of PyTorch as is called, with NumPy's arrays; its sums have another order."""

    __version__ = "2"

    def __init__(self, has_cuda=False):
        self.sent, self.precision = [], None
        cuda = SimpleNamespace(is_available=lambda: has_cuda, get_device_name=lambda: "a card")
        super().__init__(cuda=cuda)

    def set_float32_matmul_precision(self, precision):
        self.precision = precision

    def from_numpy(self, values):
        return FakeTensor(self, values)

    def matmul(self, left, right):
        assert left.values.dtype == right.values.dtype == np.float32
        return FakeTensor(self, left.values[:, ::-1] @ np.ascontiguousarray(right.values[::-1]))

    def index_select(self, tensor, dim, index):
        return FakeTensor(self, np.take(tensor.values, index.values, axis=dim))

    def where(self, condition, tensor, number):
        return FakeTensor(self, np.where(condition.values, tensor.values, number))


class FakeTensor:
    def __init__(self, torch, values):
        self._torch, self.values = torch, values

    def to(self, device):
        self._torch.sent.append((device, self.values.shape))
        return self

    def reshape(self, *shape):
        return FakeTensor(self._torch, self.values.reshape(*shape))

    def amax(self, dim, keepdim):
        return FakeTensor(self._torch, self.values.max(axis=dim, keepdims=keepdim))

    def amin(self, dim):
        return FakeTensor(self._torch, self.values.min(axis=dim))

    def sum(self, dim):
        return FakeTensor(self._torch, self.values.sum(axis=dim))

    def __sub__(self, other):
        return FakeTensor(self._torch, self.values - other.values)

    def __ge__(self, other):
        return FakeTensor(self._torch, self.values >= other.values)

    def __getitem__(self, place):
        return FakeTensor(self._torch, self.values[place])

    @property
    def T(self):  # noqa: N802
        return FakeTensor(self._torch, self.values.T)

    def cpu(self):
        return self

    def numpy(self):
        return self.values


@pytest.mark.parametrize("has_cuda", [False, True])
@pytest.mark.parametrize("kind", ["real", "thirds", "far", "whole", "repeated", "huge"])
def test_another_library_gives_the_same_cells(monkeypatch, kind, has_cuda):
    X, fake = rows(kind), FakeTorch(has_cuda)
    monkeypatch.setitem(sys.modules, "torch", fake)
    monkeypatch.setattr(array_libraries.importlib.util, "find_spec", lambda name: fake)
    for psi, n_points in ((16, 112), (64, 240)):  # points of rows of their own, and shared rows
        found = (
            IsolationMap(partitionings=7, psi=psi, map="nearest", library="torch")
            .fit(X, Draws(0))
            .transform(X)
        )
        expected = (
            IsolationMap(partitionings=7, psi=psi, map="nearest").fit(X, Draws(0)).transform(X)
        )
        np.testing.assert_array_equal(found, expected)
        device = "cuda" if has_cuda else "cpu"
        assert fake.sent[0] == (device, (n_points, 7))
        assert (device, (240, 7)) in fake.sent
        fake.sent.clear()
    psis = (4, 64)
    shared = SharedMaps(
        [IsolationMap(partitionings=7, psi=psi, map="nearest", library="torch") for psi in psis],
        [Draws(0), Draws(0)],
    )
    for number, psi in enumerate(psis):
        found = shared.fit(number, Block(X)).transform(X)
        expected = (
            IsolationMap(partitionings=7, psi=psi, map="nearest").fit(X, Draws(0)).transform(X)
        )
        np.testing.assert_array_equal(found, expected)
    assert fake.precision == "highest"
    assert device_of("torch") == device
    assert described("torch") == "torch 2 on " + ("cuda (a card)" if has_cuda else "cpu")


def test_a_library_that_is_not_installed_is_refused(monkeypatch):
    monkeypatch.setattr(array_libraries.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"PyTorch is not installed; .*okbench\[torch\]"):
        finder_of("torch", *[None] * 3)
    assert device_of("numpy") == "cpu"


def test_the_item_at_a_place_in_order_is_found():
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 10, 57):
        items = rng.integers(0, 30, size)
        for place in range(size):
            assert _smallest_but(items.copy(), size, place) == np.sort(items)[place]
