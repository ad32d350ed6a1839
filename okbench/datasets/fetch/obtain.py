"""The bytes of a file from one place to a temporary name: copied, downloaded, or unpacked."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from okbench.base.errors import FetchError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec
from okbench.datasets.data_folder import data_folder, private_folder
from okbench.datasets.fetch.answer import Patience
from okbench.datasets.fetch.download import DownloadRequest, discard, download
from okbench.datasets.fetch.file_check import check_start
from okbench.datasets.fetch.places import Mirror, Place
from okbench.datasets.fetch.progress import Ticker
from okbench.datasets.unpack import DAMAGED, Measured, extract, limit, measure

_COPY_BYTES = 1 << 20
_MOST_BYTES = 1 << 36  # of a download whose length only its server knows
_MOST_UNANNOUNCED = 1 << 34  # bytes, where it does not say; the largest set has 12 GB
_LEAST_UNANNOUNCED = 16 << 20  # bytes; an archive holds documents as well
_VALUE_BYTES = 100  # of a number with its index: three times what the longest takes as a text
_MOST_VALUES = 1000  # in a row, on average: rows of more columns are sparse
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class FetchTask:
    """A file to fetch, and how."""

    entry: DatasetSpec
    file: FileSpec
    mirror: Mirror | None
    patience: Patience
    ticker: Ticker


class Downloads:
    """The downloads for the files of one group; an archive is downloaded once for all of them."""

    def __init__(self) -> None:
        self._archives: dict[str, tuple[Path, Measured]] = {}
        self._continued: set[str] = set()

    def archive(self, place: Place, task: FetchTask) -> tuple[Path, Measured]:
        """An archive and its hashes, downloaded unless it was before."""
        if place.address not in self._archives:
            path = place.path if place.local else _archive_part(place.address)
            if not place.local:
                path.parent.mkdir(parents=True, exist_ok=True)
                self.download(place, task, path)
            self._archives[place.address] = path, checked_hashes(path, task, place.address)
        return self._archives[place.address]

    def download(self, place: Place, task: FetchTask, part: Path) -> None:
        """Fill the part file from the place's address."""
        if download(_request(place, task, part)):
            self._continued.add(place.address)

    def continued(self, place: Place) -> bool:
        """Whether the bytes from a place were put together from more than one answer."""
        return place.address in self._continued

    def forget(self, place: Place) -> None:
        """Delete what came from a place, so that it is downloaded from the start."""
        self._archives.pop(place.address, None)
        self._continued.discard(place.address)
        if not place.local:
            discard(_archive_part(place.address))

    def clear(self) -> None:
        """Delete every downloaded archive, once the files are taken out."""
        for address in self._archives:
            discard(_archive_part(address))


def obtain(place: Place, task: FetchTask, downloads: Downloads, new: Path) -> Measured | None:
    """Fill `new` with the file's bytes, still compressed when the place serves them so.

    The hashes are those of the archive the file was a member of, None when there is no archive.
    """
    file = task.file
    if place.source.member:
        archive, hashes = downloads.archive(place, task)
        most = limit(hashes.bytes, file.content_bytes)
        try:
            extract(archive, place.source.member, new, most, task.ticker.check_stop)
        except DAMAGED as error:
            raise _damaged(place.address, error) from error
        return hashes
    if place.local:
        _copy(place.path, new, task)
        return None
    part = private_folder(file) / f"{file.name}.part"
    downloads.download(place, task, part)
    part.replace(new)
    discard(part)
    return None


def checked_hashes(path: Path, task: FetchTask, shown: str) -> Measured:
    """Hashes of a file and of its content; raises for a web page and for a damaged stream."""
    try:
        check_start(path, shown)
        most = limit(path.stat().st_size, task.file.content_bytes)
        return measure(path, most, task.ticker.check_stop)
    except DAMAGED as error:
        raise _damaged(shown, error) from error


def _damaged(shown: str, error: BaseException) -> Exception:
    """A FetchError for a stream that cannot be unpacked; an error of the disk stays what it is."""
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return error
    return FetchError(f"{shown}: damaged, it cannot be unpacked ({error})")


def _archive_part(address: str) -> Path:
    """Where an archive is downloaded to."""
    digest = hashlib.sha256(address.encode()).hexdigest()[:16]
    return data_folder() / ".okbench" / f"{digest}.part"


def _request(place: Place, task: FetchTask, part: Path) -> DownloadRequest:
    file, source = task.file, place.source
    parts = urlsplit(source.url)
    safe = parts.scheme == "https" or parts.hostname in _LOOPBACK or file.hashed
    if place.official and not safe:
        raise FetchError(
            f"{source.url}: neither https nor a known checksum; not fetched unattended"
        )
    hosts = {urlsplit(each.url).hostname or "" for each in file.sources}
    whole = 2 * file.content_bytes if file.content_bytes and not source.member else None
    exact = source.bytes if place.official else None
    return DownloadRequest(
        url=source.url,
        part=part,
        hosts=dataset_catalogue.redirects() | hosts,
        checked_later=file.hashed,
        bytes=exact,
        most=(whole or _MOST_BYTES) + _COPY_BYTES,
        most_unannounced=exact or (whole or likely_most(task.entry, file)) + _COPY_BYTES,
        patience=task.patience,
        progress=task.ticker.advance,
        notify=task.ticker.notify,
    )


def likely_most(entry: DatasetSpec, file: FileSpec) -> int:
    """Bytes that the rows and columns stated of a file can have, generously, packed or not."""
    readers = [one for one in entry.variants.values() if file in entry.files_of(one)]
    rows = file.rows or max((one.rows or 0 for one in readers if one.first is None), default=0)
    if not rows or entry.features is None:
        return _MOST_UNANNOUNCED
    values = rows * (min(entry.features, _MOST_VALUES) + 1)
    return min(_MOST_UNANNOUNCED, max(_LEAST_UNANNOUNCED, values * _VALUE_BYTES))


def _copy(source: Path, target: Path, task: FetchTask) -> None:
    total, done = source.stat().st_size, 0
    with source.open("rb") as read, target.open("wb") as write:
        while piece := read.read(_COPY_BYTES):
            write.write(piece)
            done += len(piece)
            task.ticker.advance(done, total)
