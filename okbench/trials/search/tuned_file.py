"""What was chosen, written down as settings that a table reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from okbench.base.config_nodes import read_yaml
from okbench.base.errors import ConfigError, StoreError
from okbench.base.whole_files import write_whole
from okbench.papers.table_types import Search, Table
from okbench.papers.values import Value
from okbench.protocols.metrics import METRICS
from okbench.trials.search.tuning import TIES, Choice, Try, spoken

_TOLD = ("okbench", "numpy", "numba")


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
        write_whole(path, f"# Chosen by okbench tune.\n{text}".encode())
    except StoreError as error:
        raise StoreError(f"{error}; see --to") from error


def _record(
    table: Table, choices: Sequence[Choice], search: Search, environment: Mapping[str, Any]
) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    tried: dict[str, Any] = {}
    for choice in choices:
        if not choice.values:
            continue
        cells.setdefault(choice.dataset, {})[choice.learner] = {
            name: {"value": _yaml(value), "tuned": _reason(choice, name)}
            for name, value in choice.values.items()
        }
        tried.setdefault(choice.dataset, {})[choice.learner] = _tried(choice, table, search)
    return {
        "table": table.name,
        "search": {
            "ranges": {
                range_.name: [_yaml(value) for value in range_.values] for range_ in search.ranges
            },
            "subset": search.subset,
            **({"subsets": dict(search.subsets)} if search.subsets else {}),
            "at_least": search.at_least,
            "runs": search.runs,
            **({"together": search.together} if math.isfinite(search.together) else {}),
            "criterion": _criterion(table),
            "ties": TIES,
            "inferred": {
                **{range_.name: range_.reason for range_ in search.ranges if range_.reason},
                **search.reasons,
            },
        },
        "versions": {package: environment["packages"][package] for package in _TOLD},
        "cells": cells,
        "tried": tried,
    }


def _reason(choice: Choice, name: str) -> str:
    (round_,) = [each for each in choice.rounds if name in each.names]
    edge = "; at the edge of the range" if name in choice.at_edge else ""
    counted = sum(each.cost is not None for each in round_.tries)
    kind = "values" if len(round_.names) == 1 else f"combinations of {', '.join(round_.names)}"
    return f"best of {counted} of {len(round_.tries)} {kind} on {choice.rows} rows{edge}"


def _tried(choice: Choice, table: Table, search: Search) -> dict[str, Any]:
    """All that was tried for a cell: a cost, or how the trials ended where they did not all end.

    Settings of one list were searched together, one list after the other.
    """
    alone = [round_.names for round_ in choice.rounds] == [choice.rounds[0].names[:1]]
    return {
        "learner": f"{choice.trial.learner}/{choice.trial.learner_version}",
        "rows": choice.rows,
        "permutations": search.runs,
        "of": choice.trial.fingerprint,
        "seed": choice.trial.seed,
        **({} if alone else {"searched": [list(round_.names) for round_ in choice.rounds]}),
        _criterion(table): {
            _key(each, alone): dict(each.endings) if each.cost is None else each.cost
            for each in choice.tries
        },
    }


def _key(tried: Try, alone: bool) -> float | str:
    """The value of the only setting searched, or each value with its setting."""
    if alone:
        (value,) = tried.values.values()
        if isinstance(value, float | int):
            return value
    return spoken(tried.values)


def _yaml(value: Value) -> Any:
    """A list as YAML has it; `safe_dump` knows no tuples."""
    return list(value) if isinstance(value, tuple) else value


def _criterion(table: Table) -> str:
    return METRICS[table.protocol.metric].cost_words


def _read(path: Path, table: str) -> dict[str, Any]:
    before = read_yaml(path).plain()
    if not isinstance(before, dict) or before.get("table") != table:
        raise ConfigError(f"{path}: holds no settings of {table}; choose another file with --to")
    return before


def _joined(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The new record, with the cells of the old that it does not contain."""
    joined = dict(now)
    for part in ("cells", "tried"):
        rows = {name: dict(row or {}) for name, row in (before.get(part) or {}).items()}
        for name, row in now[part].items():
            rows[name] = {**rows.get(name, {}), **row}
        joined[part] = rows
    return joined
