"""One address to one file on the disk, whatever the network and the server do.

Bytes are appended to a part file, which stays when the download is interrupted. The next attempt
continues it (HTTP Range) when the server confirms that it still has the same version of the file.
A stalled or cut connection is tried again; an unexpected redirect, size or answer is refused.
"""

from __future__ import annotations

import errno
import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from okbench.base.errors import FetchError

if TYPE_CHECKING:
    from requests import Response, Session

FULL = (errno.ENOSPC, errno.EDQUOT)

_PIECE = 256 << 10
_MOST_REDIRECTS = 5
_WORTH_A_RETRY = frozenset({408, 425, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 60.0


class NotThereError(FetchError):
    """Raised when the server does not have the file (404, 410)."""


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds, and how often to try without a byte of progress."""

    connect: float = 10.0
    silence: float = 60.0
    tries: int = 6
    pause: float = 1.0  # before the first retry; doubled before each further one


@dataclass(frozen=True)
class DownloadRequest:
    """A file to download, and whom to notify."""

    url: str
    part: Path
    hosts: frozenset[str]  # hosts that the server may redirect to
    checked_later: bool  # a known checksum will show whether a continued file is right
    bytes: int | None  # when known beforehand
    most: int  # refuse a longer file
    patience: Patience
    progress: Callable[[int, int | None], None]  # bytes here, bytes in all; may raise to stop
    notify: Callable[[str], None]


@dataclass(frozen=True)
class _Mark:
    """The address of a part file, and what its server called the version of the file."""

    url: str
    version: str = ""  # ETag or Last-Modified

    def save(self, part: Path) -> None:
        _mark_path(part).write_text(json.dumps([self.url, self.version]), encoding="utf-8")

    @classmethod
    def load(cls, part: Path) -> _Mark:
        try:
            return cls(*json.loads(_mark_path(part).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return cls("")


class _TryAgainError(Exception):
    """Raised when the same request may succeed later; `after` is the wait the server asks for."""

    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


def download(request: DownloadRequest) -> bool:
    """Fill the part file. True when it was continued from an earlier attempt."""
    import requests

    continued = False
    failures = 0
    with requests.Session() as session:
        while True:
            before = _continue_from(request)
            continued = continued or before > 0
            try:
                _pull(session, request, before)
                return continued
            except _TryAgainError as problem:
                failures = 1 if _size(request.part) > before else failures + 1
                if failures >= request.patience.tries:
                    raise FetchError(
                        f"{request.url}: {problem} ({failures} tries); what arrived is kept and "
                        "the next fetch continues there"
                    ) from None
                pause = max(request.patience.pause * 2 ** (failures - 1), problem.after)
                request.notify(f"{problem}; trying again in {min(pause, _LONGEST_PAUSE):.0f} s")
                _wait(min(pause, _LONGEST_PAUSE), request)
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
    if mark.url == request.url and (mark.version or request.checked_later):
        return _size(request.part)
    discard(request.part)
    return 0


def _pull(session: Session, request: DownloadRequest, start: int) -> None:
    import requests
    from urllib3.exceptions import HTTPError

    headers = {"Accept-Encoding": "identity", "User-Agent": "okbench"}
    if start:
        headers["Range"] = f"bytes={start}-"
        version = _Mark.load(request.part).version
        if version and not version.startswith("W/"):
            headers["If-Range"] = version
    try:
        with _get(session, request, headers) as response:
            _receive(response, request, start)
    except requests.Timeout:
        raise _TryAgainError(f"no answer within {request.patience.connect:.0f} s") from None
    except requests.exceptions.SSLError as error:
        raise FetchError(
            f"{request.url}: the server's certificate was not accepted ({error}); "
            "it is not fetched without one"
        ) from error
    except (requests.RequestException, HTTPError) as error:
        raise _TryAgainError(f"the connection failed ({_short(error)})") from None


def _get(session: Session, request: DownloadRequest, headers: dict[str, str]) -> Response:
    """Send the request; follow redirects that stay on the host or lead to a host of the list."""
    url = request.url
    for _ in range(_MOST_REDIRECTS):
        response = session.get(
            url,
            headers=headers,
            stream=True,
            allow_redirects=False,
            timeout=(request.patience.connect, request.patience.silence),
        )
        if not response.is_redirect:
            return response
        target = urljoin(url, response.headers["Location"])
        response.close()
        _check_redirect(url, target, request)
        url = target
    raise FetchError(f"{request.url}: redirected more than {_MOST_REDIRECTS} times")


def _check_redirect(url: str, target: str, request: DownloadRequest) -> None:
    here, there = urlsplit(url), urlsplit(target)
    host = there.hostname or ""
    if there.scheme != "https" and (there.scheme != "http" or here.scheme != "http"):
        raise FetchError(f"{request.url}: redirected to {target}, which is not https; not followed")
    if host != here.hostname:
        if host not in request.hosts:
            raise FetchError(
                f"{request.url}: redirected to the unknown host {host}; not followed. "
                "Add it to 'redirects' in datasets.yaml if you trust it, or use --mirror"
            )
        request.notify(f"redirected to {host}")


def _receive(response: Response, request: DownloadRequest, start: int) -> None:
    """Check the answer's head, then append its body to the part file."""
    status, name = response.status_code, request.url
    if status in (404, 410):
        raise NotThereError(f"{name}: {status} {response.reason}: the file is not there")
    if status in _WORTH_A_RETRY:
        raise _TryAgainError(f"the server answered {status}", _retry_after(response))
    if status == 416 and response.headers.get("Content-Range", "").endswith(f"/{start}"):
        return  # all of it came before, but was not checked then
    if status == 416 or (status == 206 and _range_start(response) != start):
        discard(request.part)
        raise _TryAgainError("the server would not continue there; starting over")
    if status not in (200, 206):
        raise FetchError(f"{name}: the server answered {status} {response.reason}")
    if status == 200:
        start = 0
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    if total is not None and request.bytes is not None and total != request.bytes:
        raise FetchError(f"{name}: {total:,} bytes are offered, {request.bytes:,} were expected")
    _check_room(request, start, total)
    version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    _Mark(request.url, version).save(request.part)
    arrived = _append(response.raw, request, start, total)
    if total is not None and arrived < total:
        raise _TryAgainError(f"cut at {arrived:,} of {total:,} bytes")


def _append(raw: Any, request: DownloadRequest, start: int, total: int | None) -> int:
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    arrived = start
    with request.part.open("r+b" if start else "wb") as out:
        out.seek(start)
        out.truncate()
        while total is None or arrived < total:
            try:
                piece = raw.read1(_PIECE, decode_content=False)
            except ReadTimeoutError:
                silence = request.patience.silence
                raise _TryAgainError(
                    f"nothing arrived for {silence:.0f} s after {arrived:,} bytes"
                ) from None
            except (HTTPError, OSError) as error:
                raise _TryAgainError(f"cut after {arrived:,} bytes ({_short(error)})") from None
            if not piece:
                break
            out.write(piece)
            arrived += len(piece)
            if arrived > request.most:
                discard(request.part)
                raise FetchError(
                    f"{request.url}: more than the {request.most:,} bytes expected arrived"
                )
            request.progress(arrived, total)
    return arrived


def _check_room(request: DownloadRequest, start: int, total: int | None) -> None:
    if total is None:
        return
    if total > request.most:
        raise FetchError(
            f"{request.url}: {total:,} bytes are offered, {request.most:,} are the most"
        )
    free = shutil.disk_usage(request.part.parent).free
    if total - start > free:
        raise FetchError(
            f"{request.url}: {total - start:,} bytes are still to come and {free:,} are free in "
            f"{request.part.parent.parent}; make room, or choose another disk with OKBENCH_DATA"
        )


def _wait(seconds: float, request: DownloadRequest) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        request.progress(_size(request.part), None)
        time.sleep(min(left, 0.2))


def _range_start(response: Response) -> int:
    """The first byte of a partial answer: `Content-Range: bytes 500-999/1000`."""
    first = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdecimal() else -1


def _retry_after(response: Response) -> float:
    wish = response.headers.get("Retry-After", "")
    return float(wish) if wish.isdecimal() else 0.0


def _mark_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.from")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _short(error: Exception) -> str:
    """The innermost reason of an error that wraps several."""
    while error.args and isinstance(error.args[-1], Exception):
        error = error.args[-1]
    reason = getattr(error, "reason", None)
    return str(reason or error)[:120]
