"""One address → one file on the disk, over a network that stalls, cuts, lies and sends on.

Bytes are appended to a part file, which stays when the connection or the person breaks off, and is
continued (HTTP Range) when the server can tell that it still has the same file.
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
    """Raised when the server says that it does not have the file (404, 410)."""


@dataclass(frozen=True)
class Patience:
    """How long to wait, in seconds, and how often to try without a byte of progress."""

    connect: float = 10.0
    silence: float = 60.0
    tries: int = 6
    pause: float = 1.0  # before the first retry; doubled before each further one


@dataclass(frozen=True)
class Order:
    """A file to download, and whom to tell about it."""

    url: str
    part: Path
    hosts: frozenset[str]  # hosts the server may send us on to
    checked_later: bool  # a known checksum will tell whether a continued file is right
    bytes: int | None  # when known beforehand
    most: int  # refuse a longer file
    patience: Patience
    progress: Callable[[int, int | None], None]  # bytes here, bytes in all; may raise to stop
    tell: Callable[[str], None]


@dataclass(frozen=True)
class _Mark:
    """What the server called the version that a part file is a part of."""

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
    """Raised when the same request may succeed later; `after` is the server's own wish."""

    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


def download(order: Order) -> bool:
    """Fill the part file. True when it was continued from an earlier attempt."""
    import requests

    continued = False
    failures = 0
    with requests.Session() as session:
        while True:
            before = _continue_from(order)
            continued = continued or before > 0
            try:
                _pull(session, order, before)
                return continued
            except _TryAgainError as problem:
                failures = 1 if _size(order.part) > before else failures + 1
                if failures >= order.patience.tries:
                    raise FetchError(
                        f"{order.url}: {problem} ({failures} tries); what arrived is kept and the "
                        "next fetch continues there"
                    ) from None
                pause = max(order.patience.pause * 2 ** (failures - 1), problem.after)
                order.tell(f"{problem}; trying again in {min(pause, _LONGEST_PAUSE):.0f} s")
                _wait(min(pause, _LONGEST_PAUSE), order)
            except OSError as error:
                if error.errno in FULL:
                    discard(order.part)
                raise


def discard(part: Path) -> None:
    """Forget a download under way."""
    part.unlink(missing_ok=True)
    _mark_path(part).unlink(missing_ok=True)


def _continue_from(order: Order) -> int:
    """How much of the part file may be kept: all, or nothing when it may be of another version."""
    mark = _Mark.load(order.part)
    if mark.url == order.url and (mark.version or order.checked_later):
        return _size(order.part)
    discard(order.part)
    return 0


def _pull(session: Session, order: Order, start: int) -> None:
    import requests
    from urllib3.exceptions import HTTPError

    headers = {"Accept-Encoding": "identity", "User-Agent": "okbench"}
    if start:
        headers["Range"] = f"bytes={start}-"
        version = _Mark.load(order.part).version
        if version and not version.startswith("W/"):
            headers["If-Range"] = version
    try:
        with _get(session, order, headers) as response:
            _receive(response, order, start)
    except requests.Timeout:
        raise _TryAgainError(f"no answer within {order.patience.connect:.0f} s") from None
    except requests.exceptions.SSLError as error:
        raise FetchError(
            f"{order.url}: the server's certificate was not accepted ({error}); "
            "it is not fetched without one"
        ) from error
    except (requests.RequestException, HTTPError) as error:
        raise _TryAgainError(f"the connection failed ({_short(error)})") from None


def _get(session: Session, order: Order, headers: dict[str, str]) -> Response:
    """Ask, and follow redirects that stay on the host or lead to a host of the list."""
    url = order.url
    for _ in range(_MOST_REDIRECTS):
        response = session.get(
            url,
            headers=headers,
            stream=True,
            allow_redirects=False,
            timeout=(order.patience.connect, order.patience.silence),
        )
        if not response.is_redirect:
            return response
        target = urljoin(url, response.headers["Location"])
        response.close()
        _check_redirect(url, target, order)
        url = target
    raise FetchError(f"{order.url}: sent on more than {_MOST_REDIRECTS} times")


def _check_redirect(url: str, target: str, order: Order) -> None:
    here, there = urlsplit(url), urlsplit(target)
    host = there.hostname or ""
    if there.scheme != "https" and (there.scheme != "http" or here.scheme != "http"):
        raise FetchError(f"{order.url}: sent on to {target}, which is not https; not followed")
    if host != here.hostname:
        if host not in order.hosts:
            raise FetchError(
                f"{order.url}: sent on to the unknown host {host}; not followed. "
                "Add it to 'redirects' in datasets.yaml if you trust it, or use --mirror"
            )
        order.tell(f"sent on to {host}")


def _receive(response: Response, order: Order, start: int) -> None:
    """Check the answer's head, then append its body to the part file."""
    status, name = response.status_code, order.url
    if status in (404, 410):
        raise NotThereError(f"{name}: {status} {response.reason}: the file is not there")
    if status in _WORTH_A_RETRY:
        raise _TryAgainError(f"the server answered {status}", _retry_after(response))
    if status == 416 and response.headers.get("Content-Range", "").endswith(f"/{start}"):
        return  # all of it came before, and was not looked at then
    if status == 416 or (status == 206 and _range_start(response) != start):
        discard(order.part)
        raise _TryAgainError("the server would not continue there; starting over")
    if status not in (200, 206):
        raise FetchError(f"{name}: the server answered {status} {response.reason}")
    if status == 200:
        start = 0
    length = response.headers.get("Content-Length", "")
    total = start + int(length) if length.isdecimal() else None
    if total is not None and order.bytes is not None and total != order.bytes:
        raise FetchError(f"{name}: {total:,} bytes are offered, {order.bytes:,} were expected")
    _check_room(order, start, total)
    version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    _Mark(order.url, version).save(order.part)
    arrived = _append(response.raw, order, start, total)
    if total is not None and arrived < total:
        raise _TryAgainError(f"cut at {arrived:,} of {total:,} bytes")


def _append(raw: Any, order: Order, start: int, total: int | None) -> int:
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    arrived = start
    with order.part.open("r+b" if start else "wb") as out:
        out.seek(start)
        out.truncate()
        while total is None or arrived < total:
            try:
                piece = raw.read1(_PIECE, decode_content=False)
            except ReadTimeoutError:
                silence = order.patience.silence
                raise _TryAgainError(
                    f"nothing came for {silence:.0f} s after {arrived:,} bytes"
                ) from None
            except (HTTPError, OSError) as error:
                raise _TryAgainError(f"cut after {arrived:,} bytes ({_short(error)})") from None
            if not piece:
                break
            out.write(piece)
            arrived += len(piece)
            if arrived > order.most:
                discard(order.part)
                raise FetchError(
                    f"{order.url}: more than the {order.most:,} bytes expected arrived"
                )
            order.progress(arrived, total)
    return arrived


def _check_room(order: Order, start: int, total: int | None) -> None:
    if total is None:
        return
    if total > order.most:
        raise FetchError(f"{order.url}: {total:,} bytes are offered, {order.most:,} are the most")
    free = shutil.disk_usage(order.part.parent).free
    if total - start > free:
        raise FetchError(
            f"{order.url}: {total - start:,} bytes are to come and {free:,} are free in "
            f"{order.part.parent.parent}; make room, or choose another disk with OKBENCH_DATA"
        )


def _wait(seconds: float, order: Order) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        order.progress(_size(order.part), None)
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
