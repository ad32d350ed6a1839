"""Formats that need more than one file, or more than one column a column."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okbench.base.errors import DataError
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, ReaderSpec
from okbench.datasets.readers import files
from okbench.datasets.readers.airlines import FEATURES, read_airlines
from okbench.datasets.readers.files import read_files
from okbench.datasets.readers.multi_file_rows import MultiFileRows


def entry(folder: Path, contents: dict[str, tuple[str | bytes, dict[str, Any]]]) -> DatasetSpec:
    specs = {}
    for key, (content, reader) in contents.items():
        (folder / key).write_bytes(content if isinstance(content, bytes) else content.encode())
        specs[key] = FileSpec(key, key, ".", ReaderSpec(**reader), path=str(folder / key))
    return DatasetSpec("set", "multiclass", None, 0, specs, {})


def read(made: DatasetSpec, *keys: str) -> tuple[list[list[float]], list[Any]]:
    joined = MultiFileRows(read_files(made, keys, lambda file: Path(file.path)))
    blocks = list(joined.blocks(np.arange(joined.n_rows)))
    rows = [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
    return np.concatenate(rows).tolist(), joined.y.tolist()


def test_words_of_all_files_become_the_same_columns(tmp_path: Path) -> None:
    reader = {"format": "csv", "categorical": (0, 1)}
    made = entry(
        tmp_path,
        {
            "train": ("tcp,10,5,normal\nicmp,9,0,smurf\n", reader),
            "test": ("udp,9,7,back\n", reader),
        },
    )
    X, y = read(made, "train", "test")
    #          icmp tcp udp  9 10  number
    assert X == [[0, 1, 0, 0, 1, 5], [1, 0, 0, 1, 0, 0], [0, 0, 1, 1, 0, 7]]
    assert y == ["normal", "smurf", "back"]


def test_words_that_nobody_named_are_refused(tmp_path: Path) -> None:
    made = entry(tmp_path, {"all": ("sex,size,y\nM,1,2\n", {"format": "csv", "header": True})})
    with pytest.raises(DataError, match=r"column sex holds words \('M'\)"):
        read(made, "all")


def test_too_many_words_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_WORDS", 2)
    made = entry(tmp_path, {"all": ("a,1\nb,2\nc,1\n", {"format": "csv", "categorical": (0,)})})
    with pytest.raises(DataError, match="column 0 holds 3 different words"):
        read(made, "all")


def test_target_and_dropped_columns_are_found_by_name_or_place(tmp_path: Path) -> None:
    text = "id,a,t1,t2,b\n1,2,3,4,5\n6,7,8,9,10\n"
    reader = {"format": "csv", "header": True, "target": "t2", "drop": ("t1", 0)}
    assert read(entry(tmp_path, {"all": (text, reader)}), "all") == ([[2, 5], [7, 10]], [4, 9])


def test_labels_may_be_a_column_of_another_file(tmp_path: Path) -> None:
    reader = {"format": "csv", "delimiter": "whitespace"}
    contents = {
        "features": ("1 2\n3 4\n", {**reader, "labels": "info"}),
        "info": ("-1 7\n1 8\n", reader),
    }
    assert read(entry(tmp_path, contents), "features") == ([[1, 2], [3, 4]], [-1, 1])
    contents["info"] = ("-1 7\n", reader)
    with pytest.raises(DataError, match="2 rows for 1 labels"):
        read(entry(tmp_path, contents), "features")


def test_images_are_joined_with_their_labels(tmp_path: Path) -> None:
    idx = b"\0\0\x08\x03" + struct.pack(">3I", 2, 1, 2) + bytes([0, 128, 255, 1])
    norb = struct.pack("<5I", 0x1E3D4C55, 3, 2, 1, 2) + bytes([0, 128, 255, 1])
    for kind, pixels, labels in (
        ("idx", idx, b"\0\0\x08\x01" + struct.pack(">I", 2) + bytes([3, 9])),
        ("norb", norb, struct.pack("<5I2i", 0x1E3D4C54, 1, 2, 1, 1, 3, 9)),
    ):
        made = entry(
            tmp_path,
            {"images": (pixels, {"format": kind, "labels": "labels"}),
             "labels": (labels, {"format": kind})},
        )  # fmt: skip
        assert read(made, "images") == ([[0, 128], [255, 1]], [3, 9])


def test_a_mat_file_may_hold_features_by_rows(tmp_path: Path) -> None:
    import scipy.io

    scipy.io.savemat(tmp_path / "m.mat", {"X": np.arange(6.0).reshape(2, 3), "y": [[1], [-1], [1]]})
    raw = (tmp_path / "m.mat").read_bytes()
    reader = {"format": "mat", "X": "X", "y": "y", "transposed": True}
    assert read(entry(tmp_path, {"all": (raw, reader)}), "all") == (
        [[0, 3], [1, 4], [2, 5]],
        [1, -1, 1],
    )
    with pytest.raises(DataError, match="2 rows in 'X', 3 in 'y'"):
        read(entry(tmp_path, {"all": (raw, {**reader, "transposed": False})}), "all")


def test_flights_are_those_complete_and_flown(tmp_path: Path) -> None:
    header = (
        "Year,Month,DayofMonth,DayOfWeek,DepTime,ArrTime,UniqueCarrier,TailNum,AirTime,ArrDelay,"
        "Distance,Cancelled,Diverted\n"
    )
    rows = (
        "2008,1,3,4,2003,2211,WN,N712SW,116,-14,810,0,0\n"  # kept
        "2008,1,3,4,754,1002,WN,N772SW,113,2,810,1,0\n"  # cancelled
        "2008,1,3,4,628,804,WN,N428WN,76,14,515,0,1\n"  # diverted
        "2008,1,3,4,NA,NA,WN,N712SW,NA,NA,810,0,0\n"  # not complete
        "2008,1,3,4,628,804,WN,N999XX,76,14,515,0,0\n"  # no such plane
        "2008,1,3,4,628,804,WN,N000YR,76,14,515,0,0\n"  # built in the year 0
        "2008,2,4,5,1000,1100,WN,N712SW,50,16,300,0,0\n"  # kept
    )
    planes = (
        "tailnum,type,year\nN712SW,Corporation,1998\nN772SW,,None\nN000YR,,0000\nN428WN,,2004\n"
    )
    (tmp_path / "2008.csv").write_text(header + rows, encoding="utf-8")
    (tmp_path / "planes.csv").write_text(planes, encoding="utf-8")
    table = read_airlines(tmp_path / "2008.csv", tmp_path / "planes.csv")
    assert table.names == (*FEATURES, "ArrDelay")
    assert table.values.tolist() == [
        [1, 3, 4, 10, 116, 810, 2211, 2003, -14],
        [2, 4, 5, 10, 50, 300, 1100, 1000, 16],
    ]
