from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from okbench.base.errors import DataError
from okbench.datasets.readers import chunks as chunking
from okbench.datasets.readers.arff import read_arff
from okbench.datasets.readers.delimited import Layout, read_delimited, sniff_delimiter
from okbench.datasets.readers.missing import is_missing
from okbench.datasets.readers.table import ColumnTable

in_one_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(folder: Path, text: str | bytes, **layout: object) -> ColumnTable:
    path = folder / "table"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_delimited(path, Layout(**layout))  # type: ignore[arg-type]


def complaint(folder: Path, text: str | bytes, **layout: object) -> str:
    with pytest.raises(DataError) as caught:
        read(folder, text, **layout)
    return str(caught.value).removeprefix(f"{folder / 'table'}:")


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("1,2.5\n-3,4e1\n", {}),
        ("1, 2.5 \r\n -3 ,4e1", {}),
        ("\ufeff1;2.5\n\n-3;4e1\n", {"delimiter": ";"}),
        ("1\t2.5\n-3\t4e1\n", {"delimiter": "\t"}),
        (" 1  2.5 \n\t-3\t 4e1\n\n", {"delimiter": "whitespace"}),
        ("a,b\n1,2.5\n-3,4e1\n", {"header": True}),
        ('\n"a","b"\n1,2.5\n-3,4e1\n', {"header": None}),
        ("1,2.5\n-3,4e1\n", {"header": None}),
        ("% note\n1,2.5\n%\n-3,4e1\n", {"comment": "%"}),
        ("skipped\nas well\n1,2.5\n-3,4e1\n", {"skip": 2}),
        ("9,1,x,2.5\n9,-3,y,4e1\n", {"keep": (1, -1)}),
    ],
)
def test_ways_of_writing_the_same_table(
    tmp_path: Path, text: str, layout: dict[str, object]
) -> None:
    assert read(tmp_path, text, **layout).values.tolist() == [[1, 2.5], [-3, 40]]


def test_words_are_numbered_as_they_are_met(tmp_path: Path) -> None:
    table = read(tmp_path, 'kind,size\nred,1\n"dark ""blue"", light",2\nred,3\n', header=None)
    assert table.names == ("kind", "size")
    assert table.words == {0: ("red", 'dark "blue", light')}
    assert table.values.tolist() == [[0, 1], [1, 2], [0, 3]]


def test_a_column_of_numbers_can_be_asked_for_as_words(tmp_path: Path) -> None:
    table = read(tmp_path, "7,1\n07,2\n", words=(0,))
    assert table.words == {0: ("7", "07")}


@pytest.mark.parametrize("gap", ["", "?", "NA", "nan", " NaN ", "null"])
def test_missing_values_are_refused_or_kept(tmp_path: Path, gap: str) -> None:
    text = f"a,b\n1,2\n{gap},4\n"
    assert "column a has no value here" in complaint(tmp_path, text, header=True)
    assert complaint(tmp_path, text, header=True).startswith("3:")
    kept = read(tmp_path, text, header=True, missing=True)
    assert np.isnan(kept.values[1, 0])


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        ("1,2\n3\n", {}, "2:1: 1 fields in a table of 2 columns"),
        ("1,2\n3,4,5\n", {}, "2:5: more than 2 fields in a table of 2 columns"),
        ("1 2\n3 4 5\n", {"delimiter": "whitespace"}, "2:5: more than 2 fields"),
        (
            "1,2\n" * 600 + "3,four\n",
            {},
            "601:3: 'four' is no number; column 1 begins with numbers",
        ),
        ("1,2\n" * 600 + "inf,4\n", {}, "601:1: 'inf' is not finite"),
        ("1,2\n3,1e999\n", {}, "2:3: '1e999' is not finite"),
        ("1,2\n" * 600 + "3,1_0\n", {}, "601:3: '1_0' is no number"),
        ('1,2\n"3,4\n', {}, "2:1: a quote is opened and not closed on its line"),
        ("1,2\n" * 600 + "3,\x00\n", {}, "601:3: '\\x00' is no number"),
        ("", {}, " holds no rows"),
        ("\n \n", {}, " holds no rows"),
        ("a,b\n", {"header": True}, " holds no rows"),
        ("1,2\n", {"keep": ("size",)}, " no column size; the 2 columns are counted from 0"),
        (
            "size,b\n1,2\n",
            {"keep": ("sise",), "header": True},
            " no column 'sise'. Did you mean 'size'?",
        ),
        ("1,2\n", {"keep": (2,)}, " no column 2"),
    ],
)
def test_what_is_wrong_is_reported_with_its_place(
    tmp_path: Path, text: str, layout: dict[str, object], message: str
) -> None:
    assert complaint(tmp_path, text, **layout).startswith(message)


def test_places_are_right_beyond_the_first_chunk(tmp_path: Path) -> None:
    count = 2 * chunking.CHUNK_BYTES // 8
    assert complaint(tmp_path, "0.1,0.2\n" * count + "1\n").startswith(f"{count + 1}:1: 1 fields")
    assert read(tmp_path, "0.1,0.2\n" * count).values.shape == (count, 2)


@pytest.mark.parametrize(
    ("line", "mark"), [("1,2;3", ","), ("1;2", ";"), ("1\t2", "\t"), ("1  2", "whitespace")]
)
def test_the_delimiter_is_found(tmp_path: Path, line: str, mark: str) -> None:
    (tmp_path / "table").write_text(f"\n{line}\n", encoding="utf-8")
    assert sniff_delimiter(tmp_path / "table") == mark


