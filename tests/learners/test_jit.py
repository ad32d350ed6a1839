"""Where compiled functions are kept."""

from __future__ import annotations

import errno
import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
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
    for asked in (jit.cache_folder, jit._is_writable):
        asked.cache_clear()
    yield
    for asked in (jit.cache_folder, jit._is_writable):
        asked.cache_clear()


def twice_in(folder, source=SOURCE, name="sums"):
    """The function of a source file in a folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
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
