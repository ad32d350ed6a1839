"""Block-shuffled orders beside permutations of all rows, and rows that are read from a file."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from trial_material import load, trial

from okbench.datasets.dataset_types import Dataset
from okbench.datasets.mapped_rows import FileArray, MappedRows, file_array, rows_at
from okbench.datasets.prepare.prepared_files import read_features, write_array, write_features
from okbench.learners.contract import Draws, Problem, begun
from okbench.learners.registry import find
from okbench.trials.plan.row_orders import BLOCK, WINDOW, BlockShuffled, FileOrder, behind
from okbench.trials.plan.seeds import row_order
from okbench.trials.run import row_stream
from okbench.trials.run.protocol_loop import Limits, walk
from okbench.trials.run.row_stream import RowStream
from okbench.trials.run.run_trial import attempt

_ROWS_OF_WINDOW = BLOCK * WINDOW
LENGTHS = [0, 1, 2, BLOCK, BLOCK + 1, _ROWS_OF_WINDOW, _ROWS_OF_WINDOW + 1, 3 * _ROWS_OF_WINDOW - 5]


@pytest.mark.parametrize("rows", LENGTHS)
@pytest.mark.parametrize("seed", range(4))
def test_every_row_has_one_place(rows: int, seed: int) -> None:
    order = BlockShuffled(rows, rows + 7, [seed])
    assert len(order) == rows + 7
    assert np.array_equal(np.sort(order[:rows]), np.arange(rows))
    assert np.array_equal(order[rows:], np.arange(rows, rows + 7))


@given(st.lists(st.integers(0, 200_000), max_size=6), st.integers(0, 3))
@settings(max_examples=30)
def test_how_an_order_is_cut_does_not_show(cuts: list[int], seed: int) -> None:
    order = BlockShuffled(150_001, 160_000, [seed])
    ends = [0, *sorted(cuts), len(order)]
    parts = [order[a:b] for a, b in itertools.pairwise(ends)]
    assert np.array_equal(np.concatenate(parts), order[:])


@pytest.mark.parametrize("first", [0, 1, 1_000, 70_000, 150_001, 200_000])
def test_an_order_without_its_first_rows(first: int) -> None:
    for order in (BlockShuffled(150_001, 160_000, [3]), FileOrder(160_000)):
        rest, places = behind(order, first), order[:][first:]
        assert len(rest) == len(places)
        assert np.array_equal(rest[:], places)
        assert np.array_equal(behind(order[:], first), places)
        assert np.array_equal(rest[5:70_000], places[5:70_000])
        assert np.array_equal(behind(rest, 9)[:], places[9:])
        at = 0
        while at < len(rest):  # as rows are read from a file
            window = rest.window_of(at)
            rows = np.concatenate([np.arange(*each) for each in rest.stretches(window)])
            found = rows[rest.places_in(window, (at, len(rest)))]
            assert len(found) > 0
            assert np.array_equal(found, places[at : at + len(found)])
            at += len(found)


@pytest.mark.parametrize("seed", range(5))
def test_windows_say_which_rows_are_met_in_them(seed: int) -> None:
    order = BlockShuffled(3 * _ROWS_OF_WINDOW - 5, 3 * _ROWS_OF_WINDOW + 9, [seed])
    places = np.append(np.arange(0, len(order), 997), len(order) - 1)
    window = np.array([order.window_of(int(place)) for place in places])
    for number in range(window.max() + 1):
        rows = np.concatenate([np.arange(*stretch) for stretch in order.stretches(number)])
        assert np.isin(order[:][places[window == number]], rows).all()
    assert order.stretches(int(window.max()) + 1) == []
    assert FileOrder(5).stretches(0) == [(0, 5)]
    assert FileOrder(5).stretches(1) == []


def test_a_row_is_as_likely_at_every_place() -> None:
    # 200 orders of 1,000 blocks: where three rows of the file stand, and which row stands first
    rows = 1_000 * BLOCK
    orders = [BlockShuffled(rows, rows, [seed])[:] for seed in range(200)]
    for row in (0, 70_000, rows - 1):
        places = [int(np.flatnonzero(order == row)[0]) for order in orders]
        assert stats.kstest(np.array(places) / rows, "uniform").pvalue > 1e-3
    for place in (0, 100_000, rows - 1):
        met = np.array([order[place] for order in orders])
        assert stats.kstest(met / rows, "uniform").pvalue > 1e-3


def test_neighbours_in_the_order_are_as_far_apart_in_the_file_as_in_a_permutation() -> None:
    rows = 2_000 * BLOCK
    own = np.abs(np.diff(BlockShuffled(rows, rows, [1])[:])) / rows
    full = np.abs(np.diff(np.random.default_rng(2).permutation(rows))) / rows
    # all rows of a window come from 256 blocks, so that its neighbours are not independent
    assert own.mean() == pytest.approx(full.mean(), rel=0.02)
    levels = np.linspace(0.05, 0.95, 10)
    assert np.quantile(own, levels) == pytest.approx(np.quantile(full, levels), abs=0.01)
    order = BlockShuffled(rows, rows, [1])[:]
    same_block = np.mean(order[1:] // BLOCK == order[:-1] // BLOCK)
    assert same_block == pytest.approx(1 / WINDOW, rel=0.1)


def test_neighbours_in_the_file_stay_within_a_window() -> None:
    rows = 1_000 * BLOCK
    places = np.empty(rows, dtype=np.int64)
    places[BlockShuffled(rows, rows, [3])[:]] = np.arange(rows)
    within = np.abs(np.diff(places.reshape(-1, BLOCK), axis=1))
    assert within.max() < _ROWS_OF_WINDOW
    # of two uniform places in a window: a third of it
    full = places.reshape(-1, BLOCK)[places.reshape(-1, BLOCK)[:, 0] < 3 * _ROWS_OF_WINDOW]
    assert np.abs(np.diff(full, axis=1)).mean() == pytest.approx(_ROWS_OF_WINDOW / 3, rel=0.02)


def test_the_order_follows_from_seed_dataset_and_repetition_alone() -> None:
    rows = load("blobs")

    def order(**changes: Any) -> list[int]:
        return list(row_order(trial(order="block-shuffled", **changes), rows)[:])

    first = order()
    assert first == order(learner="Drawn")
    assert first != order(repetition=1)
    assert first != order(seed=1)
    assert first != order(dataset="bumps")
    assert first != list(row_order(trial(), rows)[:])
    assert trial(order="block-shuffled").id != trial().id
    assert "order=block-shuffled/0 seed=0" in trial(order="block-shuffled").spelled


def test_rows_that_the_protocol_does_not_permute_keep_their_places() -> None:
    split = trial("Linear", "split", protocol="train-test", order="block-shuffled")
    order = row_order(split, load("split"))[:]
    assert sorted(order[:400]) == list(range(400))
    assert list(order[:400]) != list(range(400))
    assert list(order[400:]) == list(range(400, 600))


@pytest.mark.parametrize("learner", ["FOGD", "RBP", "NOGD"])
def test_learners_make_as_many_mistakes_as_on_permutations(learner: str) -> None:
    """On rows that stand in no order, and on rows sorted by class and place, the worst case."""
    rng = np.random.default_rng(0)
    n = 2 * _ROWS_OF_WINDOW
    X = rng.normal(size=(n, 3))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 0.5, 1, -1)
    order = np.lexsort((X[:, 0], y))
    for rows, name in ((np.arange(n), "mixed"), (order, "sorted")):
        data = Dataset(name, X[rows], y[rows], "binary", (-1, 1), name)
        means = {}
        for kind in ("seeded", "block-shuffled"):
            what = trial("Linear", fingerprint=name, order=kind)
            what = replace(what, dataset=name, learner=learner, settings=(("width", 1.0),))
            repeated = [replace(what, repetition=number) for number in range(4)]
            found = [attempt(one, lambda *_, data=data: data, Limits()) for one in repeated]
            assert {one.status for one in found} == {"done"}
            means[kind] = [100 * (one.total or 0) / n for one in found]
        noise = max(np.std(means["seeded"], ddof=1), np.std(means["block-shuffled"], ddof=1), 0.02)
        gap = np.mean(means["block-shuffled"]) - np.mean(means["seeded"])
        assert abs(gap) < 4 * noise


def on_disk(folder: Path, data: Dataset) -> Dataset:
    """The same rows, mapped from files."""
    sparse = not isinstance(data.X, np.ndarray)
    write_features(folder, [data.X], data.n_features, sparse)
    write_array(folder, "labels.npy", data.y)
    y = np.load(folder / "labels.npy", mmap_mode="c").view(np.ndarray)
    return replace(data, X=read_features(folder, data.n_features), y=y)


@pytest.mark.parametrize("kind", ["blobs:140000", "sparse:140000", "words:70000"])
@pytest.mark.parametrize("order", ["block-shuffled", "file", "seeded"])
def test_rows_from_a_file_are_those_in_memory(kind: str, order: Any, tmp_path: Path) -> None:
    name, _, variant = kind.partition(":")
    data = load(name, variant)
    mapped = on_disk(tmp_path, data)
    assert file_array(mapped.y) is not None
    assert MappedRows.of(data) is None
    what = trial(dataset=kind, order=order)
    streams = [RowStream(each, row_order(what, each)) for each in (data, mapped)]
    for begin in range(0, data.n_rows, 4_096):
        span = begin, min(begin + 4_096, data.n_rows)
        (X, y, truth), (Z, z, other) = (stream.take(span) for stream in streams)
        assert np.array_equal(_dense(X), _dense(Z))
        assert np.array_equal(y, z)
        assert np.array_equal(truth, other)


@pytest.mark.parametrize("kind", ["blobs:140000", "sparse:140000"])
@pytest.mark.parametrize("beyond", [True, False])
def test_rows_beyond_the_memory_leave_the_cache_once_they_were_met(
    kind: str, beyond: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, _, variant = kind.partition(":")
    data = load(name, variant)
    mapped = on_disk(tmp_path, data)
    what = trial(dataset=kind, order="block-shuffled")
    order: Any = row_order(what, mapped)
    given: list[Any] = []
    advise = FileArray._advise

    def watch(self: FileArray, stretches: Any, advice: str) -> None:
        if advice == "POSIX_FADV_DONTNEED" and self.array.dtype == np.int64:  # the labels
            given.append(np.concatenate([np.arange(*each) for each in stretches]))
        advise(self, stretches, advice)

    monkeypatch.setattr(FileArray, "_advise", watch)
    monkeypatch.setattr(row_stream, "beyond_memory", lambda data: "too large" * beyond)
    stream = RowStream(mapped, order)
    for begin in range(0, data.n_rows, 4_096):
        span = begin, min(begin + 4_096, data.n_rows)
        _, y, _ = stream.take(span)
        assert np.array_equal(y, data.y[order[slice(*span)]])
    assert len(given) == (3 if beyond else 0)
    if beyond:
        assert np.array_equal(np.sort(np.concatenate(given)), np.arange(data.n_rows))


def test_rows_with_starts_of_64_bits_are_picked_as_scipy_picks_them() -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((300, 40), density=0.1, rng=rng))
    wide = sp.csr_array(X.shape)
    wide.data, wide.indices = X.data, X.indices.astype(np.int32)
    wide.indptr = X.indptr.astype(np.int64)
    for rows in (np.array([5, 5, 299, 0]), rng.permutation(300), np.empty(0, dtype=np.int64)):
        found: Any = rows_at(wide, rows)
        assert found.indices.dtype == np.int32
        assert np.array_equal(found.toarray(), X.toarray()[rows])


def test_a_learner_comes_to_the_same_on_rows_from_a_file(tmp_path: Path) -> None:
    data = load("blobs", "140000")
    cls = find("FOGD").load()
    what = replace(trial("Linear", "blobs:140000", order="block-shuffled"), learner="FOGD")
    problem = Problem("binary", data.n_features, data.classes, data.n_rows)
    totals = [
        walk(what, each, begun(cls, {"width": 1.0}, problem, Draws(0))).total
        for each in (data, on_disk(tmp_path, data))
    ]
    assert totals[0] == totals[1]


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X
