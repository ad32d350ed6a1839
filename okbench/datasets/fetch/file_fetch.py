"""One file from its places to its name: obtained under a temporary name, checked, then moved."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote

from okbench.base.errors import FetchError
from okbench.datasets.cache import (
    PACKED,
    Record,
    folder_of,
    now,
    path_of,
    private_folder,
    record_of,
    write_record,
)
from okbench.datasets.catalogue.specs import Source
from okbench.datasets.fetch.download import NotThereError
from okbench.datasets.fetch.file_check import Arrival, WrongBytesError, check
from okbench.datasets.fetch.obtain import Downloads, FetchTask, measured, obtain
from okbench.datasets.fetch.places import Place, official_places
from okbench.datasets.unpack import packing


def bring(errand: FetchTask, downloads: Downloads) -> str:
    """Get a file from the first place that has the right bytes. What came of it, as a state."""
    file = errand.file
    if path_of(file):
        return "here"
    if file.path:
        raise FetchError(f"{file.path}: no such file; it was added as '{errand.entry.name}'")
    if _adopt(errand):
        return "here"
    problems: list[str] = []
    places = _places(errand)
    for place in places:
        private_folder(file).mkdir(parents=True, exist_ok=True)
        try:
            _bring_from(place, errand, downloads)
        except NotThereError as problem:
            if errand.mirror is None:
                problems.append(str(problem))
        except FetchError as problem:
            problems.append(str(problem))
        else:
            return "fetched"
        if problems and place is not places[-1]:
            errand.ticker.tell(f"{problems[-1]}; trying the next address")
    if problems:
        raise FetchError("\n".join(problems))
    return "by hand" if errand.entry.by_hand else "missing"


def check_again(errand: FetchTask) -> None:
    """Hash a held file again; when it changed, put it aside and raise.

    In a folder that may only be read it is hashed all the same.
    """
    file, before = errand.file, record_of(errand.file)
    if before is None:
        return
    path = folder_of(file) / before.held_as
    if not path.is_file():
        raise FetchError(f"{path}: recorded {before.fetched}, and no longer here; fetch it again")
    try:
        found = measured(path, errand, str(path)).sha256
    except FetchError as problem:
        found = f"unknown ({problem})"
    if found != before.sha256:
        raise FetchError(
            f"{path}: no longer the file that was checked on {before.verified}\n"
            f"  expected sha256 {before.sha256}\n"
            f"  found    sha256 {found}\n"
            f"  kept as {_aside_if_allowed(path, errand)}\n"
            f"  next: okbench fetch {quote(errand.entry.name)}"
        )
    with suppress(OSError):
        write_record(file, replace(before, verified=now()))


def without_a_place(errand: FetchTask) -> str:
    """What to do about a file that no place has."""
    file, entry = errand.file, errand.entry
    if entry.by_hand:
        steps = "".join(f"\n  {n}. {step}" for n, step in enumerate(entry.by_hand, 1))
        return f"{entry.name} cannot be fetched unattended:{steps}"
    command = f"okbench fetch {quote(entry.name)}"
    if errand.mirror:
        return f"{file.name}: not in the mirror {errand.mirror.root}; without it: {command}"
    return f"{file.name}: no address is known; put it in {folder_of(file)}, then {command}"


def _places(errand: FetchTask) -> list[Place]:
    if errand.mirror:
        return list(errand.mirror.places(errand.file))
    return [] if errand.entry.by_hand else list(official_places(errand.file))


def _adopt(errand: FetchTask) -> bool:
    """Take a file that a person put in its place, once its bytes are found right."""
    folder = folder_of(errand.file)
    for suffix in PACKED:
        path = folder / f"{errand.file.name}{suffix}"
        if not path.is_file():
            continue
        private_folder(errand.file).mkdir(exist_ok=True)
        place = Place(Source(str(path)), local=True)
        try:
            _settle(Arrival(path, measured(path, errand, str(path)), place.source), errand)
        except WrongBytesError as problem:
            errand.ticker.tell(_mismatch(errand, place, problem, _aside(path, errand)))
        except FetchError as problem:
            errand.ticker.tell(f"{problem}; kept as {_aside(path, errand)}")
        else:
            return True
    return False


def _bring_from(place: Place, errand: FetchTask, downloads: Downloads) -> None:
    """Get the file under a temporary name, check it, and give it its own."""
    new = private_folder(errand.file) / f"{errand.file.name}.new"
    try:
        try:
            _take(place, errand, downloads, new)
        except FetchError:
            continued = downloads.continued(place)
            downloads.forget(place)
            if not continued:
                raise
            errand.ticker.tell("the continued download was not right; fetching it from the start")
            _take(place, errand, downloads, new)
    except WrongBytesError as problem:
        aside = _aside(new, errand)
        raise FetchError(_mismatch(errand, place, problem, aside)) from problem
    finally:
        new.unlink(missing_ok=True)


def _take(place: Place, errand: FetchTask, downloads: Downloads, new: Path) -> None:
    archive = obtain(place, errand, downloads, new)
    got = measured(new, errand, place.shown)
    about = archive or got
    if place.promised and about.sha256 != place.promised:
        raise WrongBytesError(
            f"sha256 {place.promised} (the bundle's manifest)", f"sha256 {about.sha256}"
        )
    _settle(Arrival(new, got, place.source, place.official, archive), errand)


def _settle(arrival: Arrival, errand: FetchTask) -> None:
    """Check the bytes, move them to their name, record them."""
    file, got, before = errand.file, arrival.measured, record_of(errand.file)
    checked = check(file, arrival, before)
    final = folder_of(file) / f"{file.name}{packing(arrival.path)}"
    if arrival.path != final:
        arrival.path.replace(final)
    if before and before.held_as != final.name:
        (folder_of(file) / before.held_as).unlink(missing_ok=True)
    record = Record(
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
    write_record(file, record)


def _aside_if_allowed(path: Path, errand: FetchTask) -> Path:
    try:
        return _aside(path, errand)
    except OSError:
        return path


def _aside(path: Path, errand: FetchTask) -> Path:
    aside = folder_of(errand.file) / f"{errand.file.name}.wrong"
    path.replace(aside)
    return aside


def _mismatch(errand: FetchTask, place: Place, problem: WrongBytesError, aside: Path) -> str:
    page = f" ({errand.entry.page})" if errand.entry.page else ""
    return (
        f"{errand.file.name} from {place.shown}: not the bytes expected\n"
        f"  expected {problem.expected}\n"
        f"  received {problem.received}\n"
        f"  kept as {aside}\n"
        f"  likely: it was damaged on the way, or the site changed the file{page}\n"
        f"  next: okbench fetch {quote(errand.entry.name)}, or with --mirror from a copy you trust"
    )
