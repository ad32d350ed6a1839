"""One address to one file on the disk, whatever the network and the server do.

Bytes are appended to a part file, which stays when the download is interrupted. The next attempt
continues it (HTTP Range) when the server confirms that it still has the same version of the file.
A stalled, slow or cut connection is tried again, so often at most as `Patience` allows; an
unexpected redirect, size or answer is refused.
"""

from __future__ import annotations

import errno
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from okbench.base.errors import FetchError
from okbench.base.whole_files import replacing
from okbench.datasets.fetch.answer import Answer, Patience, TryAgainError, whole_number

FULL = (errno.ENOSPC, errno.EDQUOT)
RESERVE = 1 << 30  # bytes of the disk that a download of unknown length leaves free

_MOST_REDIRECTS = 5
_WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 60.0
_LOOK_AT_DISK = 16 << 20  # bytes between two looks at the free space


class NotThereError(FetchError):
    """Raised when the server does not have the file (404, 410)."""


@dataclass(frozen=True)
class DownloadRequest:
    """A file to download, and whom to notify."""

    url: str
    part: Path
    hosts: frozenset[str]  # hosts that the server may redirect to
    checked_later: bool  # a known checksum will show whether a continued file is right
    bytes: int | None  # when known beforehand
    most: int  # refuse a longer file
    most_unannounced: int  # the same where the server does not say how long it is
    patience: Patience
    progress: Callable[[int, int | None], None]  # bytes here, bytes in all; may raise to stop
    notify: Callable[[str], None]


@dataclass(frozen=True)
class _Version:
    """Which version of a file an answer is part of, as far as its server says."""

    etag: str = ""
    modified: str = ""
    total: int | None = None  # bytes in all

    @classmethod
    def of(cls, answer: Answer) -> _Version:
        """Of a complete (200), partial (206) or refused (416) answer."""
        total = answer.length
        if answer.status != 200:
            # Content-Range: bytes 500-999/1000
            total = whole_number(answer.headers.get("Content-Range", "").rpartition("/")[2])
        headers = answer.headers
        return cls(headers.get("ETag") or "", headers.get("Last-Modified") or "", total)

    @property
    def condition(self) -> str:
        """The name of exactly these bytes, for `If-Range`; a weak ETag names similar ones."""
        return self.modified if self.etag.startswith("W/") else self.etag or self.modified

    def same(self, other: _Version) -> bool | None:
        """Whether two answers are of one version; None when they do not say."""
        if None not in (self.total, other.total) and self.total != other.total:
            return False
        for here, there in ((self.etag, other.etag), (self.modified, other.modified)):
            if here and there and not here.startswith("W/") and not there.startswith("W/"):
                return here == there
        return None


@dataclass(frozen=True)
class _Mark:
    """The address of a part file and the version of the file, written beside it."""

    url: str
    version: _Version = _Version()

    def save(self, part: Path) -> None:
        with replacing(_mark_path(part)) as file:
            file.write(json.dumps([self.url, asdict(self.version)]).encode())

    @classmethod
    def load(cls, part: Path) -> _Mark:
        try:
            url, version = json.loads(_mark_path(part).read_text(encoding="utf-8"))
            return cls(str(url), _Version(**version))
        except (OSError, ValueError, TypeError, RecursionError):
            return cls("")


class _Tries:
    """Counts the tries of a download and raises when there were enough."""

    def __init__(self, request: DownloadRequest) -> None:
        self._request, self._furthest = request, 0
        self._made = self._without_progress = 0

    def pause_after(self, problem: TryAgainError) -> float:
        """The seconds to wait before the next try."""
        patience = self._request.patience
        here = _size(self._request.part)
        # a server that cuts the body and then lets nobody continue makes no progress
        gained = here - self._furthest
        self._furthest = max(self._furthest, here)
        self._made += 1
        self._without_progress += 1
        if gained >= patience.least_progress:
            self._without_progress = 1
        if self._without_progress >= patience.tries or self._made >= patience.tries_in_all:
            kept = "; what arrived is kept and the next fetch continues there" if here else ""
            raise FetchError(f"{self._request.url}: {problem} ({self._made} tries){kept}") from None
        pause = patience.pause * 2 ** (self._without_progress - 1)
        return min(max(pause, problem.after), _LONGEST_PAUSE)


