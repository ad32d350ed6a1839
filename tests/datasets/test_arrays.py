from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, StoreError
from okbench.datasets import load, missing
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import VariantSpec
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.describe import describe
from okbench.datasets.prepare import checksums, prepared_files
from okbench.datasets.prepare.checksums import DamagedRowsError
from okbench.datasets.prepare.loading import PREPARATION_OPTIONS, load_afresh
from okbench.datasets.prepare.prepared_files import NpyWriter

ENTRY = """datasets:
  mine:
    task: binary
    features: 3
    files: {{all: {{name: rows, path: "{path}", rows: 4, reader: libsvm}}}}
    variants:
      all: {{scale: "[0,1]"}}
      plain: {{}}
      same: {{scale: "[0,1]", rows: 3, note: other words, prepared: {{default: other words}}}}
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


@pytest.fixture
def another_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forget which files this process has compared with their checksums."""
    return lambda: monkeypatch.setattr(prepared_files, "_intact", set())


DAMAGES = [
    *("cut", "gone", "not npy", "zeros", "rows swapped", "labels swapped"),
    *("no json", "other json", "no checksums", "half made"),
]


def test_variants_that_prepare_the_same_rows_share_them(rows: Path) -> None:
    same = load_afresh(dataset_catalogue.spec("mine"), "same")
    assert same.fingerprint == afresh().fingerprint
    assert len(made_folders(rows)) == 1


def test_every_option_of_a_variant_is_in_the_key_of_its_rows_or_known_to_change_none() -> None:
    words = {"name", "features", "classes", "rows", "prepared", "note", "where"}
    assert {option.name for option in fields(VariantSpec)} == words | set(PREPARATION_OPTIONS)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_made_again(
    rows: Path,
    damage: str,
    another_process: Callable[[], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = afresh()
    before, labels = dense(first.X).tolist(), first.y.tolist()
    (folder,) = made_folders(rows)
    values, about = folder / "X.npy", folder / "about.json"
    match damage:
        case "cut":
            values.write_bytes(values.read_bytes()[:-8])
        case "zeros":
            values.write_bytes(values.read_bytes()[:128] + bytes(4 * 3 * 8))
        case "rows swapped":
            swap(values, 24)
        case "labels swapped":
            swap(folder / "labels.npy", 8)
        case "no checksums":
            older = json.loads(about.read_bytes())
            del older["checksum"], older["checksums"]
            about.write_text(json.dumps(older))
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
    another_process()
    again = afresh()
    assert again.fingerprint == first.fingerprint
    assert (dense(again.X).tolist(), again.y.tolist()) == (before, labels)
    assert len(made_folders(rows)) == 1
    said = capsys.readouterr().err
    assert said.endswith("the rows are prepared again\n") == (damage != "half made")


def swap(path: Path, size: int) -> None:
    """Exchange the first entry of so many bytes and the last one."""
    content = path.read_bytes()
    head, body = content[:128], content[128:]
    path.write_bytes(head + body[-size:] + body[size:-size] + body[:size])


@pytest.mark.parametrize("content", [ROWS, "1 1:2\n-1 2:1\n1 3:5\n-1\n"], ids=["dense", "sparse"])
def test_no_bit_of_the_cache_can_change_unseen(
    rows: Path, content: str, another_process: Callable[[], None]
) -> None:
    rows.write_text(content, encoding="utf-8")
    afresh()
    (folder,) = made_folders(rows)
    for path in folder.iterdir():
        good = path.read_bytes()
        for place in range(len(good)):
            path.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
            another_process()
            with pytest.raises(DamagedRowsError):
                prepared_files.open_prepared(folder, "mine")
        path.write_bytes(good)
    another_process()
    assert prepared_files.open_prepared(folder, "mine")


@pytest.mark.parametrize("rows_at_once", [1, 50, 1000])
def test_every_piece_of_a_file_has_its_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_once: int
) -> None:
    monkeypatch.setattr(checksums, "PIECE", 1000)
    monkeypatch.setattr(prepared_files, "PIECE", 1000)
    values = np.random.default_rng(0).random((200, 3))
    with NpyWriter(tmp_path / "x.npy", np.float64, 3) as writer:
        for start in range(0, 200, rows_at_once):
            writer.append(values[start : start + rows_at_once])
    content = (tmp_path / "x.npy").read_bytes()
    pieces = [content[at : at + 1000] for at in range(0, len(content), 1000)]
    assert writer.checksums == [crc32(piece) for piece in pieces]
    (tmp_path / "x.npy").write_bytes(content[:3000] + b"\0" + content[3001:])
    with pytest.raises(DamagedRowsError, match="bytes 3,000 to 4,000 are not"):
        checksums.check_file(tmp_path / "x.npy", len(content), writer.checksums)


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
