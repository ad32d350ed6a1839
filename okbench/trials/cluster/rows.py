"""Rows by fingerprint: found in the data folder of a worker, fetched there, or sent to it.

Rows that were sent are kept beside the rows that a worker has prepared itself, in files of NumPy
under `.arrays/sent/`, and get their name only after every value has been hashed again. So they are
sent once to each data folder: once to a machine, and once altogether where the folder is shared.
The process that gives them to a learner compares them with their checksums; if they are damaged, it
removes them, and they are sent again.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from okbench import datasets
from okbench.base.errors import DataError, OkbenchError
from okbench.base.shared_types import Task
from okbench.base.whole_files import make_folder, move_into_place
from okbench.datasets.catalogue.dataset_catalogue import is_known
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.fetch.fetching import fetch
from okbench.datasets.prepare.checksums import DamagedRowsError
from okbench.datasets.prepare.prepared_files import (
    About,
    find_or_make,
    folder_of,
    open_prepared,
    read_about,
    read_features,
    remove_damaged,
)

PIECE = 4 << 20  # bytes that are sent at a time
_SENT = "sent"


def key_of(dataset: Dataset) -> str:
    """A name for all that a trial may take from the rows: their fingerprint, which covers values,
    labels and classes, and a hash of the task, the training part and the published permutations.
    The rows of a search are a part of a dataset and have its fingerprint with the name of the part,
    so that theirs is computed."""
    content = dataset.fingerprint
    if "/" in content:
        content = fingerprint(dataset.X, dataset.y, dataset.classes)
    rest = hashlib.sha256(f"{dataset.task} {dataset.n_train}".encode())
    if dataset.orders is not None:
        rest.update(np.ascontiguousarray(dataset.orders, dtype="<i8").data)
    return f"{content}-{rest.hexdigest()[:8]}"


@dataclass(frozen=True)
class RowsOfRun:
    """Loads the rows of a run on a worker, where they were found before. `keys` says which."""

    keys: tuple[tuple[tuple[str, str], str], ...]  # (dataset, variant), key

    def __call__(self, name: str, variant: str = "") -> Dataset:
        sent = sent_rows(name, dict(self.keys)[name, variant])
        return datasets.load(name, variant) if sent is None else sent


def sent_rows(name: str, key: str) -> Dataset | None:
    """The rows that were sent to this data folder, under the name that the run gives them."""
    try:
        found = open_prepared(folder_of(_SENT, key), name)
    except DamagedRowsError:
        remove_damaged(_SENT, key)
        raise
    return found.dataset if found else None


def is_sent(key: str) -> bool:
    """Whether rows were sent to this data folder; what is in their files is not looked at."""
    try:
        read_about(folder_of(_SENT, key))
    except DamagedRowsError:
        return False
    return True


def lacks(name: str, variant: str, key: str, fetching: bool) -> str:
    """Why the rows are not in this data folder; empty when they are. They are fetched from their
    official address if that is asked for and they have one."""
    if is_sent(key):
        return ""
    try:
        if not is_known(name):
            return "they have no entry here"
        absent = datasets.missing(name, variant)
        if absent and fetching:
            failed = "; ".join(file.message for file in fetch([name]) if not file.ok)
            absent = datasets.missing(name, variant) and (failed or absent)
        if absent:
            return absent
        found = key_of(datasets.load(name, variant))
    except OkbenchError as error:
        return str(error)
    return "" if found == key else f"the rows here are others ({found})"


def pieces(dataset: Dataset) -> Iterator[tuple[str, int, bytes]]:
    """The rows as the bytes of files: file name, place in the file, bytes, one after the other."""
    for name, array in _arrays(dataset).items():
        head = io.BytesIO()
        npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(array))
        yield name, 0, head.getvalue()
        content = array.reshape(-1).view(np.uint8)
        for at in range(0, len(content), PIECE):
            yield name, len(head.getvalue()) + at, content[at : at + PIECE].tobytes()


def about(dataset: Dataset) -> About:
    """What is recorded beside the files."""
    return About(
        task=dataset.task,
        classes=list(dataset.classes),
        fingerprint=dataset.fingerprint,
        n_train=dataset.n_train,
        width=dataset.n_features,
        sizes={},
        before={},
        after={},
    )


def write_piece(key: str, delivery: str, name: str, at: int, content: bytes) -> None:
    """Keep a piece on the worker."""
    folder = _unfinished(key, delivery)
    make_folder(folder)
    with (folder / name).open("r+b" if at else "wb") as file:
        file.seek(at)
        file.write(content)


def keep(key: str, delivery: str, record: About) -> None:
    """Hash what has arrived, and give it its name if it is what was sent; DataError otherwise."""
    arrived = _unfinished(key, delivery)

    def make(folder: Path, unfinished: Path) -> About:
        for file in arrived.glob("*.npy"):
            move_into_place(file, folder / file.name)
        found = _read_afresh(folder, record)
        if key_of(found) != key:
            raise DataError(f"rows arrived damaged: they are {key_of(found)}, and {key} was sent")
        return record

    try:
        find_or_make(_SENT, key, make)
    finally:
        shutil.rmtree(arrived, ignore_errors=True)


def _read_afresh(folder: Path, record: About) -> Dataset:
    """The rows of a folder, with the fingerprint that they have."""
    X, classes = read_features(folder, record.width), tuple(record.classes)
    y = np.load(folder / "labels.npy", mmap_mode="r", allow_pickle=False)
    orders = folder / "orders.npy"
    published = np.load(orders, mmap_mode="r", allow_pickle=False) if orders.is_file() else None
    task = cast(Task, record.task)
    found = fingerprint(X, y, classes)
    return Dataset("", X, y, task, classes, found, published, record.n_train)


def _unfinished(key: str, delivery: str) -> Path:
    return folder_of(_SENT, f"{key}.{delivery}.part")


def _arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    X: Any = dataset.X
    if isinstance(X, np.ndarray):
        found = {"X.npy": np.ascontiguousarray(X, dtype=np.float64)}
    else:
        found = {
            "values.npy": np.ascontiguousarray(X.data, dtype=np.float64),
            "columns.npy": np.ascontiguousarray(X.indices, dtype=np.int32),
            "starts.npy": np.ascontiguousarray(X.indptr),
        }
    found["labels.npy"] = np.ascontiguousarray(dataset.y)
    if dataset.orders is not None:
        found["orders.npy"] = np.ascontiguousarray(dataset.orders)
    return found
