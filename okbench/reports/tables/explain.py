"""What is behind a number: the trials of a cell, and a single trial."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.commands import run_command
from okbench.papers.provenance import preparation_of
from okbench.papers.table_types import Table
from okbench.reports.load import LoadedTable
from okbench.reports.results_paths import read_file, results_files
from okbench.reports.tables.cells import value_of
from okbench.reports.tables.verdicts import Judgement
from okbench.trials.plan.cells import repetitions_of
from okbench.trials.plan.options import Options
from okbench.trials.run.environment import machine_line
from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.trial_types import Outcome


def explain(loaded: LoadedTable, learner: str, dataset: str, named: Sequence[str] = ()) -> str:
    """The trials behind a cell, its verdict and why, and the command that repeats each trial.

    `named` is how the table was named on the command line, where its name alone is not enough.
    """
    table, report, options = loaded.table, loaded.report, loaded.options
    key = _known(dataset, report.datasets, "dataset"), _known(learner, report.learners, "learner")
    outcomes, ids = loaded.outcomes, loaded.asked.get(key, ())
    cell, verdict = report.cells[key], report.verdicts[key]
    repetitions = repetitions_of(table, options, key[1])
    found = [outcomes[id_] for id_ in ids if id_ in outcomes]
    alone = {one.trial.repetition for one in found if one.timed}
    lines = [
        f"{key[1]} × {key[0]} of {table.name}: {cell.n} of {cell.expected} trials done",
        f"paper prints  {cell.printed.text if cell.printed else 'nothing'}",
        *([f"remark        {cell.printed.note}"] if cell.printed and cell.printed.note else []),
        *_judged(verdict),
        *([f"outdated      {cell.outdated}"] if cell.outdated else []),
        "",
        *_settings(table, key, found),
        "",
        _trials(repetitions, ids, outcomes),
        "",
        "To repeat a trial, measured anew and stored in another folder:",
        *(f"  {_command(table, key, r, r in alone, options, named)}" for r in repetitions),
    ]
    return "\n".join(lines) + "\n"


def _judged(verdict: Judgement) -> Iterator[str]:
    if verdict.outcome == verdict.reason:
        yield f"outcome       {verdict.outcome}"
    else:
        yield f"outcome       {verdict.outcome}: {verdict.reason}"
    if verdict.measured:
        yield f"rests on      {verdict.rests_on}"
    yield from (f"              {words}" for words in verdict.because)


def _known(name: str, known: tuple[str, ...], kind: str) -> str:
    found = [one for one in known if one.casefold() == name.casefold()]
    if not found:
        hint = did_you_mean(name, known)
        raise UsageError(f"no {kind} '{name}' here.{hint} There is {', '.join(known)}")
    return found[0]


def _settings(table: Table, key: tuple[str, str], found: list[Outcome]) -> Iterator[str]:
    """Each setting the trials ran with, and who says so."""
    given = table.settings.get(key, {})
    for name, value in found[0].trial.settings if found else ():
        setting = given.get(name)
        source = "the learner's default" if setting is None else setting.source
        reason = f": {setting.reason}" if setting and setting.reason else ""
        yield f"{name} = {value}  ({source}{reason})"
    for trial in (one.trial for one in found[:1]):
        rows = preparation_of(trial.dataset, trial.variant)
        yield f"rows  ({rows.source}{f': {rows.reason}' if rows.reason else ''})"


def _trials(repetitions: Sequence[int], ids: Sequence[str], outcomes: Mapping[str, Outcome]) -> str:
    if not ids:
        return "No trial of this cell is stored."
    rows = []
    for repetition, id_ in zip(repetitions, ids, strict=True):
        one = outcomes.get(id_)
        if one is None:
            rows.append([repetition, id_, "missing", "", "", "", "", ""])
            continue
        value = value_of(one, one.trial.metric)
        clock = (
            "" if one.seconds is None else f"{one.seconds:.4g}" + (" alone" if one.timed else "")
        )
        total = "" if one.total is None else f"{one.total:.10g} of {one.rows}"
        shown = "" if value is None else f"{value:.6g}"
        rows.append([repetition, id_, one.status, total, shown, clock, one.environment, one.reason])
    header = ["r", "trial", "status", "total", "value", "seconds", "environment", "reason"]
    if not any(row[-1] for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    return tabulate(rows, headers=header, tablefmt="simple", disable_numparse=True)


def _command(
    table: Table,
    key: tuple[str, str],
    repetition: int,
    timed: bool,
    options: Options,
    named: Sequence[str],
) -> str:
    """With --again it measures each time it is given, not only the first."""
    return run_command(
        table, named, key[:1], key[1:], repetition=repetition, seed=options.seed or None,
        timing=timed, again=True, results="again",
    )  # fmt: skip


def find_trials(prefix: str, places: list[Path]) -> list[tuple[Path, Outcome, dict[str, Any]]]:
    """Every stored outcome whose trial's id begins so, with its file and its machine."""
    needle = f'"id":"{prefix}'.encode()
    files = [path for place in places if place.exists() for path in results_files(place).values()]
    found = []
    for path in files:
        if needle in path.read_bytes():
            contents = read_file(path, curves=True)
            found += [
                (path, outcome, contents.environments.get(outcome.environment, {}))
                for outcome in contents.measured
                if outcome.trial.id.startswith(prefix)
            ]
    return found


