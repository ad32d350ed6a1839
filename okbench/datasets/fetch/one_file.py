"""One file from a place to its name: obtained under a temporary name, checked, then moved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Literal

from okbench.base.errors import FetchError
from okbench.base.quantities import now
from okbench.base.whole_files import make_folder, move_into_place
from okbench.datasets.catalogue.specs import FileSource
from okbench.datasets.data_folder import (
    PACKED,
    CheckedFile,
    folder_of,
    path_of,
    private_folder,
    record_of,
    write_checked,
)
from okbench.datasets.fetch.download import NotThereError
from okbench.datasets.fetch.file_check import Arrival, WrongBytesError, check_arrival
from okbench.datasets.fetch.obtain import Downloads, FetchTask, checked_hashes, obtain
from okbench.datasets.fetch.places import Place, official_places
from okbench.datasets.unpack import packing

State = Literal["here", "fetched", "missing", "by hand", "failed"]


def fetch_file(task: FetchTask, downloads: Downloads) -> State:
    """Get a file from the first place that has the right bytes, unless it is here."""
    file = task.file
    if path_of(file):
        return "here"
    if file.path:
        raise FetchError(f"{file.path}: no such file; it was added as '{task.entry.name}'")
    if _adopt(task):
        return "here"
    problems: list[str] = []
    places = _places(task)
    for place in places:
        make_folder(private_folder(file))
        try:
            _fetch_from(place, task, downloads)
        except NotThereError as problem:
            if task.mirror is None:
                problems.append(str(problem))
        except FetchError as problem:
            problems.append(str(problem))
        else:
            return "fetched"
        if problems and place is not places[-1]:
            task.ticker.notify(f"{problems[-1]}; trying the next address")
    if problems:
        raise FetchError("\n".join(problems))
    return "by hand" if task.entry.by_hand else "missing"


def check_again(task: FetchTask) -> State:
    """Hash a held file again; when it changed, set it aside and raise.

    In a folder that may only be read, it is hashed all the same.
    """
    file, before = task.file, record_of(task.file)
    if before is None:
        return "missing"
    path = folder_of(file) / before.held_as
    if not path.is_file():
        raise FetchError(f"{path}: recorded {before.fetched}, and no longer here; fetch it again")
    try:
        found = checked_hashes(path, task, str(path)).sha256
    except FetchError as problem:
        found = f"unknown ({problem})"
    if found != before.sha256:
        raise FetchError(
            f"{path}: no longer the file that was checked on {before.verified}\n"
            f"  expected sha256 {before.sha256}\n"
            f"  found    sha256 {found}\n"
            f"  kept as {_aside_if_allowed(path, task)}\n"
            f"  next: okbench fetch {quote(task.entry.name)}"
        )
    with suppress(OSError):
        write_checked(file, replace(before, verified=now()))
    return "here"


def advice(task: FetchTask) -> str:
    """What to do about a file that no place has."""
    file, entry = task.file, task.entry
    if entry.by_hand:
        steps = "".join(f"\n  {n}. {step}" for n, step in enumerate(entry.by_hand, 1))
        return f"{entry.name} cannot be fetched unattended:{steps}"
    command = f"okbench fetch {quote(entry.name)}"
    if task.mirror:
        return f"{file.name}: not in the mirror {task.mirror.root}; without it: {command}"
    return f"{file.name}: no address is known; put it in {folder_of(file)}, then {command}"


def _places(task: FetchTask) -> list[Place]:
    if task.mirror:
        return list(task.mirror.places(task.file))
    return [] if task.entry.by_hand else list(official_places(task.file))


def _adopt(task: FetchTask) -> bool:
    """Take a file that the user put in its place, once its bytes are found right."""
    folder = folder_of(task.file)
    for suffix in PACKED:
        path = folder / f"{task.file.name}{suffix}"
        if not path.is_file():
            continue
        private_folder(task.file).mkdir(exist_ok=True)
        place = Place(FileSource(str(path)), local=True)
        try:
            _check_and_keep(
                Arrival(path, checked_hashes(path, task, str(path)), place.source), task
            )
        except WrongBytesError as problem:
            task.ticker.notify(_mismatch(task, place, problem, _set_aside(path, task)))
        except FetchError as problem:
            task.ticker.notify(f"{problem}; kept as {_set_aside(path, task)}")
        else:
            return True
    return False


def _fetch_from(place: Place, task: FetchTask, downloads: Downloads) -> None:
    """Get the file from one place, and once more when a continued download was not right."""
    new = private_folder(task.file) / f"{task.file.name}.new"
    try:
        try:
            _obtain_checked(place, task, downloads, new)
        except FetchError:
            continued = downloads.continued(place)
            downloads.forget(place)
            if not continued:
                raise
            task.ticker.notify("the continued download was not right; fetching it from the start")
            _obtain_checked(place, task, downloads, new)
    except WrongBytesError as problem:
        aside = _set_aside(new, task)
        raise FetchError(_mismatch(task, place, problem, aside)) from problem
    finally:
        new.unlink(missing_ok=True)


def _obtain_checked(place: Place, task: FetchTask, downloads: Downloads, new: Path) -> None:
    archive = obtain(place, task, downloads, new)
    got = checked_hashes(new, task, place.address)
    about = archive or got
    if place.promised and about.sha256 != place.promised:
        raise WrongBytesError(
            f"sha256 {place.promised} (the bundle's manifest)", f"sha256 {about.sha256}"
        )
    _check_and_keep(Arrival(new, got, place.source, place.official, archive), task)


def _check_and_keep(arrival: Arrival, task: FetchTask) -> None:
    """Check the bytes, move them to their name, record them."""
    file, got, before = task.file, arrival.measured, record_of(task.file)
    checked = check_arrival(file, arrival, before)
    final = folder_of(file) / f"{file.name}{packing(arrival.path)}"
    if arrival.path != final:
        move_into_place(arrival.path, final)
    if before and before.held_as != final.name:
        (folder_of(file) / before.held_as).unlink(missing_ok=True)
    record = CheckedFile(
        held_as=final.name,
        bytes=got.bytes,
        sha256=got.sha256,
        content_bytes=got.content_bytes,
        content_sha256=got.content_sha256,
        source=arrival.source.url,
        checked=checked,
        fetched=now(),
        verified=now(),
    )
    write_checked(file, record)


def _aside_if_allowed(path: Path, task: FetchTask) -> Path:
    try:
        return _set_aside(path, task)
    except OSError:
        return path


def _set_aside(path: Path, task: FetchTask) -> Path:
    aside = folder_of(task.file) / f"{task.file.name}.wrong"
    path.replace(aside)
    return aside


def _mismatch(task: FetchTask, place: Place, problem: WrongBytesError, aside: Path) -> str:
    page = f" ({task.entry.page})" if task.entry.page else ""
    return (
        f"{task.file.name} from {place.address}: not the bytes expected\n"
        f"  expected {problem.expected}\n"
        f"  received {problem.received}\n"
        f"  kept as {aside}\n"
        f"  likely: it was damaged on the way, or the site changed the file{page}\n"
        f"  next: okbench fetch {quote(task.entry.name)}, or with --mirror from a copy you trust"
    )
