"""Two versions of okbench timed in one job, turn about, so that both meet the same machine.

A side is a checkout (a folder with okbench/ in it) or the Python of an environment that okbench is
installed in. Each is a process of its own that stays, takes the arguments of `okbench run` a line
at a time and answers when it is done; what it measured is read from its results files. Which side
goes first changes from round to round, and the first round is not counted. A round counts by the
quickest of its trials: other load on the machine can only add to seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from okbench.base.errors import OkbenchError, UsageError
from okbench.papers.table_types import Table
from okbench.reports.guard.check import BaselineCheck
from okbench.reports.guard.speed import FEWEST, Allowed, SpeedCheck, check_seconds
from okbench.trials.plan.cells import chosen_cells
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store

ROUNDS = 21
TRIALS = 5  # a round
PATIENCE = 3  # times the rounds, for a cell that chance may explain
# By its path, so that any version's Python runs it: an older okbench lacks the module.
_WORKER = Path(__file__).with_name("speed_worker.py")


def compare_speed(
    base: str,
    head: str,
    table: Table,
    options: Options,
    rounds: int = ROUNDS,
    allowed: Allowed | None = None,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> BaselineCheck:
    """Time every chosen cell of a table in both versions. `watch` is called with the number
    of cells done and of all.

    A cell that one version cannot run is named and not judged.
    """
    if rounds < FEWEST:
        raise UsageError(f"rounds: at least {FEWEST}, or chance can never be ruled out")
    found: list[SpeedCheck] = []
    refused: list[str] = []
    cells = chosen_cells(table, options)
    with (
        tempfile.TemporaryDirectory(prefix="okbench-speed-") as folder,
        _started(base, Path(folder, "base")) as first,
        _started(head, Path(folder, "head")) as second,
    ):
        trials = min(options.trials or TRIALS, table.protocol.runs)
        for number, (row, column) in enumerate(cells):
            cell = table, row.name, column.label, trials, options.seed
            base_run, head_run = (_Run(side, *cell) for side in (first, second))
            watch(number, len(cells))
            try:
                found.append(_turn_about(base_run, head_run, rounds, allowed or Allowed()))
            except _Refused as error:
                refused.append(str(error))
        watch(len(cells), len(cells))
    return BaselineCheck((), tuple(found), "; ".join(refused))


def _turn_about(base: _Run, head: _Run, rounds: int, allowed: Allowed) -> SpeedCheck:
    """Time a cell in both versions, longer while chance may explain a ratio beyond the allowed."""
    for round_ in range(PATIENCE * rounds + 1):
        for run in (base, head) if round_ % 2 else (head, base):
            run()
        if round_ and round_ % rounds == 0:
            before, now = base.seconds()[1:], head.seconds()[1:]
            found = check_seconds(base.dataset, base.label, before, now, allowed)
            if found.finding != "cannot say":
                break
    return found


class _Refused(Exception):
    """A version could not run a cell."""


@dataclass(frozen=True)
class _Run:
    """One cell in one version, to be run again and again."""

    side: _Side
    table: Table
    dataset: str
    label: str
    trials: int
    seed: int

    @property
    def results(self) -> Path:
        return self.side.folder / self.dataset / self.label

    def __call__(self) -> None:
        cell = ["--datasets", self.dataset, "--learners", self.label, "--seed", str(self.seed)]
        alone = ["--trials", str(self.trials), "--jobs", "1", "--timing", "--again"]
        into = ["--results", str(self.results)]
        self.side.ask(["run", self.table.name, *cell, *alone, *into])

    def seconds(self) -> list[float]:
        """The seconds of each round so far."""
        measured = Store.of(self.results, self.table.trials_of).read(curves=False).measured
        for outcome in measured:
            if outcome.status != "done":
                raise _Refused(f"{self.side.name}: {outcome.status}: {outcome.reason}")
        taken = [outcome.seconds or 0.0 for outcome in measured]
        return [min(taken[i : i + self.trials]) for i in range(0, len(taken), self.trials)]


class _Side:
    """A version of okbench, running."""

    def __init__(self, name: str, process: subprocess.Popen[str], folder: Path) -> None:
        self.name, self.folder, self._process = name, folder, process

    def ask(self, arguments: list[str]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended, and the missing answer shows it
            self._process.stdin.write(json.dumps(arguments) + "\n")
            self._process.stdin.flush()
        refusal = self.answer()
        if refusal:
            raise _Refused(f"{self.name}: {refusal}")

    def answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OkbenchError(f"{self.name}: ended before it answered")
        return str(json.loads(line))


@contextmanager
def _started(word: str, folder: Path) -> Iterator[_Side]:
    """A version of okbench, from a checkout or a Python."""
    place = Path(word)
    checkout = (place / "okbench" / "__init__.py").is_file()
    if not checkout and not place.is_file():
        raise UsageError(
            f"{word}: neither a checkout (a folder with okbench/ in it) nor a Python to run"
        )
    python = sys.executable if checkout else str(place.absolute())
    paths = {"PYTHONPATH": str(place.resolve())} if checkout else {}
    folder.mkdir()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [python, "-P", str(_WORKER)],  # -P: what lies in the worker's folder is not imported
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **paths},
            text=True,
            encoding="utf-8",
        )
        side = _Side(word, process, folder)
        try:
            loaded = Path(_introduced(side, errors)).resolve()
            if checkout and place.resolve() not in loaded.parents:
                raise OkbenchError(f"{word}: another okbench was loaded instead ({loaded})")
            yield side
        finally:
            _end(process)


def _introduced(side: _Side, errors: IO[str]) -> str:
    """Where a version was loaded from; the last line of its errors, if it could not be."""
    try:
        return side.answer()
    except OkbenchError as error:
        errors.seek(0)
        lines = errors.read().strip().splitlines() or [str(error)]
        raise OkbenchError(f"{side.name}: does not start: {lines[-1]}") from error


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
