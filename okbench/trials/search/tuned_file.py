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
from okbench.papers.search import GIVEN_UP
from okbench.papers.table_types import Range, Search, Table
from okbench.papers.values import Value
from okbench.protocols.metrics import METRICS
from okbench.trials.search.searched_ranges import runs_for, shares_for
from okbench.trials.search.tuning import Choice, Try, spoken

_PACKAGES = ("okbench", "numpy", "numba")


def write(
    path: Path,
    table: Table,
    choices: Sequence[Choice],
    search: Search,
    environment: Mapping[str, Any],
) -> None:
    """Write the choices to a YAML file; choices made before for other cells stay in it. The search
    may be another than the table's own; where it was smaller, that is written too."""
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
    given_up: dict[str, Any] = {}
    for choice in choices:
        if choice.given_up:
            reason = {"seconds": choice.expected, "reason": choice.given_up}
            given_up.setdefault(choice.dataset, {})[choice.learner] = reason
            continue
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
            "ranges": _ranges(search),
            **_shares(search),
            "at_least": search.at_least,
            "runs": search.runs,
            **({"runs of": dict(search.runs_of)} if search.runs_of else {}),
            **({"folds": search.folds} if search.folds else {}),
            **({"together": search.together} if math.isfinite(search.together) else {}),
            "criterion": _criterion(table),
            "ties": f"the {search.ties} of equals",
            "inferred": {
                **{range_.name: range_.reason for range_ in search.ranges if _has_reason(range_)},
                **search.reasons,
            },
        },
        "versions": {package: environment["packages"][package] for package in _PACKAGES},
        "cells": cells,
        "tried": tried,
        **({GIVEN_UP: given_up} if given_up else {}),
    }


def _has_reason(range_: Range) -> bool:
    return range_.searched and bool(range_.reason)


def _ranges(search: Search) -> dict[str, Any]:
    """The values of each setting; where learners have ranges of their own, with their names."""
    found: dict[str, Any] = {}
    for range_ in (one for one in search.ranges if one.searched):
        name = " ".join([range_.name, *(["of", ", ".join(range_.only)] if range_.only else [])])
        found[name] = [_yaml(value) for value in range_.values]
    return found


def _shares(search: Search) -> dict[str, Any]:
    """The shares of the rows, those of single datasets and learners apart."""
    of_learners = {
        name: {"subset": one.usual, "subsets": dict(one.of_datasets)}
        for name, one in search.shares_of.items()
    }
    return {
        "subset": search.subset,
        **({"subsets": dict(search.subsets)} if search.subsets else {}),
        **({"subsets of": of_learners} if of_learners else {}),
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
        "permutations": choice.runs,
        **({"cut": cut} if (cut := _cut(choice, table, search)) else {}),
        **({"folds": search.folds} if search.folds else {}),
        "seconds": choice.seconds,
        "of": choice.trial.fingerprint,
        "seed": choice.trial.seed,
        **({} if alone else {"searched": [list(round_.names) for round_ in choice.rounds]}),
        _criterion(table): {
            _key(each, alone): dict(each.endings) if each.cost is None else each.cost
            for each in choice.tries
        },
    }


def _cut(choice: Choice, table: Table, search: Search) -> str:
    """In which way less was searched than the table asks for; empty if it was not less."""
    own = table.search or search
    column = next(one for one in table.learners if one.label == choice.learner)
    name = choice.dataset.partition(":")[0]
    pairs = {
        "of the rows": (shares_for(search, column).of(name), shares_for(own, column).of(name)),
        "permutations": (runs_for(search, column), runs_for(own, column)),
        "folds": (search.folds, own.folds),
    }
    return ", ".join(
        f"{used:g} {what} instead of {asked:g}"
        for what, (used, asked) in pairs.items()
        if used < asked
    )


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
    decided = {part: now.get(part, {}) for part in ("cells", "tried", GIVEN_UP)}
    joined = dict(now)
    for part, new in decided.items():
        rows = {name: dict(row or {}) for name, row in (before.get(part) or {}).items()}
        for name in rows:  # a cell is searched anew: what came of it before is no more
            for others in decided.values():
                for learner in others.get(name, {}):
                    rows[name].pop(learner, None)
        for name, row in new.items():
            rows[name] = {**rows.get(name, {}), **row}
        if rows or part in now:
            joined[part] = rows
    return joined
