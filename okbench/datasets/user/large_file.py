"""A user's large file of rows: it is read once, in pieces, into the array cache and mapped from
there. Scaling is fitted on a sample and applied to the rows that are handed over."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import DataError, UsageError
from okbench.base.shared_types import Task
from okbench.datasets.catalogue.entries import parse_catalogue
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.prepare import prepared_files
from okbench.datasets.prepare.loading import prepared_rows
from okbench.datasets.prepare.prepared_files import About
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.damage import refusing_damage
from okbench.datasets.readers.table import Column, place_of
from okbench.datasets.user.fitted_scale import sample_of
from okbench.datasets.user.user_entry import reader_entry
from okbench.datasets.user.user_rows import UserRows, file_format, guessed_task, read_user_rows
from okbench.papers.rows_file import Missing, RowsScale
from okbench.papers.table_types import RowsFile

LARGE = 256_000_000  # bytes of a text, or of the numbers of a Parquet file
_HEAD = 4_000_000  # bytes by which the columns of a large text are judged
_BATCH = 1 << 15  # rows of a Parquet file at a time
_PACKED = 4  # bytes of text for a byte of a packed file, about


class ScaledRows:
    """Rows that are scaled when they are handed over; on the disk they stay as they were read."""

    def __init__(self, X: Any, shift: NDArray[np.float64], spread: NDArray[np.float64]) -> None:
        self._X, self._shift, self._spread = X, shift, spread
        self.shape, self.dtype = X.shape, X.dtype

    def __getitem__(self, rows: Any) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = (self._X[rows] - self._shift) / self._spread
        return scaled


@dataclass(frozen=True)
class LargeRows:
    """Rows mapped from disk, and how they are handed over."""

    dataset: Dataset
    scale: RowsScale
    notes: tuple[str, ...]

    def handed_over(self) -> Dataset:
        """The rows with their scale applied as they are read."""
        if self.scale == "none":
            return self.dataset
        X = self.dataset.X
        part = X[np.sort(sample_of(X.shape[0]))]
        if self.scale == "standard":
            shift, spread = part.mean(axis=0), part.std(axis=0)
        else:
            shift = part.min(axis=0)
            spread = part.max(axis=0) - shift
        spread = np.where(spread > 1e-12 * np.abs(shift), spread, 1.0)
        flags = ((part == 0.0) | (part == 1.0)).all(axis=0)
        shift[flags], spread[flags] = 0.0, 1.0
        return replace(self.dataset, X=cast(Any, ScaledRows(X, shift, spread)))


def is_large(path: Path) -> bool:
    """Whether a file is too large to be read as a whole."""
    if not path.is_file():
        return False
    kind = file_format(path)
    if kind == "parquet":
        about = _parquet(path).metadata
        return bool(about.num_rows * about.num_columns * 8 >= LARGE)
    packed = path.suffix.lower() in (".gz", ".bz2", ".xz")
    return kind in ("csv", "libsvm") and path.stat().st_size * (_PACKED if packed else 1) >= LARGE


def read_large(file: RowsFile) -> LargeRows:
    """The rows of a large file, in bounded memory: read once, and mapped from then on."""
    if file.missing == "mean":
        raise UsageError(
            f"{file.path}: --missing mean holds the whole file in memory, and files of"
            f" {LARGE / 1e6:.0f} MB or more are read in pieces; fill the values in first"
        )
    if file.scale.startswith("running"):
        raise UsageError(
            f"{file.path}: a scale by the rows before each holds the whole file in memory; files"
            f" of {LARGE / 1e6:.0f} MB or more take --scale none, standard or unit"
        )
    read = _read_parquet if file_format(file.path) == "parquet" else _read_text
    dataset, notes = read(file)
    sparse = not isinstance(dataset.X, np.ndarray)
    scale = "none" if sparse else file.scale or "standard"
    return LargeRows(dataset, cast(RowsScale, scale), notes)


def _read_text(file: RowsFile) -> tuple[Dataset, tuple[str, ...]]:
    """CSV and LIBSVM text. Columns of words and the task are known from the head of the file."""
    head = _read_head(file)
    assert head.reader is not None
    notes = (*head.notes, f"{file.path.name}: read in pieces, and kept in the array cache")
    name = file.path.name
    entry = {
        "task": head.dataset.task,
        "files": {
            "all": {
                "name": name,
                "path": str(file.path.absolute()),
                "reader": reader_entry(head.reader),
            }
        },
    }
    text = json.dumps({"datasets": {name: entry}}, ensure_ascii=False)
    spec = parse_catalogue(parse_yaml(text, str(file.path)), user_defined=True).datasets[name]
    variant = replace(spec.variants["all"], classes=0)
    return prepared_rows(spec, variant).dataset, notes


def _read_head(file: RowsFile) -> UserRows:
    with tempfile.TemporaryDirectory() as folder:
        suffix = ".csv" if file_format(file.path) == "csv" else ".libsvm"
        head = Path(folder) / f"{file.path.name.partition('.')[0]}{suffix}"
        with head.open("wb") as out:
            for chunk in chunks(file.path):
                out.write(chunk.raw)
                if out.tell() >= _HEAD:
                    break
        try:
            return read_user_rows(
                head, file.target, cast("Task | None", file.task),
                categorical=file.categorical, drop=file.drop,
                missing=cast(Missing, file.missing),
            )  # fmt: skip
        except (DataError, UsageError) as error:
            raise type(error)(str(error).replace(str(head), str(file.path))) from error


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    with refusing_damage(path, "Parquet"):
        return pyarrow.parquet.ParquetFile(path)


def _read_parquet(file: RowsFile) -> tuple[Dataset, tuple[str, ...]]:
    """Parquet, a batch of rows at a time; its features must be numbers."""
    path, state = file.path, file.path.stat()
    if file.categorical:
        raise UsageError(f"{path}: --categorical holds the whole file in memory; drop the column")
    names = tuple(map(str, _parquet(path).schema_arrow.names))

    def place(column: Column) -> int:
        return place_of(path, column, names, len(names))

    target = place(-1 if file.target is None else file.target)
    kept = [n for n in range(len(names)) if n not in {target, *map(place, file.drop)}]
    if not kept:
        raise DataError(f"{path}: no column is left beside the target")
    told = [path.absolute(), state.st_size, state.st_mtime_ns, target, kept, file.task]
    key = hashlib.sha256(repr(told).encode()).hexdigest()[:20]
    notes: list[str] = [f"{path.name}: read in pieces, and kept in the array cache"]

    def make(folder: Path, unfinished: Path) -> About:
        labels: list[NDArray[Any]] = []
        blocks = _batches(path, names, kept, target, labels)
        with refusing_damage(path, "Parquet"):
            prepared_files.write_features(folder, blocks, len(kept), sparse=False)
        y = np.concatenate(labels)
        task = file.task or guessed_task(y, [])
        if task == "regression":
            y, classes = y.astype(np.float64), ()
        else:
            whole = y.dtype.kind == "f" and bool(np.all(y == np.floor(y)))
            y = y.astype(np.int64) if whole else y
            classes = tuple(np.unique(y).tolist())
        prepared_files.write_array(folder / "labels.npy", y)
        X = prepared_files.read_features(folder, len(kept))
        mark = fingerprint(X, y, classes)
        return About(str(task), list(classes), mark, None, len(kept), {}, {}, {})

    dataset = prepared_files.find_or_make(path.name, key, make).dataset
    if file.task is None:
        guessed_task(dataset.y, notes)
    return dataset, tuple(notes)


def _batches(
    path: Path,
    names: Sequence[str],
    kept: Sequence[int],
    target: int,
    labels: list[NDArray[Any]],
) -> Iterator[NDArray[np.float64]]:
    """The features of one batch after the other; the labels of each go to `labels`."""
    done = 0
    for batch in _parquet(path).iter_batches(_BATCH):
        values = np.empty((batch.num_rows, len(kept)))
        for number, column in enumerate(kept):
            try:
                values[:, number] = batch.column(column).to_numpy(zero_copy_only=False)
            except (TypeError, ValueError):
                raise DataError(
                    f"{path}: column '{names[column]}' does not hold numbers alone; drop it, or"
                    " write it as numbers"
                ) from None
        bad = ~np.isfinite(values)
        if bad.any():
            row, number = np.argwhere(bad)[0]
            name = names[kept[int(number)]]
            raise DataError(f"{path}: row {done + row}, column '{name}' has no finite value")
        labels.append(np.asarray(batch.column(target).to_numpy(zero_copy_only=False)))
        done += batch.num_rows
        yield values
