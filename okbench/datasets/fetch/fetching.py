"""Get datasets: from their official addresses or a mirror, verified before they get their name.

    fetch(["cod-rna"])                          the files of a set, several at once
    fetch(names, mirror="/media/bundle")        from a folder or address instead
    fetch(names, to=Path("bundle"))             and an offline bundle of them
    verify(names)                               check the held files and prepared rows again

A file that fails does not stop the others: each has its `FetchResult`.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from okbench.base.errors import FetchError, OkbenchError, StoreError, safe_to_show
from okbench.base.locks import locked
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec
from okbench.datasets.data_folder import data_folder, path_of, record_of
from okbench.datasets.fetch.answer import Patience
from okbench.datasets.fetch.bundle import add_to_bundle
from okbench.datasets.fetch.download import FULL
from okbench.datasets.fetch.obtain import Downloads, FetchTask
from okbench.datasets.fetch.one_file import State, advice, check_again, fetch_file
from okbench.datasets.fetch.places import open_mirror
from okbench.datasets.fetch.progress import Callback, Meter, Progress, Ticker

__all__ = ["FetchResult", "Patience", "Progress", "by_hand_steps", "fetch", "verify"]

_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)


@dataclass(frozen=True)
class FetchResult:
    """What became of one file. `checked` says what its hash was compared with.

    'missing' is a file that the mirror does not have, 'by hand' one that the user must get.
    """

    dataset: str
    file: str
    state: State
    path: Path | None = None
    bytes: int = 0
    checked: str = ""  # checksum, copy or recorded
    source: str = ""
    verified: str = ""
    message: str = ""  # what went wrong, or what else the user should know

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
    """Fetch every file of the named datasets, or report for each why it could not be fetched.

    With a mirror (or OKBENCH_MIRROR) files come from there and from nowhere else. Files that are
    here already are not touched. `progress` is called from one thread at a time.
    """
    entries = {entry.name: entry for entry in map(dataset_catalogue.spec, names)}
    chosen = str(mirror or os.environ.get("OKBENCH_MIRROR", ""))
    patience = patience or Patience()
    source = open_mirror(chosen, patience) if chosen else None
    stop = threading.Event()
    meter = Meter(progress, stop)
    work: list[Callable[[], list[FetchResult]]] = []
    for key, files in _groups(entries.values()).items():
        tasks = [
            FetchTask(entry, file, source, patience, meter.of(entry.name, file.name))
            for entry, file in files
        ]
        work.append(partial(_fetch_group, key, tasks, to))
    results = _in_parallel(work, jobs, stop)
    places = {name: place for place, name in enumerate(entries)}
    return sorted(results, key=lambda result: places[result.dataset])


def verify(names: Sequence[str], *, progress: Callback | None = None) -> list[FetchResult]:
    """Hash every held file again, and compare prepared rows with their checksums. A held file that
    changed is set aside and reported."""
    entries = {entry.name: entry for entry in map(dataset_catalogue.spec, names)}
    meter = Meter(progress, threading.Event())
    results: list[FetchResult] = []
    for key, files in _groups(entries.values()).items():
        tasks = [
            FetchTask(entry, file, None, Patience(), meter.of(entry.name, file.name))
            for entry, file in files
            if not file.path and _is_recorded(file)
        ]
        if tasks:
            results += _verify_group(key, tasks)
    results += [result for name in entries for result in _verify_prepared(name)]
    places = {name: place for place, name in enumerate(entries)}
    return sorted(results, key=lambda result: places[result.dataset])


def by_hand_steps(name: str) -> tuple[str, ...]:
    """What the user must do for a set that cannot be fetched unattended; () for any other."""
    return dataset_catalogue.spec(name).by_hand


def _groups(
    entries: Iterable[DatasetSpec],
) -> dict[str, list[tuple[DatasetSpec, FileSpec]]]:
    """Files in groups: the members of one archive follow each other and share its download."""
    groups: dict[str, list[tuple[DatasetSpec, FileSpec]]] = {}
    for entry in entries:
        for file in entry.files.values():
            archive = file.sources[0] if file.sources and file.sources[0].member else None
            key = archive.url if archive else f"{file.folder}/{file.name}"
            groups.setdefault(key, []).append((entry, file))
    return groups


def _fetch_group(key: str, group: Sequence[FetchTask], bundle: Path | None) -> list[FetchResult]:
    """Fetch the files of a group, while no other process fetches the same."""
    try:
        # files that are all here need no lock, which a read-only folder would refuse
        all_here = all(path_of(task.file) for task in group)
        with nullcontext() if all_here else _group_lock(key, group[0].ticker):
            downloads = Downloads()
            results = [
                _attempt(task, partial(fetch_file, downloads=downloads), bundle) for task in group
            ]
            downloads.clear()
            return results
    except (OkbenchError, OSError) as error:
        return [_failed(task, error) for task in group]


def _verify_group(key: str, group: Sequence[FetchTask]) -> list[FetchResult]:
    """Check the files of a group, while no other process fetches them."""
    try:
        with ExitStack() as held:
            try:
                held.enter_context(_group_lock(key, group[0].ticker))
            except OSError as error:  # a folder that may only be read is checked without a lock
                if error.errno not in _NOT_WRITABLE:
                    raise
            return [_attempt(task, check_again) for task in group]
    except (OkbenchError, OSError) as error:
        return [_failed(task, error) for task in group]


def _verify_prepared(name: str) -> Iterator[FetchResult]:
    from okbench.datasets.prepare.prepared_files import check_kept

    for folder, size, damage in check_kept(name):
        file = folder.relative_to(data_folder()).as_posix()
        if damage:
            message = f"{damage}; the rows are prepared again when they are next used"
            yield FetchResult(name, file, "failed", folder, message=message)
        else:
            yield FetchResult(name, file, "here", folder, size, "checksum")


def _is_recorded(file: FileSpec) -> bool:
    """Whether a file has a record, perhaps a damaged one."""
    try:
        return record_of(file) is not None
    except StoreError:
        return True


def _group_lock(key: str, ticker: Ticker) -> AbstractContextManager[None]:
    lock = data_folder() / ".okbench" / f"{sha256(key.encode()).hexdigest()[:16]}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    return locked(
        lock, ticker.check_stop, lambda: ticker.notify("another process is fetching it; waiting")
    )


def _attempt(
    task: FetchTask, work: Callable[[FetchTask], State], bundle: Path | None = None
) -> FetchResult:
    """The result of work on one file, or the reason why it failed."""
    try:
        result = _result(task, work(task))
        return _copied_to(bundle, result, task) if bundle and result.path else result
    except (OkbenchError, OSError) as error:
        return _failed(task, error)


def _result(task: FetchTask, state: State) -> FetchResult:
    name, file = task.entry.name, task.file
    if state not in ("here", "fetched"):
        return FetchResult(name, file.name, state, message=advice(task))
    path, record = path_of(file), record_of(file)
    if record is None:
        return FetchResult(name, file.name, state, path, path.stat().st_size if path else 0)
    return FetchResult(
        *(name, file.name, state, path),
        *(record.bytes, record.checked, record.source, record.verified),
    )


def _copied_to(bundle: Path, result: FetchResult, task: FetchTask) -> FetchResult:
    assert result.path is not None
    if task.file.path:
        return replace(result, state="by hand", message="your own file; copy it yourself")
    try:
        copy = add_to_bundle(task.file, result.path, bundle, task.ticker.check_stop)
    except OSError as error:
        raise FetchError(
            f"the bundle {bundle} cannot be written ({error.strerror or error}); "
            "make room there, or choose another folder with --to"
        ) from error
    return replace(result, path=copy)


def _failed(task: FetchTask, error: OkbenchError | OSError) -> FetchResult:
    message = _disk_problem(error) if isinstance(error, OSError) else str(error)
    return FetchResult(task.entry.name, task.file.name, "failed", message=safe_to_show(message))


def _disk_problem(error: OSError) -> str:
    where = error.filename or data_folder()
    if error.errno in FULL:
        return (
            f"{where}: the disk is full; the unfinished file was removed. "
            "Make room, or choose another disk with OKBENCH_DATA"
        )
    if error.errno in _NOT_WRITABLE:
        return f"{where}: may not be written; choose a folder of yours with OKBENCH_DATA"
    return f"{where}: {error.strerror or error}"


def _in_parallel(
    tasks: Sequence[Callable[[], list[FetchResult]]], jobs: int, stop: threading.Event
) -> list[FetchResult]:
    """Run tasks in threads that do not keep the program alive when it is interrupted."""
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
            except BaseException as error:  # raised again in the thread that called
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
