"""Prepared rows kept as .npy files, to be mapped from disk by every worker without a copy.

    <data folder>/.arrays/<dataset>/<key>/
        X.npy, or values.npy, columns.npy and starts.npy; labels.npy, orders.npy, about.json

The key stands for the raw bytes, the readers and the preparation: a folder is made once and never
changed. The checksums of its files are in about.json, which has one itself. A process compares them
when it first opens a folder, so that no damaged byte reaches a learner; damaged rows are prepared
again.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from okbench.base.errors import DataError, StoreError
from okbench.base.locks import locked
from okbench.base.shared_types import Task
from okbench.base.whole_files import make_folder, sync_folder
from okbench.datasets.data_folder import data_folder
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.checksums import (
    PIECE,
    DamagedRowsError,
    OlderRowsError,
    PieceChecksums,
    check_file,
    checksums_of,
    read_record,
    write_record,
)
from okbench.datasets.prepare.unfinished import is_kept
from okbench.datasets.readers.multi_file_rows import Matrix, csr_of, starts_of

_ABOUT = "about.json"
_intact: set[tuple[int, ...]] = set()  # files that this process has compared with their checksums


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
    checksums: dict[str, list[int]] = field(default_factory=dict)  # of each file, by piece


@dataclass(frozen=True)
class PreparedFiles:
    """Prepared rows on disk and what is recorded of them."""

    dataset: Dataset
    about: About


class NpyWriter:
    """A .npy file written a block at a time, and forced to the disk at the end.

    Its length is known only then, and so are its `checksums`.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None) -> None:
        self._path, self._dtype, self._columns, self._rows = path, np.dtype(dtype), columns, 0
        self._file = path.open("wb")
        self._head()
        self._data_at = self._file.tell()
        self._content = PieceChecksums([0], self._data_at)
        self.checksums = self._content.values

    def append(self, block: NDArray[Any]) -> None:
        """Add rows at the end."""
        content = np.ascontiguousarray(block, dtype=self._dtype)
        self._file.write(content.data)
        self._content.add_array(content)
        self._rows += len(block)

    def __enter__(self) -> NpyWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the length into the space that NumPy leaves for it, in the first piece."""
        with self._file:
            if kind is None:
                self._file.seek(0)
                self._head()
                if self._file.tell() != self._data_at:
                    raise StoreError("the header of a .npy file grew: an error of okbench")
                self._file.flush()
                os.fsync(self._file.fileno())
                self.checksums[:1] = checksums_of(self._path, min(PIECE, self._content.size))

    def _head(self) -> None:
        shape = (self._rows,) if self._columns is None else (self._rows, self._columns)
        head = {"descr": npy.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, head)


def find_or_make(dataset: str, key: str, make: Callable[[Path, Path], About]) -> PreparedFiles:
    """The rows of that key; `make` writes them into an empty folder when they are not there. It is
    given a second folder for what it keeps of files that it has not read to their end."""
    folder = folder_of(dataset, key)
    with suppress(DamagedRowsError):
        if found := open_prepared(folder, dataset):
            return found
    try:
        make_folder(folder.parent)
        with locked(folder.with_name(f"{key}.lock")):
            try:
                found = open_prepared(folder, dataset)
            except DamagedRowsError as damage:
                found = None
                _say(f"{damage}; the rows are prepared again")
            if found is None:
                _make(folder.parent, key, make)
                found = _read(folder, dataset)
            return found
    except OSError as error:
        raise StoreError(
            f"{folder.parent}: prepared rows cannot be kept ({error.strerror or error}); "
            "make room, or set OKBENCH_DATA to another folder; what was read so far is kept"
        ) from error


def _say(line: str) -> None:
    """Print a line on stderr, above the progress bars."""
    from tqdm import tqdm

    tqdm.write(line, file=sys.stderr)


def folder_of(dataset: str, key: str) -> Path:
    """Where the rows of that key are kept."""
    return data_folder() / ".arrays" / dataset / key


def linked(source: Path, folder: Path) -> About:
    """Give the files of a folder of rows a second place, without a copy where the disk can."""
    about = read_about(source)
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
        # of files that came from elsewhere, nobody has computed them yet
        checksums = {
            name: about.checksums.get(name) or checksums_of(fresh / name, size)
            for name, size in sizes.items()
        }
        write_record(fresh / _ABOUT, asdict(replace(about, sizes=sizes, checksums=checksums)))
        fresh.replace(parent / key)
        sync_folder(parent)
    except BaseException as error:
        shutil.rmtree(fresh, ignore_errors=True)
        if isinstance(error, DataError) or not is_kept(unfinished):
            shutil.rmtree(unfinished, ignore_errors=True)
        raise
    shutil.rmtree(unfinished, ignore_errors=True)


def open_prepared(folder: Path, dataset: str) -> PreparedFiles | None:
    """Arrays mapped from disk; None when they are not there. DamagedRowsError says which of them is
    not as it was written."""
    try:
        return _read(folder, dataset) if folder.is_dir() else None
    except DamagedRowsError:
        raise
    except Exception as error:  # NumPy raises nearly anything for a damaged header
        raise DamagedRowsError(f"{folder}: cannot be read ({error})") from error


def remove_damaged(dataset: str, key: str) -> None:
    """Remove the rows of that key, unless they are as they were written."""
    folder = folder_of(dataset, key)
    with suppress(OSError), locked(folder.with_name(f"{key}.lock")):
        try:
            open_prepared(folder, dataset)
        except DamagedRowsError:
            shutil.rmtree(folder, ignore_errors=True)


def read_about(folder: Path) -> About:
    """What is recorded of the arrays of a folder. DamagedRowsError if that cannot be read, or if a
    file has become shorter or longer; what is in the files is not looked at."""
    try:
        about = About(**read_record(folder / _ABOUT))
        for name, size in about.sizes.items():
            if (folder / name).stat().st_size != size:
                raise DamagedRowsError(f"{folder / name}: not of {size:,} bytes, as it was written")
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedRowsError(f"{folder}: cannot be read ({error})") from error
    return about


def check_kept(dataset: str = "") -> Iterator[tuple[Path, int, str]]:
    """Compare the prepared rows of a dataset, or of all of them, with their checksums: each folder,
    the bytes in it, and what is damaged if anything is."""
    whole = data_folder() / ".arrays"
    for parent in [whole / dataset] if dataset else sorted(whole.glob("*")):
        folders = sorted(parent.iterdir()) if parent.is_dir() else []
        for folder in folders:
            if not folder.is_dir() or "." in folder.name:  # it has a suffix until it is finished
                continue
            try:
                about = read_about(folder)
                for name, size in about.sizes.items():
                    check_file(folder / name, size, about.checksums[name])
                yield folder, sum(about.sizes.values()), ""
            except OlderRowsError:  # they are not used again
                continue
            except (DamagedRowsError, OSError) as error:
                yield folder, 0, str(error)


def _check_once(folder: Path, about: About) -> None:
    """Compare the files with their checksums, unless this process has done so before."""
    for name, size in about.sizes.items():
        state = (folder / name).stat()
        mark = (state.st_dev, state.st_ino, state.st_mtime_ns)
        if mark not in _intact:
            check_file(folder / name, size, about.checksums[name])
            _intact.add(mark)


def _read(folder: Path, dataset: str) -> PreparedFiles:
    about = read_about(folder)
    _check_once(folder, about)
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


def write_features(
    folder: Path, blocks: Iterable[Matrix], width: int, sparse: bool
) -> dict[str, list[int]]:
    """Features, one block at a time: X.npy, or values, columns and starts; and the checksums of
    these files."""
    if not sparse:
        with NpyWriter(folder / "X.npy", np.float64, width) as dense:
            for block in blocks:
                dense.append(cast("NDArray[Any]", block))
        return {"X.npy": dense.checksums}
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
    starts = write_array(folder, "starts.npy", starts_of(np.concatenate(counts)))
    return {"values.npy": values.checksums, "columns.npy": columns.checksums, **starts}


def write_array(folder: Path, name: str, values: NDArray[Any]) -> dict[str, list[int]]:
    """An array of one or two axes as a file of that name, and the checksums of it."""
    columns = values.shape[1] if values.ndim == 2 else None
    with NpyWriter(folder / name, values.dtype, columns) as file:
        file.append(values)
    return {name: file.checksums}


def disk_array_folder() -> Path | None:
    """Where rows are unpacked to on their way: beside the prepared rows, on the same disk."""
    folder = data_folder() / ".arrays"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
