"""How threads and processes that run trials behave: they stop on a signal, end with their parent,
and use one thread for linear algebra."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from okbench.trials.trial_types import Trial

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_WATCH_SECONDS = 0.5


class Terminated(SystemExit):
    """SIGTERM ends the run."""


ENDS_THE_RUN = (KeyboardInterrupt, Terminated)  # whatever else a learner raises ends its trial


@dataclass(frozen=True)
class StopSignal:
    """A folder through which a run asks its trials to stop, and that names the trials under way.

    Files rather than events, because threads, worker processes and the parent all see them, and
    because they outlive a worker that was killed.
    """

    folder: Path

    @classmethod
    def tied(cls, folder: Path) -> StopSignal:
        """A signal in an empty folder; trials may run until it is cut."""
        (folder / "run").touch()
        return cls(folder)

    def cut(self) -> None:
        """Ask every trial to stop."""
        (self.folder / "run").unlink(missing_ok=True)

    def is_cut(self) -> bool:
        return not os.path.exists(self.folder / "run")  # noqa: PTH110 – asked after every block

    @contextmanager
    def at(self, trial: Trial) -> Iterator[None]:
        """Leave a marker for as long as the trial runs; a worker that dies leaves it behind."""
        marker = self.folder / f"at-{trial.id}"
        if not self.is_cut():
            marker.touch()
        yield
        marker.unlink(missing_ok=True)

    def left_behind(self) -> set[str]:
        """The ids of trials that began and did not end; asking forgets them."""
        markers = list(self.folder.glob("at-*"))
        for marker in markers:
            marker.unlink()
        return {marker.name.removeprefix("at-") for marker in markers}


def begin_work(parent: int, path: tuple[str, ...]) -> None:
    """What a worker process does first. Signals are the parent's business: it ends its workers.

    `path` is where the parent finds modules, a user's learner among them. What such a learner
    prints goes to stderr: stdout is for results.
    """
    sys.path[:] = path
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_leave_without, args=(parent,), daemon=True).start()


def _leave_without(parent: int) -> None:
    """End this process soon after its parent, which may have had no time to say so."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


@contextmanager
def one_process() -> Iterator[None]:
    """End a process that a learner forked within this block and that came back from its call."""
    mine = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != mine:
            os._exit(1)


@cache
def use_one_thread() -> Any:
    """Keep this process's linear algebra on one thread, whatever the number of trials beside it.

    Done once: limits set and lifted from several threads get mixed up. Libraries loaded later
    follow the environment.
    """
    import scipy.linalg  # noqa: F401 – brings its own BLAS, which must be there to be limited
    from threadpoolctl import threadpool_limits

    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    return threadpool_limits(limits=1)


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM end the run as an exception does, workers included; exit code 143."""
    mine = threading.current_thread() is threading.main_thread()
    if not mine or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminated(number: int, frame: Any) -> None:
    raise Terminated(128 + number)
