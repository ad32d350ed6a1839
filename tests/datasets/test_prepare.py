from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from okbench.base.errors import DataError
from okbench.datasets.catalogue.specs import Split, VariantSpec
from okbench.datasets.prepare import preparation
from okbench.datasets.prepare.preparation import Prepared, Ranges, prepare, scaled_rows
from okbench.datasets.readers.multi_file_rows import FileRows, MultiFileRows, distinct
from tests.shared import mostly_slow

X = np.array([[0.0, 10.0, 5.0], [1.0, 30.0, 5.0], [4.0, 20.0, 5.0], [2.0, 15.0, 5.0]])
Y = np.array([-1.0, 1.0, 1.0, -1.0])


def prepared(X: Any = X, y: Any = Y, **steps: Any) -> Prepared:
    return prepare(
        "rows", MultiFileRows([FileRows(X, np.asarray(y))]), VariantSpec("all", ("all",), **steps)
    )


def features(ready: Prepared) -> np.ndarray[Any, Any]:
    return np.concatenate([sp.csr_array(block).toarray() for block in ready.blocks()])


def test_nothing_is_done_unless_a_variant_asks_for_it() -> None:
    ready = prepared()
    assert np.array_equal(features(ready), X)
    assert ready.y.tolist() == [-1, 1, 1, -1]
    assert ready.y.dtype == np.int64
    assert ready.classes == (-1, 1)


def test_each_column_fills_its_range_and_a_constant_one_becomes_zero() -> None:
    unit, symmetric = features(prepared(scale="[0,1]")), features(prepared(scale="[-1,1]"))
    assert unit.tolist() == [[0, 0, 0], [0.25, 1, 0], [1, 0.5, 0], [0.5, 0.25, 0]]
    assert np.array_equal(symmetric[:, :2], 2 * unit[:, :2] - 1)
    assert not symmetric[:, 2].any()


def test_ranges_come_from_the_training_rows_alone() -> None:
    ready = prepared(scale="[0,1]", train=2)
    assert ready.n_train == 2
    assert features(ready)[:, 0].tolist() == [0, 1, 4, 2]


def test_the_target_can_be_scaled_too() -> None:
    ready = prepared(y=[5.0, 10.0, 15.0, 5.0], scale="[0,1] with target", task="regression")
    assert ready.y.tolist() == [0, 0.5, 1, 0]
    assert ready.classes == ()


def test_rows_of_unit_norm_and_pixels() -> None:
    assert np.allclose(np.linalg.norm(features(prepared(scale="unit norm")), axis=1), 1)
    zero = features(prepared(X * [[0], [1], [1], [1]], scale="unit norm"))
    assert not zero[0].any()
    assert np.array_equal(features(prepared(scale="/255")), X / 255)


scales = st.sampled_from(["none", "[-1,1]", "[0,1]", "/255", "unit norm"])
small = st.integers(-3, 3).map(float)
matrices = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(small, min_size=width, max_size=width), min_size=1, max_size=8)
).map(np.array)  # fmt: skip


@given(matrices, scales)
def test_sparse_and_dense_rows_are_scaled_alike(values: Any, scale: Any) -> None:
    ranges, sparse, listed = ranges_three_ways(values)
    for other in (sparse, listed):
        assert np.array_equal(ranges.low, other.of_every_column()[0])
        assert np.array_equal(ranges.high, other.of_every_column()[1])
        assert ranges.summary()["low"] == other.summary()["low"]
        assert ranges.summary()["high"] == other.summary()["high"]
        dense = scaled_rows(values, scale, ranges)
        scaled = sp.csr_array(scaled_rows(sp.csr_array(values), scale, other)).toarray()
        assert np.allclose(dense, scaled, rtol=0, atol=1e-15)


def ranges_three_ways(values: Any) -> list[Ranges]:
    """Of dense rows, of sparse rows, and of sparse rows with few of their columns listed."""
    everything, y = np.arange(len(values)), np.zeros(len(values))
    wide = sp.csr_array(values)
    found = [
        Ranges.of(MultiFileRows([FileRows(X, y)]), everything) for X in (np.asarray(values), wide)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparation, "_ALL_LISTED", 0)
        found.append(Ranges.of(MultiFileRows([FileRows(wide, y)]), everything))
    return found


