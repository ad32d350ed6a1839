"""A user's large file of rows: it is read once, in pieces, into the array cache and mapped from
there. Scaling is fitted on a sample and applied to the rows that are handed over."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import DataError, UsageError
from okbench.base.shared_types import Task
from okbench.datasets.catalogue.entries import parse_catalogue
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.loading import prepared_rows
from okbench.datasets.readers.chunks import chunks
from okbench.datasets.readers.damage import refusing_damage
from okbench.datasets.user.fitted_scale import sample_of
from okbench.datasets.user.user_entry import reader_entry
from okbench.datasets.user.user_rows import UserRows, file_format, read_user_rows
from okbench.papers.rows_file import Missing, RowsScale
from okbench.papers.table_types import RowsFile

LARGE = 256_000_000  # bytes of a text, or of the numbers of a Parquet file
_HEAD = 4_000_000  # bytes of a large text by which its columns are judged
_HEAD_ROWS = 1 << 14  # those of a Parquet file
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
    if file.scale.startswith("running"):
        raise UsageError(
            f"{file.path}: a scale by the rows before each holds the whole file in memory; files"
            f" of {LARGE / 1e6:.0f} MB or more take --scale none, standard or unit"
        )
    dataset, notes = _read(file)
    sparse = not isinstance(dataset.X, np.ndarray)
    scale = "none" if sparse else file.scale or "standard"
    return LargeRows(dataset, cast(RowsScale, scale), notes)


def _read(file: RowsFile) -> tuple[Dataset, tuple[str, ...]]:
    """The rows as those of a dataset. How the columns are read, and the task, are known from the
    head of the file."""
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
        kind = file_format(file.path)
        head = Path(folder) / f"{file.path.name.partition('.')[0]}.{kind}"
        if kind == "parquet":
            _write_parquet_head(file.path, head)
        else:
            _write_text_head(file.path, head)
        try:
            return read_user_rows(
                head, file.target, cast("Task | None", file.task),
                categorical=file.categorical, drop=file.drop,
                missing=cast(Missing, file.missing),
            )  # fmt: skip
        except (DataError, UsageError) as error:
            raise type(error)(str(error).replace(str(head), str(file.path))) from error


def _write_text_head(path: Path, head: Path) -> None:
    with head.open("wb") as out:
        for chunk in chunks(path):
            out.write(chunk.raw)
            if out.tell() >= _HEAD:
                return


def _write_parquet_head(path: Path, head: Path) -> None:
    file = _parquet(path)
    import pyarrow

    with refusing_damage(path, "Parquet"):
        batches = list(islice(file.iter_batches(_HEAD_ROWS), 1))
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
        pyarrow.parquet.write_table(table, head)


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    with refusing_damage(path, "Parquet"):
        return pyarrow.parquet.ParquetFile(path)