def describe_trial(prefix: str, places: list[Path]) -> str | None:
    """All that is known of the trial whose id begins so; None when there is none."""
    return "\n".join(_page(*one) for one in _outcomes_of(prefix, places)) or None


def trial_records(prefix: str, places: list[Path]) -> list[dict[str, Any]]:
    """The same as data, one record per stored outcome of the trial."""
    return [
        {
            "file": str(path),
            "spelled": outcome.trial.spelled,
            "value": value_of(outcome, outcome.trial.metric),
            "outcome": json.loads(to_bytes(outcome_record(outcome))),
            "machine": machine,
        }
        for path, outcome, machine in _outcomes_of(prefix, places)
    ]


def _outcomes_of(prefix: str, places: list[Path]) -> list[tuple[Path, Outcome, dict[str, Any]]]:
    """What `find_trials` finds, if it is a single trial."""
    found = find_trials(prefix, places)
    ids = sorted({outcome.trial.id for _, outcome, _ in found})
    if len(ids) > 1:
        raise UsageError(f"'{prefix}' could be {', '.join(ids[:5])}; say more of it")
    return found


def _page(path: Path, outcome: Outcome, machine: Mapping[str, Any]) -> str:
    trial = outcome.trial
    value = value_of(outcome, trial.metric)
    extra = {name: item for name, item in outcome.extra.items() if name != "traceback"}
    facts = {
        "trial": trial.id,
        "spelled": trial.spelled,
        "file": path,
        "status": outcome.status + (f": {outcome.reason}" if outcome.reason else ""),
        "total": f"{outcome.total} over {outcome.rows} rows",
        trial.metric: "" if value is None else value,
        "seconds": f"{outcome.seconds}" + (", measured alone" if outcome.timed else ""),
        "support": outcome.support,
        "bytes": outcome.bytes,
        "finished": outcome.finished,
        "machine": machine_line(machine) if machine else "not recorded",
        "extra": json.dumps(extra) if extra else None,
    }
    lines = [f"{name:<14}{value}" for name, value in facts.items() if value not in (None, "")]
    if outcome.curve:
        points = [
            ["" if number is None else f"{number:.6g}" for number in p] for p in outcome.curve
        ]
        table = tabulate(points, headers=["rows", "total", "support", "seconds"], tablefmt="simple",
                         disable_numparse=True)  # fmt: skip
        lines += ["", table]
    if "traceback" in outcome.extra:
        lines += ["", str(outcome.extra["traceback"]).rstrip()]
    return "\n".join(lines) + "\n"
