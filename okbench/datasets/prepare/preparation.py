"""The steps between a file's rows and the rows a paper learned, in the order of `VariantSpec`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.base.shared_types import Task
from okbench.datasets.catalogue.specs import Label, Scale, Split, VariantSpec
from okbench.datasets.prepare.hashing import Collisions, hashed
from okbench.datasets.prepare.label_values import distinct_values
from okbench.datasets.readers.multi_file_rows import (
    Matrix,
    MultiFileRows,
    RowNumbers,
    distinct,
    in_order,
    values_at,
)

_DENSE_FROM = 1 / 3  # filled: below this, CSR costs less memory and less time in every learner
_SUMMARY_COLUMNS = 1000
_ALL_LISTED = 1 << 20  # columns: the ranges of so many are no memory to speak of
_LARGEST_FILLED = 64 << 30  # bytes of dense rows that a step may make of sparse ones
_WIDEST_FILLED = 1 << 23  # columns: a row and what scaling it takes are about 0.4 GB

FloatArray = NDArray[np.float64]
Step: TypeAlias = Callable[[Matrix], Matrix]  # what is done to a block of rows
Scaling: TypeAlias = Callable[[], Step]  # a new one for every pass over the rows, in their order


@dataclass(frozen=True)
class Ranges:
    """The least and greatest value of each column.

    Of sparse rows with far more columns than values only the columns that hold some are listed, in
    ascending `columns`, so that memory is in proportion to the values; every other column is 0.
    """

    width: int
    low: FloatArray
    high: FloatArray
    columns: NDArray[np.int32] | None = None  # those that are listed; None for all

    def summary(self) -> dict[str, Any]:
        """Overall, and column by column where there are few enough to be looked at."""
        beyond = 0.0 if len(self.low) < self.width else np.inf  # of columns that are not listed
        low, high = self.low.min(initial=beyond), self.high.max(initial=-beyond)
        overall = {"low": float(low), "high": float(high)}
        if self.width > _SUMMARY_COLUMNS:
            return overall
        return overall | {"lows": self.low.tolist(), "highs": self.high.tolist()}

    def places(self, columns: NDArray[np.int32]) -> NDArray[Any]:
        """Where the ranges of columns that hold values stand."""
        return columns if self.columns is None else np.searchsorted(self.columns, columns)

    def of_every_column(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest values of all columns, listed or not."""
        if self.columns is None:
            return self.low, self.high
        low, high = np.zeros(self.width), np.zeros(self.width)
        low[self.columns], high[self.columns] = self.low, self.high
        return low, high

    @classmethod
    def of(cls, source: MultiFileRows, rows: RowNumbers) -> Ranges:
        """Of the rows of those numbers."""
        columns = _listed_columns(source)
        n_listed = source.width if columns is None else len(columns)
        found = cls(source.width, np.full(n_listed, np.inf), np.full(n_listed, -np.inf), columns)
        stored = np.zeros(n_listed, dtype=np.int64)
        for block in source.blocks(rows):
            if isinstance(block, np.ndarray):
                np.minimum(found.low, block.min(axis=0), out=found.low)
                np.maximum(found.high, block.max(axis=0), out=found.high)
                stored += len(block)
            else:
                places = found.places(block.indices)
                np.minimum.at(found.low, places, block.data)
                np.maximum.at(found.high, places, block.data)
                np.add.at(stored, places, 1)
        not_everywhere = stored < len(rows)  # what is not stored is 0
        np.minimum(found.low, 0.0, out=found.low, where=not_everywhere)
        np.maximum(found.high, 0.0, out=found.high, where=not_everywhere)
        return found


def _listed_columns(source: MultiFileRows) -> NDArray[np.int32] | None:
    """The columns that hold values, where they are few among all; else None."""
    sparse = [part.X for part in source.parts if not isinstance(part.X, np.ndarray)]
    few_columns = source.width <= max(_ALL_LISTED, sum(X.nnz for X in sparse))
    if few_columns or len(sparse) < len(source.parts):
        return None
    return np.unique(np.concatenate([np.unique(X.indices) for X in sparse]))