def download(request: DownloadRequest) -> bool:
    """Fill the part file. True when it was continued from an earlier attempt."""
    continued = False
    tries = _Tries(request)
    while True:
        before = _continue_from(request)
        continued = continued or before > 0
        try:
            _pull(request, before)
            return continued
        except TryAgainError as problem:
            pause = tries.pause_after(problem)
            request.notify(f"{problem}; trying again in {pause:.0f} s")
            _wait(pause, request)
        except OSError as error:
            if error.errno in FULL:
                discard(request.part)
            raise


def discard(part: Path) -> None:
    """Delete a download under way."""
    part.unlink(missing_ok=True)
    _mark_path(part).unlink(missing_ok=True)


def _continue_from(request: DownloadRequest) -> int:
    """How much of the part file may be kept: all, or nothing when it may be of another version."""
    mark = _Mark.load(request.part)
    if mark.url == request.url and (mark.version.condition or request.checked_later):
        return _size(request.part)
    discard(request.part)
    return 0


def _pull(request: DownloadRequest, start: int) -> None:
    headers = {"Accept-Encoding": "identity", "User-Agent": "okbench"}
    if start:
        headers["Range"] = f"bytes={start}-"
        condition = _Mark.load(request.part).version.condition
        if condition:
            headers["If-Range"] = condition
    with _answer(request, headers) as answer:
        _receive(answer, request, start)


@contextmanager
def _answer(request: DownloadRequest, headers: Mapping[str, str]) -> Iterator[Answer]:
    """The answer, after redirects that stay on the host or lead to a host of the list."""
    url = request.url
    for _ in range(_MOST_REDIRECTS):
        with Answer(url, headers, request.patience, lambda: _show_size(request)) as answer:
            target = answer.redirected_to
            if target is None:
                yield answer
                return
            url = _checked_redirect(url, target, request)
    raise FetchError(f"{request.url}: redirected more than {_MOST_REDIRECTS} times")


def _checked_redirect(url: str, target: str, request: DownloadRequest) -> str:
    here = urlsplit(url)
    try:
        target = urljoin(url, target)
        there = urlsplit(target)
        host, _ = there.hostname or "", there.port  # reading them checks them
    except ValueError as error:
        raise FetchError(
            f"{request.url}: redirected to {target[:80]!r}, which is no address ({error})"
        ) from error
    if there.scheme != "https" and (there.scheme != "http" or here.scheme != "http"):
        raise FetchError(f"{request.url}: redirected to {target}, which is not https; not followed")
    if host != here.hostname:
        if host not in request.hosts:
            raise FetchError(
                f"{request.url}: redirected to the unknown host {host}; not followed. "
                "Add it to 'redirects' in datasets.yaml if you trust it, or use --mirror"
            )
        request.notify(f"redirected to {host}")
    return target


def _receive(answer: Answer, request: DownloadRequest, start: int) -> None:
    """Check the answer's head, then append its body to the part file."""
    status, name = answer.status, request.url
    if status in (404, 410):
        raise NotThereError(f"{name}: {status} {answer.reason}: the file is not there")
    if status in _WORTH_A_RETRY:
        raise TryAgainError(f"the server answered {status}", _retry_after(answer))
    if status in (206, 416) and not _continues(answer, request, start):
        discard(request.part)
        raise TryAgainError("the server would not continue there; starting over")
    if status == 416:
        return  # all of it came before, but was not checked then
    if status not in (200, 206):
        raise FetchError(f"{name}: the server answered {status} {answer.reason}")
    if status == 200:
        start = 0
    total = None if answer.length is None else start + answer.length
    if total is not None and request.bytes is not None and total != request.bytes:
        raise FetchError(f"{name}: {total:,} bytes are offered, {request.bytes:,} were expected")
    _check_room(request, start, total)
    if status == 200:
        discard(request.part)  # before the mark says that what is there is of this version
        _Mark(request.url, _Version.of(answer)).save(request.part)
    arrived = _append(answer, request, start, total)
    if total is not None and arrived < total:
        raise TryAgainError(f"cut at {arrived:,} of {total:,} bytes")


