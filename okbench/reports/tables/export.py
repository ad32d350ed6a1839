"""Outcomes as a pandas DataFrame, and that frame as CSV or Parquet for other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from okbench.base.errors import UsageError
from okbench.base.whole_files import write_whole
from okbench.papers.table_catalogue import find, names
from okbench.reports.csv_text import harmless
from okbench.reports.load import load_table
from okbench.reports.results_paths import read_file, results_files
from okbench.reports.tables.cells import Cell, value_of
from okbench.reports.tables.verdicts import Judgement
from okbench.trials.plan.options import Options
from okbench.trials.store.match_outcomes import Versions
from okbench.trials.trial_types import Outcome, Trial

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
FORMATS = ("csv", "parquet")
VERDICT_FORMATS = ("csv", "json")
SETTING = "setting."
_NAMES = ("id", "table", "dataset", "variant", "learner", "learner_version", "protocol", "metric",
          "repetition", "order", "seed")  # fmt: skip
_MORE_OF_TRIAL = ("fingerprint", "protocol_version", "block", "tolerance")
_OUTCOME = ("status", "value", "total", "rows", "seconds", "cpu_seconds", "train_seconds",
            "support", "bytes", "timed", "finished", "reason", "environment")  # fmt: skip
_MACHINE = ("cpu", "cores", "memory_gb", "os", "python")
_PACKAGES = ("okbench", "numpy")
_POINT = ("rows", "value", "total", "support", "seconds")
_TYPES = {
    **dict.fromkeys(("rows", "support", "bytes", "cores", "memory_gb"), "Int64"),
    **dict.fromkeys(("value", "total", "seconds", "cpu_seconds", "train_seconds"), "float64"),
}
_VERDICT = ("paper", "table", "settings", "dataset", "learner", "metric", "printed", "printed_mean",
            "printed_std", "measured", "std", "n", "outcome", "rests_on", "because", "low", "high",
            "smallest", "p", "reason", "trials")  # fmt: skip
_ALL = Options()


def load_results(place: Path | str, *, curves: bool = False) -> pd.DataFrame:
    """The stored outcomes of a results file, or of every results file in a folder.

    There is one row per trial: `table`, `dataset`, `learner`, `metric`, `repetition` and `seed` say
    which trial it is, and each setting has a column of its own, `setting.width` for example, empty
    for a learner that has no such setting. `value` is the metric, in percent for rates, and empty
    unless the trial is done (see `status`); `total` is what the metric is computed from, over
    `rows` rows. `seconds` is the time inside the learner, `support` the number of support vectors
    and `bytes` the size of the model. `cpu`, `cores`, `memory_gb`, `os`, `python`, `okbench` and
    `numpy` describe the machine. Numbers are as measured. A trial that was run with --timing and
    without has two rows, which differ in `timed`.

        results = okbench.load_results("runs")
        results.pivot_table("value", index="dataset", columns="learner")

    With `curves=True` there is one row per point of each trial's curve instead: `value`, `total`,
    `support` and `seconds` after the first `rows` rows.
    """
    return _frame([Path(place)], curves)


def export(places: Sequence[Path], form: str, target: Path, curves: bool = False) -> int:
    """Write what `load_results` gives for these places to a file; return the number of rows."""
    if form not in FORMATS:
        raise UsageError(
            f"{target}: there is no format '{form}' ({', '.join(FORMATS)}); name one with --format"
        )
    frame = _frame(places, curves)
    write_whole(target, (_csv if form == "csv" else _parquet)(frame))
    return len(frame)


def export_verdicts(
    places: Sequence[Path], form: str, target: Path, versions: Versions | None = None
) -> int:
    """Write the verdict on every printed cell of the tables at these places; return how many."""
    if form not in VERDICT_FORMATS:
        raise UsageError(
            f"{target}: verdicts are written as {' or '.join(VERDICT_FORMATS)}, not as {form}"
        )
    rows = [row for place in places for row in _verdict_rows(place, versions)]
    if form == "json":
        page = {"okbench": "verdicts", "schema": 1, "cells": rows}
        write_whole(target, (json.dumps(page, indent=1, allow_nan=False) + "\n").encode())
    else:
        import pandas as pd

        joined = [{**row, **{k: "; ".join(row[k]) for k in ("because", "trials")}} for row in rows]
        write_whole(target, _csv(pd.DataFrame(joined, columns=_VERDICT)))
    return len(rows)


def _verdict_rows(place: Path, versions: Versions | None) -> Iterator[Row]:
    known = {card.name for card in names()}
    for name, path in results_files(place).items():
        if name not in known or not (table := find(name)).printed:
            continue
        loaded = load_table(table, place, _ALL, None, versions, read_file(path))
        report = loaded.report
        keyed = [("", report.cells, report.verdicts, loaded.asked)]
        keyed += [
            (other, report.alternatives[other], report.other_verdicts[other], loaded.others[other])
            for other in report.alternatives
        ]
        for settings, cells, verdicts, ids in keyed:
            for key, verdict in verdicts.items():
                if verdict.outcome != "nothing printed":
                    done = [id_ for id_ in ids.get(key, ()) if id_ in loaded.outcomes]
                    head = {"paper": table.paper, "table": name, "settings": settings}
                    yield head | _verdict_row(cells[key], verdict, done)


def _verdict_row(cell: Cell, verdict: Judgement, trials: Sequence[str]) -> Row:
    assert cell.printed is not None
    low, high = verdict.interval or (None, None)
    return {
        "dataset": cell.dataset,
        "learner": cell.learner,
        "metric": cell.metric,
        "printed": cell.printed.text,
        "printed_mean": cell.printed.mean,
        "printed_std": cell.printed.std,
        "measured": cell.mean,
        "std": cell.std,
        "n": cell.n,
        "outcome": verdict.outcome,
        "rests_on": verdict.rests_on if verdict.measured else "",
        "because": list(verdict.because),
        "low": low,
        "high": high,
        "smallest": verdict.smallest,
        "p": verdict.p,
        "reason": verdict.reason,
        "trials": list(trials),
    }


def _frame(places: Sequence[Path], curves: bool) -> pd.DataFrame:
    import pandas as pd

    rows = [row for place in places for row in _rows(place, curves)]
    settings = sorted({name for row in rows for name in row if name.startswith(SETTING)})
    if curves:
        columns = [*_NAMES, *settings, "status", *_POINT]
    else:
        columns = [*_NAMES, *_MORE_OF_TRIAL, *settings, *_OUTCOME, *_MACHINE, *_PACKAGES]
    types = _TYPES | {name: kind for name in settings if (kind := _type_of(name, rows))}
    return pd.DataFrame(rows, columns=columns).astype(
        {name: kind for name, kind in types.items() if name in columns}
    )


def _type_of(setting: str, rows: Sequence[Row]) -> str | None:
    """The type of a setting's column, with which whole numbers stay whole where some are absent."""
    values = [row[setting] for row in rows if row.get(setting) is not None]
    kinds = set(map(type, values))
    if kinds == {int} and max(map(abs, values)) < 2**63:
        return "Int64"
    return "boolean" if kinds == {bool} else None


