"""Commands of okbench as processes that can be killed, stopped for a moment, and judged by their
end.

They are forked from a process that has imported okbench already, so that hundreds of them can be
started, and so that the random moments fall into their work and not into the imports.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from itertools import count
from pathlib import Path

import psutil

LONGEST = 300.0  # seconds; a command that takes longer hangs
NOBODY = 65534

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload(["tests.chaos.preloaded"])
_numbers = count()


class Command:
    """A running command of okbench, in a folder. `most_bytes` is how large a file may become."""

    def __init__(
        self, words: list[str], folder: Path, *, most_bytes: int | None = None, user: int = 0
    ) -> None:
        self.words, self.folder = words, folder
        self._stderr = folder / f"{next(_numbers)}.stderr"
        self._process = _forking.Process(
            target=_become, args=(words, folder, self._stderr, most_bytes, user)
        )
        self._process.start()

    @property
    def code(self) -> int | None:
        """The exit code; None while the command runs."""
        return self._process.exitcode

    @property
    def message(self) -> str:
        """What it wrote to stderr."""
        with suppress(OSError):
            return self._stderr.read_text(encoding="utf-8", errors="replace")
        return ""

    def wait(self, seconds: float = LONGEST) -> int | None:
        """Wait for the end, or for so long; the exit code if it has ended."""
        self._process.join(seconds)
        return self.code

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        self._process.kill()
        self._process.join()

    def pause(self, seconds: float) -> None:
        """Stop it for a moment, wherever it is."""
        with suppress(ProcessLookupError):
            os.kill(self._process.pid or 0, signal.SIGSTOP)
            time.sleep(seconds)
            os.kill(self._process.pid or 0, signal.SIGCONT)

    def workers(self) -> list[psutil.Process]:
        """Its worker processes, in the order they were started."""
        with suppress(psutil.Error):
            below = psutil.Process(self._process.pid).children(recursive=True)
            return [one for one in below if not _keeps_resources(one)]
        return []

    def fault(self, allowed: tuple[int, ...]) -> str | None:
        """What is wrong with its end: a hang, a traceback, a code without a sentence."""
        message = self.message
        if self.code is None:
            return "the command hangs"
        if "Traceback (most recent call last)" in message:
            last = next((line for line in reversed(message.splitlines()) if line.strip()), "")
            return f"a traceback: {last[:100]}"
        if self.code not in allowed:
            return f"exit code {self.code}"
        worse = self.words[0] == "check" and self.code == 1  # which it reports on stdout
        if self.code and not worse and "Error: " not in message:
            return f"exit code {self.code} without a sentence"
        return None


def survivors(folder: Path, seconds: float = 20.0) -> list[str]:
    """The processes that still work in a folder after waiting so long for their end."""
    deadline = time.monotonic() + seconds
    while True:
        found = [process for process in psutil.process_iter() if _works_in(process, folder)]
        if not found or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    shown = []
    for process in found:
        with suppress(psutil.Error):
            shown.append(" ".join(process.cmdline())[:80] or process.name())
            process.kill()
    return shown


def _works_in(process: psutil.Process, folder: Path) -> bool:
    with suppress(psutil.Error, OSError):
        return Path(process.cwd()).is_relative_to(folder)
    return False


def _keeps_resources(process: psutil.Process) -> bool:
    """Whether it is no worker but joblib's own process, which removes what others leave."""
    with suppress(psutil.Error):
        return any("resource_tracker" in word for word in process.cmdline())
    return True


def _become(
    words: list[str], folder: Path, stderr: Path, most_bytes: int | None, user: int
) -> None:
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(os.open(stderr, os.O_WRONLY | os.O_CREAT, 0o666), 2)
    if user:
        os.setuid(user)
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    sys.argv = ["okbench", *words]
    os._exit(_ended_as_a_program())


def _ended_as_a_program() -> int:
    """Run the command and end what it started in the order in which the interpreter does it;
    `multiprocessing`, which calls this, would wait for idle workers first."""
    from okbench.cli import main

    code = 1
    try:
        main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stderr.flush()
    return code
