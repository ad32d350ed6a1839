from __future__ import annotations

import pytest

from okbench.papers.table_types import PrintedCell
from okbench.reports.numbers import (
    encodable,
    in_ascii,
    like_paper,
    mean_and_std,
    seconds,
    signed,
)
from okbench.reports.tables.cells import Cell


@pytest.mark.parametrize(
    ("metric", "mean", "std", "words"),
    [
        ("mistake_rate", 29.4812, 0.51, "29.48 ± 0.51"),
        ("accuracy", 99.996, None, "100.00"),
        ("exceedance", 47.4538, 11.897, "47.45 ± 11.90"),
        ("exceedance", 0.0, 0.0, "0.00 ± 0.00"),
        ("exceedance", 0.00012079, 0.00038197, "0.00012 ± 0.00038"),
        ("exceedance", 4.639e-14, None, "4.639e-14"),
        ("mean_squared_loss", 0.040174, 0.000431, "0.04017 ± 0.00043"),
        ("mean_squared_loss", 0.124251, 0.00048, "0.12425 ± 0.00048"),
        ("mean_squared_loss", 0.0, 0.0, "0.0000 ± 0.0000"),
        ("mean_squared_loss", 0.000123456, 0.00001, "0.0001235 ± 0.0000100"),
        ("rmse", 3.14159, 0.2, "3.1416 ± 0.2000"),
        ("rmse", 12345.678, 9.9, "12346 ± 10"),
        ("mean_squared_loss", 1.5e300, None, "1.500e+300"),
        ("mean_squared_loss", 1.5e-30, None, "1.500e-30"),
    ],
)
def test_means_are_rounded_as_tables_do(
    metric: str, mean: float, std: float | None, words: str
) -> None:
    assert mean_and_std(metric, mean, std) == words


@pytest.mark.parametrize(
    ("difference", "words"), [(1.234, "+1.23"), (-0.5, "−0.50"), (-0.001, "0.00"), (0.0, "0.00")]
)
def test_differences_carry_their_sign_unless_they_round_to_nothing(
    difference: float, words: str
) -> None:
    assert signed("mistake_rate", difference, 20.0) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0448, "0.0448"), (1.0, "1.00"), (59.96, "60.0"), (1549.5, "1550"), (0.0, "0.00")],
)
def test_seconds_have_three_digits_or_all_before_the_point(value: float, words: str) -> None:
    assert seconds(value) == words


def test_stand_ins_are_used_only_where_needed() -> None:
    assert encodable("1 ± 2", None)
    assert encodable("1 ± 2", "latin-1")
    assert not encodable("−1 ± 2", "latin-1")
    assert in_ascii("−1 ± 2 …") == "-1 +/- 2 ..."
    assert in_ascii("exp(−D ε² / 2)") == "exp(-D eps^2 / 2)"
    assert in_ascii("RRF-ℓ1, χ², λ, é") == "RRF-l1, chi^2, lambda, e"


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("35.2 % ± 0.9", "1234.6 ± 0.5"),
        ("1,234.56 ± 1,000.5", "1234.57 ± 0.5"),
        ("0.320", "1234.567 ± 0.500"),
        ("1.2e-3 ± 4e-5", "1234.57 ± 0.50"),
    ],
)
def test_our_digits_are_as_many_as_the_paper_s(printed: str, words: str) -> None:
    there = PrintedCell("rows", "A", 1.0, 1.0, text=printed)
    cell = Cell("rows", "A", "mistake_rate", (1234.067, 1234.567, 1235.067), 3, printed=there)
    assert like_paper(cell, 1234.567) == words
