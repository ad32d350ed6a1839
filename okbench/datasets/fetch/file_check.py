"""Whether the bytes that arrived are the right ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import FetchError
from okbench.datasets.catalogue.specs import FileSource, FileSpec
from okbench.datasets.data_folder import CheckedFile
from okbench.datasets.unpack import Measured, open_unpacked, packing

CHECKSUM = "checksum"  # a published hash was matched
COPY = "copy"  # the hash of a copy whose values were checked
RECORDED = "recorded"  # no hash was known: recorded now, and required from now on


@dataclass(frozen=True)
class Arrival:
    """A file that arrived, perhaps out of an archive."""

    path: Path
    measured: Measured
    source: FileSource
    official: bool = False
    archive: Measured | None = None


class WrongBytesError(FetchError):
    """Raised for a file that is not the one expected; `expected` and `received` are its hashes."""

    def __init__(self, expected: str, received: str) -> None:
        super().__init__(f"expected {expected}, received {received}")
        self.expected, self.received = expected, received


def check_arrival(file: FileSpec, arrival: Arrival, before: CheckedFile | None) -> str:
    """How the bytes were found right: CHECKSUM, COPY or RECORDED. Wrong bytes raise."""
    got = arrival.measured
    if got.content_sha256 == file.content_sha256 or _published(file, arrival):
        return CHECKSUM
    if got.content_sha256 in file.copies:
        return COPY
    if before and before.checked == RECORDED:
        if got.content_sha256 == before.content_sha256:
            return RECORDED
        raise WrongBytesError(
            f"sha256 {before.content_sha256} (recorded {before.fetched})", _shown(got)
        )
    if expected := _expected(file, arrival):
        raise WrongBytesError(expected, _shown(got))
    return RECORDED


def check_start(path: Path, source: str) -> None:
    """Raise for an empty file, a web page or a pointer in place of the data."""
    with open_unpacked(path) as content:
        start = content.read(512).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start:
        raise FetchError(f"{source}: an empty file arrived")
    if start.startswith(b"<"):
        raise FetchError(
            f"{source}: a web page arrived instead of the file ({_first_words(start)}); "
            "the site may be down, or may want a login"
        )
    if start.startswith(b"version https://git-lfs"):
        raise FetchError(f"{source}: a Git LFS pointer arrived instead of the file")


def _published(file: FileSpec, arrival: Arrival) -> bool:
    """Whether the packed bytes, or the archive around them, match a published hash."""
    if arrival.archive and _matches(arrival.source, arrival.archive):
        return True
    return any(_matches(source, arrival.measured) for source in file.sources if not source.member)


def _matches(source: FileSource, got: Measured) -> bool:
    return bool(
        (source.sha256 and source.sha256 == got.sha256)
        or (source.md5 and not source.sha256 and source.md5 == got.md5)
    )


def _expected(file: FileSpec, arrival: Arrival) -> str:
    """The hash these bytes should have; '' when none is known that could be compared."""
    if file.content_sha256:
        return f"sha256 {file.content_sha256} (unpacked)"
    if file.copies and not arrival.official:
        return f"sha256 {file.copies[0]} (unpacked)"
    suffix = packing(arrival.path)
    comparable = [arrival.source] if not arrival.source.member or arrival.archive else []
    comparable += [
        source for source in file.sources if not source.member and source.name == file.name + suffix
    ]
    for source in comparable:
        if source.sha256 or source.md5:
            return f"sha256 {source.sha256}" if source.sha256 else f"md5 {source.md5}"
    return ""


def _shown(got: Measured) -> str:
    if got.sha256 == got.content_sha256:
        return f"sha256 {got.sha256}, md5 {got.md5}"
    return f"sha256 {got.sha256}, md5 {got.md5}; sha256 {got.content_sha256} (unpacked)"


def _first_words(page: bytes) -> str:
    return " ".join(page.decode("utf-8", "replace").split())[:60]
