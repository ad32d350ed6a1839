"""Columns of words that hold identifiers, dates or numbers are refused before they become columns;
those that are made stay sparse."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError
from okbench.datasets.readers import files
from okbench.datasets.readers.multi_file_rows import FileRows
from okbench.datasets.user import column_limits
from okbench.datasets.user.fitted_scale import sample_scaling
from okbench.datasets.user.running_scale import Filling, filled_parts
from okbench.datasets.user.user_rows import read_user_rows as read

ROWS = 200


def written(folder: Path, **columns: Callable[[int], object]) -> Path:
    """A file with these columns before the class, each a function of the row."""
    path = folder / "rows.csv"
    lines = [",".join([*columns, "y"])]
    lines += [
        ",".join([*(f'"{of(row)}"' for of in columns.values()), str(row % 2)])
        for row in range(ROWS)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **{"target": "y"} | options)
    return str(caught.value)


def customers(folder: Path) -> Path:
    return written(
        folder,
        id=lambda row: f"C{row:04d}",
        day=lambda row: f"2024-{row % 4 + 1:02d}-{row % 20 + 1:02d}",
        when=lambda row: f"{row % 60 // 4}:{row % 60:02d}",
        price=lambda row: f"{row % 50 + 1},{row % 10}",
        income=lambda row: row % 90 if row % 7 else "-",
        plan=lambda row: "abc"[row % 3],
    )


def test_all_such_columns_are_named_in_one_message_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "rows_of_table", lambda *arguments: pytest.fail("rows are made"))
    path = customers(tmp_path)
    said = refusal(path).splitlines()
    assert said == [
        f"{path}: columns that cannot be used as they are:",
        "  'id' holds 200 different words in 200 rows, such as 'C0000'",
        "  'when' holds 60 different dates or times",
        "  'price' holds numbers in a spelling that is not read, such as '1,0'",
        "  'income' holds numbers, and words such as '-'",
        "For each of them, do one of these:",
        "  leave it out: --drop id,when,price,income",
        "  write its numbers as 1234.5 in the file, and leave missing ones empty",
        "  make a column of each of its values: --categorical id,when,price,income",
        "  hash all columns, which takes 'id', 'when': --hash 2^18, in okbench run and init",
    ]


def test_each_way_out_works(tmp_path: Path) -> None:
    path, all_four = customers(tmp_path), ["id", "when", "price", "income"]
    assert read(path, target="y", drop=all_four).dataset.X.shape == (ROWS, 20 + 3)
    taken = read(path, target="y", categorical=all_four).dataset
    assert taken.X.shape == (ROWS, 200 + 20 + 60 + 50 + 91 + 3)
    hashed = read(path, target="y", drop=["price", "income"], hash_to=64)
    assert hashed.dataset.X.shape == (ROWS, 64)


@pytest.mark.parametrize("number", ["1,5", "-12,25", "1.234,5", "12,000", "1'000", "€ 3,50", "7 %"])
def test_numbers_in_a_different_spelling_are_refused(tmp_path: Path, number: str) -> None:
    path = written(tmp_path, x=lambda row: number if row % 2 else 3, z=lambda row: row)
    assert f"'x' holds numbers in a spelling that is not read, such as {number!a}" in refusal(path)


def test_a_target_of_such_words_is_refused_unless_it_is_said_to_be_a_class(tmp_path: Path) -> None:
    path = customers(tmp_path)
    others = {"drop": ["when", "income"], "target": "id", "categorical": ["price"]}
    said = refusal(path, **others)
    assert "choose a target other than 'id' (--target)" in said
    assert "say that the target is a class (--task multiclass)" in said
    assert "--drop" not in said
    assert len(read(path, **others, task="multiclass").dataset.classes) == ROWS  # type: ignore[arg-type]


def test_what_a_file_declares_is_taken(tmp_path: Path) -> None:
    values = [f"v{number}" for number in range(150)]
    path = tmp_path / "rows.arff"
    head = f"@attribute a {{{','.join(values)}}}\n@attribute y {{0,1}}\n@data\n"
    path.write_text(head + "".join(f"{one},{n % 2}\n" for n, one in enumerate(values)))
    assert read(path).dataset.X.shape == (150, 150)


def test_there_are_limits_for_a_column_for_the_table_and_for_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, a=lambda row: f"a{row % 25}", b=lambda row: f"b{row % 28}", c=int)
    assert read(path, target="y").dataset.X.shape == (ROWS, 54)
    monkeypatch.setattr(column_limits, "machine_memory", lambda: 2 * 2 * ROWS * 54 * 8 - 1)
    assert read(path, target="y").dataset.n_rows == ROWS  # sparse
    said = refusal(path, scale="running standard")
    assert "200 rows × 54 columns take 86.4 kB, 173 kB while they are scaled" in said
    assert "--scale none" in said
    monkeypatch.setattr(column_limits, "MOST_COLUMNS", 52)
    assert "become 53 columns, and 52 are the most; leave some out (--drop)" in refusal(path)
    assert read(path, target="y", hash_to=16).dataset.X.shape == (ROWS, 16)
    monkeypatch.setattr(column_limits, "MOST_WORDS", 27)
    said = refusal(path, categorical=["b"], hash_to=16)
    assert "'b' holds 28 different words in 200 rows, and 27 are the most" in said
    assert re.findall("--[a-z]+", said) == ["--drop"]


def mixed(numbers: int) -> np.ndarray:
    """Columns of numbers, the first of them with gaps, then 200 columns of words."""
    rng = np.random.default_rng(numbers)
    X = np.zeros((3000, numbers + 200))
    X[:, :numbers] = rng.normal(7.0, 3.0, (3000, numbers))
    X[::5, numbers - 1] = 0.0
    X[np.arange(3000), numbers + rng.integers(0, 200, 3000)] = 1.0
    X[2::11, 0] = np.nan
    return X


@pytest.mark.parametrize("numbers", [1, 2, 5])
@pytest.mark.parametrize("scale", ["standard", "[0,1]"])
def test_words_stay_sparse_while_gaps_are_filled_and_scaled_to_the_same_bits(
    numbers: int, scale: str
) -> None:
    X, of_words = mixed(numbers), range(numbers, numbers + 200)
    whole = Filling(Path("rows")).fill(X)
    (part,) = filled_parts([FileRows(sp.csr_array(X), np.zeros(3000))], None)
    assert part.X.toarray().tobytes() == whole.tobytes()
    of_sparse = sample_scaling(Path("rows"), part.X, scale, of_words, filled=True)
    of_whole = sample_scaling(Path("rows"), whole, scale, of_words)
    assert of_sparse(part.X).toarray().tobytes() == of_whole(whole).tobytes()


def test_memory_does_not_grow_with_the_columns_of_words(tmp_path: Path) -> None:
    """Dense, these rows take 26 MB, and filling them took five times as much."""
    lines = [f"{'' if row % 50 == 3 else row},w{row % 1100},{row % 2}" for row in range(3000)]
    path = tmp_path / "rows.csv"
    path.write_text("a,word,y\n" + "\n".join(lines) + "\n", encoding="utf-8")

    def peak() -> int:
        tracemalloc.start()
        try:
            found = read(path, target="y", missing="mean", scale="standard")
            assert found.dataset.X.shape == (3000, 1101)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak()  # what is imported once
    assert peak() < 13e6
