from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from okbench.base.errors import UsageError
from okbench.datasets import load, missing
from okbench.datasets.embedded import BLOCK, STREAMS, embedded_names, load_embedded, stream_rows


@pytest.mark.parametrize("name", embedded_names())
def test_an_embedded_set_is_ready_to_learn(name: str) -> None:
    rows = load(name)
    assert isinstance(rows.X, np.ndarray)
    assert rows.X.dtype == np.float64
    assert rows.X.flags.c_contiguous
    assert np.isfinite(rows.X).all()
    assert np.abs(rows.X).max() <= 1.1
    assert len(rows.y) == rows.n_rows
    assert missing(name) is None
    if rows.task == "regression":
        assert rows.classes == ()
        assert np.isfinite(rows.y).all()
    else:
        assert set(rows.classes) == set(rows.y.tolist())


def test_digits_even_says_whether_the_digit_is_even() -> None:
    digits, even = load("digits"), load("digits-even")
    assert np.array_equal(even.y == 1, digits.y % 2 == 0)
    assert np.array_equal(even.X, digits.X)
    assert digits.X.max() == 1.0


def test_scaled_sets_fill_their_range() -> None:
    cancer, diabetes = load("breast-cancer"), load("diabetes")
    assert np.all(cancer.X.min(axis=0) == -1.0)
    assert np.all(cancer.X.max(axis=0) == 1.0)
    assert (diabetes.y.min(), diabetes.y.max()) == (0.0, 1.0)


@pytest.mark.parametrize("name", STREAMS)
def test_a_row_of_a_stream_does_not_depend_on_the_length_asked_for(name: str) -> None:
    long, labels = stream_rows(name, 2 * BLOCK + 100, seed=3)
    for start, rows in ((0, 7), (5, BLOCK), (BLOCK - 1, 2), (2 * BLOCK, 100)):
        X, y = stream_rows(name, rows, seed=3, start=start)
        assert np.array_equal(X, long[start : start + rows])
        assert np.array_equal(y, labels[start : start + rows])


def test_the_variant_of_a_stream_is_its_length_and_seed() -> None:
    assert load("spirals", "50").n_rows == 50
    assert load("spirals", "rows=50,seed=1").n_rows == 50
    assert load("spirals", "50").fingerprint != load("spirals", "rows=50,seed=1").fingerprint
    assert load("spirals", "seed=0").fingerprint == load("spirals").fingerprint
    assert load_embedded("spirals", "", {"rows": 20, "seed": 0}).n_rows == 20


@pytest.mark.parametrize("variant", ["many", "rows=0", "rows=-5", "rows=1e3", "colour=3", "9" * 12])
def test_a_variant_that_makes_no_sense_is_refused(variant: str) -> None:
    with pytest.raises(UsageError, match="spirals"):
        load("spirals", variant)


def test_a_set_without_variants_is_refused_one() -> None:
    with pytest.raises(UsageError, match="no variants"):
        load("digits", "50")


def test_the_hyperplane_drifts() -> None:
    X, y = stream_rows("hyperplane", 30_000)
    early = np.linalg.lstsq(X[:4000], y[:4000], rcond=None)[0]
    late = np.linalg.lstsq(X[-4000:], y[-4000:], rcond=None)[0]
    assert np.mean(np.sign(X[-4000:] @ late) == y[-4000:]) > 0.8
    assert np.mean(np.sign(X[-4000:] @ early) == y[-4000:]) < 0.7


def test_threads_share_one_copy() -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: load("friedman1", "3000"), range(16)))
    assert all(rows is loaded[0] for rows in loaded)


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match="Did you mean 'digits'"):
        load("digit")
