"""A person's own datasets file: entries are added at its end, nothing else of it is touched."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from okbench.base.config_nodes import parse_yaml
from okbench.base.errors import ConfigError, StoreError, UsageError
from okbench.datasets.cache import locked, write_text
from okbench.datasets.catalogue.dataset_catalogue import is_known, spec, user_datasets
from okbench.datasets.catalogue.entries import parse_shelf
from okbench.datasets.catalogue.specs import ReaderSpec
from okbench.datasets.dataset_types import Dataset

_NAME = re.compile(r"[\w][\w. +-]*")


def enter(path: Path, name: str, dataset: Dataset, reader: ReaderSpec) -> Path:
    """Write an entry for rows that were read; the file written to."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name: letters, digits, '.', '-', '_', '+' and blanks")
    if is_known(name):
        raise UsageError(f"there is a dataset '{spec(name).name}' already; choose another name")
    told: dict[str, Any] = {
        "task": dataset.task,
        "features": dataset.n_features,
        **({"classes": len(dataset.classes)} if dataset.classes else {}),
        "files": {
            "all": {
                "name": path.name,
                "path": str(path),
                "rows": dataset.n_rows,
                "reader": _told(reader),
            }
        },
    }
    # JSON is YAML whose texts cannot be mistaken for numbers
    line = f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(told, ensure_ascii=False)}\n"
    file = user_datasets()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with locked(file.with_suffix(".lock"), tick=lambda: None):
            _append(file, line)
    except OSError as error:
        raise StoreError(f"{file}: cannot be written ({error.strerror or error})") from error
    return file


def _told(reader: ReaderSpec) -> dict[str, Any]:
    usual = ReaderSpec(reader.format)
    changed = {
        option.name: getattr(reader, option.name)
        for option in fields(ReaderSpec)
        if getattr(reader, option.name) != getattr(usual, option.name)
    }
    return {"format": reader.format, **changed}


def _append(file: Path, line: str) -> None:
    text = file.read_text(encoding="utf-8") if file.is_file() else "datasets:\n"
    whole = text + ("" if text.endswith("\n") else "\n") + line
    try:
        parse_shelf(parse_yaml(whole, str(file)), own=True)
    except ConfigError as error:
        raise ConfigError(f"an entry cannot be added at the end of {file}: {error}") from error
    write_text(file, whole)
