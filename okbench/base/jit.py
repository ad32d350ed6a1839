"""The one decorator every compiled function carries, and where what it compiles is kept.

Numba keeps a compiled function until the function's own file changes, whatever becomes of the
functions it calls. So the cache has one folder for each state of all compiled sources of a package.
Where that folder cannot be written nothing is kept: the places Numba would try next know of no such
states.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numba
import platformdirs
from numba.core.caching import FunctionCache

Function = TypeVar("Function", bound=Callable[..., Any])
_placing = Lock()  # Numba has one setting for all threads


def compiled(*, fastmath: bool | frozenset[str] = False) -> Callable[[Function], Function]:
    """Compile without the interpreter lock, cached on disk where a cache can be written."""

    def decorate(function: Function) -> Function:
        licences = fastmath if isinstance(fastmath, bool) else set(fastmath)
        dispatcher = numba.njit(nogil=True, error_model="numpy", fastmath=licences)(function)
        folder = cache_folder(_package_of(Path(function.__code__.co_filename)))
        if _is_writable(folder):
            with _cache_in(folder):
                dispatcher._cache = _Cache(function)
        return dispatcher

    return decorate


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's own, but a disk that fills up costs the time to compile again, not the run."""

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(signature, data)


def _package_of(source: Path) -> Path:
    """The outermost package that a source belongs to, or its folder if it is in none."""
    folder = source.parent
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@cache
def cache_folder(sources: Path) -> Path:
    """Where the compiled functions of a package or folder are kept until one of them changes."""
    in_package = (sources / "__init__.py").is_file()
    state = hashlib.sha256()
    for path in sorted(sources.rglob("*.py") if in_package else sources.glob("*.py")):
        text = path.read_bytes()
        if not in_package or b"compiled" in text or "compiled" in path.parts:
            state.update(text)
    with _placing:
        chosen = numba.config.CACHE_DIR
    root = Path(chosen) if chosen else platformdirs.user_cache_path("okbench") / "compiled"
    return root / state.hexdigest()[:16]


@cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """Numba's cache in this folder, for the functions decorated meanwhile and for no others."""
    with _placing:
        before = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            yield
        finally:
            numba.config.CACHE_DIR = before
