"""The data folder: verified files, and beside each a record of what was checked and when.

    <data folder>/<folder>/<name>            a file as it arrived, perhaps still compressed
    <data folder>/<folder>/.okbench/         records (name.json), locks, and downloads under way

The data folder, an offline bundle and a mirror share this layout, so each can serve as the other.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from okbench.base.errors import StoreError, UsageError
from okbench.base.whole_files import replacing
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec

PACKED = ("", ".bz2", ".gz", ".xz")


@dataclass(frozen=True)
class CheckedFile:
    """What was found when a file was last checked."""

    held_as: str  # its name in the folder
    bytes: int
    sha256: str
    content_bytes: int
    content_sha256: str
    source: str
    checked: str  # checksum, copy or recorded: what the hash was compared with
    fetched: str  # UTC, ISO 8601
    verified: str


@dataclass(frozen=True)
class HeldFiles:
    """How much of a dataset is in the data folder."""

    files: int  # that are here
    of: int  # that the dataset has
    bytes: int
    verified: str  # when the file checked longest ago was checked; "" when nothing is here

    @property
    def complete(self) -> bool:
        return self.files == self.of


def data_folder() -> Path:
    """The folder that holds the files: OKBENCH_DATA, or the user's cache folder."""
    chosen = os.environ.get("OKBENCH_DATA", "")
    if chosen:
        return at_home(chosen, "OKBENCH_DATA").absolute()
    import platformdirs

    return platformdirs.user_cache_path("okbench")


def at_home(folder: str, what: str) -> Path:
    """A folder as the user wrote it, perhaps with a ~; `what` names the option it comes from."""
    try:
        return Path(folder).expanduser()
    except RuntimeError as error:
        raise UsageError(f"{what} '{folder}': there is no such home folder") from error


def path_of(file: FileSpec) -> Path | None:
    """Where a verified file is; None when it is not here, or no longer as it was verified."""
    try:
        if file.path:
            path = Path(file.path)
            return path if path.is_file() else None
        record = record_of(file)
        if record is None:
            return None
        path = folder_of(file) / record.held_as
        return path if path.stat().st_size == record.bytes else None
    except OSError:
        return None


def status(entry: DatasetSpec) -> HeldFiles:
    """How much of a dataset is here, its size, and when it was verified."""
    here = [(file, path_of(file)) for file in entry.files.values()]
    records = [record_of(file) for file, path in here if path]
    return HeldFiles(
        files=sum(path is not None for _, path in here),
        of=len(here),
        bytes=sum(path.stat().st_size for _, path in here if path),
        verified=min((record.verified for record in records if record), default=""),
    )


def folder_of(file: FileSpec) -> Path:
    """The folder that holds a file."""
    return data_folder() / file.folder


def private_folder(file: FileSpec) -> Path:
    """Where records, locks and downloads under way are kept."""
    return folder_of(file) / ".okbench"


def record_of(file: FileSpec) -> CheckedFile | None:
    """The record of a file, whether or not the file is still here."""
    path = private_folder(file) / f"{file.name}.json"
    try:
        record = CheckedFile(**json.loads(path.read_text(encoding="utf-8")))
        _check_record(record, file)
        return record
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"{path}: not a record of a download; delete it, then fetch again"
        ) from error


def _check_record(record: CheckedFile, file: FileSpec) -> None:
    """ValueError for values of another type, or a name that leads elsewhere."""
    kinds = {"str": str, "int": int}
    if any(
        type(getattr(record, each.name)) is not kinds[str(each.type)]
        for each in fields(CheckedFile)
    ):
        raise ValueError("a value of another type")
    if record.held_as not in {f"{file.name}{suffix}" for suffix in PACKED}:
        raise ValueError("another name")


def write_checked(file: FileSpec, record: CheckedFile) -> None:
    """Write a record; a reader sees the old one or the new one, never half of it."""
    text = json.dumps(asdict(record), indent=1) + "\n"
    with replacing(private_folder(file) / f"{file.name}.json") as out:
        out.write(text.encode())