def test_arff_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(
        "% iris\n@RELATION iris\n\n@ATTRIBUTE 'sepal length' REAL\n@attribute kind {a,'b c'}\n"
        "@attribute n integer\n@DATA\n% no\n5.1,'b c',1\n4.9,a,2\n",
        encoding="utf-8",
    )
    table = read_arff(path)
    assert table.names == ("sepal length", "kind", "n")
    assert table.words == {1: ("b c", "a")}
    assert table.values.tolist() == [[5.1, 0, 1], [4.9, 1, 2]]


def test_quoted_values_of_arff_may_hold_delimiters_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(
        "@attribute 'it\\'s' {'x,1', \"y, 2\", 'o\\'clock', NA}\n@attribute n numeric\n"
        "@attribute s string\n@data\n"
        "'x,1',1,'a, b'\n\"y, 2\",'2',a\n'o\\'clock', 3 ,'100\\% \"sure\"'\nNA,4,'say \\\\'\n",
        encoding="utf-8",
    )
    table = read_arff(path)
    assert table.names == ("it's", "n", "s")
    assert table.words == {
        0: ("x,1", "y, 2", "o'clock", "NA"),  # a declared value is a value, also this one
        2: ("a, b", "a", '100% "sure"', "say \\"),
    }
    assert table.values[:, 1].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("w,0,1", r":6:1: 'w' is not among the values that column b declares: x, y$"),
        ("x,7,1", r":6:3: '7' is not among the values that column y declares: 0, 1$"),
        ("x,0,one", r":6:5: 'one' is no number, and column n is declared as one"),
        ("NA,0,1", r":6:1: column b has no value here \('NA' is read as none\)"),
        ("'x,0,1", r":6:1: a quote is opened and not closed on its line"),
    ],
)
def test_values_that_an_arff_header_does_not_declare_are_refused(
    tmp_path: Path, row: str, message: str
) -> None:
    path = tmp_path / "rows.arff"
    head = "@attribute b {x, y}\n@attribute y {0,1}\n@attribute n real\n@data\n"
    path.write_text(f"{head}x,1,2\n{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_arff(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n", "no @data line"),
        ("@data\n1,2\n", "@data before any @attribute"),
        ("@attribute x\n@data\n1\n", ":1: an attribute without a name or a type"),
        ("@attribute x {a, b\n@data\na\n", ":1: the values of an attribute are written"),
        ("@attribute x real\n@data\n{0 1}\n", ":3: sparse ARFF"),
        ("@attribute x real\n@data\n1,2\n", ":3:3: more than 1 fields in a table of 1 columns"),
        ("@attribute x real\n@data\n", "holds no rows"),
    ],
)
def test_what_is_wrong_with_arff_is_reported(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_arff(path)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@in_one_folder
@given(
    st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=9
        )
    ),
    st.sampled_from([",", ";", "\t", "whitespace"]),
)
def test_numbers_written_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[float]], delimiter: str
) -> None:
    mark = " " if delimiter == "whitespace" else delimiter
    text = "\n".join(mark.join(map(repr, row)) for row in rows)
    table = read(tmp_path_factory.getbasetemp(), text, delimiter=delimiter)
    assert table.values.tobytes() == np.array(rows).tobytes()


words = st.text(
    st.characters(
        codec="utf-8", exclude_characters="\r\n\0\ufeff", exclude_categories=("Cs", "Zs", "Cc")
    ),
    min_size=1,
    max_size=6,
)


@in_one_folder
@given(
    st.lists(
        words.filter(lambda word: word.strip() == word and not is_missing(word)),
        min_size=1,
        max_size=9,
    )
)
def test_words_written_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, column: list[str]
) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [word, "1"] for word in column
    )
    table = read(tmp_path_factory.getbasetemp(), out.getvalue(), words=(0,))
    assert [table.words[0][int(code)] for code in table.values[:, 0]] == column


pieces = st.lists(
    st.sampled_from([b"1", b"-2.5", b",", b",", b"\n", b"\n", b'"', b" ", b"\r", b"a", b"?", b"nan",
                     b"\x00", b"\xff", b"1e400", b"\t", b"%", b""]),
    max_size=60,
).map(b"".join)  # fmt: skip


@in_one_folder
@given(
    st.binary(max_size=200) | pieces,
    st.sampled_from([",", ";", "\t", "whitespace"]),
    st.sampled_from([True, False, None]),
    st.booleans(),
    st.sampled_from(["", "%"]),
)
@example(b'"', ",", None, False, "")
@example(b"\x00,\x00\n", ",", False, False, "")
@example(b"1\n\x00", "whitespace", False, True, "")
def test_any_bytes_are_a_table_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory,
    raw: bytes,
    delimiter: str,
    header: bool | None,
    missing: bool,
    comment: str,
) -> None:
    layout = {"delimiter": delimiter, "header": header, "missing": missing, "comment": comment}
    try:
        table = read(tmp_path_factory.getbasetemp(), raw, **layout)
    except DataError:
        return
    assert table.values.ndim == 2
    assert missing or np.isfinite(table.values).all()
    for place, found in table.words.items():
        codes = table.values[:, place]
        assert set(codes) == set(range(len(found)))
