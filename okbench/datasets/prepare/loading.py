"""Rows by name: verified files, read and prepared once, then mapped from disk."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.cache import path_of, record_of
from okbench.datasets.catalogue.dataset_catalogue import spec
from okbench.datasets.catalogue.dataset_catalogue import variant as variant_of
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, VariantSpec
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.embedded import load_embedded
from okbench.datasets.fingerprint import PREPARATION_VERSION, READER_VERSION, fingerprint
from okbench.datasets.prepare import prepared_files
from okbench.datasets.prepare.preparation import Prepared, Ranges, prepare
from okbench.datasets.prepare.prepared_files import About, Kept
from okbench.datasets.readers.multi_file_rows import Joined, Part

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
        if key not in _loaded or entry.own:
            _loaded[key] = load_afresh(entry, variant)
        return _loaded[key]


def load_afresh(entry: DatasetSpec, variant: str = "") -> Dataset:
    """The rows of an entry, from the array cache or made for it."""
    if entry.embedded:
        return load_embedded(entry.name, variant, entry.parameters)
    return kept_rows(entry, variant_of(entry, variant)).dataset


def kept_rows(entry: DatasetSpec, variant: VariantSpec) -> Kept:
    """The arrays of a variant and what was written down when they were made."""
    told = missing_files(entry, variant)
    if told:
        raise DataError(told)
    return prepared_files.kept(
        entry.name, _key(entry, variant), lambda folder: _make(entry, variant, folder)
    )


def missing(name: str, variant: str = "") -> str | None:
    """What is not here yet and the command that gets it; None when `load` would succeed."""
    entry = spec(name)
    return None if entry.embedded else missing_files(entry, variant_of(entry, variant))


def missing_files(entry: DatasetSpec, variant: VariantSpec) -> str | None:
    """The same for an entry and variant already found."""
    absent = [file.name for file in entry.files_of(variant) if path_of(file) is None]
    if not absent:
        return None
    files = ", ".join(absent)
    if entry.own:
        paths = ", ".join(file.path for file in entry.files.values())
        return f"{entry.name}: {files} is no longer at {paths}; put it back, or mend {entry.where}"
    return f"{entry.name}: {files} not here → okbench fetch {shlex.quote(entry.name)}"


def _located(file: FileSpec) -> Path:
    path = path_of(file)
    if path is None:
        raise DataError(f"{file.name} is not here  (okbench fetch)")
    return path


def _key(entry: DatasetSpec, variant: VariantSpec) -> str:
    """Changes with the raw bytes, the readers, the preparation and how they are asked for."""
    plain = replace(variant, where="", note="", rows=None)
    told = [f"{READER_VERSION}/{PREPARATION_VERSION}", repr(plain), repr(entry.features)]
    for file in entry.files_of(variant):
        record = record_of(file)
        state = _located(file).stat()
        content = record.content_sha256 if record else f"{state.st_size} {state.st_mtime_ns}"
        told.append(f"{file.key} {content} {file.reader!r}")
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:20]


def _make(entry: DatasetSpec, variant: VariantSpec, folder: Path) -> About:
    from okbench.datasets.readers.files import read_parts

    spill = prepared_files.spill_folder()
    source = Joined(read_parts(entry, variant.use, _located, spill))
    ready = prepare(entry.name, source, variant)
    prepared_files.write_features(folder, ready.blocks(), ready.width, ready.sparse)
    np.save(folder / "labels.npy", ready.y, allow_pickle=False)
    if variant.orders:
        np.save(folder / "orders.npy", _orders(entry, variant, len(ready.rows)))
    X = prepared_files.features(folder, ready.width)
    written = Joined([Part(X, ready.y)])
    after = Ranges.of(written.blocks(np.arange(written.n_rows)), ready.width)
    return About(
        task=ready.task,
        classes=list(ready.classes),
        fingerprint=fingerprint(X, ready.y, ready.classes),
        n_train=ready.n_train,
        width=ready.width,
        sizes={},
        before=ready.before.told() | _target(ready, source.y[ready.rows]),
        after=after.told() | _target(ready, ready.y),
    )


def _target(ready: Prepared, y: NDArray[Any]) -> dict[str, list[float]]:
    return {"target": [float(y.min()), float(y.max())]} if ready.task == "regression" else {}


def _orders(entry: DatasetSpec, variant: VariantSpec, n_rows: int) -> NDArray[np.int64]:
    """Published row orders, counted from 0."""
    from okbench.datasets.readers.matlab import read_mat

    assert variant.orders is not None
    file = entry.files[variant.orders.file]
    (matrix,) = read_mat(_located(file), variant.orders.variable)
    orders: NDArray[np.int64] = matrix.astype(np.int64) - 1
    if orders.shape[1] != n_rows or not np.all(np.sort(orders, axis=1) == np.arange(n_rows)):
        raise DataError(
            f"{file.name}: '{variant.orders.variable}' is no list of orders of {n_rows:,} rows"
        )
    return orders