def _rows(place: Path, curves: bool) -> Iterator[Row]:
    for table, path in results_files(place).items():
        contents = read_file(path, curves=curves)
        for outcome in contents.each():
            known = {"table": table, "status": outcome.status, **_trial_row(outcome.trial)}
            if curves:
                yield from (known | point for point in _points(outcome))
            else:
                machine = contents.environments.get(outcome.environment, {})
                yield known | _outcome_row(outcome) | _machine_row(machine)


def _trial_row(trial: Trial) -> Row:
    names = {*_NAMES, *_MORE_OF_TRIAL} - {"table"}
    settings = {f"{SETTING}{name}": _plain(value) for name, value in trial.settings}
    return {name: getattr(trial, name) for name in names} | settings


def _plain(value: Any) -> Any:
    """A setting as one cell: a list becomes its JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple) else value


def _outcome_row(outcome: Outcome) -> Row:
    row = {name: getattr(outcome, name) for name in _OUTCOME if name != "value"}
    return row | {"value": value_of(outcome, outcome.trial.metric)}


def _machine_row(machine: Mapping[str, Any]) -> Row:
    packages = machine.get("packages", {})
    return {name: machine.get(name) for name in _MACHINE} | {
        name: packages.get(name) for name in _PACKAGES
    }


def _points(outcome: Outcome) -> Iterator[Row]:
    for rows, total, support, seconds in outcome.curve:
        point = replace(outcome, status="done", rows=int(rows or 0), total=total)
        value = value_of(point, outcome.trial.metric)
        yield dict(zip(_POINT, (rows, value, total, support, seconds), strict=True))


def _csv(frame: pd.DataFrame) -> bytes:
    """Numbers stay numbers; a text that a spreadsheet would run as a formula gets an apostrophe."""
    text = frame.apply(lambda column: column.map(harmless) if column.dtype.kind == "O" else column)
    page = io.StringIO()
    text.to_csv(page, index=False, lineterminator="\n")
    return page.getvalue().encode("utf-8", "backslashreplace")


def _parquet(frame: pd.DataFrame) -> bytes:
    """Text takes the place of numbers beside text, and of numbers beyond 64 bits."""
    from pandas.api.types import infer_dtype

    for name in frame:
        if frame[name].dtype == object and infer_dtype(frame[name]) not in ("string", "empty"):
            frame[name] = frame[name].map(str, na_action="ignore")
    file = io.BytesIO()
    try:
        frame.to_parquet(file, engine="pyarrow", index=False)
    except ImportError as error:
        raise UsageError(
            "Parquet needs pyarrow: pip install 'okbench[parquet]', or use --format csv"
        ) from error
    return file.getvalue()
