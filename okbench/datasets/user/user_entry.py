"""Give user-defined rows a name: an entry at the end of the user's own datasets file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import ConfigError, StoreError, UsageError
from okbench.base.locks import locked
from okbench.base.shared_types import Task
from okbench.base.whole_files import replacing
from okbench.datasets.catalogue.dataset_catalogue import is_known, spec, user_datasets
from okbench.datasets.catalogue.entries import parse_catalogue
from okbench.datasets.catalogue.specs import ReaderSpec, is_plain_name
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.readers.table import Column
from okbench.datasets.user.user_rows import UserRows, read_user_rows
from okbench.papers.rows_file import Missing


def add_user_dataset(
    path: Path | str,
    name: str,
    target: Column | None = None,
    task: Task | None = None,
    *,
    categorical: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    missing: Missing = "refuse",
) -> UserRows:
    """Read rows once to check them, and enter them under `name` in the user's datasets file."""
    found = read_user_rows(
        path, target, task, name=name, categorical=categorical, drop=drop, missing=missing
    )
    if found.reader is None:
        raise UsageError(
            f"{path}: only CSV, LIBSVM, ARFF, .npy and Parquet files can be added; convert it first"
        )
    _enter(Path(path).absolute(), name, found.dataset, found.reader)
    return found


def _enter(path: Path, name: str, dataset: Dataset, reader: ReaderSpec) -> None:
    if not is_plain_name(name):
        raise UsageError(
            f"'{name}' is no name: letters, digits, '.', '-', '_', '+' and blanks, 120 at most"
        )
    if is_known(name):
        raise UsageError(f"there is a dataset '{spec(name).name}' already; choose another name")
    entry: dict[str, Any] = {
        "task": dataset.task,
        "features": dataset.n_features,
        **({"classes": len(dataset.classes)} if dataset.classes else {}),
        "files": {
            "all": {
                "name": path.name,
                "path": str(path),
                "rows": dataset.n_rows,
                "reader": reader_entry(reader),
            }
        },
    }
    # JSON is YAML whose texts cannot be mistaken for numbers
    line = f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(entry, ensure_ascii=False)}\n"
    file = user_datasets()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with locked(file.with_suffix(".lock")):
            _append(file, line)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written ({error.strerror or error})") from error


def reader_entry(reader: ReaderSpec) -> dict[str, Any]:
    """What the entry of a dataset says of its reader."""
    usual = ReaderSpec(reader.format)
    changed = {
        option.name: getattr(reader, option.name)
        for option in fields(ReaderSpec)
        if getattr(reader, option.name) != getattr(usual, option.name)
    }
    return {"format": reader.format, **changed}


def _append(file: Path, line: str) -> None:
    """Add a line; nothing else of the file is changed."""
    text = file.read_text(encoding="utf-8") if file.is_file() else "datasets:\n"
    whole = text + ("" if text.endswith("\n") else "\n") + line
    try:
        parse_catalogue(parse_yaml(whole, str(file)), user_defined=True)
    except ConfigError as error:
        raise ConfigError(f"an entry cannot be added at the end of {file}: {error}") from error
    with replacing(file) as out:
        out.write(whole.encode())
