"""Worker processes that their parent can end at any time, with every process they have started.

A worker runs in a session of its own, and its environment carries a mark that all its descendants
inherit; both find the processes that a learner leaves behind. Ending a worker never asks for its
cooperation. Where a system lacks sessions (Windows), the mark and the parents of processes remain.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
from joblib.externals.loky.backend.process import LokyProcess

_MARK = "OKBENCH_WORKER"
_WATCH_SECONDS = 0.5
_ROUNDS = 50  # of a hunt for descendants that start others meanwhile
_PR_SET_CHILD_SUBREAPER = 36  # of <sys/prctl.h>

Task = Callable[..., None]


class Worker:
    """A process that runs `task(connection, *given)`; `connection` is the parent's end.

    The process is not a copy of this one. It starts afresh, so that it owes nothing to threads or
    locks here, and it is given `task` and `given` as pickles.
    """

    def __init__(self, task: Task, *given: Any) -> None:
        self.connection, theirs = multiprocessing.Pipe()
        mark = f"{os.getpid()}-{uuid4().hex}"
        self._process = LokyProcess(
            target=_begin, args=(os.getpid(), task, theirs, *given), env={_MARK: mark}
        )
        self._process.start()
        theirs.close()
        # also at the end of this process, which would wait for its children otherwise
        self._finalizer = weakref.finalize(self, _end, self._process, mark)

    @property
    def sources(self) -> tuple[Any, int]:
        """What `multiprocessing.connection.wait` can wait on: a message, or the process's end."""
        return self.connection, self._process.sentinel

    def is_alive(self) -> bool:
        return bool(self._process.is_alive())

    def memory(self, descendants: bool) -> int:
        """Bytes held by the process, with its descendants if asked for."""
        found = 0
        try:
            process = psutil.Process(self._process.pid)
            others = process.children(recursive=True) if descendants else []
        except psutil.Error:
            return 0
        for each in (process, *others):
            try:
                found += memory_of(each)
            except psutil.Error:  # it has ended
                continue
        return found

    def end(self) -> None:
        """End the process and all that come from it, now; nothing is asked of them."""
        self._finalizer()
        self.connection.close()

    def death(self) -> str:
        """What is known of the end of the process, in the exit code a shell would show."""
        self._process.join(1.0)  # a closed connection may be seen before the end of the process
        code = self._process.exitcode
        if code is None:
            return "worker closed its connection"
        killed = "; 137 means the system killed it, most often for lack of memory"
        shown = 128 - code if code < 0 else code
        return f"worker died (exit {shown}{killed if code == -9 else ''})"


def memory_of(process: psutil.Process) -> int:
    """Bytes that a process holds: on Linux without files that are mapped, which can be read again,
    and with what was swapped out; elsewhere its resident size."""
    try:
        return _held(_fields(Path(f"/proc/{process.pid}/status").read_bytes()))
    except (OSError, KeyError):  # another system, or a process without memory of its own
        return int(process.memory_info().rss)


def memory_here() -> int:
    """Bytes that this process holds, counted as `memory_of` does."""
    try:
        return _held(status_here())
    except KeyError:  # another system
        return memory_of(psutil.Process())


def status_here() -> dict[str, str]:
    """What Linux says of this process; nothing on another system. It needs no new file descriptor,
    as a learner may leave none."""
    try:
        return _fields(os.pread(_own_status(), 2**16, 0))
    except OSError:  # the learner may have closed it, too
        return {}


@cache
def _own_status() -> int:
    return os.open("/proc/self/status", os.O_RDONLY)


def _fields(status: bytes) -> dict[str, str]:
    lines = status.decode("ascii", "replace").splitlines()
    return {name: value for name, _, value in (line.partition(":") for line in lines)}


def _held(fields: dict[str, str]) -> int:
    kilobytes = (fields[name].split()[0] for name in ("RssAnon", "RssShmem", "VmSwap"))
    return 1024 * sum(int(number) for number in kilobytes)


def end_descendants() -> None:
    """End every process that comes from this worker. On Linux orphans are among them."""
    mark = os.environ.get(_MARK, "")
    for _ in range(_ROUNDS):
        if _has_no_child():
            return
        left = _family(os.getpid(), mark)
        if not left:
            return
        _kill(left)


def is_worker() -> bool:
    """Whether this process is a worker, in which signals are the parent's business."""
    return _began


_began = False


def _begin(parent: int, task: Task, connection: Any, *given: Any) -> None:
    """What a worker does first. What a learner prints goes to stderr: stdout is for results."""
    global _began
    _began = True
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()
    if sys.platform == "linux":  # orphans come back to this process, which ends them
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    threading.Thread(target=_leave_without, args=(parent,), daemon=True).start()
    task(connection, *given)


def _leave_without(parent: int) -> None:
    """End this process soon after its parent, which may have had no time to end it."""
    # Elsewhere than on Windows the number changes, and psutil needs file descriptors.
    while os.getppid() == parent and (os.name != "nt" or psutil.pid_exists(parent)):
        time.sleep(_WATCH_SECONDS)
    try:
        end_descendants()
    finally:
        os._exit(1)


def _end(process: Any, mark: str) -> None:
    for _ in range(_ROUNDS):
        # Until the process is waited for, no other process or group can have its number.
        if process.exitcode is None:
            _kill_group(process.pid)
        left = _family(process.pid, mark)
        _kill(left)
        if not left:
            break
    process.join(10.0)


def _kill_group(pid: int) -> None:
    try:
        if hasattr(os, "killpg") and os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
    except OSError:  # it has ended
        return


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        try:
            process.kill()
        except psutil.Error:  # it has ended
            continue
    if processes:
        time.sleep(0.01)


def _family(pid: int, mark: str) -> list[psutil.Process]:
    """The running process with this number and those that come from it, except the caller."""
    found: dict[int, psutil.Process] = {}
    try:
        root = psutil.Process(pid)
        found = {each.pid: each for each in (root, *root.children(recursive=True))}
    except psutil.Error:  # it has ended; others may carry the mark
        pass
    for process in psutil.process_iter():
        if process.pid not in found and _carries(process, mark):
            found[process.pid] = process
    found.pop(os.getpid(), None)
    return [process for process in found.values() if _runs(process)]


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(_MARK) == mark
    except (psutil.Error, OSError):  # another user's, or it has ended
        return False


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _has_no_child() -> bool:
    """Whether this process has no child left, which costs one call; those that ended are waited
    for, so that none stays a zombie."""
    if not hasattr(os, "WNOHANG"):
        return False
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            continue
    except ChildProcessError:
        return True
    return False
