from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from okbench.base.errors import DataError
from okbench.datasets.readers import chunks as chunking
from okbench.datasets.readers.libsvm import LabelledRows, read_libsvm

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder: Path, text: str | bytes, **options: int | None) -> LabelledRows:
    path = folder / "rows"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_libsvm(path, **options)


def complaint(folder: Path, text: str | bytes, **options: int | None) -> str:
    with pytest.raises(DataError) as caught:
        read(folder, text, **options)
    return str(caught.value).removeprefix(f"{folder / 'rows'}:")


def test_rows_are_read(tmp_path: Path) -> None:
    rows = read(tmp_path, "+1 1:0.5 3:-2e1\n-1 2:.25\n")
    assert rows.X.toarray().tolist() == [[0.5, 0, -20], [0, 0.25, 0]]
    assert rows.y.tolist() == [1, -1]
    assert rows.X.indices.dtype == np.int32
    assert rows.X.indptr.dtype == np.int32
    assert rows.X.has_canonical_format


@pytest.mark.parametrize(
    "text",
    [
        "1 1:2 2:3\n-1 2:4\n",
        "1 1:2 2:3\r\n-1 2:4\r\n",
        "\ufeff1 1:2 2:3\n-1 2:4",
        "# a comment 5:5\n\n1 1:2 2:3 # 7:7\n   \n\t-1\t2:4 \n\n",
        "1 qid:12 1:2 2:3\n-1 qid:3 2:4\n",
        "1 2:3 1:2\n-1 1:0 2:4\n",
        "1.0 1:2.000 2:3\n-1e0 2:4.#end\n",
        "1 1:+2 2:3\n-1 1:-0 2:4",
    ],
)
def test_ways_of_writing_the_same_rows(tmp_path: Path, text: str) -> None:
    rows = read(tmp_path, text)
    assert rows.X.toarray().tolist() == [[2, 3], [0, 4]]
    assert rows.y.tolist() == [1, -1]
    assert rows.X.nnz == 3


@pytest.mark.parametrize(
    "pack", [bytes, bz2.compress, gzip.compress, lzma.compress], ids=["plain", "bz2", "gz", "xz"]
)
def test_packed_files_are_read(tmp_path: Path, pack: object) -> None:
    assert read(tmp_path, pack(b"1 1:2\n2 1:3\n")).X.toarray().tolist() == [[2], [3]]  # type: ignore[operator]


def test_a_packed_file_cut_short_is_reported(tmp_path: Path) -> None:
    assert "cannot be unpacked" in complaint(tmp_path, gzip.compress(b"1 1:2\n" * 5000)[:-20])


def test_the_width_is_the_highest_index_or_the_one_given(tmp_path: Path) -> None:
    assert read(tmp_path, "1 3:0\n").X.shape == (1, 3)
    assert read(tmp_path, "1 3:1\n", width=10).X.shape == (1, 10)
    assert read(tmp_path, "1\n2\n").X.shape == (2, 0)


