"""One answer of a server: the only place that waits for the network, and where waiting ends.

A thread of its own receives the answer and hands it over in pieces. Whatever the server does, the
caller waits no longer than `Patience` allows: a server that sends its headers, the lengths of its
chunks or the body byte by byte is left, and so is a name server that does not answer. The
connection of an answer that is left is closed, which ends its thread.
"""

from __future__ import annotations

import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from okbench.base.errors import FetchError

if TYPE_CHECKING:
    from requests import Response, Session

_PIECE = 256 << 10
_PIECES_AHEAD = 8
_POLL = 0.1
_REDIRECTS = (301, 302, 303, 307, 308)
_WHOLE = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server, in seconds, and how often to ask it again.

    An answer is given up when fewer than `least_rate` bytes per second came in `silence` seconds. A
    download is given up after `tries` of them without as much progress, and after `tries_in_all`.
    """

    connect: float = 10.0
    silence: float = 60.0
    least_rate: float = 1024.0
    tries: int = 6
    tries_in_all: int = 100
    pause: float = 1.0  # before the first retry; doubled before each further one

    @property
    def least_progress(self) -> float:
        """The bytes that must come within `silence` seconds."""
        return self.least_rate * self.silence


class TryAgainError(Exception):
    """Raised when the same request may succeed later; `after` is the wait the server asks for."""

    def __init__(self, what: str, after: float = 0.0) -> None:
        super().__init__(what)
        self.after = after


class _LeftError(Exception):
    """Raised in the receiving thread once nobody wants the answer any more."""


class Answer:
    """`with Answer(url, headers, patience, idle) as answer:` its head, then its `pieces()`.

    `idle` is called ten times per second while there is nothing to do, and may raise to stop.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        patience: Patience,
        idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._url, self._sent, self._patience, self._idle = url, headers, patience, idle
        self._arrived: queue.Queue[Response | bytes | Exception] = queue.Queue(_PIECES_AHEAD)
        self._left = threading.Event()
        self._connections: list[socket.socket] = []
        self._waited, self._counted = 0.0, 0
        self.status, self.reason, self.headers = 0, "", {}

    status: int
    reason: str
    headers: Mapping[str, str]

    def __enter__(self) -> Answer:
        threading.Thread(target=self._receive, daemon=True).start()
        try:
            head = self._next()
        except BaseException:
            self._leave()
            raise
        assert not isinstance(head, bytes)
        self.status, self.reason, self.headers = head.status_code, head.reason, head.headers
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    @property
    def length(self) -> int | None:
        """The length that is promised for the body; None when it is not known."""
        return whole_number(self.headers.get("Content-Length", ""))

    @property
    def redirected_to(self) -> str | None:
        """The address that the server gives instead of an answer."""
        return self.headers.get("Location") if self.status in _REDIRECTS else None

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives, still compressed if it is."""
        while piece := self._next():
            assert isinstance(piece, bytes)
            self._counted += len(piece)
            yield piece

    def _next(self) -> Response | bytes:
        """What arrives next; raises when it takes too long.

        Only the time spent here counts: a slow disk is not the server's fault.
        """
        begun = time.monotonic()
        while True:
            try:
                found = self._arrived.get(timeout=_POLL)
                break
            except queue.Empty:
                self._idle()
                self._check_pace(time.monotonic() - begun)
        if isinstance(found, Exception):
            raise found
        self._waited += time.monotonic() - begun
        self._check_pace(0.0)
        return found

    def _check_pace(self, waiting: float) -> None:
        patience = self._patience
        if self._waited + waiting < patience.silence:
            return
        if self._counted < patience.least_progress:
            came = f"only {self._counted:,} bytes" if self._counted else "nothing"
            raise TryAgainError(f"{came} arrived for {patience.silence:.0f} s")
        self._waited, self._counted = -waiting, 0

    def _receive(self) -> None:
        patience = self._patience
        try:
            with (
                _session(self._connected) as session,
                session.get(
                    self._url,
                    headers=dict(self._sent),
                    stream=True,
                    allow_redirects=False,
                    # the thread ends by itself, later than whoever waits for it
                    timeout=(patience.connect, 2 * patience.silence),
                ) as response,
            ):
                self._hand_over(response)
                while piece := response.raw.read1(_PIECE, decode_content=False):
                    self._hand_over(piece)
            self._hand_over(b"")
        except _LeftError:
            pass
        except Exception as error:
            with suppress(_LeftError):
                self._hand_over(_reason(error, self._url, patience))

    def _connected(self, connection: socket.socket) -> None:
        self._connections.append(connection)
        if self._left.is_set():
            _close(connection)

    def _leave(self) -> None:
        """Nobody waits any more: end the thread, even where a flood of headers keeps it reading."""
        self._left.set()
        for connection in tuple(self._connections):
            _close(connection)

    def _hand_over(self, what: Response | bytes | Exception) -> None:
        while not self._left.is_set():
            try:
                return self._arrived.put(what, timeout=_POLL)
            except queue.Full:
                continue
        raise _LeftError


def _session(connected: Callable[[socket.socket], None]) -> Session:
    """A session that follows no redirect, and shows each connection that it has made."""
    import requests
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        def get_connection_with_tls_context(self, *given: Any, **options: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*given, **options)

            class Connection(pool.ConnectionCls):  # type: ignore[misc]
                def connect(self) -> None:
                    super().connect()
                    connected(self.sock)

            pool.ConnectionCls = Connection
            return pool

    session = requests.Session()
    # it would read the address of a redirect, which anything may stand in
    session.get_redirect_target = lambda resp: None  # type: ignore[method-assign]
    for scheme in ("http://", "https://"):
        session.mount(scheme, Adapter())
    return session


def _close(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        connection.shutdown(socket.SHUT_RDWR)


def whole_number(text: str) -> int | None:
    """A number of a header; None for anything else, or a number beyond all sizes."""
    return int(text) if _WHOLE.fullmatch(text) else None


def _reason(error: Exception, url: str, patience: Patience) -> Exception:
    """The error to raise for one that the network or the HTTP library raised."""
    import requests
    from urllib3.exceptions import HTTPError

    if isinstance(error, requests.Timeout):
        return TryAgainError(f"no answer within {patience.connect:.0f} s")
    if isinstance(error, requests.exceptions.SSLError):
        return FetchError(
            f"{url}: the server's certificate was not accepted ({error}); "
            "it is not fetched without one"
        )
    if isinstance(error, requests.exceptions.InvalidURL):
        return FetchError(f"{url}: not an address that can be fetched ({error})")
    if isinstance(error, requests.RequestException | HTTPError | OSError):
        return TryAgainError(f"the connection failed ({_short(error)})")
    return FetchError(f"{url}: the answer cannot be read ({type(error).__name__}: {error})")


def _short(error: Exception) -> str:
    """The innermost reason of an error that wraps several."""
    while error.args and isinstance(error.args[-1], Exception):
        error = error.args[-1]
    reason = getattr(error, "reason", None)
    return str(reason or error)[:120]
