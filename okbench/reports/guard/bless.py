"""A baseline: the outcomes of a table as they should be, with the reason why.

It is a results file as any other, whose header also says the table, the reason, the date and the
version of okbench. Seconds on curves are rounded to three digits. Seconds that were measured alone
stay in a baseline until others that were measured alone take their place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from okbench.base.errors import DataError, UsageError
from okbench.base.version import __version__
from okbench.base.whole_files import write_whole
from okbench.papers.table_types import Table
from okbench.reports.load import LoadedTable, load_table
from okbench.reports.results_paths import read_file
from okbench.trials.plan.options import Options
from okbench.trials.store.files import SCHEMA, Store
from okbench.trials.store.match_outcomes import Versions
from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.store.plans import plan_record
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Curve, Outcome, Status

LASTING: tuple[Status, ...] = ("done", "diverged")  # endings that the next run will come to as well


@dataclass(frozen=True)
class Blessed:
    """A baseline that was written, with its number of trials now and `before`."""

    path: Path
    trials: int
    before: int


def bless(
    table: Table,
    runs: Path,
    baselines: Path,
    reason: str,
    options: Options,
    versions: Versions | None = None,
) -> Blessed:
    """Write the baseline of a table from what was measured of it.

    Cells without any outcome are left out; one that is filled in part, or holds trials that timed
    out, failed or contradict each other, is refused.
    """
    if not reason.strip():
        raise UsageError("a baseline needs a reason: --reason 'first measurement on …'")
    if table.trials_of != table.name:
        raise UsageError(f"the trials of {table.name} are those of {table.trials_of}; bless that")
    source = Store.of(runs, table.name).path
    contents = read_file(source, curves=True)
    loaded = load_table(table, runs, options, None, versions, contents)
    outcomes, cells = loaded.outcomes, loaded.asked
    ids = [id_ for key, ids in cells.items() for id_ in _complete(table, key, ids, outcomes)]
    if not ids:
        raise DataError(f"{source} has no outcomes of {table.name} as it is now configured")
    disputed = contents.disputed().keys() & set(ids)
    if disputed:
        raise DataError(
            f"{source}: {min(disputed)} was measured more than once, with different scores "
            f"(okbench show {min(disputed)}); nothing is blessed"
        )
    path = Store.of(baselines, table.name).path
    standing = read_file(path, curves=True) if path.is_file() else Contents()
    if path.is_file() and not standing.blessed:
        raise DataError(
            f"{path} holds outcomes and is no baseline, which would replace them; choose another "
            "folder with --into"
        )
    chosen = _complemented(
        [outcomes[id_] for id_ in dict.fromkeys(ids)], [*standing.measured, *contents.measured]
    )
    environments = {**standing.environments, **contents.environments}
    write_whole(path, b"".join(_lines(loaded, reason.strip(), chosen, environments)))
    return Blessed(path, len(chosen), len(standing.measured))


def _complete(
    table: Table, key: tuple[str, str], ids: Iterable[str], outcomes: Mapping[str, Outcome]
) -> list[str]:
    """The ids of a cell, none where nothing was measured."""
    wanted = list(ids)
    found = [outcomes[id_] for id_ in wanted if id_ in outcomes]
    endings = Counter(outcome.status for outcome in found)
    lasting = sum(endings[status] for status in LASTING)
    if found and lasting < len(wanted):
        counts = ", ".join(f"{count} {status}" for status, count in endings.items())
        raise DataError(
            f"{key[1]} × {key[0]}: {counts}, of {len(wanted)} trials; nothing is blessed. "
            f"Run the rest (okbench run {table.name}), or bless others with --datasets, "
            "--learners, --trials"
        )
    return wanted if found else []


def _complemented(chosen: Iterable[Outcome], known: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes with seconds measured alone and with a curve, where another outcome of the same
    trial has these and the same result. Its points come without their seconds, which belong to
    another measurement."""
    alike: dict[tuple[object, ...], list[Outcome]] = defaultdict(list)
    for outcome in known:
        alike[_result(outcome)].append(outcome)
    found = []
    for outcome in chosen:
        others = alike[_result(outcome)][::-1]  # the latest first
        timed = outcome.timed or not any(one.timed for one in others)
        kept = outcome if timed else next(one for one in others if one.timed)
        lent = next((one.curve for one in others if one.curve), ())
        curve = kept.curve or tuple((*point[:3], None) for point in lent)
        found.append(replace(kept, curve=_rounded(curve)))
    return found


def _result(outcome: Outcome) -> tuple[object, ...]:
    return outcome.trial.id, outcome.status, outcome.total, outcome.rows, outcome.support


def _rounded(curve: Curve) -> Curve:
    """The curve with seconds of three digits: more are noise, and a quarter of the file."""
    return tuple(
        (*point[:3], None if point[3] is None else float(f"{point[3]:.3g}")) for point in curve
    )


def _lines(
    loaded: LoadedTable,
    reason: str,
    kept: Sequence[Outcome],
    environments: Mapping[str, Mapping[str, Any]],
) -> Iterator[bytes]:
    header: dict[str, Any] = {
        "table": loaded.table.name,
        "reason": reason,
        "date": datetime.now(UTC).date().isoformat(),
        "okbench": __version__,
    }
    yield to_bytes({"okbench": "results", "schema": SCHEMA, "blessed": header})
    for hash_ in sorted({outcome.environment for outcome in kept}):
        if hash_ in environments:
            yield to_bytes({"environment": environments[hash_], "hash": hash_})
    first = {replace(outcome.trial, repetition=0) for outcome in kept}
    for plan in loaded.contents.distinct_plans():
        if plan.trial in first:
            yield to_bytes({"plan": plan_record(plan)})
    for outcome in kept:
        yield to_bytes({"outcome": outcome_record(outcome)})
