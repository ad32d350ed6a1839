"""How long it takes to read results: 20,000 outcomes with curves, reported and checked.

Each is done by a process of its own, whose CPU seconds and peak memory are printed (with imports).
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.clock import peak_megabytes
from okbench.learners.registry import find
from okbench.papers.table_types import DatasetRow, LearnerColumn, PrintedCell, Protocol, Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.trial_types import Outcome, Trial

LEARNERS = ("Perceptron", "OGD", "RBP", "Forgetron", "FOGD")
POINTS = 20  # of a curve
WITHIN = {"report": 1.0, "check": 2.0}
MEGABYTES = 500


def main(quick: bool) -> None:
    """Print CPU seconds and peak memory of reading 20,000 outcomes (2,000 when quick)."""
    runs = 10 if quick else 100
    table = large_table(runs)
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        count = write_outcomes(table, results)
        megabytes = Store.of(results, table.name).path.stat().st_size / 1e6
        print(f"{count} outcomes with curves of {POINTS} points, {megabytes:.0f} MB")
        for work, limit in WITHIN.items():
            seconds, peak = _measured(work, results, runs)
            print(
                f"  {work:<7} {seconds:5.2f} CPU s, aim {limit:g}   {peak:4.0f} MB, aim {MEGABYTES}"
            )


def large_table(runs: int) -> Table:
    datasets = [f"rows{number}" for number in range(40)]
    return Table(
        name="made/large",
        title="Many outcomes",
        paper="made",
        protocol=Protocol("single-pass", "mistake_rate", runs),
        datasets=tuple(map(DatasetRow, datasets)),
        learners=tuple(LearnerColumn(name, name) for name in LEARNERS),
        settings={},
        printed={
            (name, learner): PrintedCell(name, learner, 3.0, 0.1, text="3.0 ± 0.1")
            for name in datasets
            for learner in LEARNERS
        },
    )


def write_outcomes(table: Table, results: Path) -> int:
    path = Store.of(results, table.name).path
    path.parent.mkdir(parents=True)
    lines = [
        to_bytes({"outcome": outcome_record(one)}) for one in large_outcomes(table, curves=True)
    ]
    path.write_bytes(to_bytes({"okbench": "results", "schema": 1}) + b"".join(lines))
    return len(lines)


def large_outcomes(table: Table, curves: bool = False) -> Iterator[Outcome]:
    """An outcome of every trial of the table, with random numbers."""
    draw = random.Random(1)
    for column in table.learners:
        entry = find(column.learner)
        settings = resolve_settings(entry.load(), column.label, {}, "here")
        for row in table.datasets:
            first = Trial(row.name, "", "f" * 12, entry.name, entry.version, settings,
                          "single-pass", "mistake_rate", 0)  # fmt: skip
            for repetition in range(table.protocol.runs):
                curve = tuple(
                    (2500 * k, draw.randrange(9999), 100, draw.random())
                    for k in range(POINTS if curves else 0)
                )
                yield Outcome(first.repeated(repetition), "done", 50_000,
                              draw.randrange(1000, 2000), draw.random(), draw.random(), None,
                              100, 123_456, curve)  # fmt: skip


def _measured(work: str, results: Path, runs: int) -> tuple[float, float]:
    """The best of three: CPU seconds, and peak megabytes, of a process that does the work."""
    command = [sys.executable, "-m", __spec__.name, work, str(results), str(runs)]
    told = [json.loads(subprocess.check_output(command)) for _ in range(3)]
    return min(seconds for seconds, _ in told), max(peak for _, peak in told)


def read_report(results: Path, table: Table) -> None:
    """Read the outcomes of a table, and print its report."""
    from okbench.reports.load import load_table
    from okbench.reports.tables.render import render

    render(load_table(table, results, Options(), None).report, "terminal")


def read_check(results: Path, table: Table) -> None:
    """Read the outcomes of a table twice, and compare the two."""
    from okbench.reports.guard.check import check
    from okbench.reports.guard.check_text import PAGES
    from okbench.reports.results_paths import read_file
    from okbench.trials.store.trials_of_lines import TrialsOfLines

    path, shared = Store.of(results, table.name).path, TrialsOfLines(shared=True)
    found = check(table.name, read_file(path, trials=shared), read_file(path, trials=shared))
    PAGES["text"](found)
    assert found.passed


WORK: dict[str, Callable[[Path, Table], None]] = {"report": read_report, "check": read_check}


def _worker(work: str, results: str, runs: str) -> None:
    table = large_table(int(runs))
    begun = time.process_time()
    WORK[work](Path(results), table)
    seconds = time.process_time() - begun
    peak = peak_megabytes()
    print(json.dumps([seconds, peak]))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        _worker(*sys.argv[1:])
    else:
        main(quick="--quick" in sys.argv)
