"""What each part of the harness tried, and what it found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock

from tabulate import tabulate


@dataclass(frozen=True)
class Finding:
    """A loss, a traceback or a hang, and the case that shows it again."""

    case: str  # kills:3
    what: str  # one line, the same for all cases of one cause
    detail: str = ""  # the traceback or the message
    file: str = ""  # the input that was kept


@dataclass
class Tally:
    """How one part went. `refused` counts clear messages with their exit codes, `recovered` cases
    after which everything was as in an undisturbed run."""

    part: str
    tried: int = 0
    refused: int = 0
    recovered: int = 0
    note: str = ""
    findings: list[Finding] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count(self, tried: int = 0, refused: int = 0, recovered: int = 0) -> None:
        """Add to the counts, from any thread."""
        with self._lock:
            self.tried += tried
            self.refused += refused
            self.recovered += recovered

    def find(self, finding: Finding) -> None:
        """Keep a finding, from any thread."""
        with self._lock:
            self.findings.append(finding)


def report(tallies: list[Tally], seed: int, folder: Path) -> bool:
    """Print the table and the findings, and save the findings; whether there are none."""
    rows = [
        (one.part, f"{one.tried:,}", f"{one.refused:,}", f"{one.recovered:,}", len(one.findings),
         one.note)
        for one in tallies
    ]  # fmt: skip
    headers = ("part", "tried", "refused", "recovered", "findings", "")
    align = ("left", *["right"] * 4, "left")
    print(tabulate(rows, headers, disable_numparse=True, colalign=align))
    if not all(one.tried for one in tallies):
        print("a part tried nothing, which proves nothing")
        return False
    found = [finding for tally in tallies for finding in tally.findings]
    if not found:
        print(f"no loss, no traceback, no hang (seed {seed})")
        return True
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "findings.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"seed": seed, **asdict(one)}) + "\n" for one in found)
    print(f"\n{len(found)} findings with the seed {seed}, in full in {folder}/findings.jsonl:")
    for (part, what), count in Counter((f.case.partition(":")[0], f.what) for f in found).items():
        example = next(f for f in found if f.what == what and f.case.startswith(part))
        kept = f" ({example.file})" if example.file else ""
        print(f"  {count} × {what}\n      --case {example.case}{kept}")
    return False
