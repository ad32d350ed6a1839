"""One holder at a time, over threads and processes; a process that dies holds nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from okbench.base.locks import locked, try_lock

HOLDER = """
import sys
from pathlib import Path
from okbench.base.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_an_open_file_is_locked_once_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"kept")
    with path.open("ab") as first, path.open("ab") as second:
        assert try_lock(first.fileno())
        assert not try_lock(second.fileno())
        first.close()
        assert try_lock(second.fileno())
    assert path.read_bytes() == b"kept"


def test_another_process_is_waited_for_and_may_die(tmp_path: Path) -> None:
    path, waited = tmp_path / "lock", threading.Event()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"

    def kill() -> None:
        waited.set()
        holder.kill()

    with locked(path, on_wait=kill):
        assert waited.is_set()
    holder.communicate()


def test_waiting_is_given_up_when_the_caller_says_so(tmp_path: Path) -> None:
    waits = []

    def stop() -> None:
        if len(waits) == 1:
            raise KeyboardInterrupt

    with (
        locked(tmp_path / "lock"),
        pytest.raises(KeyboardInterrupt),
        locked(tmp_path / "lock", stop, lambda: waits.append("wait")),
    ):
        pass
    assert waits == ["wait"]


def test_threads_take_turns(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with locked(tmp_path / "lock"):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)


def test_no_module_of_the_package_imports_fcntl() -> None:
    package = Path(__file__).parents[2] / "okbench"
    users = [path for path in package.rglob("*.py") if "import fcntl" in path.read_text("utf-8")]
    assert users == []
