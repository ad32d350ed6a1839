"""Stated and fitted orders as text: a sheet, rows of measurements, everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from okbench.reports.csv_text import csv_text
from okbench.reports.tables.complexity import Complexity, Fit, MeasuredTrial
from okbench.reports.tables.layout import Sheet, SheetText

_HEADER = ("learner", "strategy", "time stated", "time fitted", "space stated", "space fitted")


def sheet_of(found: Complexity) -> Sheet:
    """A line per learner: what the paper states, and the exponents fitted."""
    rows = tuple(
        tuple(
            map(
                SheetText,
                (
                    growth.learner,
                    growth.stated.strategy,
                    growth.stated.texts[0],
                    _fitted(growth.time, growth.stated.time),
                    growth.stated.texts[1],
                    _fitted(growth.space, growth.stated.space),
                ),
            )
        )
        for growth in found.growths
    )
    title = f"{found.table}: {found.title}"
    return Sheet(title, _HEADER, (rows,), _notes(found), words=len(_HEADER))


def csv_of(found: Complexity) -> str:
    """One row per trial, numbers as measured."""
    header = ["table", "learner", "setting", "value", "seconds_a_row", "bytes"]
    rows = [
        [found.table, one.learner, one.setting, f"{one.value:.12g}", one.seconds,
         f"{one.bytes:.12g}"]
        for one in found.measured
    ]  # fmt: skip
    return csv_text([header, *rows])


def json_of(found: Complexity) -> str:
    """Fits and measurements."""
    record = {"okbench": "complexity", "schema": 1, **asdict(found)}
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def _fitted(fits: Mapping[str, Fit], stated: Mapping[str, int]) -> str:
    """`budget^0.98 (0.95 to 1.01)` for every setting that was swept or that the order names."""
    names = dict.fromkeys([*fits, *stated])
    return ", ".join(
        f"{name}^{_words(fits[name])}" if name in fits else f"{name}: not measured"
        for name in names
    )


def _words(fit: Fit) -> str:
    return f"{fit.exponent:.2f} ({fit.low:.2f} to {fit.high:.2f})"


def _notes(found: Complexity) -> tuple[str, ...]:
    notes = [
        "Stated: copied from the paper. Fitted: the exponent by least squares between logarithms, "
        "over the larger half of the values, with its 95 % interval.",
        "Time: seconds per row in the second half of the stream, by the quickest trial of a value. "
        "Space: bytes of the model.",
    ]
    notes += [f"Values of {name}: {_values(found.measured, name)}." for name in _settings(found)]
    if found.absent:
        notes.append(f"Not here: {', '.join(found.absent)}.")
    return (*notes, *found.outdated, *(f"Machine: {machine}." for machine in found.machines))


def _settings(found: Complexity) -> list[str]:
    return list(dict.fromkeys(one.setting for one in found.measured))


def _values(measured: tuple[MeasuredTrial, ...], name: str) -> str:
    values = {one.value for one in measured if one.setting == name}
    return f"{min(values):g} to {max(values):g}"
