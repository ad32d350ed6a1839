"""Outcomes as a flat table for other programs: one row a trial, or one row a point of its curve."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from okbench.base.errors import UsageError
from okbench.base.whole_files import write_whole
from okbench.reports.results_paths import read_file, results_files
from okbench.reports.tables.cells import value_of
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

Row = dict[str, Any]
FORMATS = ("csv", "parquet")
_TRIAL = ("dataset", "variant", "fingerprint", "learner", "learner_version", "protocol",
          "protocol_version", "block", "tolerance", "metric", "repetition", "order",
          "seed")  # fmt: skip
_OUTCOME = ("status", "rows", "total", "seconds", "cpu_seconds", "train_seconds", "support",
            "bytes", "timed", "environment", "finished", "reason")  # fmt: skip
POINT = ("id", "table", "rows", "total", "support", "seconds")
TRIAL = ("id", "table", *_TRIAL, "settings", *_OUTCOME, "value", "cpu", "okbench")


def export(places: Sequence[Path], form: str, target: Path, curves: bool = False) -> int:
    """Write what lies at these places to a file; gives the number of rows.

    `value` is the metric, in percent for rates; numbers are as measured. `settings` is JSON.
    """
    if form not in FORMATS:
        raise UsageError(
            f"{target}: no format '{form}' ({', '.join(FORMATS)}); name one with --format"
        )
    rows = list(_rows(places, curves))
    columns = POINT if curves else TRIAL
    write_whole(target, (_csv if form == "csv" else _parquet)(rows, columns))
    return len(rows)


def _rows(places: Sequence[Path], curves: bool) -> Iterator[Row]:
    for place in places:
        for table, path in results_files(place).items():
            contents = read_file(path, curves=curves)
            for outcome in contents.each():
                if curves:
                    yield from _points(table, outcome)
                else:
                    yield _row(table, outcome, contents)


def _row(table: str, outcome: Outcome, contents: Contents) -> Row:
    trial = outcome.trial
    machine: Mapping[str, Any] = contents.environments.get(outcome.environment, {})
    return {
        "id": trial.id,
        "table": table,
        **{name: getattr(trial, name) for name in _TRIAL},
        "settings": json.dumps(dict(trial.settings), ensure_ascii=False),
        **{name: getattr(outcome, name) for name in _OUTCOME},
        "value": value_of(outcome, trial.metric),
        "cpu": machine.get("cpu", ""),
        "okbench": machine.get("packages", {}).get("okbench", ""),
    }


def _points(table: str, outcome: Outcome) -> Iterator[Row]:
    for point in outcome.curve:
        yield dict(zip(POINT, (outcome.trial.id, table, *point), strict=True))


def _csv(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    page = io.StringIO()
    writer = csv.DictWriter(page, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return page.getvalue().encode("utf-8", "backslashreplace")


def _parquet(rows: Sequence[Row], columns: Sequence[str]) -> bytes:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError(
            "parquet needs pyarrow: pip install 'okbench[parquet]', or take --format csv"
        ) from error
    data = {name: [row[name] for row in rows] for name in columns}
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(data), file)
    return file.getvalue()
