"""Envelopes as text: a line per varied cell, the same as CSV, everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, get_args

from okbench.papers.commands import command
from okbench.papers.provenance import basis_of
from okbench.papers.values import Value, spelled
from okbench.protocols.metrics import METRICS
from okbench.reports import numbers
from okbench.reports.csv_text import csv_text
from okbench.reports.tables.cells import Cell
from okbench.reports.tables.envelopes import Envelope, Envelopes, Reachability, Tried
from okbench.reports.tables.layout import Row, Sheet, SheetText
from okbench.reports.tables.notes import OURS, PAPER

_CSV = (
    "table", "dataset", "learner", "metric", "printed", "mean", "std", "n", "rests_on", "low",
    "high", "values", "outcome", "at", "at_mean", "at_std", "at_n", "own_agrees", "held",
)  # fmt: skip
_SHOWN = 3  # values that a statement names


def sheet_of(found: Envelopes) -> Sheet:
    """A line per varied cell: the print, our own number, the envelope and the statement."""
    groups = []
    for dataset, keys in groupby(found.found, key=lambda key: key[0]):
        rows: list[Row] = []
        for key in keys:
            one = found.found[key]
            words = (key[1], one.printed.text, _own(one), envelope_words(one), statement(one))
            rows.append(tuple(map(SheetText, ("" if rows else dataset, *words))))
        groups.append(tuple(rows))
    metric = METRICS[found.metric].heading
    title = f"{found.table}: {found.title} (settings varied through their ranges, {metric})"
    header = ("dataset", "learner", PAPER, OURS, "envelope", "the printed number is")
    return Sheet(title, header, tuple(groups), _notes(found), words=len(header))


def statement(found: Envelope) -> str:
    """`reachable at step = 0.2 (29.30 ± 0.42)`, and what was held fixed."""
    words = _outcome_words(found)
    if found.own_agrees and found.outcome in ("between values", "unreachable"):
        words += f"; the table's own {_named(found.given)} gives it"
    held = held_words(found)
    return f"{words}; held: {held}" if held else words


def _outcome_words(found: Envelope) -> str:
    names = ", ".join(map(_at, found.at[:_SHOWN]))
    more = f" and {len(found.at) - _SHOWN} more" if len(found.at) > _SHOWN else ""
    if found.outcome == "reachable":
        return f"reachable at {names}{more}"
    if found.outcome == "between values":
        return f"reached at no value of the range, but between {' and '.join(map(_at, found.at))}"
    if found.outcome == "unreachable":
        return f"unreachable at every value of the range; nearest: {names}, {_miss(found.at[0])}"
    missing = sum(one.standing == "not measured" for one in found.tried)
    if missing:
        count = len(found.tried)
        return f"not decided: {count - missing} of {count} values are measured"
    few = min(one.cell.n for one in found.at)
    return f"not decided by {few} permutations at {names}{more}"


def held_words(found: Envelope) -> str:
    """`decay = 0.03 (default)` for the settings without a range."""
    return ", ".join(
        f"{_named({name: one.value})} ({basis_of(one.source)})" for name, one in found.held.items()
    )


def envelope_words(found: Envelope) -> str:
    """`25.10 … 44.20`, and how many values diverged."""
    diverged = sum(one.diverged for one in found.tried)
    lost = f" (diverged at {diverged} of {len(found.tried)} values)" if diverged else ""
    if found.low is None or found.high is None:
        return f"none{lost}"
    metric = found.own.metric
    ends = (numbers.mean_and_std(metric, end, None) for end in (found.low, found.high))
    return f"{' … '.join(ends)}{lost}"


def csv_of(found: Envelopes) -> str:
    """A row per varied cell; the columns `at` hold the value nearest to the print among those
    that the outcome rests on."""
    rows: list[Sequence[Any]] = [_CSV]
    for (dataset, learner), one in found.found.items():
        near = one.at[0]
        rows.append([
            found.table, dataset, learner, found.metric, one.printed.text,
            one.own.mean, one.own.std, one.own.n, one.own.rests_on,
            one.low, one.high, len(one.tried), one.outcome, _named(near.values),
            near.cell.mean, near.cell.std, near.cell.n,
            one.own_agrees, held_words(one),
        ])  # fmt: skip
    return csv_text(["" if entry is None else entry for entry in row] for row in rows)


def json_of(found: Envelopes) -> str:
    """Everything, with each value that was tried."""
    record = {
        "okbench": "envelopes",
        "schema": 1,
        "table": found.table,
        "title": found.title,
        "metric": found.metric,
        "cells": [
            {
                "dataset": dataset,
                "learner": learner,
                "printed": asdict(one.printed),
                "own": {**_json_cell(one.own), "rests_on": one.own.rests_on},
                "given": dict(one.given),
                "own_agrees": one.own_agrees,
                "low": one.low,
                "high": one.high,
                "outcome": one.outcome,
                "at": [dict(each.values) for each in one.at],
                "statement": statement(one),
                "held": {
                    name: {"value": setting.value, "rests_on": basis_of(setting.source)}
                    for name, setting in one.held.items()
                },
                "tried": [_json_tried(each) for each in one.tried],
            }
            for (dataset, learner), one in found.found.items()
        ],
        "without_range": found.fixed,
        "inferred_ranges": found.inferred,
        "not_varied": found.waiting,
    }
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def _json_tried(one: Tried) -> dict[str, Any]:
    found = {"values": dict(one.values), "standing": one.standing, "p": one.p}
    return {**found, "diverged": one.diverged, **_json_cell(one.cell)}


def _json_cell(cell: Cell) -> dict[str, Any]:
    return {"mean": cell.mean, "std": cell.std, "n": cell.n, "statuses": dict(cell.statuses)}


def _named(values: Mapping[str, Value]) -> str:
    """`step = 0.02, decay = 0.03`."""
    return ", ".join(f"{name} = {_short(value)}" for name, value in values.items())


def _short(value: Value) -> str:
    return f"{value:g}" if isinstance(value, int | float) else spelled(value)


def _at(tried: Tried) -> str:
    mean = tried.cell.mean
    given = "diverged" if mean is None else numbers.of_cell(tried.cell, mean)
    return f"{_named(tried.values)} ({given})"


def _miss(tried: Tried) -> str:
    mean, difference = tried.cell.mean, tried.cell.difference
    if mean is None or difference is None:
        return "where every trial diverged"
    size = numbers.signed(tried.cell.metric, abs(difference), mean).removeprefix("+")
    return f"{size} {'above' if difference > 0 else 'below'} the print"


def _own(found: Envelope) -> str:
    own = found.own
    if own.mean is None:
        return own.shortfall
    return f"{numbers.of_cell(own, own.mean)} ({own.rests_on})"


def _notes(found: Envelopes) -> tuple[str, ...]:
    counts = [
        f"{sum(one.outcome == outcome for one in found.found.values())} {outcome}"
        for outcome in get_args(Reachability)
        if any(one.outcome == outcome for one in found.found.values())
    ]
    notes = [
        f"Printed numbers: {', '.join(counts)}.",
        f"{OURS}: with the table's own settings, and what these rest on; envelope: the smallest "
        "and the largest mean over the range.",
        "Means ± standard deviations over the stored permutations; docs/verdicts.md says when a "
        "number is reachable.",
    ]
    if any(one.outcome == "not decided" for one in found.found.values()):
        notes.append("Not decided: more permutations may decide (--trials).")
    if found.fixed:
        listed = "; ".join(f"{name} ({', '.join(who)})" for name, who in found.fixed.items())
        notes.append(f"Not varied, because the table has no range for it: {listed}.")
    notes += [
        f"The paper does not print the range of {name}: {reason}."
        for name, reason in found.inferred.items()
    ]
    if found.waiting:
        notes.append(
            f"Not varied yet: {found.waiting} cells"
            f" ({command('run', found.table, vary='inferred')})."
        )
    return tuple(notes)
