"""The numbers of checks over commits: one JSON line per commit, written by `check --keep`.

A line holds the cells that were measured at a commit, with the mean of their metric and the seconds
of a trial. A second check of a commit replaces its line. Commits are in the order of their lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tabulate import tabulate

from okbench.base.errors import StoreError, UsageError, did_you_mean
from okbench.base.plain_text import plain
from okbench.base.whole_files import write_whole
from okbench.papers.additions import whole_names
from okbench.protocols.metrics import METRICS
from okbench.reports.guard.check import BaselineCheck
from okbench.reports.guard.check_text import summary
from okbench.reports.numbers import mean_and_std, seconds, signed
from okbench.reports.tables.render import in_markdown

SCHEMA = 1
_SHORT = 12  # digits of a commit that are shown
Key = tuple[str, str, str]  # table, dataset, learner


@dataclass(frozen=True)
class KeptCell:
    """A cell at one commit: the mean of its metric, and the seconds of a trial where known."""

    table: str
    dataset: str
    learner: str
    metric: str
    value: float
    seconds: float | None = None

    @property
    def key(self) -> Key:
        return self.table, self.dataset, self.learner


@dataclass(frozen=True)
class Kept:
    """What one check found at one commit."""

    commit: str
    date: str
    summary: str
    passed: bool
    cells: tuple[KeptCell, ...]


def keep(path: Path, check: BaselineCheck, commit: str) -> None:
    """Add the numbers of a check to the file, in the place of those of the same commit."""
    cells = tuple(
        KeptCell(cell.table, cell.dataset, cell.learner, cell.metric, cell.now, cell.seconds)
        for cell in check.cells
        if cell.now is not None
    )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = Kept(commit, now, summary(check), check.passed, cells)
    others = [one for one in (read_trend(path) if path.exists() else ()) if one.commit != commit]
    lines = [
        json.dumps({"okbench": "trend", "schema": SCHEMA, **asdict(one)}, ensure_ascii=False)
        for one in (*others, found)
    ]
    write_whole(path, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))


def read_trend(path: Path) -> list[Kept]:
    """The lines of a file, the oldest first."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise UsageError(f"no file {path}  (okbench check results --keep {path})") from error
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    return [_kept(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _kept(line: str, place: str) -> Kept:
    try:
        record = json.loads(line)
        if record["okbench"] != "trend" or record["schema"] > SCHEMA:
            raise StoreError(f"{place} is of another program or of a newer okbench")
        cells = tuple(KeptCell(**cell) for cell in record["cells"])
        if not all(cell.metric in METRICS and _is_number(cell.value) for cell in cells):
            raise ValueError("a cell without a metric or a number")
        return Kept(
            plain(str(record["commit"])), str(record["date"]), str(record["summary"]),
            bool(record["passed"]), cells,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{place} is no line of okbench check --keep: {error}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def chosen(
    kept: Sequence[Kept],
    table: str | None = None,
    datasets: Sequence[str] | None = None,
    learners: Sequence[str] | None = None,
) -> list[Kept]:
    """The lines with the cells asked for alone. A name that no line has is refused."""
    wanted = {"table": table and [table], "dataset": datasets, "learner": learners}
    folded: dict[str, set[str]] = {}
    for kind, names in wanted.items():
        known = {getattr(cell, kind) for one in kept for cell in one.cells}
        for name in whole_names(names or (), known):
            if name.casefold() not in map(str.casefold, known):
                raise UsageError(f"no {kind} '{name}' was kept.{did_you_mean(name, known)}")
            folded.setdefault(kind, set()).add(name.casefold())
    return [
        Kept(one.commit, one.date, one.summary, one.passed, tuple(
            cell for cell in one.cells
            if all(getattr(cell, kind).casefold() in names for kind, names in folded.items())
        ))
        for one in kept
    ]  # fmt: skip


def _text(kept: Sequence[Kept], form: str) -> str:
    """A table of commits for each cell whose number changed; the others are counted. A single cell
    is shown in any case."""
    by_cell: dict[Key, list[tuple[Kept, KeptCell]]] = {}
    for one in kept:
        for cell in one.cells:
            by_cell.setdefault(cell.key, []).append((one, cell))
    changed = {
        key: points
        for key, points in by_cell.items()
        if len(by_cell) == 1 or len({cell.value for _, cell in points}) > 1
    }
    blocks = [_block(key, points, form) for key, points in changed.items()]
    same, commits = len(by_cell) - len(changed), f"{len(kept)} commit{'s' * (len(kept) != 1)}"
    if same:
        blocks.append(f"{same} of {len(by_cell)} cells have one and the same mean at {commits}.")
    return "\n\n".join(blocks or [f"No cell was kept at {commits}."]) + "\n"


def _block(key: Key, points: Sequence[tuple[Kept, KeptCell]], form: str) -> str:
    table, dataset, learner = key
    rows = []
    before: float | None = None
    for one, cell in points:
        change = "" if before is None else signed(cell.metric, cell.value - before, cell.value)
        clock = "" if cell.seconds is None else seconds(1000 * cell.seconds)
        value = mean_and_std(cell.metric, cell.value, None)
        rows.append([one.commit[:_SHORT], one.date[:10], value, change, clock])
        before = cell.value
    metric = METRICS[points[0][1].metric]
    arrow = "↓" if metric.lower_is_better else "↑"
    heading = f"{table}: {learner} × {dataset}"
    head = ["commit", "date", f"{metric.heading} {arrow}", "change", "ms"]
    if form == "md":
        heading = f"#### {in_markdown(heading)}\n"
        rows = [list(map(in_markdown, row)) for row in rows]
    page = tabulate(
        rows,
        headers=head,
        tablefmt="pipe" if form == "md" else "simple",
        colalign=["left", "left", "right", "right", "right"],
        disable_numparse=True,
    )
    return f"{heading}\n{page}"


def _json(kept: Sequence[Kept]) -> str:
    page = {"okbench": "trend", "schema": SCHEMA, "commits": list(map(asdict, kept))}
    return json.dumps(page, indent=2) + "\n"


TREND_PAGES: Mapping[str, Callable[[Sequence[Kept]], str]] = {
    "text": lambda kept: _text(kept, "text"),
    "md": lambda kept: _text(kept, "md"),
    "json": _json,
}
