"""What is found of labels a block at a time is what NumPy finds of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from okbench.base.permuted_rows import first_permuted
from okbench.datasets import dataset_types
from okbench.datasets.dataset_types import fingerprint
from okbench.datasets.prepare import label_values
from okbench.datasets.prepare.label_values import (
    distinct_values,
    largest_class,
    squared_deviations,
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_values, "_BLOCK", 7)
    monkeypatch.setattr(label_values, "_SUMMED", 11)
    monkeypatch.setattr(dataset_types, "_LABELS", 7)


def labels(kind: str) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    return {
        "numbers": rng.integers(-3, 40, 100),
        "reals": rng.normal(size=100),
        "words": np.array(["no", "yes", "perhaps"])[rng.integers(0, 3, 100)],
        "sorted": np.sort(rng.integers(0, 9, 100)),
        "one": np.ones(100),
        "few": np.array([2.0]),
    }[kind]


@pytest.mark.parametrize("kind", ["numbers", "reals", "words", "sorted", "one", "few"])
def test_values_and_counts(kind: str) -> None:
    y = labels(kind)
    found, counts = np.unique(y, return_counts=True)
    assert np.array_equal(distinct_values(y), found)
    assert largest_class(y) == counts.max()
    if kind != "words":
        assert squared_deviations(y) == pytest.approx(np.square(y - y.mean()).sum(), rel=1e-12)


def test_no_more_values_are_listed_than_asked() -> None:
    y = labels("reals")
    assert len(distinct_values(y, 30)) == 31
    assert np.array_equal(distinct_values(y, 100), np.sort(y))
    assert np.array_equal(distinct_values(labels("one"), 1), [1.0])


@pytest.mark.parametrize("kind", ["numbers", "reals", "words"])
def test_a_fingerprint_does_not_show_how_labels_were_cut(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = np.ones((100, 1)), labels(kind)
    in_pieces = fingerprint(X, y, ())
    monkeypatch.setattr(dataset_types, "_LABELS", 1_000)
    assert fingerprint(X, y, ()) == in_pieces


@pytest.mark.parametrize("n_rows", [1, 2, 999, 1_000, 100_003])
@pytest.mark.parametrize("count", [1, 1_000])
def test_rows_are_drawn_as_the_first_of_a_permutation(n_rows: int, count: int) -> None:
    """So that samples stay those of earlier versions, which drew the permutation."""
    expected = np.random.default_rng([5, n_rows]).permutation(n_rows)[:count]
    drawn = first_permuted(np.random.default_rng([5, n_rows]), n_rows, count)
    assert np.array_equal(drawn, expected)
    assert drawn.dtype == np.int64
