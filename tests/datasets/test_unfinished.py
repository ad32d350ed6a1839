"""Reading that is interrupted goes on, and comes to the same bytes."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okbench.base.errors import DataError, StoreError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare import unfinished
from okbench.datasets.prepare.loading import load_afresh
from okbench.datasets.prepare.unfinished import UnfinishedFile
from okbench.datasets.readers.chunks import Position, chunks
from okbench.datasets.readers.disk_array import DiskArray, disk_full
from okbench.datasets.readers.words import Words
from tests.shared import mostly_slow

ROWS = 16_000
KINDS = ["csv", "csv.gz", "csv several", "libsvm", "libsvm.bz2", "parquet"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(unfinished, "EVERY", 1)  # a state after every chunk of a file
    (tmp_path / "data").mkdir()


def entered(folder: Path, kind: str) -> None:
    """Rows of a number, a word and a class, in one file or two, entered as 'mine'."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=ROWS), rng.integers(0, 40, ROWS)
    y = np.where(x > 0, 1, -1)
    reader: dict[str, Any] = {"format": "csv", "categorical": [1]}
    if kind.startswith("csv"):
        lines = [f"{a:.17g},word{b},{c}\n" for a, b, c in zip(x, w, y, strict=True)]
        parts = [lines[:9_000], lines[9_000:]] if "several" in kind else [lines]
        raw = ["".join(part).encode() for part in parts]
    elif kind.startswith("libsvm"):
        reader = {"format": "libsvm"}
        raw = ["".join(f"{c} {b + 1}:{a:.17g}\n" for a, b, c in zip(x, w, y, strict=True)).encode()]
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        reader = {"format": "parquet", "categorical": [1]}
        table = pa.table({"x": x, "w": [f"word{each}" for each in w], "y": y})
        parquet.write_table(table, folder / "rows0", row_group_size=3_000)
        raw = [(folder / "rows0").read_bytes()]
    pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(kind.rpartition(".")[2], bytes)
    files = {}
    for number, part in enumerate(raw):
        path = folder / f"rows{number}"
        path.write_bytes(pack(part))
        files[f"part{number}"] = {"name": path.name, "path": str(path), "reader": reader}
    entry: dict[str, Any] = {"task": "binary", "files": files}
    if len(files) > 1:
        entry["variants"] = {"all": {"use": list(files)}}
    text = json.dumps({"datasets": {"mine": entry}})
    dataset_catalogue.user_datasets().write_text(text, encoding="utf-8")


def prepared(folder: Path) -> dict[str, bytes]:
    """The bytes of the prepared arrays."""
    load_afresh(dataset_catalogue.spec("mine"))
    home = folder / "data/.arrays/mine"
    assert not [path.name for path in home.iterdir() if "unfinished" in path.name]
    return {path.name: path.read_bytes() for path in sorted(home.glob("*/*.npy"))}


def again(folder: Path) -> None:
    """Forget the prepared rows."""
    for path in (folder / "data/.arrays/mine").glob("*/*"):
        path.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_reading_goes_on_byte_for_byte(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered(tmp_path, kind)
    expected = prepared(tmp_path)
    again(tmp_path)
    keep, read = UnfinishedFile.keep, []

    def interrupted(self: UnfinishedFile, position: Position, reader: Any) -> None:
        read.append(position)
        keep(self, position, reader)
        for array in self._arrays.values():  # what came behind the state is cut off
            array.append(np.array([7]))
        raise KeyboardInterrupt

    monkeypatch.setattr(UnfinishedFile, "keep", interrupted)
    tries = 0
    while tries < 40:
        tries += 1
        try:
            found = prepared(tmp_path)
            break
        except KeyboardInterrupt:
            assert list((tmp_path / "data/.arrays/mine").glob("*.unfinished/*/state.json"))
    assert found == expected
    assert len(set(read)) == len(read) == tries - 1 >= 3  # each try began behind the one before


CASES = [(1, False), (3, False), (3, True)]


@pytest.mark.parametrize("case", mostly_slow(CASES, CASES[1:2]))
def test_a_reading_that_was_killed_goes_on(case: tuple[int, bool], tmp_path: Path) -> None:
    states, is_damaged = case
    entered(tmp_path, "csv.gz")
    expected = prepared(tmp_path)
    again(tmp_path)
    script = f"""
import os, signal
from okbench.datasets import load
from okbench.datasets.prepare import unfinished
unfinished.EVERY, write, left = 1, unfinished.UnfinishedFile._write, [{states}]
def once(self, ended):
    write(self, ended)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
unfinished.UnfinishedFile._write = once
load("mine")
"""
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ}, check=False)
    assert done.returncode == -signal.SIGKILL
    (state,) = (tmp_path / "data/.arrays/mine").glob("*.unfinished/*/state.json")
    assert json.loads(state.read_text(encoding="utf-8"))["position"][1] > 1
    if is_damaged:
        values = max(state.parent.glob("*.bin"), key=lambda path: path.stat().st_size)
        values.write_bytes(bytes(64) + values.read_bytes()[64:])
    assert prepared(tmp_path) == expected


