"""Where compiled functions are kept."""

from __future__ import annotations

import errno
import importlib
import importlib.util
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
from numba.core import caching
from numba.core.caching import FunctionCache

from okbench.base import jit

SOURCE = """
from okbench.base.jit import compiled

@compiled()
def twice(x):
    return 2.0 * x
"""


@pytest.fixture(autouse=True)
def _asked_anew():
    for asked in (jit.cache_folder, jit._is_ready):
        asked.cache_clear()
    yield
    for asked in (jit.cache_folder, jit._is_ready):
        asked.cache_clear()


def twice_in(folder, source=SOURCE, name="sums"):
    """The function of a source file in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    if not path.exists():  # older Numbas look at when a file was written
        path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def test_what_is_compiled_is_kept_until_a_file_beside_it_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    first, sources = twice_in(tmp_path / "code"), tmp_path / "code"
    assert first(2.0) == 4.0
    again = twice_in(sources)
    assert again(2.0) == 4.0
    assert sum(again.stats.cache_hits.values()) == 1
    (sources / "beside.py").write_text("changed = True", encoding="utf-8")
    jit.cache_folder.cache_clear()
    other = twice_in(sources)
    assert other(2.0) == 4.0
    assert sum(other.stats.cache_hits.values()) == 0
    assert other.stats.cache_path != first.stats.cache_path


def test_where_the_place_cannot_be_written_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "file" / "kept"))
    twice = twice_in(tmp_path / "code")
    assert twice(2.0) == 4.0
    assert twice.stats.cache_path is None
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_disk_that_fills_up_costs_no_result(tmp_path, monkeypatch):
    def full(self, signature, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    assert twice_in(tmp_path / "code")(2.0) == 4.0


def test_threads_that_load_code_at_once_leave_numbas_own_place_as_it_was(tmp_path, monkeypatch):
    chosen = str(tmp_path / "kept")
    monkeypatch.setattr(numba.config, "CACHE_DIR", chosen)
    with ThreadPoolExecutor(8) as pool:
        made = pool.map(lambda i: twice_in(tmp_path / f"code{i}", name=f"sums{i}"), range(24))
        places = {Path(twice.stats.cache_path) for twice in made}
    assert chosen == numba.config.CACHE_DIR
    assert {place.parent.parent for place in places} == {tmp_path / "kept"}


CALLEE = """
from okbench.base.jit import compiled

@compiled()
def amount(x):
    return 2.0 * x
"""

CALLER = """
from okbench.base.jit import compiled
from sums.parts.callee import amount

@compiled()
def total(x):
    return amount(x) + 1.0

