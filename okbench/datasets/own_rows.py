"""A person's own rows: CSV, LIBSVM text, ARFF, .npy, .npz or Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.datasets.fingerprint import fingerprint
from okbench.datasets.joined import Joined, Part
from okbench.datasets.nouns import Dataset, Task
from okbench.datasets.prepare import prepare
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.table import Column, Table
from okbench.datasets.running import RunningScale, filled, scaled_running
from okbench.datasets.specs import ReaderSpec, VariantSpec
from okbench.errors import DataError, UsageError, did_you_mean

Missing = Literal["refuse", "mean"]

MOST_GUESSED_CLASSES = 20
_LIBSVM_LINE = re.compile(rb"\s*[-+]?[\d.]\S*(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


@dataclass(frozen=True)
class OwnRows:
    """Rows, and what had to be guessed about them, for a person to read."""

    dataset: Dataset
    notes: tuple[str, ...]
    reader: ReaderSpec | None  # how an entry of a datasets file would read them; None if it cannot


def read(
    path: Path | str,
    target: Column | None = None,
    task: Task | None = None,
    *,
    name: str = "",
    categorical: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: Missing = "refuse",
    scale: RunningScale = "none",
) -> OwnRows:
    """Read rows of any known format.

    `target` is a column's name or place (the last one if not told); `task` is guessed from the
    target. Columns of words become a column a word. `missing` values are refused, or take the
    mean of the rows before. A `scale` is learned from each row and those before it, in the file's
    order, so that no row looks ahead.
    """
    path = Path(path)
    _check(path, task, missing, scale)
    found = _read(path, target, categorical, drop, missing)
    notes = list(found.notes)
    task = task or _guessed_task(found.part.y, notes)
    variant = VariantSpec("all", (), task=task)
    X, y = found.part.X, found.part.y
    if missing == "mean":
        X = filled(path, X)
    if scale != "none":
        X = scaled_running(path, X, scale)
    ready = prepare(str(path), Joined([Part(X, y, path.name)]), variant)
    blocks = list(ready.blocks())
    X = sp.csr_array(sp.vstack(blocks, "csr")) if ready.sparse else np.concatenate(blocks)
    name = name or path.name
    made = Dataset(name, X, ready.y, task, ready.classes, fingerprint(X, ready.y, ready.classes))
    return OwnRows(made, tuple(notes), found.reader if missing == "refuse" else None)


def _check(path: Path, task: str | None, missing: str, scale: str) -> None:
    for what, given, known in (
        ("task", task, get_args(Task)),
        ("way with missing values", missing, get_args(Missing)),
        ("scale", scale, get_args(RunningScale)),
    ):
        if given is not None and given not in known:
            hint = did_you_mean(given, known)
            raise UsageError(f"no {what} '{given}'.{hint}  (one of {', '.join(known)})")
    if not path.is_file():
        raise DataError(f"{path}: no such file")


@dataclass(frozen=True)
class _Found:
    part: Part
    notes: tuple[str, ...]
    reader: ReaderSpec | None


def _read(
    path: Path,
    target: Column | None,
    categorical: Sequence[Column],
    drop: Sequence[Column],
    missing: Missing,
) -> _Found:
    kind = _format(path)
    if kind in ("libsvm", "npz") and (target is not None or categorical or drop):
        raise UsageError(f"{path}: columns cannot be chosen in a {kind} file")
    if kind == "libsvm":
        return _read_libsvm(path)
    if kind == "npz":
        return _read_npz(path)
    wanted = (*categorical, *drop, *([] if target is None else [target]))
    header = True if any(map(_is_name, wanted)) else None
    table, reader = _read_table(path, kind, categorical, missing, header)
    notes = []
    if target is None:
        target = -1
        notes.append(
            f"target: {_named(table, table.width - 1)} (the last one; --target says otherwise)"
        )
    place = table.place(target)
    dropped = {table.place(column) for column in drop}
    words = sorted(set(table.words) - {place} - dropped)
    if words:
        told = ", ".join(
            f"{_named(table, column)} ({len(table.words[column])})" for column in words
        )
        notes.append(f"columns of words, one column a value: {told}")
    _refuse_empty(table, place, dropped)
    from okbench.datasets.readers.files import part_of, words_in_order

    reader = replace(
        reader,
        target=_settled(table, place),
        drop=tuple(_settled(table, column) for column in sorted(dropped)),
        categorical=tuple(_settled(table, column) for column in words),
    )
    vocabulary = {column: words_in_order(table.words[column]) for column in words}
    part = part_of(table, reader, vocabulary)
    if part.X.shape[1] == 0:
        raise DataError(f"{path}: no column is left beside the target")
    return _Found(part, tuple(notes), reader if kind in ("csv", "arff", "npy") else None)


def _is_name(column: Column) -> bool:
    """Whether a column is asked for by a name, so that there must be a header."""
    return isinstance(column, str) and not column.lstrip("-").isdecimal()


def _settled(table: Table, place: int) -> Column:
    return table.names[place] if table.header else place


def _named(table: Table, place: int) -> str:
    return f"'{table.names[place]}'" if table.names else f"column {place}"


def _format(path: Path) -> str:
    names = [suffix.lower() for suffix in path.suffixes]
    while names and names[-1] in (".gz", ".bz2", ".xz", ".z"):
        names.pop()
    suffix = names[-1] if names else ""
    known = {".npy": "npy", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet", ".arff": "arff"}
    if suffix in known:
        return known[suffix]
    chunk = next(chunks(path), None)
    lines = [line for line in chunk.raw[:65536].split(b"\n") if line.strip()] if chunk else []
    rows = [line for line in lines[:5] if not line.lstrip().startswith(b"#")]
    return "libsvm" if any(map(_LIBSVM_LINE.fullmatch, rows)) else "csv"


def _read_libsvm(path: Path) -> _Found:
    from okbench.datasets.readers.libsvm import read_libsvm

    rows = read_libsvm(path, index_base=None)
    note = f"LIBSVM text of {rows.X.shape[1]} columns, counted from {rows.index_base}"
    reader = ReaderSpec("libsvm", index_base=rows.index_base)
    return _Found(Part(rows.X, rows.y, path.name), (note,), reader)


def _read_npz(path: Path) -> _Found:
    try:
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"{path}: not a .npz file that can be read ({error})") from error
    if not {"X", "y"} <= arrays.keys():
        raise DataError(
            f"{path}: arrays X and y are needed; it holds {', '.join(arrays) or 'none'}"
        )
    X, y = np.asarray(arrays["X"]), np.asarray(arrays["y"]).ravel()
    if X.ndim != 2 or X.dtype.kind not in "biuf" or len(X) != len(y):
        raise DataError(f"{path}: X {X.shape} and y {y.shape} are not rows with a label each")
    return _Found(Part(_finite(path, X), y, path.name), (), None)


def _finite(path: Path, values: NDArray[Any]) -> NDArray[np.float64]:
    found = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0].tolist()
        raise DataError(f"{path}: row {row}, column {column} is not a finite number")
    return found


def _read_table(
    path: Path,
    kind: str,
    categorical: Sequence[Column],
    missing: Missing,
    header: bool | None,
) -> tuple[Table, ReaderSpec]:
    from okbench.datasets.readers.arff import read_arff
    from okbench.datasets.readers.delimited import Layout, read_delimited, sniff_delimiter

    gaps = missing == "mean"
    if kind == "arff":
        return read_arff(path, missing=gaps), ReaderSpec("arff")
    if kind == "npy":
        try:
            values = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"{path}: not a .npy file that can be read ({error})") from error
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise DataError(
                f"{path}: a table of numbers is needed, not {values.dtype} {values.shape}"
            )
        return Table(path, (), _finite(path, values)), ReaderSpec("npy")
    if kind == "parquet":
        return _read_parquet(path, missing), ReaderSpec("csv")
    delimiter = sniff_delimiter(path)
    layout = Layout(delimiter, header=header, words=tuple(categorical), missing=gaps)
    table = read_delimited(path, layout)
    return table, ReaderSpec("csv", header=table.header, delimiter=delimiter)


def _read_parquet(path: Path, missing: Missing) -> Table:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    try:
        frame = pyarrow.parquet.read_table(path).to_pandas()
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not a Parquet file that can be read ({error})") from error
    values = np.empty(frame.shape)
    words: dict[int, tuple[str, ...]] = {}
    for place, name in enumerate(frame.columns):
        column = frame[name]
        if column.dtype.kind in "biuf":
            values[:, place] = column.to_numpy(dtype=np.float64)
        else:
            codes, found = column.factorize()
            values[:, place], words[place] = codes, tuple(map(str, found))
        gaps = np.flatnonzero(column.isna().to_numpy() | np.isinf(values[:, place]))
        if len(gaps) and (missing == "refuse" or place in words):
            raise DataError(f"{path}: row {gaps[0]}, column '{name}' has no finite value")
    return Table(path, tuple(map(str, frame.columns)), values, words, header=True)


def _refuse_empty(table: Table, target: int, dropped: set[int]) -> None:
    """Columns without any value, and rows without a target, cannot be filled."""
    absent = np.isnan(table.values)
    for column in np.flatnonzero(absent.all(axis=0)).tolist():
        if column not in dropped:
            raise DataError(
                f"{table.path}: every value of {_named(table, column)} is missing; drop it"
            )
    if absent[:, target].any():
        row = int(np.argmax(absent[:, target]))
        raise DataError(f"{table.path}: row {row} has no {_named(table, target)}, the target")


def _guessed_task(y: NDArray[Any], notes: list[str]) -> Task:
    distinct = np.unique(y)
    words = y.dtype.kind not in "fiub"
    whole = words or bool(np.all(distinct == np.floor(distinct)))
    if whole and len(distinct) <= (len(y) if words else MOST_GUESSED_CLASSES):
        task = "binary" if len(distinct) <= 2 else "multiclass"
        labels = [str(label) if words else f"{label:g}" for label in distinct[:8]]
        told = ", ".join(labels) + (", …" if len(distinct) > 8 else "")
        notes.append(f"task: {task}, from {len(distinct)} labels ({told}); --task says otherwise")
    else:
        task = "regression"
        notes.append(
            f"task: regression, from {len(distinct):,} different targets; --task says otherwise"
        )
    return cast(Task, task)


def add(
    path: Path | str, name: str, target: Column | None = None, task: Task | None = None
) -> OwnRows:
    """Read rows once to check them, and enter them under `name` in the person's datasets file."""
    from okbench.datasets.own_entry import enter

    found = read(path, target, task, name=name)
    if found.reader is None:
        raise UsageError(
            f"{path}: only CSV, LIBSVM, ARFF and .npy files can be added; convert it first"
        )
    enter(Path(path).absolute(), name, found.dataset, found.reader)
    return found
