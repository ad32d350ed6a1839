"""Reports of a fetch to its caller, from one thread at a time, and the caller's wish to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from okbench.base.errors import safe_to_show

_INTERVAL = 0.1  # seconds between two reports on one file


@dataclass(frozen=True)
class Progress:
    """A report on one file: bytes here and in all, bytes per second, or a message."""

    dataset: str
    file: str
    done: int = 0
    total: int | None = None
    rate: float = 0.0
    message: str = ""


Callback = Callable[[Progress], None]


class Meter:
    """Passes the reports of several threads on, one after the other."""

    def __init__(self, callback: Callback | None, stop: threading.Event) -> None:
        self._callback, self._stop = callback, stop
        self._turn = threading.Lock()

    def of(self, dataset: str, file: str) -> Ticker:
        """The reporter for one file."""
        return Ticker(self, dataset, file)

    def report(self, progress: Progress) -> None:
        """Hand a report to the caller."""
        if self._callback is not None:
            with self._turn:
                self._callback(progress)

    def check_stop(self) -> None:
        """Raise KeyboardInterrupt in every thread once the fetch was interrupted."""
        if self._stop.is_set():
            raise KeyboardInterrupt


class Ticker:
    """Reports on one file."""

    def __init__(self, meter: Meter, dataset: str, file: str) -> None:
        self._meter, self._dataset, self._file = meter, dataset, file
        self._begun: tuple[float, int] | None = None
        self._last = 0.0

    def check_stop(self) -> None:
        """Raise KeyboardInterrupt when the fetch was interrupted."""
        self._meter.check_stop()

    def advance(self, done: int, total: int | None) -> None:
        """Report how many bytes are here."""
        self.check_stop()
        now = time.monotonic()
        if self._begun is None or done < self._begun[1]:
            self._begun = (now, done)
        if now - self._last < _INTERVAL and done != total:
            return
        self._last = now
        since, first = self._begun
        rate = (done - first) / (now - since) if now > since else 0.0
        self._meter.report(Progress(self._dataset, self._file, done, total, rate))

    def notify(self, message: str) -> None:
        """Report something that the user should know."""
        self._meter.report(Progress(self._dataset, self._file, message=safe_to_show(message)))
