"""Did a result get worse? Outcomes compared with a baseline, trial by trial.

    same       the same score: mistakes equal, losses within the tolerance
    better     a lower score on the same trial
    worse      a higher score, or a trial that was done and is not any more
    differs    a score no worse, with other supports, another curve, or a model of another size
    missing    in the baseline, and not measured now
    changed    measured now as another trial: other settings, learner version or rows
    unusable   a score that is no number, or two that contradict each other

All but the first two keep a check from passing: what cannot be compared is not fine. What is
missing is counted apart from regressions. Supports,
the rows and totals of curves, and endings are compared exactly, bytes up to a factor, since scratch
memory may change. What a baseline does not hold (supports, bytes or a curve) is counted as not
compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Literal

from okbench.base.errors import DataError, UsageError
from okbench.protocols.metrics import METRICS
from okbench.reports.guard.speed import FEWEST, Allowed, SpeedCheck, check_seconds
from okbench.reports.guard.trial_diff import Changes
from okbench.reports.tables.grouping import GroupKey, grouped
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome, Trial

Finding = Literal["same", "better", "worse", "differs", "missing", "changed", "unusable"]
GRAVEST: tuple[Finding, ...] = (
    "worse", "unusable", "differs", "changed", "missing", "better", "same",
)  # fmt: skip
FAILS = frozenset({"worse", "unusable", "differs", "changed"})
TOLERANCE = 1e-9  # of losses, relative: the same sums added up in another order
BYTES = 2.0  # the factor by which a model may be larger or smaller
QUANTITIES = ("endings", "scores", "supports", "bytes", "curves")
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
    seconds: float | None = None  # of a trial now, the mean

    @property
    def finding(self) -> Finding:
        """The gravest thing found."""
        return next(finding for finding in GRAVEST if self.counts.get(finding))


@dataclass(frozen=True)
class BaselineCheck:
    """What came of a check.

    `seconds` are the verdicts on seconds of trials that were measured alone, `seconds_lack` says
    why there is no verdict on others. `compared` and `lacking` count the trials of which a quantity
    was compared, and of which it could not be. `unblessed` counts outcomes that the baseline does
    not hold.
    """

    cells: tuple[CellCheck, ...]
    seconds: tuple[SpeedCheck, ...] = ()
    seconds_lack: str = ""
    unblessed: int = 0
    tolerance: float = TOLERANCE
    compared: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)

    @property
    def regressions(self) -> int:
        worse = sum(cell.finding in FAILS for cell in self.cells)
        return worse + sum(one.finding == "worse" for one in self.seconds)

    @property
    def unmeasured(self) -> int:
        """The cells of which a trial is not measured now, and nothing graver is found."""
        return sum(cell.finding == "missing" for cell in self.cells)

    @property
    def undecided(self) -> int:
        return sum(one.finding == "cannot say" for one in self.seconds)

    @property
    def passed(self) -> bool:
        compared = bool(self.cells or self.seconds)
        lacking = self.regressions or self.undecided or self.unmeasured
        return compared and not lacking


def check(
    table: str,
    baseline: Contents,
    new: Contents,
    *,
    tolerance: float = TOLERANCE,
    subset: bool = False,
    allowed: Allowed | None = None,
    sized: Collection[str] | None = None,
) -> BaselineCheck:
    """Compare what was measured with a baseline. `subset`: only the trials that `new` has.

    `sized` names the learners that measure their own bytes; without it, all that are not
    user-defined. The bytes of the others are the growth of a process, and are not compared.
    """
    if not 0 <= tolerance < math.inf:
        raise UsageError(f"tolerance: a share, 0 or more, not {tolerance}")
    before, now = baseline.standing(), new.standing()
    if not before:
        raise DataError(f"{table}: the baseline holds no outcomes")
    _refuse_other_table(table, baseline, new, before, now)
    others = [outcome.trial for id_, outcome in now.items() if id_ not in before]
    disputed = baseline.disputed().keys() | new.disputed().keys()
    against = _Against(now, disputed, Changes(others), tolerance, subset, sized)
    groups = grouped(before.values())
    cells = [_cell(table, name, group, against) for name, group in groups.items()]
    seconds, seconds_lack = _seconds(baseline, new, allowed or Allowed())
    return BaselineCheck(
        tuple(cell for cell in cells if cell.counts),
        seconds,
        seconds_lack,
        len(others),
        tolerance,
        against.compared,
        against.lacking,
    )


def joined(checks: Sequence[BaselineCheck]) -> BaselineCheck:
    """The checks of several tables as one."""
    return BaselineCheck(
        tuple(cell for one in checks for cell in one.cells),
        tuple(second for one in checks for second in one.seconds),
        _lack_of((one, one.seconds_lack) for one in checks),
        sum(one.unblessed for one in checks),
        max((one.tolerance for one in checks), default=TOLERANCE),
        sum((one.compared for one in checks), Counter()),
        sum((one.lacking for one in checks), Counter()),
    )


def _lack_of(lacks: Iterable[tuple[BaselineCheck, str]]) -> str:
    """Why seconds were not compared, with the tables where that is so, unless it is so of all."""
    tables: dict[str, list[str]] = {}
    for one, lack in lacks:
        if one.cells and one.unmeasured == len(one.cells):
            continue  # nothing could be compared, and that is said
        tables.setdefault(lack, []).extend({cell.table for cell in one.cells})
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
    if now and _learners(before.values()).isdisjoint(_learners(now.values())):
        raise DataError(
            f"{table}: the baseline and the outcomes have no learner on the same dataset in "
            "common; is this the baseline of another table?"
        )


def _learners(outcomes: Iterable[Outcome]) -> set[tuple[str, str, str]]:
    """Who was measured on what."""
    alike = {outcome.trial.family: outcome.trial for outcome in outcomes}.values()
    return {(trial.dataset, trial.variant, trial.learner) for trial in alike}


@dataclass(frozen=True)
class _Against:
    """What a baseline is compared with, and how."""

    now: Mapping[str, Outcome]
    disputed: Set[str]
    changes: Changes
    tolerance: float
    subset: bool
    sized: Collection[str] | None
    compared: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)

    def compare(self, before: Outcome, now: Outcome | None) -> tuple[Finding, str]:
        """What one trial of the baseline says, and why."""
        if self.disputed and before.trial.id in self.disputed:
            return "unusable", f"{before.trial.id} was measured twice, with different scores"
        if now is None or now.status == "interrupted":
            change = self.changes.of(before.trial)
            return ("changed", change) if change else ("missing", "not measured")
        self.compared["endings"] += 1
        if before.status != now.status:
            reason = f"{before.status} → {now.status}"
            if before.status == "done":
                return "worse", reason
            return ("better", reason) if now.status == "done" else ("changed", reason)
        if before.status != "done":
            return "same", ""
        self.compared["scores"] += 1
        finding, reason = _scored(before, now, self.tolerance)
        if finding in FAILS:
            return finding, reason
        if difference := self._difference(before, now):
            return "differs", f"r={before.trial.repetition}: {difference}"
        return finding, reason

    def _difference(self, before: Outcome, now: Outcome) -> str:
        """Where a trial differs besides its score. Counts which quantities could be compared."""
        is_sized = before.bytes is not None and self._is_sized(before.trial.learner)
        (self.lacking if before.support is None else self.compared)["supports"] += 1
        (self.compared if is_sized else self.lacking)["bytes"] += 1
        (self.compared if before.curve else self.lacking)["curves"] += 1
        if before.support is not None and before.support != now.support:
            return f"{before.support} → {now.support} supports"
        if is_sized:
            old, new = before.bytes or 0, now.bytes or 0
            if not old <= BYTES * new <= BYTES**2 * old:
                return f"{before.bytes} → {now.bytes} bytes, beyond a factor of {BYTES:g}"
        return _curve_change(before, now, self.tolerance) if before.curve else ""

    def _is_sized(self, learner: str) -> bool:
        return ":" not in learner if self.sized is None else learner in self.sized


def _cell(table: str, name: GroupKey, group: Sequence[Outcome], against: _Against) -> CellCheck:
    counts: Counter[Finding] = Counter()
    reasons: dict[Finding, str] = {}
    old: list[float] = []
    new: list[float] = []
    clocked: list[float] = []
    metric = group[0].trial.metric
    value = METRICS[metric].value
    for before in group:
        after = against.now.get(before.trial.id)
        finding, reason = against.compare(before, after)
        if finding == "missing" and against.subset:
            continue
        counts[finding] += 1
        if finding not in reasons:
            reasons[finding] = reason
        if after is None or after.status != "done":
            continue
        if after.seconds:
            clocked.append(after.seconds)
        if before.status == "done":
            value_before, value_now = (
                value(before.total, before.rows),
                value(after.total, after.rows),
            )
            if value_before is not None and value_now is not None:
                old.append(value_before)
                new.append(value_now)
    gravest: Finding = next((finding for finding in GRAVEST if counts[finding]), "same")
    return CellCheck(
        table,
        *name,
        metric=metric,
        counts=counts,
        before=fmean(old) if old else None,
        now=fmean(new) if new else None,
        spread=stdev(old) if len(old) > 1 else None,
        reason=reasons.get(gravest, ""),
        seconds=fmean(clocked) if clocked else None,
    )


def _scored(before: Outcome, now: Outcome, tolerance: float) -> tuple[Finding, str]:
    old, new = before.total, now.total
    if old is None or new is None or math.isnan(old) or math.isnan(new):
        return "unusable", f"a score that is no number ({old} → {new})"
    if before.rows != now.rows:
        return "unusable", f"{before.rows} rows → {now.rows} rows"
    if alike(before.trial, old, new, tolerance):
        return "same", ""
    reason = f"r={before.trial.repetition}: {old:.10g} → {new:.10g}"
    return ("worse" if new > old else "better"), reason


def alike(trial: Trial, old: float | None, new: float | None, tolerance: float = TOLERANCE) -> bool:
    """Whether two totals are the same: exactly, or up to the tolerance where sums are rounded."""
    if old == new:
        return True
    if old is None or new is None or not METRICS[trial.metric].needs_rows:
        return False
    return math.isclose(old, new, rel_tol=tolerance)


def _curve_change(before: Outcome, now: Outcome, tolerance: float) -> str:
    """The first point at which two curves differ: rows and supports exactly, totals as scores."""
    for old, new in zip(before.curve, now.curve, strict=False):
        if old[0] != new[0] or (old[2] is not None and old[2] != new[2]):
            return f"a point of the curve, {old[:3]} → {new[:3]}"
        if not alike(before.trial, old[1], new[1], tolerance):
            return f"the curve after row {old[0]}: {old[1]} → {new[1]}"
    if len(before.curve) != len(now.curve):
        return f"a curve of {len(before.curve)} points → {len(now.curve)} points"
    return ""


def _seconds(
    baseline: Contents, new: Contents, allowed: Allowed
) -> tuple[tuple[SpeedCheck, ...], str]:
    """The verdicts on seconds of trials timed alone on one and the same machine, or why there is
    none."""
    now = new.standing(timed=True)
    done = _clocked_in_both(baseline.standing(timed=True), now)
    if not done:
        return (), "no trial was measured alone in both (okbench run --timing)"
    if apart := _apart(baseline, done, new, (now[one.trial.id] for one in done)):
        return (), apart
    found, few = [], 0
    for (dataset, learner), group in grouped(done).items():
        if len(group) < FEWEST:  # so few trials prove nothing
            few += 1
            continue
        old = [one.seconds or 0.0 for one in group]
        recent = [now[one.trial.id].seconds or 0.0 for one in group]
        found.append(check_seconds(dataset, learner, old, recent, allowed))
    cells = f"{few} cell{'' if few == 1 else 's'}"
    return tuple(found), f"fewer than {FEWEST} trials measured alone in {cells}" if few else ""


def _apart(
    baseline: Contents, before: Iterable[Outcome], new: Contents, now: Iterable[Outcome]
) -> str:
    """Why the seconds of these outcomes cannot be compared: they are of several machines."""
    machines = {_machine(baseline, hash_) for hash_ in {one.environment for one in before}}
    machines |= {_machine(new, hash_) for hash_ in {one.environment for one in now}}
    if None in machines:
        return "a machine was not recorded"
    if len(machines) > 1:
        return "not all were measured on one machine (okbench check --speed BASE HEAD)"
    return ""


def _clocked_in_both(before: Mapping[str, Outcome], now: Mapping[str, Outcome]) -> list[Outcome]:
    """The outcomes before of the trials that are done and have seconds before and now."""
    return [
        outcome
        for id_, outcome in before.items()
        if _clocked(outcome) and (recent := now.get(id_)) is not None and _clocked(recent)
    ]


def _clocked(outcome: Outcome) -> bool:
    return outcome.status == "done" and bool(outcome.seconds)


def _machine(contents: Contents, environment: str) -> tuple[object, ...] | None:
    record = contents.environments.get(environment)
    return tuple(record.get(key) for key in _MACHINE) if record else None
