"""Give user-defined rows a name: an entry at the end of the user's own datasets file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import ConfigError, StoreError, UsageError
from okbench.base.locks import locked
from okbench.base.shared_types import Task
from okbench.base.whole_files import replacing
from okbench.datasets.catalogue.dataset_catalogue import is_known, spec, user_datasets, variant
from okbench.datasets.catalogue.entries import parse_catalogue
from okbench.datasets.catalogue.specs import ReaderSpec, is_plain_name
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.loading import prepared_already
from okbench.datasets.readers.table import Column
from okbench.datasets.user.large_file import is_large, read_large
from okbench.datasets.user.user_rows import UserRows, read_user_rows
from okbench.papers.rows_file import Missing
from okbench.papers.table_types import RowsFile


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
    """Read rows once to check them, and enter them under `name` in the user's datasets file. Those
    of a large file stay prepared."""
    _check_name(name)
    path = Path(path)
    if is_large(path):
        return _add_large(
            RowsFile(
                path, None if target is None else str(target), task, tuple(map(str, categorical)),
                tuple(map(str, drop)), missing, "none",
            ),
            name,
        )  # fmt: skip
    found = read_user_rows(
        path, target, task, name=name, categorical=categorical, drop=drop, missing=missing
    )
    if found.reader is None:
        raise UsageError(
            f"{path}: only CSV, LIBSVM, ARFF, .npy and Parquet files can be added; convert it first"
        )
    _enter(path.absolute(), name, found.dataset, found.reader)
    return found


def _add_large(file: RowsFile, name: str) -> UserRows:
    found, folder = read_large(file)
    assert found.reader is not None  # of every format that is read in pieces
    _enter(file.path.absolute(), name, found.dataset, found.reader)
    prepared_already(spec(name), variant(spec(name), ""), folder)
    return found


def _check_name(name: str) -> None:
    if not is_plain_name(name):
        raise UsageError(
            f"'{name}' is no name: letters, digits, '.', '-', '_', '+' and blanks, 120 at most"
        )
    if is_known(name):
        raise UsageError(f"there is a dataset '{spec(name).name}' already; choose another name")


def _enter(path: Path, name: str, dataset: Dataset, reader: ReaderSpec) -> None:
    entry: dict[str, Any] = {
        "task": dataset.task,
        "features": dataset.n_features,
        **({"classes": len(dataset.classes)} if dataset.classes else {}),
        "files": {
            "all": {
                "name": path.name,
                "path": str(path),
                "rows": dataset.n_rows,
                "reader": reader.written(),
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