def test_a_full_disk_ends_reading_and_keeps_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered(tmp_path, "libsvm")
    expected = prepared(tmp_path)
    again(tmp_path)
    append, left = DiskArray.append, [9]

    def full(self: DiskArray, values: Any) -> None:
        left[0] -= 1
        if left[0] == 0:
            self._file.write(b"half a num")
            raise disk_full(OSError(28, "No space left on device"))
        append(self, values)

    monkeypatch.setattr(DiskArray, "append", full)
    with pytest.raises(StoreError, match="No space left on device"):
        prepared(tmp_path)
    assert prepared(tmp_path) == expected


def test_a_file_that_is_wrong_leaves_nothing(tmp_path: Path) -> None:
    entered(tmp_path, "libsvm")
    with (tmp_path / "rows0").open("ab") as file:
        file.write(b"1 x:1\n")
    with pytest.raises(DataError, match=f"rows0:{ROWS + 1}:3"):
        load_afresh(dataset_catalogue.spec("mine"))
    assert not [p for p in (tmp_path / "data/.arrays/mine").iterdir() if p.is_dir()]


def test_chunks_go_on_where_a_chunk_ended(tmp_path: Path) -> None:
    raw = b"\xef\xbb\xbfone\n" + b"".join(b"%d\r\n" % n for n in range(5_000)) + b"no end"
    for name, packed in (("plain", raw), ("gz", gzip.compress(raw)), ("bz2", bz2.compress(raw))):
        (tmp_path / name).write_bytes(packed)
        whole = list(chunks(tmp_path / name, 1_000))
        for number in (0, 7, len(whole) - 2):
            rest = list(chunks(tmp_path / name, 333, whole[number].after))
            assert b"".join(each.raw for each in rest) == b"".join(
                each.raw for each in whole[number + 1 :]
            )
            assert rest[0].first_line == whole[number + 1].first_line
        assert list(chunks(tmp_path / name, 1_000, whole[-1].after)) == []


def test_missing_values_of_several_files_take_the_mean_of_all_rows_before(tmp_path: Path) -> None:
    texts = "1,10,0\n,20,1\n", ",,0\n8,50,1\n", ",,1\n"
    files = {}
    for number, text in enumerate(texts):
        path = tmp_path / f"part{number}.csv"
        path.write_text(text, encoding="utf-8")
        reader = {"format": "csv", "filled": True}
        files[f"p{number}"] = {"name": path.name, "path": str(path), "reader": reader}
    entry = {"task": "binary", "files": files, "variants": {"all": {"use": list(files)}}}
    dataset_catalogue.user_datasets().write_text(
        json.dumps({"datasets": {"mine": entry}}), encoding="utf-8"
    )
    found: Dataset = load_afresh(dataset_catalogue.spec("mine"))
    assert found.X.tolist() == [[1, 10], [1, 20], [1, 15], [8, 50], [4.5, 80 / 3]]


def test_words_are_numbered_in_the_order_of_their_first_use() -> None:
    words = Words.of(["b", "a"])
    assert [words.number(word) for word in ["a", "c", "b", "c", ""]] == [1, 2, 0, 2, 3]
    assert list(words) == ["b", "a", "c", ""]
