"""Missing values are the same in every format, in numbers, words and targets; the advice works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from okbench.base.errors import DataError
from okbench.datasets.readers.missing import MISSING_WORDS
from okbench.datasets.user.user_rows import UserRows
from okbench.datasets.user.user_rows import read_user_rows as read

COLUMNS = ("n", "word", "y")
ROWS = [("1", "a", "no"), ("2", "b", "yes"), ("3", "a", "no"), ("4", "b", "yes")]


def written(folder: Path, kind: str, rows: list[tuple[str, ...]]) -> Path:
    path = folder / f"rows.{kind}"
    lines = [",".join(row) for row in rows]
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        numbers = [float(row[0]) if row[0] in "1234" and row[0] else None for row in rows]
        columns = [numbers, [row[1] or None for row in rows], [row[2] or None for row in rows]]
        pq.write_table(pa.table(dict(zip(COLUMNS, columns, strict=True))), path)
        return path
    head = ["@attribute n numeric", "@attribute word string", "@attribute y {no,yes}", "@data"]
    head = head if kind == "arff" else [",".join(COLUMNS)]
    path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")
    return path


def with_gap(column: int, word: str, row: int = 2) -> list[tuple[str, ...]]:
    changed = list(ROWS[row])
    changed[column] = word
    return [*ROWS[:row], tuple(changed), *ROWS[row + 1 :]]


def shape(found: UserRows) -> tuple[int, ...]:
    return tuple(found.dataset.X.shape)


def test_the_words_are_those_of_pandas_and_of_arff() -> None:
    parsers = pytest.importorskip("pandas._libs.parsers")
    assert {*parsers.STR_NA_VALUES, "?"} == MISSING_WORDS


@pytest.mark.parametrize("gap", ["", "?", "NA", "NULL", "None", "nan"])
@pytest.mark.parametrize("kind", ["csv", "arff", "parquet"])
def test_a_gap_is_refused_and_both_ways_out_work(tmp_path: Path, kind: str, gap: str) -> None:
    place = {"csv": "rows.csv:4:", "arff": "rows.arff:7:", "parquet": "rows.parquet: row 2: "}[kind]
    for column in (0, 1):
        path = written(tmp_path, kind, with_gap(column, gap))
        with pytest.raises(DataError) as caught:
            read(path)
        assert place in str(caught.value)
        assert "has no value here" in str(caught.value)
        assert "leave the column out (--drop)" in str(caught.value)
        assert "(--missing mean" in str(caught.value)
        assert shape(read(path, drop=[COLUMNS[column]])) == (4, 2 - column)
        filled = read(path, missing="mean")  # a missing word is a column of its own
        assert shape(filled) == (4, 3 + column)


@pytest.mark.parametrize("gap", ["", "?", "NA", "None"])
@pytest.mark.parametrize("kind", ["csv", "arff", "parquet"])
def test_a_target_is_never_missing(tmp_path: Path, kind: str, gap: str) -> None:
    """The labels NA and None would else be classes."""
    path = written(tmp_path, kind, with_gap(2, gap))
    for missing in ("refuse", "mean"):
        with pytest.raises(DataError) as caught:
            read(path, target="y", missing=missing)  # type: ignore[arg-type]
        assert "y" in str(caught.value)
        assert "the target, has no value here" in str(caught.value)
        assert "choose a different target (--target)" in str(caught.value)
        assert "--drop" not in str(caught.value)
    assert shape(read(path, target="n", drop=["y"])) == (4, 2)
    deleted = written(tmp_path, kind, [row for row in with_gap(2, gap) if row[2] != gap])
    assert read(deleted).dataset.classes == ("no", "yes")


def test_all_spellings_of_a_missing_word_are_one_value(tmp_path: Path) -> None:
    lines = [f"{word},{row},{row % 2}" for row, word in enumerate(["a", "?", "NA", "", "None"])]
    path = tmp_path / "rows.csv"
    path.write_text("word,n,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = np.asarray(read(path, missing="mean").dataset.X)
    assert found[:, :2].tolist() == [[0, 1], [1, 0], [1, 0], [1, 0], [1, 0]]


def test_columns_left_out_may_hold_anything(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n % 2},,{n}\n" for n in range(600)) + "600,x,y,1e999\n"
    path = tmp_path / "rows.csv"
    path.write_text("a,y,c,d\n" + rows.replace("600,x", "600,1"), encoding="utf-8")
    assert shape(read(path, target="y", drop=["c", "d"])) == (601, 1)
    np.save(tmp_path / "rows.npy", [[1, np.nan, 0], [2, np.inf, 1], [3, 1, 0]])
    assert shape(read(tmp_path / "rows.npy", drop=[1])) == (3, 1)
