"""The training rows of a dataset dealt to folds, for a search by cross-validation.

Each fold is a variant of the dataset: the rows of `bkm fold 3/5` are those of `bkm` that the search
may see, with the third fifth of them as the test rows. The test rows of the dataset itself are in
no fold. Folds are stratified: each class is dealt out to them in turn, so that its numbers of rows
differ by one at most, as the sizes of the folds do. The rows of a fold stand in a random order, or
in that of the file where a table's rows do.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import UsageError
from okbench.base.permuted_rows import first_permuted
from okbench.datasets.dataset_types import Dataset
from okbench.trials.plan.planning import Load
from okbench.trials.plan.seeds import seeded_order

_VARIANT = re.compile(r"(?:(?P<own>.*) )?fold (?P<number>\d+)/(?P<count>\d+)")


@dataclass(frozen=True)
class Folds:
    """Loads folds of a random part of the training rows; the same for a seed and a `share`.
    Datasets named in `in_order` keep the order of the file.

    Of rows that are permuted before they are parted, `stream` is the seed: training rows are the
    first ones of the first permutation."""

    load: Load
    count: int
    share: float
    at_least: int
    seed: int
    in_order: tuple[str, ...] = ()
    stream: int | None = None

    def __call__(self, name: str, variant: str = "") -> Dataset:
        return _fold(self, name, variant)

    def check(self, name: str, variant: str) -> None:
        """Refuse folds that cannot be."""
        _dealt(self, name, variant)

    def variants(self, variant: str) -> tuple[str, ...]:
        """The variants that the folds of a variant are."""
        return tuple(
            f"{variant} fold {number}/{self.count}".strip() for number in range(1, self.count + 1)
        )


@lru_cache(maxsize=8)
def _fold(folds: Folds, name: str, variant: str) -> Dataset:
    found = _VARIANT.fullmatch(variant)
    if found is None:
        raise UsageError(f"{name}: '{variant}' names no fold")
    number = int(found["number"])
    whole, rows, fold_of = _dealt(folds, name, found["own"] or "")
    if name in folds.in_order:
        by_number = np.argsort(rows)
        rows, fold_of = rows[by_number], fold_of[by_number]
    apart = fold_of == number - 1
    order = np.concatenate([rows[~apart], rows[apart]])
    return replace(
        whole,
        X=whole.X[order],
        y=whole.y[order],
        fingerprint=f"{whole.fingerprint}/{len(rows)}/{folds.seed}/{number}of{folds.count}"
        + ("" if folds.stream is None else " of a stream"),
        orders=None,
        n_train=int(np.count_nonzero(~apart)),
    )


@lru_cache(maxsize=2)
def _dealt(
    folds: Folds, name: str, variant: str
) -> tuple[Dataset, NDArray[np.int64], NDArray[np.int64]]:
    """A dataset, the numbers of the rows that are searched on, and the fold of each, from 0."""
    whole = folds.load(name, variant)
    if not 0 < (whole.n_train or 0) < whole.n_rows:
        raise UsageError(f"{name} comes in one part, and a search by folds is on training rows")
    train = whole.n_train or 0
    first = np.arange(train)
    if folds.stream is not None:
        first = seeded_order(folds.stream, name, variant, 0, whole.n_rows)[:train]
    count = min(train, max(folds.at_least, math.ceil(folds.share * train)))
    if count < folds.count:
        raise UsageError(
            f"{name}: {folds.count} folds of {count} rows (of {train:,} training rows): a fold has "
            "one row or more. Search on a larger share of them (--subset), or by fewer folds"
        )
    generator = np.random.default_rng([folds.seed, train])
    rows = first[first_permuted(generator, train, count)].astype(np.int64)
    return whole, rows, _dealt_out(name, whole, whole.y[rows], folds.count)


def _dealt_out(name: str, whole: Dataset, y: NDArray[Any], folds: int) -> NDArray[np.int64]:
    """The fold of each row, class by class. A class that the learner of a fold would not meet is
    refused: of such a class, one fold has all rows."""
    fold_of = np.empty(len(y), dtype=np.int64)
    if whole.task == "regression":
        return np.arange(len(y)) % folds
    begin = 0
    for label in whole.classes:
        members = np.flatnonzero(y == label)
        if len(members) < 2:
            raise UsageError(
                f"{name}: class {label} has {len(members)} of the {len(y):,} rows searched on, so "
                f"that the other folds than its own leave it out. Search on a larger share of the "
                "training rows (--subset)"
            )
        fold_of[members] = (begin + np.arange(len(members))) % folds
        begin += len(members)
    return fold_of
