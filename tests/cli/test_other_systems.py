"""Systems that lack what POSIX has: okbench is imported and lists, and says what it cannot do."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import okbench

SOURCE = Path(okbench.__file__).parent
POSIX = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "crypt")
# What other packages need of this system is imported first; then okbench alone meets the other.
IMPORT = f"""
import importlib, os, pkgutil, signal, sys

def names():
    import okbench
    return [one.name for one in pkgutil.walk_packages(okbench.__path__, "okbench.")
            if not one.name.endswith("__main__")]

for name in names():
    importlib.import_module(name)
import filelock, matplotlib.pyplot, pandas, sklearn.utils, tabulate, tqdm, yaml
for name in [one for one in sys.modules if one.partition(".")[0] == "okbench"]:
    del sys.modules[name]
for name in {POSIX!r}:
    sys.modules[name] = None
for name in ("fork", "getloadavg", "sched_getaffinity", "getuid", "geteuid", "killpg", "setsid",
             "getpgid", "setpgid", "wait4", "pread", "pwrite", "statvfs", "posix_fallocate",
             "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "WNOHANG"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGPIPE", "SIGHUP", "SIGALRM", "SIGCHLD", "SIGUSR1", "SIGXCPU", "alarm",
             "setitimer", "pthread_sigmask", "pthread_kill"):
    if hasattr(signal, name):
        delattr(signal, name)
for name in names():
    importlib.import_module(name)
sys.argv = ["okbench", *sys.argv[1:]]
from okbench.cli import main
main()
"""


def other_system(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", IMPORT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


@pytest.mark.slow
def test_every_module_is_imported_where_posix_is_not(tmp_path: Path) -> None:
    done = other_system("list", "tables", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "demo" in done.stdout


@pytest.mark.slow
def test_a_table_is_run_or_refused_in_a_sentence_where_posix_is_not(tmp_path: Path) -> None:
    arguments = ("run", "demo", "--datasets", "breast-cancer", "--learners", "RBP", "--trials", "1")
    done = other_system(*arguments, "--jobs", "2", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or done.stderr.splitlines()[-1].startswith("Error: ")


def test_no_module_needs_a_posix_module_at_its_top() -> None:
    found = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [alias.name for alias in getattr(node, "names", ())]
            names += [getattr(node, "module", None) or ""]
            if isinstance(node, ast.Import | ast.ImportFrom) and set(names) & set(POSIX):
                found.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert found == []
