"""How the bookkeeping grows: what a plan, a resumed run, a report, a check and the site take when
so many outcomes are stored, and what it takes to store those of 1,000 simulated workers.

    python -m benchmarks.bench_bookkeeping [OUTCOMES …]

Each is done by a process of its own, whose CPU seconds (imports included) and peak memory are
printed. The outcomes are those of one table, 40 datasets × 5 learners, without curves. An exponent
of growth between two sizes is that of the seconds beyond those of 200 outcomes, which are mostly
imports.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.bench_reports import large_outcomes, large_table, read_check, read_report
from benchmarks.clock import peak_megabytes
from okbench.datasets.dataset_types import Dataset
from okbench.papers.table_types import Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan, remaining
from okbench.trials.store.files import Store
from okbench.trials.store.lines import header_line, outcome_line
from okbench.trials.trial_types import Outcome

CELLS = 200
WITHIN = 20.0  # CPU seconds, the aim at a million outcomes; that for memory is 1 GB
WORKERS = 1000
SHARE_LOST = 0.05  # of the trials whose worker dies before they end
SHARE_TWICE = 0.01  # of the trials whose worker was taken for lost, and that arrive twice


@dataclass(frozen=True)
class Taken:
    """What one kind of work took: CPU seconds and peak megabytes."""

    seconds: float
    megabytes: float


def main(quick: bool) -> None:
    """Print the growth up to 100,000 outcomes (10,000 when quick)."""
    measure((2_000, 10_000) if quick else (10_000, 100_000))


def measure(sizes: Sequence[int]) -> None:
    """Print what each kind of work takes with so many outcomes, and how it grows."""
    least = _taken(CELLS)
    before: tuple[int, dict[str, Taken]] | None = None
    for outcomes in sizes:
        found = _taken(outcomes)
        print(f"{outcomes // CELLS * CELLS:,} outcomes")
        for work, taken in found.items():
            aim = f"aim {WITHIN * outcomes / 1e6:.2g}" if work != "store" else "forced to the disk"
            line = f"  {work:<7} {taken.seconds:6.2f} CPU s ({aim})   {taken.megabytes:5.0f} MB"
            if before:
                times = tuple(each[work].seconds for each in (least, before[1], found))
                line += f"   growth {exponent(*times, outcomes / before[0])}"
            print(line)
        before = outcomes, found


def exponent(least: float, fewer: float, more: float, times: float) -> str:
    """The power of the number of outcomes that the seconds beyond the least ones grow with, from
    those of fewer outcomes and of so many times as many; a dash where they are too small to tell.
    """
    if fewer <= least or more <= least:
        return "–"
    return f"{math.log((more - least) / (fewer - least)) / math.log(times):.2f}"


def _taken(outcomes: int) -> dict[str, Taken]:
    """What each kind of work takes with so many outcomes, by its name."""
    runs = outcomes // CELLS
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "runs"
        _write(large_table(runs), results)
        found = {}
        for work in WORK:
            command = [sys.executable, "-m", __spec__.name, work, str(results), str(runs)]
            found[work] = Taken(*json.loads(subprocess.check_output(command)))
        return found


def _write(table: Table, results: Path) -> None:
    """Write the outcomes of all trials of a table."""
    path = Store.of(results, table.name).path
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        file.write(header_line())
        file.writelines(map(outcome_line, large_outcomes(table)))


def _load(name: str, variant: str) -> Dataset:
    """Two rows with the fingerprint of the outcomes, in the place of a dataset."""
    return Dataset(name, np.zeros((2, 1)), np.array([-1, 1]), "binary", (-1, 1), "f" * 12)


def _plan(results: Path, table: Table) -> None:
    assert len({trial.id for trial in plan(table, _load)}) == CELLS * table.protocol.runs


def _resume(results: Path, table: Table) -> None:
    from okbench.trials.run.run_table import run

    store = Store.of(results, table.name)
    tally = run(table, _load, lambda name, variant: None, store, Options(), lambda tally: None)
    assert tally.total == 0


def _site(results: Path, table: Table) -> None:
    from okbench.reports.site.build import build

    build(results, results.parent / "site", [table])


def _store(results: Path, table: Table) -> None:
    """Run the table on 1,000 simulated workers: outcomes come in any order, those of lost workers
    do not come, and some come twice. A run that is resumed until nothing is left must have every
    trial, and count it once.
    """
    draw = random.Random(2)
    of_trial = {outcome.trial.id: outcome for outcome in large_outcomes(table)}
    store = Store.of(results.parent / "simulated", table.name)
    rounds = 0
    while left := remaining(plan(table, _load), store.outcomes(), Options()):
        with store.writer({}, "0" * 12) as writer:
            for together in _in_groups(delivered([of_trial[one.id] for one in left], draw)):
                writer.add_all(together)
        rounds += 1
    contents = store.read()
    assert contents.standing().keys() == of_trial.keys()
    assert len(contents.measured) > len(of_trial)
    assert not contents.disputed()
    assert rounds > 1


def delivered(outcomes: Sequence[Outcome], draw: random.Random) -> list[Outcome]:
    """What arrives of the outcomes that workers were asked for, in the order of arrival."""
    come = [outcome for outcome in outcomes if draw.random() >= SHARE_LOST]
    come += [outcome for outcome in come if draw.random() < SHARE_TWICE]
    draw.shuffle(come)
    return come


def _in_groups(outcomes: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    """As many at a time as workers that end while one write is forced to the disk."""
    coming = iter(outcomes)
    while together := list(islice(coming, WORKERS // 100)):
        yield together


WORK: dict[str, Callable[[Path, Table], None]] = {
    "plan": _plan,
    "resume": _resume,
    "report": read_report,
    "check": read_check,
    "site": _site,
    "store": _store,
}


def _worker(work: str, results: str, runs: str) -> None:
    begun = time.process_time()
    WORK[work](Path(results), large_table(int(runs)))
    print(json.dumps([time.process_time() - begun, peak_megabytes()]))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WORK:
        _worker(*sys.argv[1:])
    else:
        measure([int(outcomes) for outcomes in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
