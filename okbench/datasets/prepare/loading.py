"""Rows by name: verified files, read and prepared once, then mapped from disk."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.catalogue.dataset_catalogue import spec
from okbench.datasets.catalogue.dataset_catalogue import variant as variant_of
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, VariantSpec
from okbench.datasets.data_folder import path_of, record_of
from okbench.datasets.dataset_types import (
    PREPARATION_VERSION,
    READER_VERSION,
    Dataset,
    fingerprint,
)
from okbench.datasets.embedded import load_embedded
from okbench.datasets.prepare import prepared_files
from okbench.datasets.prepare.preparation import Prepared, Ranges, prepare
from okbench.datasets.prepare.prepared_files import About, PreparedFiles
from okbench.datasets.prepare.unfinished import UnfinishedFile
from okbench.datasets.readers.multi_file_rows import FileRows, MultiFileRows, values_at

# of a variant; what it says besides is about the rows, and changes none of them
PREPARATION_OPTIONS = (
    *("use", "distinct", "first", "above", "labels", "scale", "split", "orders", "task", "train"),
    "hash",
)

_loaded: dict[tuple[str, str], Dataset] = {}
_turns: dict[tuple[str, str], Lock] = {}
_all_turns = Lock()


def load(name: str, variant: str = "") -> Dataset:
    """The prepared rows of a dataset; a set is loaded by one thread at a time, and once."""
    entry = spec(name)
    key = (entry.name, variant)
    with _all_turns:
        turn = _turns.setdefault(key, Lock())
    with turn:
        if key not in _loaded or entry.user_defined:
            _loaded[key] = load_afresh(entry, variant)
        return _loaded[key]


def load_afresh(entry: DatasetSpec, variant: str = "") -> Dataset:
    """The rows of an entry, from the array cache or made for it."""
    if entry.embedded:
        return load_embedded(entry.name, variant, entry.parameters)
    return prepared_rows(entry, variant_of(entry, variant)).dataset


def prepared_rows(entry: DatasetSpec, variant: VariantSpec) -> PreparedFiles:
    """The prepared rows of a variant and what was recorded when they were made."""
    absent = missing_files(entry, variant)
    if absent:
        raise DataError(absent)
    return prepared_files.find_or_make(
        entry.name, _key(entry, variant), lambda *folders: _make(entry, variant, *folders)
    )


def missing(name: str, variant: str = "") -> str | None:
    """What is not here yet and the command that fetches it; None when `load` would succeed."""
    entry = spec(name)
    return None if entry.embedded else missing_files(entry, variant_of(entry, variant))


def missing_files(entry: DatasetSpec, variant: VariantSpec) -> str | None:
    """The same for an entry and variant already found."""
    absent = [file.name for file in entry.files_of(variant) if path_of(file) is None]
    if not absent:
        return None
    files = ", ".join(absent)
    if entry.user_defined:
        paths = ", ".join(file.path for file in entry.files.values())
        return f"{entry.name}: {files} is no longer at {paths}; put it back, or mend {entry.where}"
    return f"{entry.name}: {files} not here → okbench fetch {shlex.quote(entry.name)}"


def _located(file: FileSpec) -> Path:
    path = path_of(file)
    if path is None:
        raise DataError(f"{file.name} is not here  (okbench fetch)")
    return path


def _key(entry: DatasetSpec, variant: VariantSpec) -> str:
    """A key that changes with the raw bytes, the readers, the preparation and their options, and
    with nothing else: variants that prepare the same rows share them."""
    parts = [f"{READER_VERSION}/{PREPARATION_VERSION}", f"{entry.features} columns are read"]
    parts += [f"{option} {getattr(variant, option)!r}" for option in PREPARATION_OPTIONS]
    for file in entry.files_of(variant):
        record = record_of(file)
        state = _located(file).stat()
        content = record.content_sha256 if record else f"{state.st_size} {state.st_mtime_ns}"
        parts.append(f"{file.key} {content} {file.reader!r}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _make(entry: DatasetSpec, variant: VariantSpec, folder: Path, unfinished: Path) -> About:
    from okbench.datasets.readers.files import read_files

    scratch = prepared_files.disk_array_folder()

    def arrays_of(file: FileSpec, path: Path) -> UnfinishedFile:
        return UnfinishedFile(unfinished / file.key, path)

    parts = read_files(entry, variant.use, _located, scratch, arrays_of)
    if any(entry.files[key].reader.filled for key in variant.use):
        from okbench.datasets.user.running_scale import filled_parts

        parts = filled_parts(parts, scratch)
    ready = prepare(entry.name, MultiFileRows(parts), variant)
    about = written(ready, folder)
    if variant.orders:
        orders = _orders(entry, variant, len(ready.rows))
        about.checksums.update(prepared_files.write_array(folder, "orders.npy", orders))
    return about


def prepared_already(entry: DatasetSpec, variant: VariantSpec, folder: Path) -> None:
    """Take the rows in a folder for those of the variant, so that its files are not read."""
    prepared_files.find_or_make(
        entry.name, _key(entry, variant), lambda fresh, _: prepared_files.linked(folder, fresh)
    )


def written(ready: Prepared, folder: Path) -> About:
    """Write rows into a folder, and say what they are."""
    checksums = prepared_files.write_features(folder, ready.blocks(), ready.width, ready.sparse)
    checksums |= prepared_files.write_array(folder, "labels.npy", ready.y)
    X = prepared_files.read_features(folder, ready.width)
    after = Ranges.of(MultiFileRows([FileRows(X, ready.y)]), range(len(ready.rows)))
    return About(
        task=ready.task,
        classes=list(ready.classes),
        fingerprint=fingerprint(X, ready.y, ready.classes),
        n_train=ready.n_train,
        width=ready.width,
        sizes={},
        before=ready.before.summary() | _target(ready, values_at(ready.source.y, ready.rows)),
        after=after.summary()
        | _target(ready, ready.y)
        | ({"hashed": ready.collisions.words} if ready.collisions else {}),
        checksums=checksums,
    )


def _target(ready: Prepared, y: NDArray[Any]) -> dict[str, list[float]]:
    return {"target": [float(y.min()), float(y.max())]} if ready.task == "regression" else {}


def _orders(entry: DatasetSpec, variant: VariantSpec, n_rows: int) -> NDArray[np.int64]:
    """Published permutations, counted from 0."""
    from okbench.datasets.readers.matlab import read_mat

    assert variant.orders is not None
    file = entry.files[variant.orders.file]
    (matrix,) = read_mat(_located(file), variant.orders.variable)
    orders: NDArray[np.int64] = matrix.astype(np.int64) - 1
    if orders.shape[1] != n_rows or not np.all(np.sort(orders, axis=1) == np.arange(n_rows)):
        raise DataError(
            f"{file.name}: '{variant.orders.variable}' holds no permutations of {n_rows:,} rows"
        )
    return orders
