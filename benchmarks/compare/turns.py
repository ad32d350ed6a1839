"""What is measured in turns: learners that are loaded, learners on an empty cache, commands."""

from __future__ import annotations

import math
import resource
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.compare.rows import Rows
from benchmarks.compare.sides import Side, environment, started

LEAST = 0.05  # CPU seconds of a measurement, so that the clock's steps do not count
FIRST_ROWS = 256
COLD_ROWS = 200
COLD = (
    *("FOGD", "NOGD", "OGD", "RBP", "Forgetron", "Projectron", "BPA-S", "BSGD-M", "IK-OGD"),
    "Raker",
)
Measure = Callable[[], float]
Seconds = tuple[float, ...]


@dataclass(frozen=True)
class Pair:
    """CPU seconds of the other commit and of this tree, round by round."""

    name: str
    rows: str
    base: Seconds
    head: Seconds
    n_rows: int = 0
    times: int = 1
    same: bool = True  # whether both predict the same

    @property
    def speeds(self) -> list[float]:
        """How many times as fast this tree is."""
        return [base / head for base, head in zip(self.base, self.head, strict=True)]


class NotCompared(Exception):
    """One of the two commits cannot do it."""


def alternating(base: Measure, head: Measure, rounds: int) -> tuple[Seconds, Seconds]:
    """Both measured once a round; which goes first changes from round to round."""
    first: list[float] = []
    second: list[float] = []
    order = [(first, base), (second, head)]
    for _ in range(rounds):
        for taken, measure in order:
            taken.append(measure())
        order.reverse()
    return tuple(first), tuple(second)


def learner(name: str, rows: Rows, base: Side, head: Side, rounds: int) -> Pair:
    """A learner on rows, compiled and loaded before the clock starts."""
    sides = {"base": base, "head": head}
    digests: set[str] = set()

    def measured(side: str, n_rows: int, times: int) -> float:
        answer = sides[side].ask(
            learner=name, rows=rows.path, task=rows.task, n_rows=n_rows, times=times
        )
        if "failed" in answer:
            raise NotCompared(f"{side}: {answer['failed']}")
        digests.add(answer["digest"])
        return float(answer["seconds"])

    n_rows, times = _enough(lambda n, k: max(measured(side, n, k) for side in sides), rows.n_rows)
    digests.clear()
    of_base, of_head = (partial(measured, side, n_rows, times) for side in sides)
    before, now = alternating(of_base, of_head, rounds)
    return Pair(name, rows.name, before, now, n_rows, times, len(digests) == 1)


def _enough(seconds: Callable[[int, int], float], most: int) -> tuple[int, int]:
    """How many rows, learned how many times, take long enough to be timed."""
    n_rows = min(FIRST_ROWS, most)
    seconds(n_rows, 1)  # compiles
    while (taken := seconds(n_rows, 1)) < LEAST and n_rows < most:
        n_rows = min(most, n_rows * (2 if taken > LEAST / 8 else 8))
    return n_rows, max(1, math.ceil(LEAST / max(taken, LEAST / 1000)))


def cold(name: str, rows: Rows, base: Path, head: Path, rounds: int) -> Pair:
    """The first call of a learner in a new process that finds no compiled code."""

    def measured(side: str, python: Path) -> float:
        with (
            tempfile.TemporaryDirectory() as empty,
            started(python, NUMBA_CACHE_DIR=empty, XDG_CACHE_HOME=empty) as process,
        ):
            answer = process.ask(
                learner=name, rows=rows.path, task=rows.task, n_rows=COLD_ROWS, times=1, cold=True
            )
        if "failed" in answer:
            raise NotCompared(f"{side}: {answer['failed']}")
        return float(answer["seconds"])

    of_base, of_head = partial(measured, "base", base), partial(measured, "head", head)
    before, now = alternating(of_base, of_head, rounds)
    return Pair(name, rows.name, before, now, COLD_ROWS)


def command(words: str, base: Path, head: Path, rounds: int) -> Pair:
    """CPU seconds of a command of okbench and of all that it starts, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:

        def measured(side: str, python: Path) -> float:
            place = Path(folder, side)
            place.mkdir(exist_ok=True)
            before = _cpu_of_children()
            done = subprocess.run(
                [python, "-P", "-m", "okbench", *shlex.split(words)],
                cwd=place, env=environment(), capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                said = done.stderr.strip().splitlines() or ["it said nothing"]
                raise NotCompared(f"{side}: exit {done.returncode}: {said[-1]}")
            return _cpu_of_children() - before

        of_base, of_head = partial(measured, "base", base), partial(measured, "head", head)
        alternating(of_base, of_head, 1)  # compiled, and its files in the caches of the system
        before, now = alternating(of_base, of_head, rounds)
        return Pair(words, "", before, now)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
