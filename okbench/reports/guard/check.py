"""Did a result get worse? Outcomes compared with a baseline, trial by trial.

    same       the same score: mistakes equal, losses within the tolerance
    better     a lower score on the same trial
    worse      a higher score, or a trial that was done and is not any more
    missing    in the baseline, and not measured now
    changed    measured now as another trial: other settings, learner version or rows
    unusable   a score that is no number, or two that contradict each other

All but the first two keep a check from passing: what cannot be compared is not fine.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from okbench.base.errors import DataError, UsageError
from okbench.protocols.metrics import METRICS
from okbench.reports.guard.speed import FEWEST, Allowed, SpeedCheck, check_seconds
from okbench.reports.guard.trial_diff import Changes
from okbench.reports.tables.cells import value_of
from okbench.reports.tables.grouping import GroupKey, grouped
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome, Trial

Finding = Literal["same", "better", "worse", "missing", "changed", "unusable"]
GRAVEST: tuple[Finding, ...] = ("worse", "unusable", "changed", "missing", "better", "same")
FAILS = frozenset({"worse", "unusable", "changed", "missing"})
TOLERANCE = 1e-9  # of losses, relative: the same sums added up in another order
_MACHINE = ("cpu", "cores", "memory_gb", "arch")


@dataclass(frozen=True)
class CellCheck:
    """One learner on one dataset: its findings counted, and the mean of the trials compared."""

    table: str
    dataset: str
    learner: str
    metric: str
    counts: Mapping[Finding, int]
    before: float | None
    now: float | None
    spread: float | None  # the baseline's standard deviation
    reason: str = ""

    @property
    def finding(self) -> Finding:
        """The gravest thing found."""
        return next(finding for finding in GRAVEST if self.counts.get(finding))


@dataclass(frozen=True)
class Check:
    """What came of a check. `seconds_told` says why seconds were not compared; `unblessed` counts
    outcomes the baseline knows nothing of.
    """

    cells: tuple[CellCheck, ...]
    seconds: tuple[SpeedCheck, ...] = ()
    seconds_told: str = ""
    unblessed: int = 0
    tolerance: float = TOLERANCE

    @property
    def regressions(self) -> int:
        worse = sum(cell.finding in FAILS for cell in self.cells)
        return worse + sum(one.finding == "worse" for one in self.seconds)

    @property
    def undecided(self) -> int:
        return sum(one.finding == "cannot say" for one in self.seconds)

    @property
    def passed(self) -> bool:
        compared = bool(self.cells or self.seconds)
        return compared and not self.regressions and not self.undecided


def check(
    table: str,
    baseline: Contents,
    new: Contents,
    *,
    tolerance: float = TOLERANCE,
    subset: bool = False,
    allowed: Allowed | None = None,
) -> Check:
    """Compare what was measured with a baseline. `subset`: only the trials that `new` has."""
    if not 0 <= tolerance < math.inf:
        raise UsageError(f"tolerance: a share, 0 or more, not {tolerance}")
    before, now = baseline.standing(), new.standing()
    if not before:
        raise DataError(f"{table}: the baseline holds no outcomes")
    _refuse_other_table(table, baseline, new, before, now)
    others = [outcome.trial for id_, outcome in now.items() if id_ not in before]
    disputed = baseline.disputed().keys() | new.disputed().keys()
    against = _Against(now, disputed, Changes(others), tolerance, subset)
    groups = grouped(before.values())
    cells = [_cell(table, name, group, against) for name, group in groups.items()]
    seconds, reason = _seconds(baseline, new, allowed or Allowed())
    return Check(
        tuple(cell for cell in cells if cell.counts), seconds, reason, len(others), tolerance
    )


def joined(checks: Sequence[Check]) -> Check:
    """The checks of several tables as one."""
    return Check(
        tuple(cell for one in checks for cell in one.cells),
        tuple(second for one in checks for second in one.seconds),
        _seconds_told(checks),
        sum(one.unblessed for one in checks),
        max((one.tolerance for one in checks), default=TOLERANCE),
    )


def _seconds_told(checks: Sequence[Check]) -> str:
    """Why seconds were not compared, with the tables where that is so, unless it is so of all."""
    tables: dict[str, list[str]] = {}
    for one in checks:
        tables.setdefault(one.seconds_told, []).extend({cell.table for cell in one.cells})
    if len(tables) < 2:
        return next(iter(tables), "")
    return "; ".join(f"{', '.join(of)}: {reason}" for reason, of in tables.items() if reason)


def _refuse_other_table(
    table: str,
    baseline: Contents,
    new: Contents,
    before: Mapping[str, Outcome],
    now: Mapping[str, Outcome],
) -> None:
    theirs = str(new.blessed.get("table", table))
    if baseline.blessed.get("table", theirs) != theirs:
        raise DataError(f"a baseline of {baseline.blessed['table']}, and outcomes of {theirs}")
    known = {_who(outcome.trial) for outcome in before.values()}
    if now and known.isdisjoint(_who(outcome.trial) for outcome in now.values()):
        raise DataError(
            f"{table}: the baseline and the outcomes have no learner on the same dataset in "
            "common; is this the baseline of another table?"
        )


def _who(trial: Trial) -> tuple[str, str, str]:
    return trial.dataset, trial.variant, trial.learner


@dataclass(frozen=True)
class _Against:
    """What a baseline is compared with, and how."""

    now: Mapping[str, Outcome]
    disputed: Set[str]
    changes: Changes
    tolerance: float
    subset: bool

    def compare(self, before: Outcome) -> tuple[Finding, str]:
        """What one trial of the baseline says, and why."""
        now = self.now.get(before.trial.id)
        if before.trial.id in self.disputed:
            return "unusable", f"{before.trial.id} was measured twice, with different scores"
        if now is None or now.status == "interrupted":
            change = self.changes.of(before.trial)
            return ("changed", change) if change else ("missing", "not measured")
        if before.status != now.status:
            reason = f"{before.status} → {now.status}"
            if before.status == "done":
                return "worse", reason
            return ("better", reason) if now.status == "done" else ("changed", reason)
        if before.status != "done":
            return "same", ""
        return _scored(before, now, self.tolerance)


def _cell(table: str, name: GroupKey, group: Sequence[Outcome], against: _Against) -> CellCheck:
    counts: Counter[Finding] = Counter()
    reasons: dict[Finding, str] = {}
    compared: list[tuple[float, float]] = []
    for before in group:
        after = against.now.get(before.trial.id)
        finding, reason = against.compare(before)
        if finding == "missing" and against.subset:
            continue
        counts[finding] += 1
        reasons.setdefault(finding, reason)
        values = [value_of(one, before.trial.metric) for one in (before, after) if one is not None]
        if len(values) == 2 and values[0] is not None and values[1] is not None:
            compared.append((values[0], values[1]))
    gravest: Finding = next((finding for finding in GRAVEST if counts[finding]), "same")
    old, new = [pair[0] for pair in compared], [pair[1] for pair in compared]
    return CellCheck(
        table,
        *name,
        metric=group[0].trial.metric,
        counts=counts,
        before=fmean(old) if old else None,
        now=fmean(new) if new else None,
        spread=stdev(old) if len(old) > 1 else None,
        reason=reasons.get(gravest, ""),
    )


def _scored(before: Outcome, now: Outcome, tolerance: float) -> tuple[Finding, str]:
    old, new = before.total, now.total
    if old is None or new is None or math.isnan(old) or math.isnan(new):
        return "unusable", f"a score that is no number ({old} → {new})"
    if before.rows != now.rows:
        return "unusable", f"{before.rows} rows → {now.rows} rows"
    exact = not METRICS[before.trial.metric].needs_rows
    if old == new or (not exact and math.isclose(old, new, rel_tol=tolerance)):
        return "same", ""
    reason = f"r={before.trial.repetition}: {old:.10g} → {new:.10g}"
    return ("worse" if new > old else "better"), reason


def _seconds(
    baseline: Contents, new: Contents, allowed: Allowed
) -> tuple[tuple[SpeedCheck, ...], str]:
    """Seconds of trials timed alone on one and the same machine, or why there are none."""
    before, now = baseline.standing(timed=True), new.standing(timed=True)
    done = [id_ for id_ in before if id_ in now and _clocked(before[id_]) and _clocked(now[id_])]
    if not done:
        return (), "no trial was measured alone in both (okbench run --timing)"
    machines = {_machine(baseline, before[id_]) for id_ in done}
    machines |= {_machine(new, now[id_]) for id_ in done}
    if None in machines:
        return (), "a machine was not recorded"
    if len(machines) > 1:
        return (), "not all were measured on one machine (okbench check --speed BASE HEAD)"
    found, few = [], 0
    for (dataset, learner), group in grouped(before[id_] for id_ in done).items():
        ids = [outcome.trial.id for outcome in group]
        if len(ids) < FEWEST:
            few += 1
            continue
        old = [before[id_].seconds or 0.0 for id_ in ids]
        recent = [now[id_].seconds or 0.0 for id_ in ids]
        found.append(check_seconds(dataset, learner, old, recent, allowed))
    return tuple(found), f"fewer than {FEWEST} trials timed alone in {few} cells" if few else ""


def _clocked(outcome: Outcome) -> bool:
    return outcome.status == "done" and bool(outcome.seconds)


def _machine(contents: Contents, outcome: Outcome) -> tuple[object, ...] | None:
    record = contents.environments.get(outcome.environment)
    return tuple(record.get(key) for key in _MACHINE) if record else None
