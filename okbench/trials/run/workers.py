"""How threads and processes that run trials behave: they stop on a signal, and use one thread for
linear algebra."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from okbench.base.blas_threads import one_thread
from okbench.base.worker_processes import is_worker

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Terminated(SystemExit):
    """SIGTERM ends the run."""


def ends_the_run() -> tuple[type[BaseException], ...]:
    """The exceptions that end the run; whatever else a learner raises ends its trial. A worker
    process has none: it ignores signals, so that even a KeyboardInterrupt is the learner's."""
    return () if is_worker() else (KeyboardInterrupt, Terminated)


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
    limits = threadpool_limits(limits=1)
    one_thread.stay()
    return limits


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
