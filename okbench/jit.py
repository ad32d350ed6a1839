"""The one decorator every compiled function carries, and where what it compiles is kept.

Numba keeps a compiled function until the function's own file changes, whatever becomes of the
functions it calls. So the cache has a folder for each state of all files beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(*, fastmath: bool | frozenset[str] = False) -> Callable[[Function], Function]:
    """Compile without the interpreter lock, cached on disk where a cache can be written."""

    def decorate(function: Function) -> Function:
        licences = fastmath if isinstance(fastmath, bool) else set(fastmath)
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": licences}
        with _cache_in(cache_folder(Path(function.__code__.co_filename).parent)):
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError:  # no writable place for the cache
                return numba.njit(**options)(function)

    return decorate


@cache
def cache_folder(sources: Path) -> Path:
    """Where the compiled functions of a folder of sources are kept, as long as none changes."""
    state = hashlib.sha256()
    for path in sorted(sources.glob("*.py")):
        state.update(path.read_bytes())
    chosen = numba.config.CACHE_DIR
    root = Path(chosen) if chosen else platformdirs.user_cache_path("okbench") / "compiled"
    return root / state.hexdigest()[:16]


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Numba's cache in this folder, for the functions decorated meanwhile and for no others."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before
