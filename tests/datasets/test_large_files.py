"""A large file is read in pieces to the same rows as a small one in memory, bit for bit."""

from __future__ import annotations

import gzip
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, UsageError
from okbench.datasets import dataset_types
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.mapped_rows import MappedRows
from okbench.datasets.prepare import checksums, label_values, preparation, unfinished
from okbench.datasets.prepare.loading import load_afresh
from okbench.datasets.prepare.unfinished import UnfinishedFile
from okbench.datasets.readers import files, multi_file_rows, table
from okbench.datasets.user import large_file, running_scale, user_rows
from okbench.datasets.user.large_file import is_large, read_rows
from okbench.datasets.user.user_entry import add_user_dataset
from okbench.datasets.user.user_rows import UserRows, as_read
from okbench.papers.table_types import RowsFile

ROWS = 3_000


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and chunks that are small, so that these files have many of them."""
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    for module in (files, table, running_scale):
        monkeypatch.setattr(module, "_BLOCK_ROWS", 700)
    monkeypatch.setattr(multi_file_rows, "_BLOCK_VALUES", 2_000)
    monkeypatch.setattr(unfinished, "EVERY", 1)


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Has every file count as large."""
    return lambda: monkeypatch.setattr(large_file, "LARGE", 1)


def written(folder: Path, kind: str, gaps: bool = False) -> Path:
    """Rows of numbers, a word, a column of two numbers, and a class that stands last in the file:
    the classes are sorted, so that the first lines hold one of them."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(40.0, 3.0, ROWS), rng.exponential(size=ROWS)
    flag, word = rng.integers(0, 2, ROWS), rng.integers(0, 5, ROWS)
    y = np.repeat([1, 2, 5], ROWS // 3)
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        columns = {"a": a, "b": b, "flag": flag, "word": [f"w{n}" for n in word], "y": y}
        if gaps:
            columns["b"] = [None if n % 7 == 3 else each for n, each in enumerate(b)]
        pq.write_table(pa.table(columns), path, row_group_size=700)
    elif kind == "svm":
        X = sp.random_array((ROWS, 300), density=0.02, rng=rng, format="csr")
        lines = [
            " ".join(
                [str(label), *(f"{c + 1}:{v:.17g}" for c, v in sorted(zip(i, d, strict=True)))]
            )
            for label, i, d in ((n, X[[r]].indices, X[[r]].data) for r, n in enumerate(y))
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        shown = [f"{each:.17g}" if not gaps or n % 7 != 3 else "" for n, each in enumerate(b)]
        values = zip(a, shown, flag, word, y, strict=True)
        text = "a,b,flag,word,y\n" + "".join(
            f"{p:.17g},{q},{r},w{s},{t}\n" for p, q, r, s, t in values
        )
        path.write_bytes(gzip.compress(text.encode()) if kind.endswith("gz") else text.encode())
    return path


def same(large: UserRows, whole: UserRows) -> None:
    one, other = large.dataset, whole.dataset
    assert one.fingerprint == other.fingerprint
    assert (one.name, one.task, one.classes) == (other.name, other.task, other.classes)
    assert isinstance(one.X, np.ndarray) == isinstance(other.X, np.ndarray)
    if isinstance(one.X, np.ndarray):
        assert one.X.tobytes() == np.ascontiguousarray(other.X).tobytes()
    else:
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(one.X, name), getattr(other.X, name))
    assert np.array_equal(one.y, other.y)
    assert one.y.dtype == other.y.dtype
    assert (large.scale, large.reader) == (whole.scale, whole.reader)


@pytest.mark.parametrize("scale", ["", "none", "[0,1]", "running", "running [0,1]"])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "svm"])
def test_the_rows_are_those_of_the_whole_file(
    kind: str, scale: str, tmp_path: Path, pieces: Any
) -> None:
    how = RowsFile(written(tmp_path, kind), scale=scale)
    assert not is_large(how.path)
    whole = read_rows(how)
    pieces()
    assert is_large(how.path)
    large = read_rows(how)
    same(large, whole)
    assert MappedRows.of(large.dataset) is not None  # learners stream them from the disk
    assert set(large.notes) >= {note for note in whole.notes if not note.startswith("warning")}


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "mean", "scale": "standard"},
        {"missing": "mean", "drop": ("word",)},
        {"missing": "mean", "categorical": ("flag",), "scale": "running standard"},
        {"missing": "mean", "target": "a"},
        {"missing": "mean", "drop": ("b", "flag"), "target": "word"},
        {"missing": "mean", "hash": 64},
        {"missing": "mean", "task": "regression"},
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_are_read_as_those_of_the_whole_file(
    kind: str, options: dict[str, Any], tmp_path: Path, pieces: Any
) -> None:
    how = RowsFile(written(tmp_path, kind, gaps=True), **options)
    whole = read_rows(how)
    pieces()
    same(read_rows(how), whole)


def test_a_file_is_read_once_whatever_it_is_called(
    tmp_path: Path, pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored table names the task and the scale, which the command left open."""
    pieces()
    how = RowsFile(written(tmp_path, "csv"))
    first = read_rows(how)
    assert as_read(how, first) == replace(how, task="multiclass", scale="standard")

    def unread(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("it is read again")

    monkeypatch.setattr(large_file, "own_rows", unread)
    for again in (how, as_read(how, first)):
        found = read_rows(again)
        assert found.dataset.fingerprint == first.dataset.fingerprint
        assert found.notes == first.notes


@pytest.mark.parametrize("kind", ["csv", "svm", "parquet"])
def test_an_added_file_is_read_once(
    kind: str, tmp_path: Path, pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, kind)
    small = add_user_dataset(path, "small")
    expected = load_afresh(dataset_catalogue.spec("small"))
    pieces()
    found = add_user_dataset(path, "large")
    assert found.dataset.fingerprint == small.dataset.fingerprint == expected.fingerprint
    entries = [dataset_catalogue.spec(name) for name in ("small", "large")]
    assert entries[0].files["all"].reader == entries[1].files["all"].reader
    assert entries[0].task == entries[1].task
    read: list[str] = []
    monkeypatch.setattr(files, "_read", lambda *arguments: read.append("again"))
    taken = load_afresh(entries[1])
    assert not read
    assert taken.fingerprint == expected.fingerprint
    assert taken.name == "large"
    assert np.array_equal(taken.y, expected.y)
    mapped = MappedRows.of(taken)
    assert mapped is not None


def test_a_name_that_is_taken_is_refused_before_anything_is_read(
    tmp_path: Path, pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces()
    monkeypatch.setattr(user_rows, "_read", lambda *arguments: pytest.fail("it is read"))
    for name in ("a9a", "no/name"):
        with pytest.raises(UsageError):
            add_user_dataset(written(tmp_path, "csv"), name)


@pytest.mark.parametrize("kind", ["csv.gz", "svm", "parquet"])
def test_reading_goes_on_where_it_was_interrupted(
    kind: str, tmp_path: Path, pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces()
    how = RowsFile(written(tmp_path, kind))
    keep, begun = UnfinishedFile.keep, []

    def interrupted(self: UnfinishedFile, position: Any, reader: Any) -> None:
        keep(self, position, reader)
        begun.append(position)
        raise KeyboardInterrupt

    monkeypatch.setattr(UnfinishedFile, "keep", interrupted)
    while True:
        try:
            found = read_rows(how)
            break
        except KeyboardInterrupt:
            assert len(set(begun)) == len(begun)  # each try begins behind the one before
    assert begun
    monkeypatch.setattr(large_file, "LARGE", 1 << 40)
    same(found, read_rows(how))


def test_the_warnings_look_at_a_sample(tmp_path: Path, pieces: Any) -> None:
    path = tmp_path / "rows.csv"
    rng = np.random.default_rng(0)
    path.write_text(
        "a,b,c,y\n"
        + "".join(
            f"{p},{q},{1e4 * r},{n % 2}\n" for n, (p, q, r) in enumerate(rng.random((500, 3)))
        )
    )
    pieces()
    notes = read_rows(RowsFile(path, scale="none")).notes
    assert any("'c' varies" in note and note.startswith("warning") for note in notes)
    assert not [note for note in read_rows(RowsFile(path)).notes if note.startswith("warning")]


def test_what_is_wrong_with_a_file_is_said_as_for_a_small_one(tmp_path: Path, pieces: Any) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": [0.5, None] * 50, "y": [0, 1] * 50}), path)
    pieces()
    for file, message in (
        (RowsFile(path, target="y"), "column 'x' has no value here"),
        (RowsFile(path, target="z", missing="mean"), "no column 'z'"),
        (RowsFile(path, missing="mean", scale="wrong"), "no scale 'wrong'"),
    ):
        with pytest.raises((DataError, UsageError), match=message):
            read_rows(file)
    assert not list((tmp_path / "data").glob(".arrays/*/*.unfinished"))


def test_a_scaling_is_made_anew_for_every_pass() -> None:
    """A running one would else begin where the last pass ended."""
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 2)), np.arange(50) % 2
    source = multi_file_rows.MultiFileRows([multi_file_rows.FileRows(X, y)])
    variant = preparation.VariantSpec("all", ())
    ready = preparation.prepare(
        "rows", source, variant, lambda: running_scale.RunningScale(Path("rows"), "running [0,1]")
    )
    first, second = (np.concatenate(list(ready.blocks())) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(first[0], [0.0, 0.0])
    assert np.array_equal(first[1], (X[1] > X[0]) * 1.0)


@pytest.mark.parametrize(("label", "expected"), [("{}", 8), ("yes{}", 0), ("{}.5", 0)])
def test_memory_grows_by_a_label_a_row(
    label: str, expected: int, tmp_path: Path, pieces: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Integers are held once, and all else of a row stays on the disk: 160 bytes of numbers, and
    labels that are words or targets."""
    monkeypatch.setattr(unfinished, "EVERY", 1 << 20)
    monkeypatch.setattr(multi_file_rows, "_BLOCK_VALUES", 1 << 14)
    monkeypatch.setattr(multi_file_rows, "_BLOCK_ROWS", 1 << 10)
    monkeypatch.setattr(label_values, "_BLOCK", 1_000)
    monkeypatch.setattr(checksums, "_READ", 1_000)
    monkeypatch.setattr(dataset_types, "_LABELS", 1_000)

    def prepare(*arguments: Any) -> Any:
        tracemalloc.reset_peak()  # a chunk of text takes more than the labels of this test
        return preparation.prepare(*arguments)

    monkeypatch.setattr(large_file, "prepare", prepare)
    rng = np.random.default_rng(0)
    lines = [
        ",".join([*(f"{each:.3f}" for each in row), label.format(n % 3)]) + "\n"
        for n, row in enumerate(rng.random((2_000, 20)))
    ]
    pieces()

    def peak(times: int) -> int:
        path = tmp_path / f"{times}.csv"
        path.write_text("".join(lines) * times, encoding="utf-8")
        tracemalloc.start()
        try:
            assert read_rows(RowsFile(path)).dataset.n_rows == 2_000 * times
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)  # what is imported once
    grown = (peak(20) - peak(5)) / (15 * 2_000)
    assert abs(grown - expected) < 1
