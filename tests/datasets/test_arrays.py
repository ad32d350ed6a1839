from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, StoreError
from okbench.datasets import load, missing
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.describe import describe
from okbench.datasets.prepare import prepared_files
from okbench.datasets.prepare.loading import load_afresh
from okbench.datasets.prepare.prepared_files import NpyWriter

ENTRY = """datasets:
  mine:
    task: binary
    features: 3
    files: {{all: {{name: rows, path: "{path}", rows: 4, reader: libsvm}}}}
    variants: {{all: {{scale: "[0,1]"}}, plain: {{}}}}
"""
ROWS = "1 1:2 2:4\n-1 1:1\n1 3:5\n-1 2:1\n"


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of a person's own, entered as 'mine'."""
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    path = tmp_path / "rows"
    path.write_text(ROWS, encoding="utf-8")
    dataset_catalogue.user_datasets().write_text(ENTRY.format(path=path), encoding="utf-8")
    return path


def afresh() -> Dataset:
    return load_afresh(dataset_catalogue.spec("mine"))


def made_folders(rows: Path) -> list[Path]:
    return sorted(path for path in (rows.parent / "data/.arrays/mine").iterdir() if path.is_dir())


def dense(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()


def test_rows_are_prepared_once_then_mapped(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = afresh()
    assert dense(first.X).tolist() == [[1, 1, 0], [0.5, 0, 0], [0, 0, 1], [0, 0.25, 0]]
    assert first.classes == (-1, 1)
    monkeypatch.setattr("okbench.datasets.prepare.loading._make", None)
    again = afresh()
    assert again.fingerprint == first.fingerprint
    assert dense(again.X).tolist() == dense(first.X).tolist()
    assert again.y.tolist() == first.y.tolist()


def test_mapped_rows_can_be_written_to_without_touching_the_file(rows: Path) -> None:
    first = afresh()
    X = first.X if isinstance(first.X, np.ndarray) else first.X.data
    assert type(X) is np.ndarray
    X[...] = 99.0
    assert dense(afresh().X).max() == 1.0


def test_sparse_rows_are_kept_as_sparse_rows(rows: Path) -> None:
    rows.write_text("1 1:2\n-1 2:1\n1 3:5\n-1\n", encoding="utf-8")
    found = afresh().X
    assert isinstance(found, sp.csr_array)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert found.toarray().tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_a_changed_file_or_variant_is_prepared_anew(rows: Path) -> None:
    first = afresh()
    assert load_afresh(dataset_catalogue.spec("mine"), "plain").fingerprint != first.fingerprint
    rows.write_text(ROWS.replace("3:5", "3:5 1:1"), encoding="utf-8")
    assert afresh().fingerprint != first.fingerprint
    assert len(made_folders(rows)) == 3


@pytest.mark.parametrize("damage", ["cut", "gone", "no json", "other json", "not npy", "half made"])
def test_a_damaged_cache_is_made_again(rows: Path, damage: str) -> None:
    first = afresh()
    before = dense(first.X).tolist()
    (folder,) = made_folders(rows)
    values = folder / ("X.npy" if (folder / "X.npy").exists() else "values.npy")
    match damage:
        case "cut":
            values.write_bytes(values.read_bytes()[:-8])
        case "gone":
            values.unlink()
        case "no json":
            (folder / "about.json").write_text("{", encoding="utf-8")
        case "other json":
            (folder / "about.json").write_text("[]", encoding="utf-8")
        case "not npy":
            values.write_bytes(b"x" * values.stat().st_size)
        case "half made":
            (folder / "about.json").unlink()
            folder.rename(folder.with_name(f"{folder.name}.x.tmp"))
    again = afresh()
    assert again.fingerprint == first.fingerprint
    assert dense(again.X).tolist() == before
    assert len(made_folders(rows)) == 1


@pytest.mark.parametrize("content", [ROWS, "1 1:2\n-1 2:1\n1 3:5\n-1\n"], ids=["dense", "sparse"])
def test_a_bit_flipped_in_a_header_of_the_cache_changes_no_row(rows: Path, content: str) -> None:
    rows.write_text(content, encoding="utf-8")
    sound = afresh()
    (folder,) = made_folders(rows)
    for path in folder.glob("*.npy"):
        good = path.read_bytes()
        for place in range(128):
            for bit in (2, 4):
                path.write_bytes(good[:place] + bytes([good[place] ^ bit]) + good[place + 1 :])
                found = prepared_files.open_prepared(folder, "mine")
                if found:
                    made = found.dataset
                    assert np.array_equal(dense(made.X), dense(sound.X)), (path.name, place, bit)
                    assert made.y.tolist() == sound.y.tolist(), (path.name, place, bit)
        path.write_bytes(good)


def test_a_failure_half_way_leaves_nothing(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(prepared_files, "write_features", full)
    with pytest.raises(StoreError, match="No space left on device"):
        afresh()
    assert made_folders(rows) == []


def test_a_data_folder_that_cannot_be_written_is_reported(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rows.parent / "data" / ".arrays").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match="set OKBENCH_DATA to another folder"):
        afresh()


def test_two_processes_prepare_one_set(rows: Path) -> None:
    script = "from okbench.datasets import load; print(load('mine').fingerprint)"
    running = [
        subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    printed = [process.communicate()[0].strip() for process in running]
    assert printed == [afresh().fingerprint] * 2
    assert len(made_folders(rows)) == 1


def test_what_is_missing_is_reported_with_the_command(rows: Path) -> None:
    assert missing("mine") is None
    assert missing("cod-rna") == "cod-rna: cod-rna.t not here → okbench fetch cod-rna"
    assert "okbench fetch 'tom'" in str(missing("tom's hardware"))
    with pytest.raises(DataError, match="okbench fetch cod-rna"):
        load("cod-rna")
    rows.unlink()
    assert "put it back" in str(missing("mine"))


def test_bad_rows_are_reported_with_their_place(rows: Path) -> None:
    rows.write_text("1 1:2\n-1 1:x\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"rows:2:6: the value 'x' is no number"):
        afresh()


def test_a_set_is_described(rows: Path) -> None:
    described = describe("mine")
    assert (described["rows"], described["features"], described["classes"]) == (4, 3, {-1: 2, 1: 2})
    assert described["ranges"]["before"]["highs"] == [2, 4, 5]
    assert described["ranges"]["after"] == {"low": 0, "high": 1, "lows": [0] * 3, "highs": [1] * 3}
    assert described["preparation"] == ["scale [0,1], ranges of all rows"]
    assert all(line["agrees"] for line in described["agreement"])
    assert described["density"] == pytest.approx(5 / 12)


def test_a_description_says_where_rows_and_entry_differ(rows: Path) -> None:
    rows.write_text(ROWS + "1 1:1\n", encoding="utf-8")
    differing = [line for line in describe("mine")["agreement"] if not line["agrees"]]
    assert [(line["what"], line["expected"], line["found"]) for line in differing] == [
        ("rows", 4, 5)
    ]


def test_an_embedded_set_is_described() -> None:
    described = describe("diabetes")
    assert (described["rows"], described["ranges"]["after"]["target"]) == (442, [0.0, 1.0])
    assert all(line["agrees"] for line in described["agreement"])
    assert describe("spirals", "30")["rows"] == 30


@pytest.mark.parametrize("columns", [None, 3])
def test_a_growing_npy_file_is_one_that_numpy_reads(tmp_path: Path, columns: int | None) -> None:
    shape = (7,) if columns is None else (7, columns)
    values = np.random.default_rng(0).random(shape)
    with NpyWriter(tmp_path / "x.npy", np.float64, columns) as writer:
        for start in range(0, 7, 2):
            writer.append(values[start : start + 2])
    assert np.array_equal(np.load(tmp_path / "x.npy"), values)


def test_prepared_rows_may_be_read_by_whom_the_umask_lets(rows: Path) -> None:
    before = os.umask(0o022)
    try:
        afresh()
    finally:
        os.umask(before)
    (folder,) = made_folders(rows)
    assert folder.stat().st_mode & 0o777 == 0o755
