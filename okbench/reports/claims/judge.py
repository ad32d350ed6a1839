"""Does what a paper says hold? Its claims against stored outcomes.

holds          every part holds on as many datasets as the sentence asks for
holds partly   no part is refuted, and some datasets bear it out; the others are not decided
refuted        a part is refuted: one counterexample refutes "all", and "most" falls when too few
               datasets are left
not tested     no dataset decides it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from okbench.base.errors import did_you_mean
from okbench.papers.commands import command
from okbench.papers.table_types import Table
from okbench.reports.claims.claim_evidence import Evidence, Judge, configured
from okbench.reports.claims.claims_file import CLOCKS, Claim, ClaimTest, Ratio
from okbench.reports.tables.report import Report

Standing = Literal["holds", "holds partly", "refuted", "not tested"]
Reports = Callable[[str], Report | None]  # by the name of a table; None for one not written yet
Tables = Callable[[str], Table]


@dataclass(frozen=True)
class Tested:
    """How a part stands, dataset by dataset; `command` would decide the rest."""

    standing: Standing
    needed: int
    evidence: tuple[Evidence, ...]
    reason: str = ""
    command: str = ""

    @property
    def yes(self) -> int:
        return sum(one.holds is True for one in self.evidence)

    @property
    def no(self) -> int:
        return sum(one.holds is False for one in self.evidence)


@dataclass(frozen=True)
class Settled:
    """How a claim stands."""

    claim: Claim
    standing: Standing
    tests: tuple[Tested, ...]


def settle_claim(claim: Claim, reports: Reports, judge: Judge, tables: Tables) -> Settled:
    """Put a claim to the test. `judge` says what counts: measured outcomes or printed numbers."""
    tests = tuple(_test(comparison, reports, judge) for comparison in claim.tests)
    tests += tuple(_configured(ratio, tables(ratio.table)) for ratio in claim.configured)
    return Settled(claim, _together([tested.standing for tested in tests]), tests)


def _together(parts: list[Standing]) -> Standing:
    """A claim says all of its parts."""
    if "refuted" in parts:
        return "refuted"
    if not parts or set(parts) == {"not tested"}:
        return "not tested"
    return "holds" if set(parts) == {"holds"} else "holds partly"


def _test(test: ClaimTest, reports: Reports, judge: Judge) -> Tested:
    report = reports(test.table)
    if report is None:
        return Tested("not tested", 0, (), f"there is no table {test.table} yet")
    unknown = _unknown(test, report)
    if unknown:
        return Tested("not tested", 0, (), unknown)
    found = [judge(report, test, dataset) for dataset in test.on or report.datasets]
    evidence = tuple(one for one in found if one is not None)
    return _counted(test, evidence)


def _counted(test: ClaimTest, evidence: tuple[Evidence, ...]) -> Tested:
    """A part by the numbers of datasets for it and against it."""
    needed = _needed(test, len(evidence))
    found = Tested("not tested", needed, evidence, _doubt(evidence), _command(test, evidence))
    standing: Standing = "not tested"
    if evidence and found.yes >= needed:
        return Tested("holds", needed, evidence)
    if found.no > len(evidence) - needed:
        standing = "refuted"
    elif found.yes:
        standing = "holds partly"
    return Tested(standing, needed, evidence, found.reason, found.command)


def _configured(ratio: Ratio, table: Table) -> Tested:
    """What follows from the settings of a table, without any outcome."""
    evidence = tuple(configured(ratio, table, row.name) for row in table.datasets)
    wrong = any(one.holds is False for one in evidence)
    reason = "follows from the configuration"
    return Tested("refuted" if wrong else "holds", len(evidence), evidence, reason)


def _needed(test: ClaimTest, datasets: int) -> int:
    if test.needed == "all":
        return datasets
    return datasets // 2 + 1 if test.needed == "most" else test.needed


def _unknown(test: ClaimTest, report: Report) -> str:
    """A message about a name that the table does not have; empty when it has all."""
    wanted = [(name, "learner", report.learners) for name in (*test.learners, *test.others)]
    wanted += [(name, "dataset", report.datasets) for name in test.on]
    for name, kind, known in wanted:
        if name not in known:
            return f"{test.table} has no {kind} '{name}'.{did_you_mean(name, known)}"
    return ""


def _doubt(evidence: tuple[Evidence, ...]) -> str:
    if not evidence:
        return "nothing to compare"
    absent = [one.dataset for one in evidence if one.missing]
    open_ = [one.dataset for one in evidence if one.holds is None and not one.missing]
    reasons = [f"not measured on {', '.join(absent)}"] if absent else []
    return "; ".join([*reasons, f"not decided on {', '.join(open_)}"] if open_ else reasons)


def _command(test: ClaimTest, evidence: tuple[Evidence, ...]) -> str:
    """The run that would bring what is missing."""
    datasets = [one.dataset for one in evidence if one.missing]
    learners = dict.fromkeys(name for one in evidence for name in one.missing)
    if not datasets:
        return ""
    is_timed = test.measure in CLOCKS
    return command(
        "run", test.table, datasets=datasets, learners=list(learners), timing=is_timed,
        jobs=1 if is_timed else None,
    )  # fmt: skip
