"""Scaling by a sample against a plain rendering, and the warnings about columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError
from okbench.datasets.user.fitted_scale import (
    SAMPLE,
    is_sparse,
    range_warnings,
    sample_of,
    sample_scaling,
)
from okbench.datasets.user.user_rows import read_user_rows

HERE = Path("rows.csv")


def scaled_by_sample(X: Any, scale: str, of_words: tuple[int, ...] = ()) -> Any:
    return sample_scaling(HERE, X, scale, of_words)(X)


def rows(n_rows: int) -> np.ndarray:
    return np.random.default_rng(n_rows).normal([5.0, -2.0, 0.0], [3.0, 0.1, 0.0], (n_rows, 3))


def test_the_sample_is_a_part_of_the_rows_without_repetition() -> None:
    assert sorted(sample_of(7)) == list(range(7))
    chosen = sample_of(5 * SAMPLE)
    assert len(set(chosen.tolist())) == SAMPLE
    assert chosen.max() >= SAMPLE  # not the first rows, which may be sorted by class
    assert (chosen == sample_of(5 * SAMPLE)).all()


@pytest.mark.parametrize("n_rows", [2, 400, 3000])
def test_columns_are_scaled_by_the_sample(n_rows: int) -> None:
    X = rows(n_rows)
    part = X[sample_of(n_rows)]
    spread = np.where(part.std(axis=0) > 0, part.std(axis=0), 1.0)
    standard = scaled_by_sample(X, "standard")
    np.testing.assert_allclose(standard, (X - part.mean(axis=0)) / spread)
    low, high = part.min(axis=0), part.max(axis=0)
    unit = scaled_by_sample(X, "[0,1]")
    np.testing.assert_allclose(unit, (X - low) / np.where(high > low, high - low, 1.0))


def test_columns_of_words_stay_as_they_are() -> None:
    X = rows(50)
    X[:, 1] = np.arange(50) % 2
    expected = scaled_by_sample(X, "standard")
    expected[:, 1] = X[:, 1]
    mixed = scaled_by_sample(sp.csr_array(X), "standard", (1,))
    np.testing.assert_allclose(mixed.toarray(), expected)


def test_a_scale_is_not_fitted_on_rows_that_are_mostly_zero() -> None:
    assert is_sparse(sp.csr_array(np.eye(10)))
    assert not is_sparse(sp.csr_array(np.ones((10, 10))))
    assert not is_sparse(np.eye(10))


def test_sums_that_overflow_are_refused() -> None:
    with pytest.raises(DataError, match="too large"):
        scaled_by_sample(np.array([[1e200], [-1e200]]), "standard")


def test_a_column_that_decides_the_distance_is_named() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    assert range_warnings(X, "abcd", "none", "rows") == []
    (warning,) = range_warnings(X * [1, 1, 1, 1e4], "abcd", "none", "rows")
    assert "'d' varies 1" in warning
    assert "--scale standard" in warning
    (warning,) = range_warnings(sp.csr_array(X * [1, 1, 1, 1e4]), (), "none", "rows")
    assert "column 3 varies" in warning


def test_a_heavy_tail_is_named_after_scaling_too() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[7, 0] = 900.0
    X[:, 1] = np.exp(3 * X[:, 1])
    X[8, 1] = 1e9
    chosen = scaled_by_sample(X, "standard")
    if 7 in sample_of(300):  # all rows are in the sample: the outlier widens its own deviation
        assert range_warnings(chosen, "ab", "standard", "rows") == []
    long = np.vstack([np.random.default_rng(1).normal(size=(5000, 2)), [[900.0, 0.0]]])
    assert 5000 not in sample_of(5001)
    (warning,) = range_warnings(scaled_by_sample(long, "standard"), "ab", "standard", "")
    assert "'a' has values more than 30 standard deviations from the mean" in warning


def test_rare_words_are_no_outliers() -> None:
    X = np.zeros((2000, 2))
    X[:, 0] = np.arange(2000) % 7
    X[3, 1] = 1.0
    assert range_warnings(X, "ab", "standard", "rows") == []


def test_sparse_columns_are_judged_where_the_sample_holds_enough_of_their_values() -> None:
    draw = np.random.default_rng(0)
    X = sp.csr_array((draw.random((3000, 50)) + 1.0) * (draw.random((3000, 50)) < 0.5))
    assert range_warnings(X, (), "none", "rows") == []
    outside = np.setdiff1d(np.arange(3000), sample_of(3000))[0]
    X[outside, 7] = 900.0
    (warning,) = range_warnings(X, (), "none", "rows")
    assert "column 7 has values more than 30" in warning
    seldom = sp.csr_array((np.arange(1.0, 3001.0), (np.arange(3000), np.arange(3000) // 3)))
    assert not any("column 0 has" in line for line in range_warnings(seldom, (), "none", "rows"))


def test_the_chosen_scale_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n" + "".join(f"{n},{n * n},{n % 2}\n" for n in range(30)))
    assert read_user_rows(path, scale="").scale == "standard"
    assert read_user_rows(path, scale="running").scale == "running standard"
    assert read_user_rows(path).scale == "none"
    path.write_text("".join(f"{n % 2} {n + 1}:1 40:1\n" for n in range(30)))
    assert read_user_rows(path, scale="").scale == "none"