WIDE = """
import resource, sys
from pathlib import Path
import numpy as np, scipy.sparse as sp
from okbench.datasets.catalogue.specs import VariantSpec
from okbench.datasets.prepare import preparation
from okbench.datasets.prepare.preparation import prepare
from okbench.datasets.readers.multi_file_rows import FileRows, MultiFileRows
from okbench.datasets.user.user_rows import read_user_rows

read_user_rows(Path(sys.argv[1]))  # what is loaded and compiled once
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.argv[2] == "none":
    found = read_user_rows(Path(sys.argv[3])).dataset.X
else:
    X = read_user_rows(Path(sys.argv[3])).dataset.X
    rows = MultiFileRows([FileRows(X, np.arange(X.shape[0]) % 2)])
    ready = prepare("wide", rows, VariantSpec("all", (), scale=sys.argv[2]))
    found = sp.vstack(list(ready.blocks()), "csr")
print(found.shape[1], found.nnz, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def peak_of(path: Path, scale: str) -> tuple[int, int, int]:
    """The columns and values of prepared rows, and the bytes by which the process grew."""
    small = path.with_name("small")
    small.write_text("1 1:1 3:2\n-1 2:1 4:2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WIDE, str(small), scale, str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    width, stored, kilobytes = map(int, done.stdout.split())
    return width, stored, 1024 * kilobytes


@pytest.mark.parametrize("scale", mostly_slow(["none", "[0,1]", "unit norm"], ["[0,1]"]))
def test_a_huge_index_takes_no_memory(tmp_path: Path, scale: str) -> None:
    path = tmp_path / "rows"
    path.write_text("1 1:0.5\n-1 109951162:1\n1 2:0.3\n-1 10000000:7\n", encoding="utf-8")
    width, stored, grown = peak_of(path, scale)
    assert (width, stored) == (109_951_162, 4)
    assert grown < 32 << 20


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["none", "[0,1]"])
def test_memory_is_in_proportion_to_the_values_of_sparse_rows(tmp_path: Path, scale: str) -> None:
    draws = np.random.default_rng(0)
    path = tmp_path / "rows"
    columns = np.sort(draws.choice(2**31 - 2, size=(20_000, 50), replace=True) + 1, axis=1)
    with path.open("w", encoding="utf-8") as file:
        for row, found in enumerate(columns.tolist()):
            entries = " ".join(f"{column}:1" for column in dict.fromkeys(found))
            file.write(f"{row % 2} {entries}\n")
    width, stored, grown = peak_of(path, scale)
    assert width > 2**30
    assert stored > 999_000
    assert grown < 200 * stored  # a value is 12 bytes; all columns would be 17 GB


def test_a_fill_of_rows_that_are_too_wide_is_refused() -> None:
    wide = sp.csr_array(([1.0, -1.0], ([0, 1], [0, 99_999_999])), shape=(2, 100_000_000))
    with pytest.raises(DataError, match=r"fills 2 × 100,000,000 .* \(1\.5 GB\); 64 GB and"):
        prepared(wide, [0, 1], scale="[-1,1]")


def test_sparse_rows_stay_sparse_below_a_third() -> None:
    third = np.zeros((3, 3))
    third[0] = 1.0
    assert not prepared(third, [1, 2, 1]).sparse
    third[0, 0] = 0.0
    assert prepared(third, [1, 2, 1]).sparse
    assert prepared(sp.csr_array(third), [1, 2, 1]).sparse
    assert not prepared(sp.csr_array(np.ones((3, 3))), [1, 2, 1]).sparse
    assert not prepared(third, [1, 2, 1], scale="[-1,1]").sparse


def test_scaling_that_would_fill_a_huge_sparse_set_is_refused() -> None:
    huge = sp.csr_array(([1.0, -1.0], ([0, 1], [0, 0])), shape=(10_000, 10_000_000))
    with pytest.raises(DataError, match="fills 10,000 × 10,000,000 sparse rows"):
        prepared(huge, np.arange(10_000) % 2, scale="[-1,1]")


def test_labels_are_mapped_as_they_are_written() -> None:
    digits = np.arange(4.0)
    assert prepared(y=digits, labels={"0": -1, "rest": 1}).y.tolist() == [-1, 1, 1, 1]
    words = np.array(["normal.", "smurf.", "back.", "normal."])
    assert prepared(y=words, labels={"normal.": -1, "rest": 1}).y.tolist() == [-1, 1, 1, -1]
    assert prepared(y=digits, labels={"3": 0}, task="multiclass").y.tolist() == [0, 1, 2, 0]
    assert prepared(y=[2.5, 3.5, 2.5, 2.5], labels={"2.5": -1, "3.5": 1}).classes == (-1, 1)


def test_a_threshold_makes_two_classes() -> None:
    assert prepared(y=[15.0, 15.1, 90.0, -3.0], above=15.0).y.tolist() == [-1, 1, 1, -1]


def test_a_split_is_a_seeded_shuffle() -> None:
    one, same, other = (prepared(split=Split(3, seed)) for seed in (0, 0, 1))
    assert one.n_train == 3
    assert np.array_equal(features(one), features(same))
    assert sorted(map(tuple, features(one).tolist())) == sorted(map(tuple, X.tolist()))
    assert not np.array_equal(one.rows, other.rows)
    row = int(one.rows[0])
    assert features(one)[0].tolist() == X[row].tolist()
    assert one.y[0] == Y[row]


def test_a_split_that_leaves_a_class_out_of_the_training_part_is_refused() -> None:
    y = np.array(["a", "b", "b", "b"])

    for seed in range(20):
        if 0 in np.random.default_rng(seed).permutation(4)[:2]:
            assert prepared(y=y, split=Split(2, seed)).n_train == 2
            continue
        with pytest.raises(DataError, match=f"rows: the split with seed {seed} after 2 rows leaves "
                           "class a out of the training part"):  # fmt: skip
            prepared(y=y, split=Split(2, seed))
    assert {0 in np.random.default_rng(seed).permutation(4)[:2] for seed in range(20)} == {
        True, False
    }  # fmt: skip


def test_first_rows_are_kept() -> None:
    assert features(prepared(first=2)).tolist() == X[:2].tolist()


@pytest.mark.parametrize("sparse", [(False, False), (True, True), (True, False)])
def test_files_are_joined_in_order_whatever_their_layout(sparse: tuple[bool, bool]) -> None:
    parts = [
        FileRows(sp.csr_array(rows) if as_csr else rows, labels)
        for rows, labels, as_csr in zip((X[:3], X[3:]), (Y[:3], Y[3:]), sparse, strict=True)
    ]
    joined = MultiFileRows(parts)
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [3], [2, 3]):
        blocks = list(joined.blocks(np.array(order)))
        found = np.concatenate([sp.csr_array(block).toarray() for block in blocks])
        assert np.array_equal(found, X[order])
    assert joined.y.tolist() == Y.tolist()


def test_blocks_of_sparse_rows_are_cut_by_their_values_and_not_by_their_width() -> None:
    wide = sp.csr_array((np.ones(3000), (np.arange(3000), np.arange(3000))), (3000, 10**7))
    source = MultiFileRows([FileRows(wide, np.zeros(3000))])
    assert len(list(source.blocks(np.arange(3000)))) == 1
    long = sp.csr_array(np.ones((60, 100_000)))
    source = MultiFileRows([FileRows(long, np.zeros(60)), FileRows(long, np.zeros(60))])
    blocks = list(source.blocks(np.arange(120)))
    assert sum(block.shape[0] for block in blocks) == 120
    assert max(block.nnz for block in blocks) < 1.3 * 2**20


def test_files_of_different_widths_are_refused() -> None:
    with pytest.raises(DataError, match=r"different widths .*a 3, b 2 columns"):
        MultiFileRows([FileRows(X, Y, "a"), FileRows(X[:, :2], Y, "b")])


def test_repeated_rows_are_dropped_the_first_stays() -> None:
    rows = np.array([[1.0, 2], [0, 0], [2, 1], [1, 2], [1, 2], [0, -0.0], [2.0, 4.0]])
    y = np.array(["a", "b", "a", "a", "c", "b", "a"])
    for values in (rows, sp.csr_array(rows)):
        assert distinct(MultiFileRows([FileRows(values, y)])).tolist() == [0, 1, 2, 4, 6]


@pytest.mark.parametrize(
    ("y", "steps", "message"),
    [
        ([1.0] * 4, {}, "every row has the label 1; two classes are needed"),
        ([1.0, 2, 3, 1], {}, r"3 different values \(1, 2, 3, …\), .* multiclass"),
        (
            [1.0, 2, 1, 2],
            {"labels": {"5": 1}},
            r"no row has a label of the map \(5\); there are: 1, 2",
        ),
        ([1.0] * 4, {"scale": "[0,1] with target", "task": "regression"}, "every target is 1"),
        (
            ["a", "b", "a", "b"],
            {"task": "regression"},
            "the target holds words .* if they are classes",
        ),
        ([1.0, 2, 1, 2], {"train": 4}, "4 rows cannot be split after 4"),
        ([1.0, 2, 1, 2], {"split": Split(9, 0)}, "4 rows cannot be split after 9"),
    ],
)
def test_rows_that_cannot_be_learned_are_refused(y: Any, steps: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        prepared(y=y, **steps)
