"""A description of a dataset: its rows as they are, and as its entry says they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from okbench.datasets.catalogue.dataset_catalogue import spec
from okbench.datasets.catalogue.dataset_catalogue import variant as variant_of
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, VariantSpec
from okbench.datasets.data_folder import path_of, record_of
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.loading import load, missing, prepared_rows
from okbench.datasets.prepare.preparation import Ranges
from okbench.datasets.readers.multi_file_rows import FileRows, MultiFileRows


def describe(name: str, variant: str = "") -> dict[str, Any]:
    """Shape, ranges, provenance and the check against the entry, as plain values. Of rows that are
    not here, the shape is what the entry states, and `missing` says how to get them."""
    entry = spec(name)
    chosen = variant_of(entry) if entry.embedded else variant_of(entry, variant)
    absent = missing(name, variant)
    dataset: Dataset | None = None
    ranges: dict[str, Any] = {"before": None, "after": None}
    if entry.embedded:
        dataset = load(name, variant)
        ranges["after"] = _ranges(dataset)
    elif absent is None or entry.user_defined:  # a user's file that is gone is an error
        found = prepared_rows(entry, chosen)
        dataset, ranges = found.dataset, {"before": found.about.before, "after": found.about.after}
    return {
        "name": entry.name,
        "variant": variant if entry.embedded else chosen.name,
        "variants": list(entry.variants),
        "missing": absent,
        **(_shape(dataset) if dataset else _stated_shape(chosen)),
        "ranges": ranges,
        "preparation": _steps(chosen),
        "prepared": {"source": chosen.prepared.source, "reason": chosen.prepared.reason},
        "note": chosen.note,
        "agreement": _agreement(entry, chosen, variant, dataset) if dataset else [],
        "files": [_file(file) for file in entry.files_of(chosen)],
        "cite": entry.cite,
        "licence": entry.licence,
        "page": entry.page,
        "where": entry.where,
    }


def _shape(dataset: Dataset) -> dict[str, Any]:
    stored = np.count_nonzero(dataset.X) if isinstance(dataset.X, np.ndarray) else dataset.X.nnz
    counts = {}
    if dataset.classes:
        found, times = np.unique(dataset.y, return_counts=True)
        counts = dict(zip(found.tolist(), times.tolist(), strict=True))
    return {
        "task": dataset.task,
        "rows": dataset.n_rows,
        "train": dataset.n_train,
        "features": dataset.n_features,
        "density": float(stored) / max(1, dataset.n_rows * dataset.n_features),
        "layout": "dense" if isinstance(dataset.X, np.ndarray) else "CSR",
        "classes": counts,
        "orders": 0 if dataset.orders is None else len(dataset.orders),
        "changes": [list(change) for change in dataset.changes],
        "fingerprint": dataset.fingerprint,
    }


def _stated_shape(variant: VariantSpec) -> dict[str, Any]:
    """What the entry says of rows that nobody has read here."""
    return {
        "task": variant.task,
        "rows": variant.rows,
        "train": variant.train,
        "features": variant.features,
        "density": None,
        "layout": None,
        "classes": {},
        "orders": 0,
        "changes": [],
        "fingerprint": None,
    }


def _ranges(dataset: Dataset) -> Mapping[str, Any]:
    rows = MultiFileRows([FileRows(dataset.X, dataset.y)])
    ranges = Ranges.of(rows, np.arange(dataset.n_rows))
    summary = ranges.summary()
    if dataset.task == "regression":
        summary["target"] = [float(dataset.y.min()), float(dataset.y.max())]
    return summary


def _steps(variant: VariantSpec) -> list[str]:
    """The preparation in the order it is done, one line per step."""
    lines = [f"join {', '.join(variant.use)}"] if len(variant.use) > 1 else []
    if variant.distinct:
        lines.append("drop rows that repeat an earlier one")
    if variant.first is not None:
        lines.append(f"keep the first {variant.first:,} rows")
    if variant.above is not None and variant.task != "regression":
        lines.append(f"a target above {variant.above:g} is 1, else -1")
    if variant.labels:
        lines.append("labels " + ", ".join(f"{old} → {new}" for old, new in variant.labels.items()))
    if variant.scale != "none":
        lines.append(f"scale {variant.scale}" + _learned_on(variant))
    if variant.hash:
        lines.append(f"hash the columns to {variant.hash:,}, with signs")
    if variant.split:
        lines.append(
            f"shuffle with seed {variant.split.seed}, train on {variant.split.train:,} rows"
        )
    elif variant.train:
        lines.append(f"train on the first {variant.train:,} rows, test on the others")
    if variant.orders:
        lines.append(f"permutations of {variant.orders.file} ({variant.orders.variable})")
    return lines


def _learned_on(variant: VariantSpec) -> str:
    if variant.scale in ("/255", "unit norm"):
        return ""
    if variant.train and not variant.split:
        return f", ranges of the first {variant.train:,} rows"
    return ", ranges of all rows"


def _agreement(
    entry: DatasetSpec, variant: VariantSpec, asked: str, dataset: Dataset
) -> list[dict[str, Any]]:
    """What the entry promises beside what is here, with the entry's reason when they differ."""
    rows = None if entry.embedded and asked not in ("", "all") else variant.rows
    pairs = (
        ("rows", rows, dataset.n_rows),
        ("train", variant.train, dataset.n_train),
        ("features", variant.features, dataset.n_features),
        ("classes", variant.classes or None, len(dataset.classes)),
    )
    return [
        {
            "what": what,
            "expected": expected,
            "found": found,
            "agrees": expected == found,
            "reason": "" if expected == found else variant.note or "not explained in the entry",
        }
        for what, expected, found in pairs
        if expected is not None
    ]


def _file(file: FileSpec) -> dict[str, Any]:
    record, path = record_of(file), path_of(file)
    return {
        "name": file.name,
        "path": str(path or ""),
        "source": record.source if record else file.path,
        "sha256": record.content_sha256 if record else "",
        "checked": record.checked if record else "",
        "verified": record.verified if record else "",
    }
