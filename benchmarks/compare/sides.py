"""Two commits of okbench at hand: the other one is built in .bench/, and both answer requests."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

ROOT = Path(__file__).parents[2]
BUILT = ROOT / ".bench"
WORKER = Path(__file__).with_name("worker.py")
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")


class Trouble(Exception):
    """What keeps the commits from being compared."""


class Side(Protocol):
    """A commit that can be asked."""

    hello: Mapping[str, Any]

    def ask(self, **request: Any) -> dict[str, Any]: ...


def commit_of(ref: str) -> str:
    """The full name of a commit."""
    done = _run(
        ["git", "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"], f"no commit {ref}"
    )
    return done.decode().strip()


def python_of(commit: str) -> Path:
    """The Python of an environment that has okbench of a commit, and of its dependencies the
    versions that are installed here."""
    uv = [sys.executable, "-m", "uv"]
    versions = _run(
        [*uv, "pip", "freeze", "--python", sys.executable, "--exclude-editable"],
        "uv is needed to build another commit: make installs it",
    )
    home = BUILT / commit[:12]
    tree, python, built = home / "tree", home / "venv" / "bin" / "python", home / "versions.txt"
    if built.exists() and built.read_bytes() == versions:
        return python
    shutil.rmtree(home, ignore_errors=True)
    packed = _run(["git", "archive", commit], f"commit {commit} cannot be read")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(tree, filter="data")
    wanted = home / "wanted.txt"
    wanted.write_bytes(versions)
    trouble = f"commit {commit} cannot be installed"
    _run([*uv, "venv", "--python", sys.executable, str(home / "venv")], trouble)
    words = ["--python", str(python), "--constraints", str(wanted), "--editable", str(tree)]
    _run([*uv, "pip", "install", *words], trouble)
    wanted.rename(built)
    return python


def _run(command: list[str], trouble: str) -> bytes:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        raise Trouble(f"{trouble}\n{done.stderr.decode().strip()}".strip())
    return done.stdout


def environment(**more: str) -> dict[str, str]:
    """That of a process which is timed: one thread, and no okbench but the installed one."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, **ONE_THREAD, **more}


@contextmanager
def started(python: str | Path, **more: str) -> Iterator[Side]:
    """A process with okbench of an environment, which ends with the block."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [python, "-P", str(WORKER)],  # -P: what lies in the worker's folder is not imported
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            env=environment(**more), text=True, encoding="utf-8",
        )  # fmt: skip
        try:
            yield _Process(python, process, errors)
        finally:
            process.kill()
            process.communicate()


class _Process:
    """A worker, and what it said first."""

    def __init__(self, python: str | Path, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self._python, self._process, self._errors = python, process, errors
        self.hello: Mapping[str, Any] = self._answer()

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            said = self._errors.read().strip().splitlines() or ["it said nothing"]
            raise Trouble(f"okbench of {self._python} ended before it answered: {said[-1]}")
        answer: dict[str, Any] = json.loads(line)
        return answer
