"""A local HTTP server that stalls, cuts, redirects, errs or sends wrong bytes, as a test asks."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Page:
    """A file and the moods it is served in, one a request; the last one stays.

    honest, no-range, cut:N, unversioned-cut:N, silent-cut:N, stall:N, status:N, redirect:URL,
    body:TEXT, false-range, shifted-range, longer, any-version, refused-range:N, drip, drip-head,
    length:TEXT, unannounced, continue
    """

    content: bytes
    moods: list[str] = field(default_factory=lambda: ["honest"])
    etag: str = '"one"'

    def next_mood(self) -> tuple[str, str]:
        mood = self.moods.pop(0) if len(self.moods) > 1 else self.moods[0]
        name, _, argument = mood.partition(":")
        return name, argument


class LyingServer:
    """`with LyingServer() as server: server.pages["/a"] = Page(b"…")`."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.asked: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
        self.released = threading.Event()
        self.left = threading.Semaphore(0)  # clients that left before the end of an answer
        outer = self

        class Handler(_Handler):
            owner = outer

        self._http = _Silent(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_port

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def __enter__(self) -> LyingServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _Silent(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client that leaves before the end of an answer is no error of the server."""


class _Handler(BaseHTTPRequestHandler):
    owner: LyingServer

    def do_GET(self) -> None:
        page = self.owner.pages.get(self.path)
        self.owner.asked[self.path].append(dict(self.headers.items()))
        if page is None:
            self._answer(404)
            return
        mood, argument = page.next_mood()
        if mood == "status":
            self._answer(int(argument))
        elif mood == "redirect":
            self._answer(302, Location=argument)
        elif mood == "body":
            self._answer(200, argument.encode())
        elif mood == "length":
            self._answer(200, page.content, **{"Content-Length": argument})
        elif mood == "refused-range" and "Range" in self.headers:
            self._answer(416, **{"Content-Range": f"bytes */{len(page.content)}"})
        elif mood == "drip-head":
            self._drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 10_000)
        elif mood == "continue":
            self._flood(b"HTTP/1.1 100 Continue\r\n\r\n")
        else:
            self._serve(page, mood, int(argument or 0))

    def _serve(self, page: Page, mood: str, count: int) -> None:
        start = self._start(page, mood == "any-version") if mood != "no-range" else 0
        partial = start > 0
        if mood == "shifted-range":
            start = 0
        body = page.content[start:]
        if mood == "false-range":
            body = bytes(byte ^ 1 for byte in body)
        whole = len(page.content)
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        if mood not in ("silent-cut", "longer", "unannounced"):
            self.send_header("Content-Length", str(len(body)))
        if mood != "unversioned-cut":
            self.send_header("ETag", page.etag)
        self.end_headers()
        if mood == "longer":
            body = body * 1000
        if mood == "drip":
            self._drip(body)
            return
        self.wfile.write(body[:count] if count else body)
        if mood == "stall":
            self.wfile.flush()
            self.owner.released.wait(60)

    def _drip(self, content: bytes) -> None:
        """Send a byte now and then, until nobody listens."""
        for place in range(len(content)):
            try:
                self.wfile.write(content[place : place + 1])
                self.wfile.flush()
            except OSError:
                self.owner.left.release()
                return
            if self.owner.released.wait(0.05):
                return

    def _flood(self, content: bytes) -> None:
        """Send the same again and again, until nobody listens."""
        while not self.owner.released.is_set():
            try:
                self.wfile.write(content)
            except OSError:
                self.owner.left.release()
                return

    def _start(self, page: Page, any_version: bool) -> int:
        asked = self.headers.get("Range", "")
        if not any_version and self.headers.get("If-Range", page.etag) != page.etag:
            return 0
        return int(asked.removeprefix("bytes=").rstrip("-") or 0)

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass
