"""Which datasets there are: those of datasets.yaml, then those that the user added."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from okbench.base.errors import ConfigError, StoreError, UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.datasets.catalogue.entries import Catalogue, read_catalogue
from okbench.datasets.catalogue.specs import (
    DatasetSpec,
    FileSource,
    FileSpec,
    PublishedOrders,
    ReaderSpec,
    Split,
    VariantSpec,
)
from okbench.datasets.data_folder import data_folder

__all__ = [
    "DatasetSpec",
    "FileSource",
    "FileSpec",
    "PublishedOrders",
    "ReaderSpec",
    "Split",
    "VariantSpec",
    "dataset_names",
    "is_known",
    "redirects",
    "spec",
    "user_datasets",
    "variant",
]


def dataset_names() -> tuple[str, ...]:
    """Every dataset, in the order of datasets.yaml, then the user's own."""
    return tuple(_catalogue())


def spec(name: str) -> DatasetSpec:
    """The entry of that name or alias, in any case."""
    catalogue = _catalogue()
    for known, main in _all_names(catalogue).items():
        if known.casefold() == name.casefold():
            return catalogue[main]
    hint = did_you_mean(name, _all_names(catalogue))
    raise UsageError(f"no dataset '{name}'.{hint}  (okbench list datasets)")


def is_known(name: str) -> bool:
    """Whether an entry has that name or alias, in any case."""
    return name.casefold() in map(str.casefold, _all_names(_catalogue()))


def variant(entry: DatasetSpec, name: str = "") -> VariantSpec:
    """One way of preparing a set; without a name, its first."""
    if not name:
        return next(iter(entry.variants.values()))
    if name not in entry.variants:
        known = ", ".join(entry.variants)
        hint = did_you_mean(name, entry.variants)
        raise UsageError(
            f"dataset '{entry.name}' has no variant '{name}'.{hint}  (it has: {known})"
        )
    return entry.variants[name]


def redirects() -> frozenset[str]:
    """Hosts that a download may be redirected to."""
    path, changed = user_datasets(), _changed()
    added = _added(path, changed).redirects if changed else frozenset()
    return _shipped().redirects | added


def user_datasets() -> Path:
    """The file of the user's own entries."""
    return data_folder() / "user-datasets.yaml"


@cache
def _shipped() -> Catalogue:
    return read_catalogue(shipped("datasets.yaml"))


def _catalogue() -> Mapping[str, DatasetSpec]:
    changed = _changed()
    return _joined(user_datasets(), changed) if changed else _shipped().datasets


def _changed() -> int | None:
    """When the user's own entries changed last; None when there are none."""
    path = user_datasets()
    try:
        return path.stat().st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be read ({error.strerror}); choose a folder of yours with OKBENCH_DATA"
        ) from error


@cache
def _added(path: Path, changed: int) -> Catalogue:
    """What the user added; read again when the file has changed."""
    return read_catalogue(path, user_defined=True)


@cache
def _joined(path: Path, changed: int) -> Mapping[str, DatasetSpec]:
    ours = _shipped().datasets
    taken = {known.casefold(): known for known in _all_names(ours)}
    added = _added(path, changed).datasets
    for name, entry in added.items():
        if name.casefold() in taken:
            raise ConfigError(f"{entry.where}: '{name}' is a dataset of okbench; rename yours")
    return {**ours, **added}


def _all_names(catalogue: Mapping[str, DatasetSpec]) -> dict[str, str]:
    """Names and aliases → the name of the entry."""
    aliases = {alias: name for name, entry in catalogue.items() for alias in entry.aliases}
    return aliases | {name: name for name in catalogue}
