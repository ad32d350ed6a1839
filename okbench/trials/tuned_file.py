"""What was chosen, written down as settings that a table reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from okbench.errors import ConfigError, StoreError
from okbench.papers.nouns import Search, Table
from okbench.papers.yamlfile import read_yaml
from okbench.trials.tune import TIES, Choice

_TOLD = ("okbench", "numpy", "numba")
_COST = {"mistake_rate": "mistakes a row", "accuracy": "mistakes a row"}


def write(
    path: Path,
    table: Table,
    choices: Sequence[Choice],
    search: Search,
    environment: Mapping[str, Any],
) -> None:
    """Write the choices to a YAML file; choices made before for other cells stay in it."""
    record = _record(table, choices, search, environment)
    if path.exists():
        record = _joined(_read(path, table.name), record)
    text = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=100)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Chosen by okbench tune.\n{text}", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}; see --to") from error


def _record(
    table: Table, choices: Sequence[Choice], search: Search, environment: Mapping[str, Any]
) -> dict[str, Any]:
    name = search.sweep.name
    cells: dict[str, Any] = {}
    tried: dict[str, Any] = {}
    for choice in choices:
        if choice.value is None:
            continue
        said = {"value": choice.value, "tuned": _reason(choice)}
        cells.setdefault(choice.dataset, {})[choice.learner] = {name: said}
        tried.setdefault(choice.dataset, {})[choice.learner] = _tried(choice, table, search)
    return {
        "table": table.name,
        "search": {
            "setting": name,
            "values": list(search.sweep.values),
            "subset": search.subset,
            "at_least": search.at_least,
            "runs": search.runs,
            "criterion": _criterion(table),
            "ties": TIES,
            "inferred": dict(search.reasons),
        },
        "versions": {package: environment["packages"][package] for package in _TOLD},
        "cells": cells,
        "tried": tried,
    }


def _reason(choice: Choice) -> str:
    edge = "; at the edge of the range" if choice.at_edge else ""
    counted = sum(each.cost is not None for each in choice.tries)
    return f"best of {counted} of {len(choice.tries)} values on {choice.rows} rows{edge}"


def _tried(choice: Choice, table: Table, search: Search) -> dict[str, Any]:
    """All that was tried for a cell: a cost, or how the trials ended where they did not all end."""
    return {
        "learner": f"{choice.trial.learner}/{choice.trial.learner_version}",
        "rows": choice.rows,
        "row orders": search.runs,
        "of": choice.trial.fingerprint,
        "seed": choice.trial.seed,
        _criterion(table): {
            each.value: dict(each.endings) if each.cost is None else each.cost
            for each in choice.tries
        },
    }


def _criterion(table: Table) -> str:
    return _COST.get(table.protocol.metric, "squared loss a row")


def _read(path: Path, table: str) -> dict[str, Any]:
    before = read_yaml(path).plain()
    if not isinstance(before, dict) or before.get("table") != table:
        raise ConfigError(f"{path}: holds no settings of {table}; choose another file with --to")
    return before


def _joined(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The new record, with the cells of the old that it does not tell of."""
    joined = dict(now)
    for part in ("cells", "tried"):
        rows = {name: dict(row) for name, row in before.get(part, {}).items()}
        for name, row in now[part].items():
            rows[name] = {**rows.get(name, {}), **row}
        joined[part] = rows
    return joined
