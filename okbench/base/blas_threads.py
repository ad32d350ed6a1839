"""Linear algebra on one thread: products of small matrices take many times longer on several.

`one_thread` is a context manager and a decorator. The number of threads belongs to the process, so
that the first thread to come in limits it, and the last to leave restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ContextDecorator
from functools import cache
from typing import Any


class _OneThread(ContextDecorator):
    """What keeps BLAS and LAPACK on one thread while any thread of this process is within."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._before: list[tuple[Any, int]] = []  # libraries, and their numbers of threads
        self._stays = False

    def stay(self) -> None:
        """From now on the process has one thread anyway, and nothing needs to be done."""
        self._stays = True

    def __enter__(self) -> None:
        if self._stays:
            return
        with self._lock:
            if not self._within:
                self._before = [(each, each.get_num_threads()) for each in _libraries()]
                _set([(library, 1) for library, _ in self._before])
            self._within += 1

    def __exit__(self, *raised: object) -> None:
        if self._stays:
            return
        with self._lock:
            self._within -= 1
            if not self._within:
                _set(self._before)


one_thread = _OneThread()


@cache
def _libraries() -> Any:
    """The libraries of linear algebra that are loaded."""
    import scipy.linalg  # noqa: F401 – brings its own, which must be there to be limited
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set(counts: Iterable[tuple[Any, int]]) -> None:
    for library, count in counts:
        # In newer versions the thread that has set a number keeps all others from setting one.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(count)
        release(force=True)
