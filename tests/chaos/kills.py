"""Runs that are killed: after any number of kill -9, what was stored is there, once, and a resumed
run gives what an undisturbed one does."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil

from okbench.base.errors import OkbenchError
from okbench.trials.store.files import Store
from tests.chaos.commands import LONGEST, Command, survivors
from tests.chaos.findings import Finding, Tally
from tests.chaos.world import COMPILED, TABLE, Figures, World, doubled, figures, read, run_words

KILLS_PER_CASE = 10
_MOST_LINES = 12  # that a run may store before it is killed
_PARTS = (("--learners", COMPILED), ("--learners", "Slow"), ())


def kills(world: World, tally: Tally, seed: int, count: int, jobs: int) -> None:
    """Kill parents and workers of runs, `count` in all, in cases that share nothing."""
    quotas = [min(KILLS_PER_CASE, count - done) for done in range(0, count, KILLS_PER_CASE)]
    with ThreadPoolExecutor(jobs) as pool:
        cases = [_Case(world, tally, seed, case) for case in range(len(quotas))]
        list(pool.map(_Case.run, cases, quotas))


def one_case(world: World, tally: Tally, seed: int, case: int) -> None:
    """Repeat one case."""
    _Case(world, tally, seed, case).run(KILLS_PER_CASE)


class _Case:
    """Results files that see a few kills each."""

    def __init__(self, world: World, tally: Tally, seed: int, case: int) -> None:
        self.name = f"kills:{case}"
        self._draw = random.Random(f"{seed}:{self.name}")
        self._world, self._tally = world, tally
        self._folder = world.case(f"kills-{case}")
        self._sound = True

    def run(self, quota: int) -> None:
        """Kill at least `quota` times, or until something is wrong."""
        killed, place = 0, 0
        while killed < quota and self._sound:
            results = self._folder / f"runs-{place}"
            stored: dict[str, Figures] = {}
            before = killed
            for _ in range(self._draw.randint(5, 12)):
                killed += self._disturbed(results)
                stored = self._kept(results, stored)
                if killed >= quota or not self._sound:
                    break
            self._resume(results, stored, killed - before)
            place += 1

    def _disturbed(self, results: Path) -> int:
        """Start a run and kill it, or its workers; how often that came in time."""
        if self._draw.random() < 0.85:
            (part,) = self._draw.choices(_PARTS, (6, 1, 1))
            command = Command(run_words(results, *part), self._folder)
            self._await_moment(command, results)
            killed = int(command.code is None)
            command.kill()
        else:
            command = Command(run_words(results, *_PARTS[1]), self._folder)
            killed = self._kill_workers(command, self._draw.randint(1, 4))
        self._tally.count(tried=killed)
        if command.code != -9:
            self._judge(command, allowed=(0, 1))
        if left := survivors(self._folder):
            self._wrong("a process outlives its run", "\n".join(left))
        return killed

    def _await_moment(self, command: Command, results: Path) -> None:
        """Wait for a random number of lines and a moment more, or for the end of the run."""
        file = Store.of(results, TABLE).path
        before = _lines(file)
        wanted = before + self._draw.randint(0, _MOST_LINES)
        while command.wait(0.003) is None and _lines(file) < wanted:
            pass
        command.wait(self._draw.choice((0.0, 0.003, 0.03, 0.3)) * self._draw.random())

    def _kill_workers(self, command: Command, most: int) -> int:
        killed, deadline = 0, time.monotonic() + LONGEST
        while killed < most and time.monotonic() < deadline:
            if command.wait(self._draw.uniform(0.05, 0.5)) is not None:
                break
            if workers := command.workers():
                with suppress(psutil.Error):
                    self._draw.choice(workers).kill()
                    killed += 1
        if command.wait() is None:
            self._wrong("a run hangs after its worker was killed", command.message)
            command.kill()
        return killed

    def _kept(self, results: Path, stored: dict[str, Figures]) -> dict[str, Figures]:
        """What the file holds now; everything that it held before must be among it."""
        try:
            contents = read(results)
        except OkbenchError as error:
            self._wrong("the results file cannot be read", str(error))
            return stored
        now = figures(contents)
        if lost := sorted(stored.keys() - now.keys()):
            self._wrong("outcomes are lost", ", ".join(lost))
        if twice := doubled(contents):
            self._wrong("outcomes are doubled", ", ".join(twice))
        true = self._world.undisturbed[0]
        if other := [id_ for id_ in now if now[id_] != true.get(id_)]:
            self._wrong("outcomes differ from those of an undisturbed run", ", ".join(other))
        return now

    def _resume(self, results: Path, stored: dict[str, Figures], killed: int) -> None:
        """Run the rest, and compare all with the undisturbed run."""
        command = Command(run_words(results), self._folder)
        command.wait()
        self._judge(command, allowed=(0,))
        complete = self._kept(results, stored) == self._world.undisturbed[0]
        if not complete:
            self._wrong("the resumed run is not complete", command.message)
        elif read(results).torn:
            self._wrong("the results file is torn after the resumed run")
        if self._sound:
            self._tally.count(recovered=killed)

    def _judge(self, command: Command, allowed: tuple[int, ...]) -> None:
        if fault := command.fault(allowed):
            self._wrong(fault, command.message)
        if command.code:
            self._tally.count(refused=1)

    def _wrong(self, what: str, detail: str = "") -> None:
        self._sound = False
        self._tally.find(Finding(self.name, what, detail))


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.is_file() else 0
