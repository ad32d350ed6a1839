"""A user's large file of rows: it is read once, in pieces, into the array cache and mapped from
there. The rows are those that a reading of the whole file into memory gives, bit for bit."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from okbench.base.errors import UsageError
from okbench.datasets.catalogue.specs import ReaderSpec, is_plain_name
from okbench.datasets.dataset_types import PREPARATION_VERSION, READER_VERSION
from okbench.datasets.prepare.loading import written
from okbench.datasets.prepare.preparation import prepare
from okbench.datasets.prepare.prepared_files import (
    About,
    PreparedFiles,
    disk_array_folder,
    find_or_make,
    folder_of,
    linked,
)
from okbench.datasets.prepare.unfinished import UnfinishedFile
from okbench.datasets.readers.damage import refusing_damage
from okbench.datasets.readers.multi_file_rows import MultiFileRows
from okbench.datasets.user.fitted_scale import range_warnings, sample_of
from okbench.datasets.user.user_rows import (
    OnDisk,
    OwnRows,
    UserRows,
    as_read,
    file_format,
    own_rows,
    read_user_rows,
)
from okbench.papers.table_types import RowsFile

LARGE = 256_000_000  # bytes of a text, or of the numbers of a Parquet file
_PACKED = 4  # bytes of text for a byte of a packed file, about


def read_rows(file: RowsFile) -> UserRows:
    """The rows of a file: in memory, or mapped from disk if it is large."""
    if is_large(file.path):
        return read_large(file)[0]
    return read_user_rows(file.path, **_options(file))


def is_large(path: Path) -> bool:
    """Whether a file is too large to be read as a whole."""
    if not path.is_file():
        return False
    kind = file_format(path)
    if kind == "parquet":
        about = _parquet(path).metadata
        return bool(about.num_rows * about.num_columns * 8 >= LARGE)
    packed = path.suffix.lower() in (".gz", ".bz2", ".xz")
    is_text = kind in ("csv", "libsvm", "arff")
    return is_text and path.stat().st_size * (_PACKED if packed else 1) >= LARGE


def read_large(file: RowsFile) -> tuple[UserRows, Path]:
    """The rows of a large file, and the folder that holds them: read in bounded memory the first
    time, and mapped from then on."""
    name = file.path.name if is_plain_name(file.path.name) else "own rows"
    key = _key(file)
    found = _user_rows(file, find_or_make(name, key, lambda *folders: _make(file, *folders)))
    folder, again = folder_of(name, key), as_read(file, found)
    if again != file:  # what a stored table calls the same rows
        find_or_make(name, _key(again), lambda fresh, _: linked(folder, fresh))
    return found, folder


def _key(file: RowsFile) -> str:
    """A key that changes with the file, how it is read, the readers and the preparation."""
    path = file.path.absolute()
    state = path.stat()
    content = f"{state.st_size} {state.st_mtime_ns}"
    text = f"{READER_VERSION}/{PREPARATION_VERSION} {content} {replace(file, path=path)!r}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _make(file: RowsFile, folder: Path, unfinished: Path) -> About:
    scratch = disk_array_folder()
    on_disk = OnDisk(UnfinishedFile(unfinished / "all", file.path), scratch)
    own = own_rows(file.path, **_options(file), on_disk=on_disk)
    ready = prepare(str(file.path), MultiFileRows([own.part]), own.variant, own.scaling)
    notes = [*own.notes, *_warnings(file, own)]
    notes += [ready.collisions.words] if ready.collisions else []
    notes.append(f"{file.path.name}: read in pieces, and kept in the array cache")
    how = {
        "notes": notes,
        "scale": own.scale,
        "reader": own.reader.written() if own.reader else None,
    }
    return replace(written(ready, folder), own=how)


def _options(file: RowsFile) -> dict[str, Any]:
    found = {option.name: getattr(file, option.name) for option in fields(file)}
    return {"hash_to": found.pop("hash")} | {n: v for n, v in found.items() if n != "path"}


def _warnings(file: RowsFile, own: OwnRows) -> list[str]:
    """What a person must know of the columns, from a sample of the rows."""
    X: Any = own.part.X
    rows = np.sort(sample_of(X.shape[0]))
    if own.scale.startswith("running"):
        rows = np.arange(len(rows))  # such a scale knows the first rows alone
    return range_warnings(own.scaling()(X[rows]), own.names, own.scale, file.path.name)


def _user_rows(file: RowsFile, made: PreparedFiles) -> UserRows:
    how = made.about.own
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in how["reader"].items()
    }
    dataset = replace(made.dataset, name=file.path.name)
    return UserRows(dataset, tuple(how["notes"]), ReaderSpec(**options), how["scale"])


def _parquet(path: Path) -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    with refusing_damage(path, "Parquet"):
        return pyarrow.parquet.ParquetFile(path)
