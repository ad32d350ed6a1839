"""Get datasets: from their official addresses or a mirror, checked before they get their name.

    fetch(["cod-rna"])                          the files of a set, several at once
    fetch(names, mirror="/media/bundle")        from a folder or address instead
    fetch(names, to=Path("bundle"))             and an offline bundle of them
    verify(names)                               hash again what is here

A failed file does not stop the others: each has its `Result`.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Literal, cast

from okbench.base.errors import FetchError, OkbenchError
from okbench.datasets.cache import data_folder, locked, path_of, record_of
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec
from okbench.datasets.fetch.bundle import add_to_bundle
from okbench.datasets.fetch.download import FULL, Patience
from okbench.datasets.fetch.file_fetch import bring, check_again, without_a_place
from okbench.datasets.fetch.obtain import Downloads, FetchTask
from okbench.datasets.fetch.places import open_mirror
from okbench.datasets.fetch.progress import Callback, Meter, Progress

__all__ = ["FetchResult", "Patience", "Progress", "by_hand_steps", "fetch", "verify"]

State = Literal["here", "fetched", "missing", "by hand", "failed"]
_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True)
class FetchResult:
    """What became of one file. `checked` says what its hash was compared with.

    'missing' is a file that the mirror does not have, 'by hand' one that a person must get.
    """

    dataset: str
    file: str
    state: State
    path: Path | None = None
    bytes: int = 0
    checked: str = ""  # checksum, copy or recorded
    source: str = ""
    verified: str = ""
    message: str = ""  # what went wrong, or what else a person should know

    @property
    def ok(self) -> bool:
        return self.state in ("here", "fetched")


def fetch(
    names: Sequence[str],
    *,
    mirror: str | Path | None = None,
    to: Path | None = None,
    jobs: int = 4,
    progress: Callback | None = None,
    patience: Patience | None = None,
) -> list[FetchResult]:
    """Bring every file of the named datasets here, or say of each why not.

    With a mirror (or OKBENCH_MIRROR) files come from there and from nowhere else. Files that are
    here already are not touched. `progress` is called from one thread at a time.
    """
    entries = {entry.name: entry for entry in map(dataset_catalogue.spec, names)}
    chosen = str(mirror or os.environ.get("OKBENCH_MIRROR", ""))
    source = open_mirror(chosen) if chosen else None
    stop = threading.Event()
    meter = Meter(progress, stop)

    def errand(entry: DatasetSpec, file: FileSpec) -> FetchTask:
        ticker = meter.of(entry.name, file.name)
        return FetchTask(entry, file, source, patience or Patience(), ticker)

    groups = {
        key: [errand(entry, file) for entry, file in files]
        for key, files in _together(entries.values()).items()
    }
    tasks = [partial(_run, key, group, to) for key, group in groups.items()]
    results = _in_parallel(tasks, jobs, stop)
    order = {name: place for place, name in enumerate(entries)}
    return sorted(results, key=lambda result: order[result.dataset])


def verify(names: Sequence[str], *, progress: Callback | None = None) -> list[FetchResult]:
    """Hash again every file that is here; one that changed is put aside and reported."""
    meter = Meter(progress, threading.Event())
    results = []
    for entry in map(dataset_catalogue.spec, names):
        for file in entry.files.values():
            if not file.path and record_of(file):
                ticker = meter.of(entry.name, file.name)
                errand = FetchTask(entry, file, None, Patience(), ticker)
                results.append(_guarded(errand, partial(_checked_again, errand)))
    return results


def by_hand_steps(name: str) -> tuple[str, ...]:
    """What a person must do for a set that nobody can fetch unattended; () for any other."""
    return dataset_catalogue.spec(name).by_hand


def _together(
    entries: Iterable[DatasetSpec],
) -> dict[str, list[tuple[DatasetSpec, FileSpec]]]:
    """Files in groups: those out of one archive follow each other and share its download."""
    groups: dict[str, list[tuple[DatasetSpec, FileSpec]]] = {}
    for entry in entries:
        for file in entry.files.values():
            archive = file.sources[0] if file.sources and file.sources[0].member else None
            key = archive.url if archive else f"{file.folder}/{file.name}"
            groups.setdefault(key, []).append((entry, file))
    return groups


def _run(key: str, group: Sequence[FetchTask], to: Path | None) -> list[FetchResult]:
    """Bring the files of a group, while no other process brings the same."""
    lock = data_folder() / ".okbench" / f"{sha256(key.encode()).hexdigest()[:16]}.lock"
    ticker = group[0].ticker
    try:
        if all(path_of(errand.file) for errand in group):  # the folder may be read-only
            return [_guarded(errand, partial(_kept, errand, to)) for errand in group]
        lock.parent.mkdir(parents=True, exist_ok=True)
        with locked(lock, ticker.tick, lambda: ticker.tell("another process is at it; waiting")):
            downloads = Downloads()
            results = [
                _guarded(errand, partial(_brought, errand, downloads, to)) for errand in group
            ]
            downloads.clear()
            return results
    except OkbenchError as error:
        return [_failed(errand, str(error)) for errand in group]
    except OSError as error:
        return [_failed(errand, _disk_says(error)) for errand in group]


def _kept(errand: FetchTask, to: Path | None) -> FetchResult:
    return _bundled(_found(errand, "here"), errand, to)


def _brought(errand: FetchTask, downloads: Downloads, to: Path | None) -> FetchResult:
    state = cast(State, bring(errand, downloads))
    if state not in ("here", "fetched"):
        message = without_a_place(errand)
        return FetchResult(errand.entry.name, errand.file.name, state, message=message)
    return _bundled(_found(errand, state), errand, to)


def _checked_again(errand: FetchTask) -> FetchResult:
    check_again(errand)
    return _found(errand, "here")


def _bundled(result: FetchResult, errand: FetchTask, to: Path | None) -> FetchResult:
    if to is None or result.path is None:
        return result
    if errand.file.path:
        return replace(result, state="by hand", message="your own file; copy it yourself")
    try:
        return replace(result, path=add_to_bundle(errand.file, result.path, to, errand.ticker.tick))
    except OSError as error:
        raise FetchError(
            f"the bundle {to} cannot be written ({error.strerror or error}); "
            "make room there, or choose another folder with --to"
        ) from error


def _found(errand: FetchTask, state: State) -> FetchResult:
    """The result for a file that is here."""
    path, record = path_of(errand.file), record_of(errand.file)
    names = errand.entry.name, errand.file.name
    if record is None:
        return FetchResult(*names, state, path, path.stat().st_size if path else 0)
    return FetchResult(
        *names, state, path, record.bytes, record.checked, record.source, record.verified
    )


def _failed(errand: FetchTask, message: str) -> FetchResult:
    return FetchResult(errand.entry.name, errand.file.name, "failed", message=message)


def _guarded(errand: FetchTask, work: Callable[[], FetchResult]) -> FetchResult:
    """What `work` gives, or why it failed."""
    try:
        return work()
    except OkbenchError as error:
        return _failed(errand, str(error))
    except OSError as error:
        return _failed(errand, _disk_says(error))


def _disk_says(error: OSError) -> str:
    where = error.filename or data_folder()
    if error.errno in FULL:
        return (
            f"{where}: the disk is full; the unfinished file was removed. "
            "Make room, or choose another disk with OKBENCH_DATA"
        )
    if error.errno in _CLOSED:
        return f"{where}: may not be written; choose a folder of yours with OKBENCH_DATA"
    return f"{where}: {error.strerror or error}"


def _in_parallel(
    tasks: Sequence[Callable[[], list[FetchResult]]], jobs: int, stop: threading.Event
) -> list[FetchResult]:
    """Run tasks in threads that do not keep the program from ending when it is broken off."""
    waiting: queue.SimpleQueue[Callable[[], list[FetchResult]]] = queue.SimpleQueue()
    done: queue.SimpleQueue[list[FetchResult] | BaseException] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)

    def work() -> None:
        while not stop.is_set():
            try:
                task = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put(task())
            except BaseException as error:  # told to the thread that asked
                stop.set()
                done.put(error)

    for _ in range(max(1, min(jobs, len(tasks)))):
        threading.Thread(target=work, daemon=True).start()
    results: list[FetchResult] = []
    try:
        for _ in tasks:
            outcome = done.get()
            if isinstance(outcome, BaseException):
                raise outcome
            results += outcome
    finally:
        stop.set()
    return results
