"""A baseline: the outcomes of a table as they should be, with the reason why.

It is a results file as any other, whose header also says the table, the reason, the date and the
version of okbench. Seconds on curves are rounded to three digits. Seconds that were measured alone
stay in a baseline until others that were measured alone take their place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from okbench.base.errors import DataError, UsageError
from okbench.base.version import __version__
from okbench.papers.commands import run_command
from okbench.papers.table_types import Table
from okbench.reports.guard.check import alike
from okbench.reports.load import LoadedTable, load_table
from okbench.reports.results_paths import read_file
from okbench.reports.tables.cells import CellKey, cells
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.store.lines import environment_line, header_line, outcome_line, plan_line
from okbench.trials.store.match_outcomes import Versions
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

    Cells with the settings of the table's alternatives are kept beside its own, and so are cells
    that show a limit of the table, or that the memory was too small. Cells without any outcome are
    left out; one that is filled in part, or holds trials that a limit of the run ended, failed or
    contradict each other, is refused.
    """
    if not reason.strip():
        raise UsageError("a baseline needs a reason: --reason 'first measurement on …'")
    if table.trials_of != table.name:
        raise UsageError(f"the trials of {table.name} are those of {table.trials_of}; bless that")
    source, target = Store.of(runs, table.name).path, Store.of(baselines, table.name)
    with ExitStack() as held:
        if source.resolve() == target.path.resolve():
            held.enter_context(target.locked())
        loaded, chosen = _accepted(table, runs, options, versions)
        if source.resolve() != target.path.resolve():
            held.enter_context(target.locked())
        standing = _replaced(target)
        kept = _complemented(chosen, [*standing.measured, *loaded.contents.measured])
        environments = {**standing.environments, **loaded.contents.environments}
        target.replace(_lines(loaded, reason.strip(), kept, environments))
    return Blessed(target.path, len(kept), len(standing.measured))


def _accepted(
    table: Table, runs: Path, options: Options, versions: Versions | None
) -> tuple[LoadedTable, list[Outcome]]:
    """The outcomes of whole cells, which do not contradict each other."""
    source = Store.of(runs, table.name).path
    contents = read_file(source, curves=True)
    loaded = load_table(table, runs, options, None, versions, contents)
    outcomes = loaded.outcomes
    named = (loaded.asked, *loaded.others.values())
    ids = [id_ for one in named for key, ids in one.items()
           for id_ in _complete(table, key, ids, outcomes)]  # fmt: skip
    if not ids:
        raise DataError(f"{source} has no outcomes of {table.name} as it is now configured")
    disputed = contents.disputed().keys() & set(ids)
    if disputed:
        raise DataError(
            f"{source}: {min(disputed)} was measured more than once, with different scores "
            f"(okbench show {min(disputed)}); nothing was stored"
        )
    return loaded, [outcomes[id_] for id_ in dict.fromkeys(ids)]


def _replaced(target: Store) -> Contents:
    """What the file holds that is replaced; it must be a baseline."""
    if not target.path.exists():
        return Contents()
    standing = target.read()
    if not standing.blessed:
        raise DataError(
            f"{target.path} holds outcomes and is no baseline, which would replace them; choose "
            "another folder with --into"
        )
    return standing


def _complete(
    table: Table, key: CellKey, ids: Iterable[str], outcomes: Mapping[str, Outcome]
) -> list[str]:
    """The ids of a cell, none where nothing was measured."""
    wanted = list(ids)
    found = [outcomes[id_] for id_ in wanted if id_ in outcomes]
    endings = Counter(outcome.status for outcome in found)
    lasting = sum(endings[status] for status in LASTING)
    if found and lasting < len(wanted) and not _is_stopped(table, key, wanted, outcomes):
        counts = ", ".join(f"{count} {status}" for status, count in endings.items())
        raise DataError(
            f"{key[1]} × {key[0]}: {counts}, of {len(wanted)} trials; nothing was stored. "
            f"Run the rest ({run_command(table)}), or bless others with --datasets, "
            "--learners, --trials"
        )
    return wanted if found else []


def _is_stopped(
    table: Table, key: CellKey, ids: Sequence[str], outcomes: Mapping[str, Outcome]
) -> bool:
    """Whether a cell shows a limit instead of a number: every trial was stopped at a time limit of
    the table, or for its memory, before it ran or while it did."""
    (cell,) = [
        cell for cell in cells(table, outcomes, {key: ids}) if (cell.dataset, cell.learner) == key
    ]
    short_of_memory = cell.statuses.get("memory", 0) == len(ids)
    return bool(cell.na or cell.over_limit) or short_of_memory


def _complemented(chosen: Iterable[Outcome], known: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes with seconds measured alone and with a curve, where another outcome of the same
    trial has these and the same result. Its points come without their seconds, which belong to
    another measurement."""
    by_id: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in known:
        by_id[outcome.trial.id].insert(0, outcome)  # the latest first
    found = []
    for outcome in chosen:
        others = [one for one in by_id[outcome.trial.id] if _same_result(one, outcome)]
        kept = next((one for one in (outcome, *others) if one.timed), outcome)
        lent = next((one.curve for one in others if one.curve), ())
        curve = kept.curve or tuple((*point[:3], None) for point in lent)
        found.append(replace(kept, curve=_rounded(curve)))
    return found


def _same_result(one: Outcome, other: Outcome) -> bool:
    results = [(found.status, found.rows, found.support) for found in (one, other)]
    return results[0] == results[1] and alike(one.trial, one.total, other.total)


def _rounded(curve: Curve) -> Curve:
    """The curve with seconds of three digits: more are noise, and a quarter of the file."""
    return tuple(
        (*point[:3], None if point[3] is None else float(f"{point[3]:.3g}")) for point in curve
    )


def _lines(
    loaded: LoadedTable,
    reason: str,
    kept: Sequence[Outcome],
    environments: Mapping[str, dict[str, Any]],
) -> Iterator[bytes]:
    header: dict[str, Any] = {
        "table": loaded.table.name,
        "reason": reason,
        "date": datetime.now(UTC).date().isoformat(),
        "okbench": __version__,
    }
    yield header_line(blessed=header)
    for hash_ in sorted({outcome.environment for outcome in kept}):
        if hash_ in environments:
            yield environment_line(hash_, environments[hash_])
    kinds = {outcome.trial.family for outcome in kept}
    for plan in loaded.contents.distinct_plans():
        if plan.trial.family in kinds:
            yield plan_line(plan)
    for outcome in kept:
        yield outcome_line(outcome)
