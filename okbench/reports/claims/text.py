"""Settled claims as text and as data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from okbench.reports.claims.claims_file import ClaimTest
from okbench.reports.claims.judge import Settled, Tested

_MARKS = {True: "yes", False: "no", None: "open"}


def claims_text(settled: Sequence[Settled], figures: bool, used: Mapping[str, str]) -> str:
    """Each claim and how it stands; with `figures`, what every dataset says. `used` says where the
    outcomes of each table are from."""
    lines: list[str] = []
    for one in settled:
        lines.append(f"{one.claim.id:<16}{one.standing}")
        lines.append(f"  {one.claim.says} ({one.claim.where})")
        if one.claim.undecidable:
            lines.append(f"  undecidable: {one.claim.undecidable}")
        readings: list[ClaimTest | None] = [
            *one.claim.tests,
            *(None for _ in one.claim.configured),
        ]
        for tested, reading in zip(one.tests, readings, strict=True):
            lines += _tested(tested, figures)
            if reading and reading.reading:
                lines.append(f"      ours: {reading.reading}")
        commands = dict.fromkeys([one.claim.command, *(tested.command for tested in one.tests)])
        lines += [f"  → {command}" for command in commands if command]
        lines.append("")
    counts = Counter(one.standing for one in settled)
    totals = ", ".join(f"{count} {standing}" for standing, count in sorted(counts.items()))
    lines += [f"{table}: outcomes of {place}" for table, place in used.items()]
    return "\n".join([*lines, f"{len(settled)} claim{'s' * (len(settled) != 1)}: {totals}"]) + "\n"


def _tested(tested: Tested, figures: bool) -> list[str]:
    counted = f"{tested.yes} yes, {tested.no} no of {len(tested.evidence)}, {tested.needed} needed"
    reason = tested.reason if not tested.evidence else f"{counted}. {tested.reason}".rstrip(". ")
    lines = [f"  - {tested.standing}: {reason}"]
    if figures:
        lines += [
            f"      {one.dataset}: {_MARKS[one.holds]}, {one.figures}" for one in tested.evidence
        ]
    return lines


def claims_json(settled: Sequence[Settled], used: Mapping[str, str]) -> str:
    """Every claim with its evidence."""
    page = {
        "okbench": "claims",
        "schema": 2,
        "outcomes": dict(used),
        "claims": [_record(one) for one in settled],
    }
    return json.dumps(page, indent=2) + "\n"


def _record(settled: Settled) -> dict[str, object]:
    tests = [asdict(one) | {"yes": one.yes, "no": one.no} for one in settled.tests]
    return asdict(settled) | {"tests": tests}