def test_the_first_index_is_given_or_found(tmp_path: Path) -> None:
    assert read(tmp_path, "1 0:5 1:6\n", index_base=0).X.toarray().tolist() == [[5, 6]]
    found = read(tmp_path, "1 2:5\n1 0:6\n", index_base=None)
    assert (found.index_base, found.X.shape) == (0, (2, 3))
    found = read(tmp_path, "1 2:5\n1 1:6\n", index_base=None, width=2)
    assert (found.index_base, found.X.toarray().tolist()) == (1, [[0, 5], [6, 0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 1:nan\n", "2:5: 'nan' is read as no value; leave the pair out"),
        ("1 1:-inf\n", "1:5: the value '-inf' is not finite"),
        ("nan 1:2\n", "1:1: 'nan' is read as no value; delete the rows"),
        ("1 1:1e999\n", "1:5: '1e999' is not finite, or larger"),
        ("1 -1:2\n", "1:3: '-1:2': an index cannot be negative"),
        ("1 1099511627776:2\n", "1:3: index '1099511627776' is above 2,147,483,646"),
        (f"1 {'9' * 40}:2\n", f"1:3: index '{'9' * 40}' is above"),
        ("1 a:2\n", "1:3: 'a:2' is no index:value pair"),
        ("1 1:2 3\n", "1:7: '3' is no index:value pair"),
        ("1 1:two\n", "1:5: the value 'two' is no number"),
        ("1 1:\n", "1:3: the value '1:' is no number"),
        ("1 1: 2\n", "1:3: the value '1:' is no number"),
        ("yes 1:2\n", "1:1: the label 'yes' is no number"),
        ("1,2 1:2\n", "1:2: ',2' follows a number; rows with several labels are not read"),
        ("1 1:2;3\n", "1:6: ';3' follows a number"),
        ("1 1:2\n\n# x\n1 2:1 2:3\n", "4:7: index '2' is given twice"),
        ("1 5:1 2:3 5:2\n", "1:11: index '5' is given twice"),
        ("1 1:2\n1 0:2\n", "2:3: index '0' in a file whose first index is 1"),
        ("1 1:2\x00\n", "1:6: '\\x00' is no index:value pair"),
        ("1 1:2\n\x00\x00\n", "2:1: the label '\\x00\\x00' is no number"),
        ("", " holds no rows"),
        ("# nothing\n\n", " holds no rows"),
        ("1:2 2:3\n", "1:2: ':2' follows a number"),
        ("1 1:2 qid:3 2:3\n", "1:7: 'qid:3' is no index:value pair"),
        ("1 1:1_0\n", "1:6: '_0' follows a number"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert complaint(tmp_path, text).startswith(message)


def test_an_index_outside_the_width_is_reported(tmp_path: Path) -> None:
    message = complaint(tmp_path, "1 3:1\n1 1:1 4:1\n", width=3)
    assert message == "2:7: index '4' in rows of 3 columns"
    assert "outside the 3 columns" in complaint(tmp_path, "1 0:1 3:1\n", width=3, index_base=None)


def test_places_are_right_beyond_the_first_chunk(tmp_path: Path) -> None:
    line = "1 1:0.25 2:0.5\n"
    count = 3 * chunking.CHUNK_BYTES // len(line)
    assert complaint(tmp_path, line * count + "1 1:x\n").startswith(f"{count + 1}:5: the value 'x'")


def test_a_line_without_end_is_refused_before_memory_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunking, "LONGEST_LINE", 2 << 20)
    assert "1: the line is longer than 2 MB" in complaint(
        tmp_path, b"1 1:2\n" + b"1" * (3 << 20)
    ).replace("2:", "1:")


def test_a_missing_file_and_a_folder_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_libsvm(tmp_path / "nothing")
    with pytest.raises(DataError, match="cannot be read"):
        read_libsvm(tmp_path)


def test_an_unsorted_row_of_many_entries_is_sorted(tmp_path: Path) -> None:
    entries = " ".join(f"{index}:{index}" for index in range(200_000, 0, -1))
    rows = read(tmp_path, f"1 {entries}\n")
    assert np.array_equal(rows.X.indices, np.arange(200_000))
    assert np.array_equal(rows.X.data, np.arange(1, 200_001))


values = st.floats(allow_nan=False, allow_infinity=False)
row = st.tuples(values, st.dictionaries(st.integers(0, 30), values, max_size=8))


@in_one_folder
@given(st.lists(row, min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list, random: object
) -> None:  # type: ignore[type-arg]
    lines, dense = [], np.zeros((len(rows), 31))
    for number, (label, entries) in enumerate(rows):
        shuffled = list(entries.items())
        random.shuffle(shuffled)  # type: ignore[attr-defined]
        lines.append(" ".join([repr(label), *(f"{i + 1}:{v!r}" for i, v in shuffled)]))
        for index, value in entries.items():
            dense[number, index] = value
    found = read(tmp_path_factory.getbasetemp(), "\n".join(lines), width=31)
    assert np.array_equal(found.X.toarray(), dense)
    assert found.y.tobytes() == np.array([label for label, _ in rows]).tobytes()


pieces = st.lists(
    st.sampled_from([b"1", b"-1", b" ", b"\n", b":", b"1:2", b"2:3.5", b"#", b"qid:1", b"\r", b"\t",
                     b"e5", b".", b"nan", b"\x00", b"\xff", b"0:1", b"99999999999:1", b"1e309"]),
    max_size=60,
).map(b"".join)  # fmt: skip


@in_one_folder
@given(st.binary(max_size=300) | pieces)
@example(b"1 1:1e400")
@example(b"BZh91AY")
@example(b"\x1f\x8b")
@example(b"\x1f\x9d\x90")
def test_any_bytes_are_rows_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    try:
        rows = read(tmp_path_factory.getbasetemp(), raw, index_base=None)
    except DataError:
        pass
    else:
        assert isinstance(rows.X, sp.csr_array)
        assert np.isfinite(rows.X.data).all()
        assert np.isfinite(rows.y).all()
        assert rows.X.shape[0] == len(rows.y) > 0
        rows.X.check_format()
