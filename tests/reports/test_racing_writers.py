"""Two commands that write one results file, in every order in which their I/O calls can happen with
at most three changes from one command to the other: what a command that succeeded wrote is there.
"""

from __future__ import annotations

import builtins
import io
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from outcome_material import MACHINE, outcome, results_file, trial
from small_table import all_measured, small_table

from okbench.base.errors import OkbenchError
from okbench.reports.guard.bless import bless
from okbench.reports.guard.merge import merge
from okbench.trials.plan.options import Options
from okbench.trials.store import files
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome
from tests.shared import mostly_slow

TABLE = small_table()
NAME = TABLE.name
BLESSED = all_measured(TABLE)
OUTCOMES = {
    name: [outcome(5, trial(learner=name, repetition=r), environment="e") for r in range(2)]
    for name in ("standing", "run", "another run", "merge", "another merge")
}
Work = Callable[[Path], None]


class Turns:
    """Runs two works in threads, one I/O call at a time, changing over after so many calls each."""

    def __init__(self, works: Mapping[str, Callable[[], None]], changes: Sequence[int]) -> None:
        self._turn = {name: threading.Semaphore(0) for name in works}
        self._stopped = threading.Semaphore(0)
        self._works, self._left = works, list(changes)
        self._name_of: dict[int, str] = {}
        self._running = list(works)
        self.errors: dict[str, BaseException] = {}

    def go(self) -> bool:
        """Run both to their ends; whether all changes came before one of them had ended."""
        threads = [threading.Thread(target=self._work, args=(name,)) for name in self._works]
        for thread in threads:
            thread.start()
        while self._running:
            if self._left and not self._left[0] and len(self._running) == 2:
                self._running.reverse()
                self._left.pop(0)
            if self._left:
                self._left[0] -= 1
            self._turn[self._running[0]].release()
            self._stopped.acquire()
        for thread in threads:
            thread.join()
        return not self._left

    def pause(self) -> None:
        """Called before each I/O call: wait for one's turn."""
        name = self._name_of.get(threading.get_ident())
        if name:
            self._stopped.release()
            self._turn[name].acquire()

    def _work(self, name: str) -> None:
        self._turn[name].acquire()
        self._name_of[threading.get_ident()] = name
        try:
            self._works[name]()
        except OkbenchError as error:
            self.errors[name] = error
        finally:
            self._running.remove(name)
            self._stopped.release()


@contextmanager
def stopping_at_io(turns: Turns, folder: Path) -> Iterator[None]:
    """Calls on files in the folder wait for their turn, as do locks and what is done by number."""

    def paused(call: Callable[..., Any]) -> Callable[..., Any]:
        def wait(what: Any, *rest: Any, **options: Any) -> Any:
            if isinstance(what, int) or str(what).startswith(str(folder)):
                turns.pause()
            return call(what, *rest, **options)

        return wait

    with (
        patch.object(io, "open", paused(io.open)),
        patch.object(builtins, "open", paused(builtins.open)),
        patch.object(os, "fsync", paused(lambda file: None)),
        patch.object(os, "replace", paused(os.replace)),
        patch.object(files, "try_lock", paused(files.try_lock)),
        patch.object(os.path, "lexists", paused(os.path.lexists)),
    ):
        yield


def running(name: str) -> Work:
    def work(folder: Path) -> None:
        with Store.of(folder / "into", NAME).writer(MACHINE, "e") as writer:
            for one in OUTCOMES[name]:
                writer.add(one)

    return work


def merging(name: str) -> Work:
    def work(folder: Path) -> None:
        merge([folder / name], folder / "into")

    return work


def blessing(folder: Path) -> None:
    bless(TABLE, folder / "measured", folder / "into", "first", Options())


WORKS: Mapping[str, Work] = {
    **{name: running(name) for name in ("run", "another run")},
    **{name: merging(name) for name in ("merge", "another merge")},
    "bless": blessing,
}
PAIRS = [
    ("run", "another run"),
    ("run", "merge"),
    ("run", "bless"),
    ("merge", "another merge"),
    ("merge", "bless"),
]


def try_all(attempt: Callable[[tuple[int, ...]], bool], changes: tuple[int, ...] = ()) -> None:
    """Change over after so many calls, up to three times, as long as it makes a difference."""
    for calls in count(1):
        if not attempt((*changes, calls)):
            return
        if len(changes) < 2:
            try_all(attempt, (*changes, calls))


@pytest.mark.parametrize("stands", [False, True], ids=["no file", "a file"])
@pytest.mark.parametrize("pair", mostly_slow(PAIRS, [("run", "merge")]), ids=" and ".join)
def test_nothing_that_was_written_vanishes(
    pair: tuple[str, str], stands: bool, tmp_path: Path
) -> None:
    for name in ("merge", "another merge"):
        results_file(tmp_path / name / f"{NAME}.jsonl", OUTCOMES[name])
    results_file(tmp_path / "measured" / f"{NAME}.jsonl", BLESSED)
    path = tmp_path / "into" / f"{NAME}.jsonl"
    path.parent.mkdir(parents=True)
    endings = set()

    def attempt(names: tuple[str, ...], changes: tuple[int, ...]) -> bool:
        path.unlink(missing_ok=True)
        if stands:
            results_file(path, OUTCOMES["standing"])
        turns = Turns({name: partial(WORKS[name], tmp_path) for name in names}, changes)
        with stopping_at_io(turns, tmp_path):
            in_time = turns.go()
        wrote = [name for name in names if name not in turns.errors]
        wanted = [one for name in wrote for one in written_by(name)]
        wanted += OUTCOMES["standing"] if stands else []
        found = Counter(one.trial.id for one in Store(path).read().measured)
        assert found == Counter(one.trial.id for one in wanted), (names, changes, turns.errors)
        endings.add(tuple(sorted(wrote)))
        return in_time

    for names in (pair, pair[::-1]):
        try_all(partial(attempt, names))
    assert len(endings) > 1 or (stands and "bless" in pair), endings


def written_by(name: str) -> list[Outcome]:
    return BLESSED if name == "bless" else OUTCOMES[name]