def _continues(answer: Answer, request: DownloadRequest, start: int) -> bool:
    """Whether an answer to a range goes on where the part file ends, in the same version."""
    version = _Version.of(answer)
    same = _Mark.load(request.part).version.same(version)
    if same is False or (same is None and not request.checked_later):
        return False
    if answer.status == 416:
        return start > 0 and version.total == start
    return _range_start(answer) == start


def _append(answer: Answer, request: DownloadRequest, start: int, total: int | None) -> int:
    arrived, looked = start, start
    with request.part.open("r+b" if start else "wb") as out:
        out.seek(start)
        out.truncate()
        for piece in answer.pieces():
            # more than was promised is not part of the file
            out.write(piece if total is None else piece[: total - arrived])
            arrived += len(piece)
            if arrived > _most(request, total):
                discard(request.part)
                raise FetchError(_too_long(request, total))
            if total is None and arrived - looked >= _LOOK_AT_DISK:
                looked = arrived
                _check_reserve(request, arrived)
            request.progress(arrived, total)
            if total is not None and arrived >= total:
                break
    return arrived


def _too_long(request: DownloadRequest, total: int | None) -> str:
    said = f"{request.url}: more than the {_most(request, total):,} bytes expected arrived"
    if total is not None or request.bytes is not None:
        return said
    return f"{said}; if the file is longer, state its 'bytes' in the entry of the dataset"


def _most(request: DownloadRequest, total: int | None) -> int:
    return request.most if total is not None else request.most_unannounced


def _check_room(request: DownloadRequest, start: int, total: int | None) -> None:
    if total is None:
        _check_reserve(request, start)
        return
    if total > request.most:
        raise FetchError(
            f"{request.url}: {total:,} bytes are offered, {request.most:,} are the most"
        )
    free = _free(request)
    if total - start > free:
        raise FetchError(
            f"{request.url}: {total - start:,} bytes are still to come and {free:,} are free in "
            f"{request.part.parent.parent}; make room, or choose another disk with OKBENCH_DATA"
        )


def _check_reserve(request: DownloadRequest, arrived: int) -> None:
    """Stop a download of unknown length while there is still room for others."""
    free = _free(request)
    if free < RESERVE:
        discard(request.part)
        raise FetchError(
            f"{request.url}: the server does not say how long the file is; after {arrived:,} bytes "
            f"{free:,} are free in {request.part.parent.parent}, and {RESERVE:,} are kept free. "
            "Make room, or choose another disk with OKBENCH_DATA"
        )


def _free(request: DownloadRequest) -> int:
    return shutil.disk_usage(request.part.parent).free


def _wait(seconds: float, request: DownloadRequest) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        _show_size(request)
        time.sleep(min(left, 0.2))


def _show_size(request: DownloadRequest) -> None:
    request.progress(_size(request.part), None)


def _range_start(answer: Answer) -> int | None:
    """The first byte of a partial answer: `Content-Range: bytes 500-999/1000`."""
    span = answer.headers.get("Content-Range", "").removeprefix("bytes ")
    return whole_number(span.partition("-")[0])


def _retry_after(answer: Answer) -> float:
    return float(whole_number(answer.headers.get("Retry-After", "")) or 0)


def _mark_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.from")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0