@dataclass(frozen=True)
class Prepared:
    """The chosen rows, their labels, and what is to be done to each block of features."""

    source: MultiFileRows
    rows: RowNumbers
    y: NDArray[Any]
    task: Task
    classes: tuple[Any, ...]
    n_train: int | None
    scaling: Scaling
    before: Ranges
    sparse: bool
    collisions: Collisions | None = None  # of hashed columns

    @property
    def width(self) -> int:
        return self.collisions.into if self.collisions else self.source.width

    def blocks(self) -> Iterator[Matrix]:
        """The prepared features, in order, in the layout chosen."""
        scale = self.scaling()
        for block in self.source.blocks(self.rows, filled=not self.sparse):
            scaled = scale(block)
            if self.collisions:
                yield hashed(scaled, self.collisions.into)
            elif self.sparse:
                yield sp.csr_array(scaled)
            else:
                dense = scaled.toarray() if not isinstance(scaled, np.ndarray) else scaled
                yield np.ascontiguousarray(dense, dtype=np.float64)


def prepare(
    name: str, source: MultiFileRows, variant: VariantSpec, own: Scaling | None = None
) -> Prepared:
    """Choose rows, make labels and targets, find ranges and layout; nothing large is copied yet.
    Rows may have a scaling of their `own` in the place of the variant's."""
    rows: RowNumbers = distinct(source) if variant.distinct else range(source.n_rows)
    if variant.first is not None:
        rows = rows[: variant.first]
    n_train, learned = variant.train, rows
    if variant.split:
        n_train = variant.split.train
        shuffled = np.random.default_rng(variant.split.seed).permutation(len(rows))
        rows = shuffled if isinstance(rows, range) else rows[shuffled]
    elif n_train is not None:
        learned = rows[:n_train]
    if n_train is not None and not 0 < n_train < len(rows):
        raise DataError(f"{name}: {len(rows):,} rows cannot be split after {n_train:,}")
    if not len(rows):
        raise DataError(f"{name}: no rows are left to learn")
    y, classes = _labels(name, source.y, rows, variant)
    if variant.split and classes:
        _refuse_unlearned_class(name, y, classes, variant.split)
    if variant.scale == "[0,1] with target":
        y = _target_in_unit_range(name, source.y, y, learned)
    before = Ranges.of(source, in_order(learned))
    fills = not source.is_dense and (own is not None or not _keeps_zeros(variant.scale, before))
    if fills and own is None:
        _refuse_filling(source, len(rows), variant.scale)
    scaling = own or (lambda: partial(scaled_rows, scale=variant.scale, ranges=before))
    sparse = _stays_sparse(source, in_order(rows), scaling(), fills)
    collisions = None
    if variant.hash:
        blocks = source.blocks(in_order(rows))
        collisions = Collisions.of(map(own(), blocks) if own else blocks, variant.hash)
        sparse = True
    return Prepared(
        source, rows, y, variant.task, classes, n_train, scaling, before, sparse, collisions
    )


def _refuse_unlearned_class(
    name: str, y: NDArray[Any], classes: tuple[Any, ...], split: Split
) -> None:
    """Refuse a random split whose training part lacks a class, which no learner could learn."""
    learned = set(np.unique(y[: split.train]).tolist())
    for label in classes:
        if label not in learned:
            raise DataError(
                f"{name}: the split with seed {split.seed} after {split.train:,} rows leaves class "
                f"{label} out of the training part; choose another seed or more training rows"
            )


