"""User-defined rows: CSV, LIBSVM text, ARFF, .npy, .npz or Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError, UsageError, did_you_mean
from okbench.base.shared_types import Task
from okbench.datasets.catalogue.specs import Format, ReaderSpec, VariantSpec
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.prepare.label_values import distinct_values
from okbench.datasets.prepare.preparation import Scaling, prepare
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.multi_file_rows import FileRows, Matrix, MultiFileRows
from okbench.datasets.readers.numpy_files import read_npy, read_npz
from okbench.datasets.readers.table import Column, ColumnTable, is_place
from okbench.datasets.user.column_limits import refuse_beyond_memory, refuse_unfit_words
from okbench.datasets.user.fitted_scale import is_sparse, range_warnings, sample_scaling
from okbench.datasets.user.running_scale import (
    RunningScale,
    columns_with_gaps,
    filled_parts,
    refuse_filling,
)
from okbench.papers.rows_file import Missing, RowsScale
from okbench.papers.table_types import RowsFile
from okbench.protocols.metrics import LARGEST_TARGET

Scale = RowsScale | Literal["", "running"]
# an empty scale is fitted on a sample, and `running` looks at the rows before; both leave rows that
# are mostly zero as they are
_CHOSEN: dict[str, RowsScale] = {"": "standard", "running": "running standard"}
_MOST_GUESSED_CLASSES = 20
_MOST_COUNTED = 1 << 20  # different targets
_LIBSVM_LINE = re.compile(rb"\s*[-+]?[\d.]\S*(\s+qid:\d+)?(\s+-?\d+:[^\s,;]+)+\s*(#.*)?")


@dataclass(frozen=True)
class UserRows:
    """Rows, and notes for the user on what had to be guessed about them."""

    dataset: Dataset
    notes: tuple[str, ...]
    reader: ReaderSpec | None  # how an entry of a datasets file would read them; None if it cannot
    scale: RowsScale = "none"  # the one that was chosen


@dataclass(frozen=True)
class OnDisk:
    """Where rows stay that are read: as `arrays`, and what is made of those in `folder`."""

    arrays: DiskArrays | None = None
    folder: Path | None = None


@dataclass(frozen=True)
class OwnRows:
    """The rows of a file as they were read, and how they are prepared."""

    part: FileRows
    variant: VariantSpec
    scale: RowsScale
    scaling: Scaling
    notes: tuple[str, ...]
    reader: ReaderSpec | None
    names: tuple[str, ...]  # of the columns, if the file has names
    fills: bool  # scaling makes dense rows of sparse ones


def read_user_rows(
    path: Path | str,
    target: Column | None = None,
    task: Task | None = None,
    *,
    name: str = "",
    categorical: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: Missing = "refuse",
    scale: Scale = "none",
    hash_to: int = 0,
) -> UserRows:
    """Read rows of any known format into memory.

    `target` is a column's name or place (without it, the last one); `task` is guessed from the
    target. Columns of words become one column per word. `missing` values are refused, or take the
    mean of the rows before, and in a column of words they are a word. A `scale` is fitted on a
    sample of the rows; a running one is learned from each row and those before it, in the file's
    order, so that no row depends on later ones. At the end, the columns are hashed to as many as
    `hash_to` says, if it does.
    """
    path = Path(path)
    own = own_rows(
        path, target, task, categorical=categorical, drop=drop, missing=missing, scale=scale,
        hash_to=hash_to,
    )  # fmt: skip
    refuse_beyond_memory(path, own.part.X, own.fills)
    X, y = own.scaling()(own.part.X), own.part.y
    notes = [*own.notes, *range_warnings(X, own.names, own.scale, path.name)]
    ready = prepare(str(path), MultiFileRows([FileRows(X, y, path.name)]), own.variant)
    notes += [ready.collisions.words] if ready.collisions else []
    blocks = list(ready.blocks())
    X = sp.csr_array(sp.vstack(blocks, "csr")) if ready.sparse else np.concatenate(blocks)
    made = Dataset(
        name or path.name, X, ready.y, ready.task, ready.classes,
        fingerprint(X, ready.y, ready.classes),
    )  # fmt: skip
    return UserRows(made, tuple(notes), own.reader, own.scale)


def own_rows(
    path: Path,
    target: Column | None,
    task: Task | None,
    *,
    categorical: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: Missing = "refuse",
    scale: Scale = "none",
    hash_to: int = 0,
    on_disk: OnDisk = OnDisk(),
) -> OwnRows:
    """The same before anything is scaled, hashed or copied. What is read stays `on_disk`."""
    _check_options(path, task, missing, scale)
    filling = missing == "mean"
    asked = _Columns(target, task, tuple(categorical), tuple(drop), filling, hash_to > 0)
    found = _read(path, asked, on_disk)
    notes, part = list(found.notes), found.part
    task = task or guessed_task(part.y, notes)
    if task == "regression":
        _refuse_large_targets(path, part.y)
    if part.X.shape[1] == 0:
        raise DataError(f"{path}: no column is left beside the target")
    filled = filling and len(columns_with_gaps(part.X)) > 0
    if filled:
        (part,) = filled_parts([part], on_disk.folder)
    chosen = cast(RowsScale, scale)
    if scale in _CHOSEN:
        chosen = "none" if is_sparse(part.X) and not filled else _CHOSEN[scale]
    fills = chosen.startswith("running") or (chosen != "none" and not found.of_words)
    return OwnRows(
        part, VariantSpec("all", (), task=task, hash=hash_to), chosen,
        _scaling(path, part.X, chosen, found.of_words, filled), tuple(notes), found.reader,
        found.names, fills and not isinstance(part.X, np.ndarray),
    )  # fmt: skip


def _scaling(
    path: Path, X: Matrix, scale: RowsScale, of_words: Sequence[int], filled: bool
) -> Scaling:
    if scale == "none":
        return lambda: lambda block: block
    if scale.startswith("running"):
        if not isinstance(X, np.ndarray):
            refuse_filling(path, *X.shape)
        return lambda: RunningScale(path, scale)
    scaled = sample_scaling(path, X, scale, of_words, filled)
    return lambda: scaled


def as_read(file: RowsFile, found: UserRows) -> RowsFile:
    """The file with what was chosen for it as it was read."""
    return replace(file, task=found.dataset.task, scale=found.scale)


def _check_options(path: Path, task: str | None, missing: str, scale: str) -> None:
    for what, given, known in (
        ("task", task, get_args(Task)),
        ("way with missing values", missing, get_args(Missing)),
        ("scale", scale, (*get_args(RowsScale), *_CHOSEN)),
    ):
        if given is not None and given not in known:
            hint = did_you_mean(given, known)
            raise UsageError(
                f"no {what} '{given}'.{hint}  (one of {', '.join(filter(None, known))})"
            )
    try:
        if not path.is_file():
            raise DataError(f"{path}: {'not a file of rows' if path.exists() else 'no such file'}")
        str(path).encode()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeEncodeError as error:
        raise DataError(f"{str(path)!a}: a name that is not UTF-8; rename the file") from error


@dataclass(frozen=True)
class _Columns:
    """What is asked of the columns of a table."""

    target: Column | None
    task: Task | None
    categorical: tuple[Column, ...]
    drop: tuple[Column, ...]
    filled: bool
    hashed: bool

    @property
    def label(self) -> Column:
        """The target: the last column, if none is named."""
        return -1 if self.target is None else self.target

    @property
    def named(self) -> tuple[Column, ...]:
        return (*self.categorical, *self.drop, *([] if self.target is None else [self.target]))


@dataclass(frozen=True)
class _Found:
    part: FileRows
    notes: tuple[str, ...]
    reader: ReaderSpec | None
    names: tuple[str, ...] = ()  # of the columns of X, if the file has names
    of_words: tuple[int, ...] = ()  # columns of X that stand for words


def _read(path: Path, asked: _Columns, on_disk: OnDisk) -> _Found:
    kind = file_format(path)
    if kind in ("libsvm", "npz") and asked.named:
        raise UsageError(f"{path}: columns cannot be chosen in a {kind} file")
    if kind == "libsvm":
        return _read_libsvm(path, on_disk)
    if kind == "npz":
        X, y = read_npz(path, missing=asked.filled)
        return _Found(FileRows(X, y, path.name), (), None)
    table, reader = _read_table(path, kind, asked, on_disk)
    notes = []
    if asked.target is None:
        notes.append(
            f"target: {table.named(table.width - 1)} (the last one; --target overrides it)"
        )
    place = table.place(asked.label)
    dropped = {table.place(column) for column in asked.drop}
    kept = [column for column in range(table.width) if column not in {place, *dropped}]
    words = [column for column in kept if column in table.words]
    categories = table.nominal | {table.place(column) for column in asked.categorical}
    if asked.task in ("binary", "multiclass"):
        categories |= {place}
    refuse_unfit_words(table, kept, place, categories, asked.hashed)
    if words:
        counts = ", ".join(
            f"{table.named(column)} ({len(table.words[column])})" for column in words
        )
        notes.append(f"columns of words, one column per value: {counts}")
    _refuse_empty_columns(table, kept)
    from okbench.datasets.readers.files import rows_of_table, words_in_order

    reader = replace(
        reader,
        target=table.reference(place),
        drop=tuple(map(table.reference, sorted(dropped))),
        categorical=tuple(map(table.reference, words)),
    )
    vocabulary = {column: words_in_order(table.words[column]) for column in words}
    part = rows_of_table(table, reader, vocabulary, folder=on_disk.folder)
    spread = [(column, word) for column in kept for word in vocabulary.get(column, ("",))]
    return _Found(
        part,
        tuple(notes),
        replace(reader, filled=asked.filled),
        tuple(f"{table.names[column]}{word and '='}{word}" for column, word in spread)
        if table.names
        else (),
        tuple(place for place, (column, _) in enumerate(spread) if column in vocabulary),
    )


def file_format(path: Path) -> str:
    """The format of a file of rows, by its name or else by its first lines."""
    names = [suffix.lower() for suffix in path.suffixes]
    while names and names[-1] in (".gz", ".bz2", ".xz"):
        names.pop()
    suffix = names[-1] if names else ""
    known = {".npy": "npy", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet", ".arff": "arff"}
    known |= dict.fromkeys((".svm", ".libsvm", ".svmlight"), "libsvm")
    if suffix in known:
        return known[suffix]
    chunk = next(chunks(path), None)
    if chunk and b"\0" in chunk.raw:
        raise DataError(f"{path}: not plain text; if it is UTF-16, save it as UTF-8")
    lines = [line for line in chunk.raw.split(b"\n") if line.strip()] if chunk else []
    rows = [line for line in lines[:5] if not line.lstrip().startswith(b"#")]
    return "libsvm" if any(map(_LIBSVM_LINE.fullmatch, rows)) else "csv"


def _read_libsvm(path: Path, on_disk: OnDisk) -> _Found:
    from okbench.datasets.readers.libsvm import read_libsvm

    rows = read_libsvm(path, index_base=None, arrays=on_disk.arrays)
    columns = "1 column" if rows.X.shape[1] == 1 else f"{rows.X.shape[1]} columns"
    note = f"LIBSVM text of {columns}, counted from {rows.index_base}"
    reader = ReaderSpec("libsvm", index_base=rows.index_base)
    return _Found(FileRows(rows.X, rows.y, path.name), (note,), reader)


def _read_table(
    path: Path, kind: str, asked: _Columns, on_disk: OnDisk
) -> tuple[ColumnTable, ReaderSpec]:
    from okbench.datasets.readers.arff import read_arff
    from okbench.datasets.readers.delimited import Layout, read_delimited, sniff_delimiter
    from okbench.datasets.readers.parquet import read_parquet

    how: dict[str, Any] = {
        "missing": asked.filled, "drop": asked.drop, "target": asked.label,
    }  # fmt: skip
    if kind != "csv":
        match kind:
            case "arff":
                table = read_arff(path, **how, arrays=on_disk.arrays)
            case "parquet":
                table = read_parquet(path, **how, named=asked.named, arrays=on_disk.arrays)
            case _:
                table = read_npy(path, **how)
        return table.with_words(asked.categorical, on_disk.folder), ReaderSpec(cast(Format, kind))
    header = None if all(map(is_place, asked.named)) else True
    layout = Layout(
        sniff_delimiter(path), header=header, words=asked.categorical, named=asked.named, **how
    )
    table = read_delimited(path, layout, on_disk.arrays)
    return table, ReaderSpec("csv", header=table.header, delimiter=layout.delimiter)


def _refuse_empty_columns(table: ColumnTable, kept: Sequence[int]) -> None:
    """Columns without any value cannot be filled."""
    empty = np.ones(table.width, dtype=np.bool_)
    for _, block in table.blocks():
        empty &= np.isnan(block).all(axis=0)
    for column in kept:
        if empty[column]:
            raise DataError(
                f"{table.path}: every value of {table.named(column)} is missing; leave the column "
                "out (--drop)"
            )


def _refuse_large_targets(path: Path, y: NDArray[Any]) -> None:
    """Targets whose squared errors are beyond what a metric can hold cannot be scored."""
    largest = max(float(y.max()), -float(y.min())) if y.dtype.kind in "fiu" else 0.0
    if largest > LARGEST_TARGET:
        raise DataError(
            f"{path}: targets reach {largest:.2g}, and the squares of their errors are too large "
            f"for a number; divide them, so that they are below {LARGEST_TARGET:.0e}"
        )


def guessed_task(y: NDArray[Any], notes: list[str]) -> Task:
    """The task that labels suggest; a note says why."""
    words = y.dtype.kind not in "fiub"
    distinct = distinct_values(y, None if words else _MOST_COUNTED)
    whole = words or bool(np.all(distinct == np.floor(distinct)))
    if whole and len(distinct) <= (len(y) if words else _MOST_GUESSED_CLASSES):
        task = "binary" if len(distinct) <= 2 else "multiclass"
        labels = [str(label) if words else f"{label:g}" for label in distinct[:8]]
        first = ", ".join(labels) + (", …" if len(distinct) > 8 else "")
        amounts = (
            "" if words or task == "binary" else "if they are amounts, add --task regression; "
        )
        notes.append(
            f"task: {task}, from {len(distinct)} labels ({first}); {amounts}--task overrides it"
        )
    else:
        task = "regression"
        many = len(distinct) > _MOST_COUNTED
        counted = f"more than {_MOST_COUNTED:,}" if many else f"{len(distinct):,}"
        notes.append(f"task: regression, from {counted} different targets; --task overrides it")
    return cast(Task, task)
