"""How the bookkeeping grows: what a resumed run, a report, a check and the site take when so many
outcomes are stored, and what it takes to store those of many workers.

    python -m benchmarks.bench_bookkeeping [OUTCOMES]

Each is done by a process of its own, whose CPU seconds (imports included) and peak memory are
printed. The outcomes are those of one table, 40 datasets × 5 learners, without curves.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.bench_reports import large_outcomes, large_table
from benchmarks.clock import peak_megabytes
from okbench.papers.table_types import Table
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from okbench.trials.store.lines import header_line, outcome_line
from okbench.trials.trial_types import Outcome

CELLS = 200
WITHIN, MEGABYTES = 20.0, 1000  # aims at a million outcomes
WORKERS = 1000
SHARE_LOST = 0.05  # of the trials whose worker dies before they end


def main(quick: bool) -> None:
    """Print the growth up to 100,000 outcomes (20,000 when quick)."""
    for outcomes in (2_000, 20_000) if quick else (10_000, 100_000):
        measure(outcomes)


def measure(outcomes: int) -> None:
    """Print what each kind of work takes with so many outcomes."""
    runs = outcomes // CELLS
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "runs"
        megabytes = _write(large_table(runs), results) / 1e6
        print(f"{runs * CELLS:,} outcomes, {megabytes:.0f} MB")
        for work in WORK:
            command = [sys.executable, "-m", __spec__.name, work, str(results), str(runs)]
            seconds, peak = json.loads(subprocess.check_output(command))
            aim = f"aim {WITHIN * outcomes / 1e6:.2g}" if work != "store" else "forced to the disk"
            print(f"  {work:<7} {seconds:6.2f} CPU s ({aim})   {peak:5.0f} MB (aim {MEGABYTES})")


def _write(table: Table, results: Path) -> int:
    """Write the outcomes of all trials of a table; the bytes of the file."""
    path = Store.of(results, table.name).path
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(header_line())
        file.writelines(map(outcome_line, large_outcomes(table)))
    return path.stat().st_size


def _resume(results: Path, table: Table) -> None:
    from okbench.datasets.dataset_types import Dataset
    from okbench.trials.run.run_table import run

    def load(name: str, variant: str) -> Dataset:
        import numpy as np

        X, y = np.zeros((2, 1)), np.array([-1, 1])
        return Dataset(name, X, y, "binary", (-1, 1), "f" * 12)

    store = Store.of(results, table.name)
    tally = run(table, load, lambda name, variant: None, store, Options(), lambda tally: None)
    assert tally.total == 0


def _report(results: Path, table: Table) -> None:
    from okbench.reports.load import load_table
    from okbench.reports.tables.render import render

    render(load_table(table, results, Options(), None).report, "terminal")


def _check(results: Path, table: Table) -> None:
    from okbench.reports.guard.check import check
    from okbench.reports.guard.check_text import PAGES
    from okbench.reports.results_paths import read_file
    from okbench.trials.store.trials_of_lines import TrialsOfLines

    path, shared = Store.of(results, table.name).path, TrialsOfLines(shared=True)
    found = check(table.name, read_file(path, trials=shared), read_file(path, trials=shared))
    PAGES["text"](found)
    assert found.passed


def _site(results: Path, table: Table) -> None:
    from okbench.reports.site.build import build

    build(results, results.parent / "site", [table])


def _store(results: Path, table: Table) -> None:
    """Store the outcomes of 1,000 workers as they come: in any order, and those of lost workers
    once more later. Then nothing may be left to run.
    """
    draw = random.Random(2)
    coming = list(large_outcomes(table))
    draw.shuffle(coming)
    store = Store.of(results.parent / "simulated", table.name)
    expected = {outcome.trial.id for outcome in coming}
    rounds = 0
    while coming:
        lost = [outcome for outcome in coming if draw.random() < SHARE_LOST]
        gone = {outcome.trial.id for outcome in lost}
        with store.writer({}, "0" * 12) as writer:
            for together in _in_groups(one for one in coming if one.trial.id not in gone):
                writer.add_all(together)
        coming, rounds = lost, rounds + 1
    assert store.outcomes().keys() == expected
    assert rounds > 1


def _in_groups(outcomes: Iterator[Outcome]) -> Iterator[list[Outcome]]:
    """As many at a time as workers that end while one write is forced to the disk."""
    while together := list(islice(outcomes, WORKERS // 100)):
        yield together


WORK: dict[str, Callable[[Path, Table], None]] = {
    "resume": _resume,
    "report": _report,
    "check": _check,
    "site": _site,
    "store": _store,
}


def _worker(work: str, results: str, runs: str) -> None:
    begun = time.process_time()
    WORK[work](Path(results), large_table(int(runs)))
    print(json.dumps([time.process_time() - begun, peak_megabytes()]))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        _worker(*sys.argv[1:])
    else:
        measure(int(sys.argv[1]) if len(sys.argv) == 2 else 1_000_000)
