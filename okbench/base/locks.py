"""Locks between processes, which the operating system releases when a process ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False when another process or thread has locked it."""
    from filelock import lock_descriptor

    return lock_descriptor(descriptor, blocking=False)


@contextmanager
def locked(
    path: Path,
    check_stop: Callable[[], None] = lambda: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Hold the lock of a file, which is made when it is missing, waiting as long as it takes.

    `on_wait` is called once when another holds the lock. `check_stop` is called every 0.1 s
    meanwhile and may raise to give up.
    """
    with path.open("ab") as file:
        waiting = False
        while not try_lock(file.fileno()):
            if not waiting:
                on_wait()
            waiting = True
            check_stop()
            time.sleep(0.1)
        yield