def _labels(
    name: str, raw: NDArray[Any], rows: RowNumbers, variant: VariantSpec
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    y = values_at(raw, rows)
    if variant.above is not None and variant.task != "regression":
        y = np.where(y > variant.above, 1, -1)
    elif variant.labels:
        y = _relabelled(name, y, variant.labels)
    if variant.task == "regression":
        if y.dtype.kind not in "fiu":
            raise DataError(
                f"{name}: the target holds words ('{y[0]}'), and regression needs numbers; if they "
                "are classes, the task is binary or multiclass (--task)"
            )
        return y.astype(np.float64, copy=False), ()
    return _labels_of(name, y, variant.task)


def _labels_of(name: str, y: NDArray[Any], task: Task) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Labels as integers where they are, and the classes in sorted order."""
    labels = distinct_values(y)
    if y.dtype.kind == "f" and np.all((labels == np.floor(labels)) & (np.abs(labels) < 2**53)):
        y, labels = y.astype(np.int64), labels.astype(np.int64)
    classes = tuple(labels.tolist())
    if len(classes) < 2:
        raise DataError(f"{name}: every row has the label {classes[0]!r}; two classes are needed")
    if task == "binary" and len(classes) > 2:
        first = ", ".join(map(str, classes[:8]))
        raise DataError(
            f"{name}: the target has {len(classes):,} different values ({first}, …), and the task "
            "binary has two classes; if they are amounts, the task is regression, otherwise "
            "multiclass (--task)"
        )
    return y, classes


def _relabelled(name: str, y: NDArray[Any], labels: Mapping[str, Label]) -> NDArray[Any]:
    """Labels by a map from how they are written; 'rest' stands for all others, else they stay."""
    found, codes = np.unique(y, return_inverse=True)
    written = [_written(label) for label in found.tolist()]
    others = labels.get("rest")
    absent = labels.keys() - set(written) - {"rest"}
    if len(absent) == len(labels.keys() - {"rest"}) > 0:
        present = ", ".join(written[:8])
        raise DataError(
            f"{name}: no row has a label of the map ({', '.join(absent)}); there are: {present}"
        )
    kept = [others if others is not None else label for label in found.tolist()]
    new = np.array([labels.get(word, stays) for word, stays in zip(written, kept, strict=True)])
    return np.asarray(new[codes.reshape(-1)])


def _written(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label == int(label) else str(label)


def _target_in_unit_range(
    name: str, raw: NDArray[Any], y: FloatArray, learned: RowNumbers
) -> FloatArray:
    part = values_at(raw, learned)
    low, high = float(part.min()), float(part.max())
    if low == high:
        raise DataError(f"{name}: every target is {low:g}; there is nothing to learn")
    return (y - low) / (high - low)


def scaled_rows(block: Matrix, scale: Scale, ranges: Ranges) -> Matrix:
    """A block of rows scaled; a column that never changes becomes 0."""
    match scale:
        case "none":
            return block
        case "/255":
            return block / 255.0
        case "unit norm":
            return _unit_norm(block)
    if not isinstance(block, np.ndarray) and _keeps_zeros(scale, ranges):
        places = ranges.places(block.indices)
        span = (ranges.high - ranges.low)[places]
        scaled = block.copy()
        scaled.data = np.where(span > 0.0, block.data / np.where(span > 0.0, span, 1.0), 0.0)
        scaled.eliminate_zeros()
        return scaled
    low, high = ranges.of_every_column()
    span = high - low
    varies = span > 0.0
    safe = np.where(varies, span, 1.0)
    dense = block if isinstance(block, np.ndarray) else block.toarray()
    unit = (dense - low) / safe
    if scale == "[-1,1]":
        # the formula of svm-scale, operation by operation
        unit = 2.0 * (dense - low) / safe - 1.0
    return np.where(varies, unit, 0.0)


def _unit_norm(block: Matrix) -> Matrix:
    if isinstance(block, np.ndarray):
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        return block / np.where(norms > 0.0, norms, 1.0)[:, None]
    row = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))
    norms = np.sqrt(np.bincount(row, weights=block.data**2, minlength=block.shape[0]))
    scaled = block.copy()
    scaled.data = block.data / norms[row]
    return scaled


def _keeps_zeros(scale: Scale, ranges: Ranges) -> bool:
    """Whether a scaling leaves every 0 where it is."""
    if scale in ("none", "/255", "unit norm"):
        return True
    moved = (ranges.low != 0.0) & (ranges.high > ranges.low)
    return scale != "[-1,1]" and not moved.any()


def _refuse_filling(source: MultiFileRows, n_rows: int, scale: Scale) -> None:
    size = n_rows * source.width
    if size * 8 > _LARGEST_FILLED or source.width > _WIDEST_FILLED:
        raise DataError(
            f"scaling to {scale} fills {n_rows:,} × {source.width:,} sparse rows "
            f"({size / 2**27:.1f} GB); {_LARGEST_FILLED >> 30} GB and {_WIDEST_FILLED:,} columns "
            "are the most; use 'none' or 'unit norm'"
        )


def _stays_sparse(source: MultiFileRows, rows: RowNumbers, scale: Step, fills: bool) -> bool:
    """Whether few enough of the prepared values are other than 0."""
    size, filled = len(rows) * source.width, 0
    for block in source.blocks(rows, filled=fills):
        scaled = scale(block)
        filled += int(np.count_nonzero(scaled)) if isinstance(scaled, np.ndarray) else scaled.nnz
        if filled >= _DENSE_FROM * size:
            return False
    return True
