"""Does what a paper says hold? Its claims against stored outcomes.

holds          every comparison holds on as many datasets as it must
holds partly   on some datasets, and no outcome still to come can make it hold
fails          on none
cannot say     it hangs on what is not measured, or not decided
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from okbench.base.errors import did_you_mean
from okbench.reports.claims.claim_evidence import Evidence, Judge
from okbench.reports.claims.claims_file import Claim, Comparison
from okbench.reports.tables.report import Report

Standing = Literal["holds", "holds partly", "fails", "cannot say"]
Reports = Callable[[str], Report | None]  # by the name of a table; None for one not written yet


@dataclass(frozen=True)
class Tested:
    """How a comparison stands, dataset by dataset; `tells` is the command that would decide it."""

    standing: Standing
    needed: int
    evidence: tuple[Evidence, ...]
    reason: str = ""
    tells: str = ""


@dataclass(frozen=True)
class Settled:
    """How a claim stands."""

    claim: Claim
    standing: Standing
    tests: tuple[Tested, ...]


def settle_claim(claim: Claim, reports: Reports, judge: Judge) -> Settled:
    """Put a claim to the test. `judge` says what counts: measured outcomes or printed numbers."""
    tests = tuple(_test(comparison, reports, judge) for comparison in claim.tests)
    standings = {tested.standing for tested in tests}
    if not standings or "cannot say" in standings:
        # one comparison that fails for good settles a claim of several: it cannot hold any more
        settled = standings & {"holds partly", "fails"} and standings & {"holds", "holds partly"}
        return Settled(claim, "holds partly" if settled else "cannot say", tests)
    if len(standings) == 1:
        return Settled(claim, standings.pop(), tests)
    return Settled(claim, "holds partly", tests)


def _test(test: Comparison, reports: Reports, judge: Judge) -> Tested:
    report = reports(test.table)
    if report is None:
        return Tested(
            "cannot say", 0, (), f"{test.table} is no table yet", f"okbench run {test.table}"
        )
    unknown = _unknown(test, report)
    if unknown:
        return Tested("cannot say", 0, (), unknown)
    found = [judge(report, test, dataset) for dataset in test.on or report.datasets]
    evidence = tuple(one for one in found if one is not None)
    needed = _needed(test, len(evidence))
    yes = sum(one.holds is True for one in evidence)
    open_ = sum(one.holds is None for one in evidence)
    tells = _command(test, evidence)
    if evidence and yes >= needed:
        return Tested("holds", needed, evidence)
    if yes + open_ >= needed or (not yes and open_):
        return Tested("cannot say", needed, evidence, _doubt(evidence), tells)
    return Tested("holds partly" if yes else "fails", needed, evidence)


def _needed(test: Comparison, datasets: int) -> int:
    if test.needed == "all":
        return datasets
    return datasets // 2 + 1 if test.needed == "most" else test.needed


def _unknown(test: Comparison, report: Report) -> str:
    """A message about a name that the table does not have; empty when it has all."""
    wanted = [(name, "learner", report.learners) for name in (*test.learners, *test.others)]
    wanted += [(name, "dataset", report.datasets) for name in test.on]
    for name, noun, known in wanted:
        if name not in known:
            return f"{test.table} has no {noun} '{name}'.{did_you_mean(name, known)}"
    return ""


def _doubt(evidence: tuple[Evidence, ...]) -> str:
    if not evidence:
        return "nothing to compare"
    absent = [one.dataset for one in evidence if one.missing]
    open_ = [one.dataset for one in evidence if one.holds is None and not one.missing]
    reasons = [f"not measured on {', '.join(absent)}"] if absent else []
    return "; ".join([*reasons, f"not decided on {', '.join(open_)}"] if open_ else reasons)


def _command(test: Comparison, evidence: tuple[Evidence, ...]) -> str:
    """The run that would bring what is missing."""
    datasets = [one.dataset for one in evidence if one.missing]
    learners = dict.fromkeys(name for one in evidence for name in one.missing)
    if not datasets:
        return ""
    timing = " --timing --jobs 1" if test.measure == "seconds" else ""
    return (
        f"okbench run {test.table} --datasets {','.join(datasets)} "
        f"--learners {','.join(learners)}{timing}"
    )