print(total(2.0), sum(total.stats.cache_hits.values()), total.stats.cache_path)
"""


def run_caller(folder):
    """What a process of its own computes, how often it found code, and where it keeps code."""
    done = subprocess.run(
        [sys.executable, "-m", "sums.rules.caller"],
        cwd=folder,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "kept")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    value, hits, place = done.stdout.split()
    return float(value), int(hits), place


@pytest.mark.slow
def test_a_function_is_compiled_again_when_one_it_calls_changes_in_another_folder(tmp_path):
    for folder in ("sums", "sums/parts", "sums/rules"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    callee = tmp_path / "sums" / "parts" / "callee.py"
    callee.write_text(CALLEE, encoding="utf-8")
    (tmp_path / "sums" / "rules" / "caller.py").write_text(CALLER, encoding="utf-8")
    value, hits, place = run_caller(tmp_path)
    assert (value, hits) == (5.0, 0)
    assert run_caller(tmp_path) == (5.0, 1, place)
    (tmp_path / "sums" / "parts" / "notes.py").write_text("about = 'sums'", encoding="utf-8")
    assert run_caller(tmp_path) == (5.0, 1, place)
    callee.write_text(CALLEE.replace("2.0", "3.0"), encoding="utf-8")
    value, hits, elsewhere = run_caller(tmp_path)
    assert (value, hits) == (7.0, 0)
    assert elsewhere != place


def test_a_state_of_okbench_is_part_of_the_state_of_those_who_call_it(tmp_path, monkeypatch):
    (tmp_path / "code.py").touch()
    before = jit.cache_folder(tmp_path)
    jit.cache_folder.cache_clear()
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert jit.cache_folder(jit._OKBENCH).name.startswith("okbench-")
    assert jit.cache_folder(tmp_path) != before


def test_the_plain_twins_are_kept_apart(tmp_path, monkeypatch):
    before = jit.cache_folder(tmp_path)
    jit.cache_folder.cache_clear()
    monkeypatch.setattr(jit, "PLAIN_KERNELS", not jit.PLAIN_KERNELS)
    assert jit.cache_folder(tmp_path) != before


def states(root, ages):
    """Folders of states of the package `code`, used so many days ago, with a file each."""
    for i, days in enumerate(ages):
        folder = root / f"code-{i:016x}"
        folder.mkdir(parents=True)
        (folder / "compiled.nbi").touch()
        then = time.time() - days * jit.DAY
        os.utime(folder, (then, then))


def test_a_new_state_removes_those_not_among_the_last_three_nor_of_today(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(kept))
    states(kept, [0.1, 0.5, 0.9, 1.5, 30.0])
    others = ["other-0123456789abcdef", "code-notes", "code"]
    for name in others:
        (kept / name).mkdir()
        os.utime(kept / name, (0, 0))
    new = Path(twice_in(tmp_path / "code").stats.cache_path).parent
    left = {new.name, *others, *(f"code-{i:016x}" for i in range(3))}
    assert {folder.name for folder in kept.iterdir()} == left


def test_the_last_three_states_stay_however_old(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(kept))
    states(kept, [400.0, 100.0, 300.0, 200.0])
    new = Path(twice_in(tmp_path / "code").stats.cache_path).parent
    assert {folder.name for folder in kept.iterdir()} == {
        new.name, f"code-{1:016x}", f"code-{3:016x}",
    }  # fmt: skip


def test_a_state_that_is_there_is_marked_as_used_and_removes_nothing(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(kept))
    folder = jit.cache_folder(tmp_path / "code")
    folder.mkdir(parents=True)
    os.utime(folder, (0, 0))
    states(kept, [10.0] * 5)
    assert jit._is_ready(folder)
    assert len(list(kept.iterdir())) == 6
    assert folder.stat().st_mtime > time.time() - jit.DAY


def test_states_that_cannot_be_removed_or_listed_cost_no_result(tmp_path, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError

    kept = tmp_path / "kept"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(kept))
    states(kept, [10.0] * 5)
    monkeypatch.setattr(os, "rmdir", refused)
    assert twice_in(tmp_path / "code")(2.0) == 4.0
    monkeypatch.setattr(Path, "iterdir", refused)
    assert twice_in(tmp_path / "more")(2.0) == 4.0


def test_a_process_whose_state_is_removed_meanwhile_compiles_on(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    twice = twice_in(tmp_path / "code")
    assert twice(2.0) == 4.0
    jit.shutil.rmtree(tmp_path / "kept")
    assert twice(2) == 4.0


def fails_to_construct(function):
    raise TypeError("other arguments are needed")


@pytest.mark.parametrize("internals", [None, fails_to_construct])
def test_a_numba_with_other_internals_keeps_nothing(tmp_path, monkeypatch, internals):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    if internals is None:
        monkeypatch.delattr(caching, "FunctionCache")
    else:
        monkeypatch.setattr(caching, "FunctionCache", internals)
    twice = twice_in(tmp_path / "code")
    assert twice(2.0) == 4.0
    assert twice.stats.cache_path is None
    assert not list(tmp_path.rglob("*.nbi"))


def test_a_numba_without_a_setting_for_its_cache_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delattr(numba.config, "CACHE_DIR")
    twice = twice_in(tmp_path / "code")
    assert twice(2.0) == 4.0
    assert twice.stats.cache_path is None
