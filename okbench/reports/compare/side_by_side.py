"""Several sets of outcomes side by side: one line per learner on a dataset, one column per set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev
from typing import Any

from tabulate import tabulate

from okbench.reports.compare.pairs import SIGNIFICANT, TOO_FEW, UNDECIDED
from okbench.reports.guard.trial_diff import difference
from okbench.reports.machines import of_one_machine
from okbench.reports.numbers import mean_and_std, signed
from okbench.reports.statistics import FEWEST_PAIRS, Paired, holm, paired
from okbench.reports.tables.cells import value_of
from okbench.reports.tables.grouping import GroupKey, grouped_alike
from okbench.trials.trial_types import Outcome


@dataclass(frozen=True)
class SetSummary:
    """The outcomes of one set for a learner on a dataset; there are none when `n` is 0."""

    n: int = 0
    mean: float | None = None
    std: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class ComparedCell:
    """A learner on a dataset in every set. `change` is the last set minus the first, paired on the
    permutations both have, and `t_test` its p value, corrected (Holm) for all lines. `note` says
    what else differs, or that nothing can be decided.
    """

    dataset: str
    learner: str
    metric: str
    columns: tuple[SetSummary, ...]
    change: Paired | None
    note: str
    t_test: float | None = None


def side_by_side(sets: Sequence[Mapping[str, Outcome]]) -> list[ComparedCell]:
    """The lines of all sets, in the order they are first met."""
    groups = grouped_alike([outcomes.values() for outcomes in sets])
    keys = dict.fromkeys(key for found in groups for key in found)
    lines = [_line(key, [found.get(key, []) for found in groups]) for key in keys]
    p_values = iter(holm([line.change.t_test for line in lines if line.change]))
    return [_decided(line, next(p_values)) if line.change else line for line in lines]


def _decided(line: ComparedCell, t_test: float) -> ComparedCell:
    """The line with its corrected p value, and a note if that decides nothing."""
    equal = line.change is not None and line.change.low == line.change.high == 0
    notes = [line.note, UNDECIDED if t_test >= SIGNIFICANT and not equal else ""]
    return replace(line, t_test=t_test, note="; ".join(note for note in notes if note))


def _line(key: GroupKey, groups: Sequence[Sequence[Outcome]]) -> ComparedCell:
    metric = next(group[0].trial.metric for group in groups if group)
    values = [_values(group, metric) for group in groups]
    columns = tuple(map(_column, groups, values))
    first, last = groups[0], groups[-1]
    if not first or not last:
        return ComparedCell(*key, metric, columns, None, "not in every set")
    before, after = first[0].trial, last[0].trial
    if before.metric != after.metric:
        return ComparedCell(*key, metric, columns, None, "the metrics differ")
    unlike = difference(before, after)
    if (before.order, before.seed) != (after.order, after.seed):
        return ComparedCell(
            *key, metric, columns, None, f"{unlike}; not paired: the permutations differ"
        )
    found = paired(values[-1], values[0])
    return ComparedCell(*key, metric, columns, found, _note(unlike, values, found))


def _values(group: Sequence[Outcome], metric: str) -> dict[int, float]:
    """The metric by permutation, of the trials that are done."""
    known = ((one.trial.repetition, value_of(one, metric)) for one in group)
    return {repetition: value for repetition, value in known if value is not None}


def _column(group: Sequence[Outcome], values: Mapping[int, float]) -> SetSummary:
    if not values:
        return SetSummary()
    done = [one for one in group if one.status == "done"]
    clocked = [one.seconds for one in of_one_machine(done) if one.seconds is not None]
    scores = list(values.values())
    return SetSummary(
        len(scores),
        fmean(scores),
        stdev(scores) if len(scores) > 1 else None,
        fmean(clocked) if clocked else None,
    )


def _note(unlike: str, values: Sequence[Mapping[int, float]], found: Paired | None) -> str:
    notes = [unlike]
    shared = values[0].keys() & values[-1].keys()
    if shared and all(values[0][r] == values[-1][r] for r in shared):
        notes.append("equal in every trial" if len(shared) > 1 else "equal")
    elif found is None:
        notes.append(TOO_FEW)
    if values[0].keys() != values[-1].keys():
        notes.append(f"compared on {len(shared)} of {len(values[0].keys() | values[-1].keys())}")
    return "; ".join(part for part in notes if part)


def side_by_side_text(names: Sequence[str], lines: Sequence[ComparedCell]) -> str:
    """The lines as a table to read."""
    rows = [
        [
            line.dataset,
            line.learner,
            *(_spelled(line.metric, column) for column in line.columns),
            *_changed(line),
            line.note,
        ]
        for line in lines
    ]
    header = ["dataset", "learner", *names, "last − first", "95 % interval", ""]
    sides = ["left", "left", *["right"] * (len(names) + 2), "left"]
    table = tabulate(rows, headers=header, tablefmt="simple", colalign=sides, disable_numparse=True)
    tested = sum(line.t_test is not None for line in lines)
    remarks = []
    if tested > 1:
        remarks.append(
            f"A change is decided if its paired t test, corrected (Holm) for {tested} lines, is "
            "significant (5 %);\neach interval is that of one line alone."
        )
    if few := sum(TOO_FEW in line.note for line in lines):
        remarks.append(
            f"{TOO_FEW}: {few} of {len(lines)} lines cannot be decided, because they have fewer\n"
            f"than {FEWEST_PAIRS} permutations in common "
            f"(okbench run TABLE --trials {FEWEST_PAIRS})."
        )
    return "\n".join([table, *(["", *remarks] if remarks else [])]) + "\n"


def _spelled(metric: str, column: SetSummary) -> str:
    if column.mean is None:
        return "–"
    return f"{mean_and_std(metric, column.mean, column.std)} (n={column.n})"


def _changed(line: ComparedCell) -> tuple[str, str]:
    if line.change is None:
        return "", ""
    mean = line.columns[0].mean or 0.0
    spell = [signed(line.metric, value, mean) for value in (line.change.low, line.change.high)]
    return signed(line.metric, line.change.mean, mean), " … ".join(spell)


def side_by_side_json(names: Sequence[str], lines: Sequence[ComparedCell]) -> str:
    """The same as data."""
    page: dict[str, Any] = {
        "okbench": "compare",
        "schema": 2,
        "sets": list(names),
        "lines": [asdict(line) for line in lines],
    }
    return json.dumps(page, indent=2) + "\n"
