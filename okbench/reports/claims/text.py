"""Settled claims as text and as data, and where their reports come from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.table_catalogue import find, names
from okbench.reports.claims.judge import Reports, Settled, Tested
from okbench.reports.load import load_table
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options
from okbench.trials.store.match_outcomes import Versions

_MARKS = {True: "yes", False: "no", None: "open"}


def reports_in(results: Path, options: Options, versions: Versions | None = None) -> Reports:
    """Reports by the name of their table, each read once; None for a table that is not written."""
    known = {card.name for card in names()}

    @cache
    def report_of(table: str) -> Report | None:
        if table not in known:
            return None
        return load_table(find(table), results, options, None, versions).report

    return report_of


def claims_text(settled: Sequence[Settled], figures: bool) -> str:
    """Each claim and how it stands; with `figures`, what every dataset says."""
    lines: list[str] = []
    for one in settled:
        lines.append(f"{one.claim.id:<16}{one.standing}")
        lines.append(f"  {one.claim.says} ({one.claim.where})")
        if one.claim.untold:
            lines.append(f"  no table can tell: {one.claim.untold}")
        for tested in one.tests:
            lines += _tested(tested, figures)
        commands = dict.fromkeys([one.claim.tells, *(tested.tells for tested in one.tests)])
        lines += [f"  → {command}" for command in commands if command]
        lines.append("")
    counts = Counter(one.standing for one in settled)
    totals = ", ".join(f"{count} {standing}" for standing, count in sorted(counts.items()))
    return "\n".join([*lines, f"{len(settled)} claims: {totals}"]) + "\n"


def _tested(tested: Tested, figures: bool) -> list[str]:
    yes = sum(one.holds is True for one in tested.evidence)
    no = sum(one.holds is False for one in tested.evidence)
    counted = f"{yes} yes, {no} no of {len(tested.evidence)}, {tested.needed} needed"
    reason = tested.reason if not tested.evidence else f"{counted}. {tested.reason}".rstrip(". ")
    lines = [f"  - {tested.standing}: {reason}"]
    if figures:
        lines += [
            f"      {one.dataset}: {_MARKS[one.holds]}, {one.figures}" for one in tested.evidence
        ]
    return lines


def claims_json(settled: Sequence[Settled]) -> str:
    """Every claim with its evidence."""
    page = {"okbench": "claims", "schema": 1, "claims": [asdict(one) for one in settled]}
    return json.dumps(page, indent=2) + "\n"


def chosen_papers(paper: str | None, known: Sequence[str]) -> Sequence[str]:
    """The paper asked for, or all."""
    if paper is None:
        return known
    if paper not in known:
        raise UsageError(
            f"no claims of a paper '{paper}'.{did_you_mean(paper, known)} There are those of "
            + ", ".join(known)
        )
    return [paper]
