"""Prepared rows kept as .npy files, to be mapped from disk by every worker without a copy.

    <data folder>/.arrays/<dataset>/<key>/
        X.npy, or values.npy, columns.npy and starts.npy; labels.npy, orders.npy, about.json

The key stands for the raw bytes, the readers and the preparation: a folder is made once and never
changed. One that cannot be read as it was written is made again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from okbench.base.errors import DataError, StoreError
from okbench.base.locks import locked
from okbench.base.shared_types import Task
from okbench.base.whole_files import make_folder, replacing, sync_folder
from okbench.datasets.data_folder import data_folder
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.unfinished import is_kept
from okbench.datasets.readers.multi_file_rows import Matrix, csr_of, starts_of

_ABOUT = "about.json"


@dataclass(frozen=True)
class About:
    """What is recorded of the arrays of a folder."""

    task: str
    classes: list[Any]
    fingerprint: str
    n_train: int | None
    width: int
    sizes: dict[str, int]  # of each file, in bytes
    before: dict[str, Any]
    after: dict[str, Any]
    own: dict[str, Any] = field(default_factory=dict)  # how a user's own file was read


@dataclass(frozen=True)
class PreparedFiles:
    """Prepared rows on disk and what is recorded of them."""

    dataset: Dataset
    about: About


class NpyWriter:
    """A .npy file written a block at a time, and forced to the disk at the end.

    Its length is known only then.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None) -> None:
        self._dtype, self._columns, self._rows = np.dtype(dtype), columns, 0
        self._file = path.open("wb")
        self._head()
        self._data_at = self._file.tell()

    def append(self, block: NDArray[Any]) -> None:
        """Add rows at the end."""
        self._file.write(np.ascontiguousarray(block, dtype=self._dtype).data)
        self._rows += len(block)

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the length into the space that NumPy leaves for it."""
        with self._file:
            if kind is None:
                self._file.seek(0)
                self._head()
                if self._file.tell() != self._data_at:
                    raise StoreError("the header of a .npy file grew: an error of okbench")
                self._file.flush()
                os.fsync(self._file.fileno())

    def _head(self) -> None:
        shape = (self._rows,) if self._columns is None else (self._rows, self._columns)
        head = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, head)


def find_or_make(dataset: str, key: str, make: Callable[[Path, Path], About]) -> PreparedFiles:
    """The rows of that key; `make` writes them into an empty folder when they are not there. It is
    given a second folder for what it keeps of files that it has not read to their end."""
    parent = folder_of(dataset, key).parent
    found = open_prepared(parent / key, dataset)
    if found:
        return found
    try:
        make_folder(parent)
        with locked(parent / f"{key}.lock"):
            found = open_prepared(parent / key, dataset)
            if found is None:
                _make(parent, key, make)
                found = _read(parent / key, dataset)
            return found
    except OSError as error:
        raise StoreError(
            f"{parent}: prepared rows cannot be kept ({error.strerror or error}); "
            "make room, or set OKBENCH_DATA to another folder; what was read so far is kept"
        ) from error


def folder_of(dataset: str, key: str) -> Path:
    """Where the rows of that key are kept."""
    return data_folder() / ".arrays" / dataset / key


def linked(source: Path, folder: Path) -> About:
    """Give the files of a folder of rows a second place, without a copy where the disk can."""
    about = About(**json.loads((source / _ABOUT).read_text(encoding="utf-8")))
    for name in about.sizes:
        try:
            os.link(source / name, folder / name)
        except OSError:
            shutil.copyfile(source / name, folder / name)
    return about


def _make(parent: Path, key: str, make: Callable[[Path, Path], About]) -> None:
    """Make the folder while holding the lock; temporary folders are from processes that died. What
    was read is of use until the rows are made, or the files turn out to be wrong."""
    for left in [*parent.glob(f"{key}.*.tmp"), parent / key]:
        shutil.rmtree(left, ignore_errors=True)
    fresh, unfinished = parent / f"{key}.{os.getpid()}.tmp", parent / f"{key}.unfinished"
    try:
        fresh.mkdir()
        about = make(fresh, unfinished)
        sizes = {path.name: path.stat().st_size for path in sorted(fresh.glob("*.npy"))}
        with replacing(fresh / _ABOUT) as file:
            file.write(json.dumps(asdict(about) | {"sizes": sizes}).encode())
        fresh.replace(parent / key)
        sync_folder(parent)
    except BaseException as error:
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, DataError) or not is_kept(unfinished):
            shutil.rmtree(unfinished, ignore_errors=True)
        raise
    shutil.rmtree(unfinished, ignore_errors=True)


def open_prepared(folder: Path, dataset: str) -> PreparedFiles | None:
    """Arrays mapped from disk; None when they are not there or not as they were written."""
    try:
        return _read(folder, dataset)
    except Exception:  # NumPy raises nearly anything for a damaged header
        return None


def _read(folder: Path, dataset: str) -> PreparedFiles:
    about = About(**json.loads((folder / _ABOUT).read_text(encoding="utf-8")))
    for name, size in about.sizes.items():
        if (folder / name).stat().st_size != size:
            raise StoreError(f"{folder / name}: not as it was written; delete it and try again")
    X, y = read_features(folder, about.width), _mapped(folder / "labels.npy")
    if y.shape != (X.shape[0],):
        raise ValueError("labels of other rows")
    made = Dataset(
        dataset,
        X,
        y,
        cast(Task, about.task),
        tuple(about.classes),
        about.fingerprint,
        _mapped(folder / "orders.npy") if "orders.npy" in about.sizes else None,
        about.n_train,
    )
    return PreparedFiles(made, about)


def read_features(folder: Path, width: int) -> Matrix:
    """The features written by `write_features`. ValueError when they are not as they were."""
    if (folder / "X.npy").is_file():
        X = _mapped(folder / "X.npy", "f8")
        if X.ndim != 2 or X.shape[1] != width:
            raise ValueError("rows of another width")
        return X
    starts = _mapped(folder / "starts.npy", "i4", "i8")
    values, columns = _mapped(folder / "values.npy", "f8"), _mapped(folder / "columns.npy", "i4")
    if not len(starts) or not starts[-1] == len(values) == len(columns):
        raise ValueError("values and columns of other lengths")
    return csr_of(values, columns, starts, width)


def _mapped(path: Path, *kinds: str) -> NDArray[Any]:
    """An array mapped copy-on-write: plain to compiled loops, and the file never changes.

    Its header, which may be damaged, must say one of the `kinds` and account for every byte.
    """
    mapped = np.load(path, mmap_mode="c", allow_pickle=False)
    if not mapped.dtype.isnative or (kinds and mapped.dtype not in map(np.dtype, kinds)):
        raise ValueError(f"{path}: numbers of another kind")
    if mapped.offset + mapped.nbytes != path.stat().st_size or not mapped.flags.c_contiguous:
        raise ValueError(f"{path}: numbers of another shape")
    found: NDArray[Any] = mapped.view(np.ndarray)
    return found


def write_features(folder: Path, blocks: Iterable[Matrix], width: int, sparse: bool) -> None:
    """Features, one block at a time: X.npy, or values, columns and starts."""
    if not sparse:
        with NpyWriter(folder / "X.npy", np.float64, width) as dense:
            for block in blocks:
                dense.append(cast("NDArray[Any]", block))
        return
    counts: list[NDArray[Any]] = []
    with (
        NpyWriter(folder / "values.npy", np.float64) as values,
        NpyWriter(folder / "columns.npy", np.int32) as columns,
    ):
        for block in blocks:
            rows = cast("sp.csr_array", block)
            values.append(rows.data)
            columns.append(rows.indices)
            counts.append(np.diff(rows.indptr))
    write_array(folder / "starts.npy", starts_of(np.concatenate(counts)))


def write_array(path: Path, values: NDArray[Any]) -> None:
    """An array of one or two axes."""
    with NpyWriter(path, values.dtype, values.shape[1] if values.ndim == 2 else None) as file:
        file.append(values)


def disk_array_folder() -> Path | None:
    """Where rows are unpacked to on their way: beside the prepared rows, on the same disk."""
    folder = data_folder() / ".arrays"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
