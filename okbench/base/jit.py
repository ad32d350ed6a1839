"""The one decorator every compiled function carries, and where what it compiles is kept.

Numba keeps a compiled function until the function's own file changes, whatever becomes of the
functions it calls. So the cache has one folder for each state of all compiled sources of a package.
A process marks the folder it uses; a folder made anew makes older ones go, except those used last
and those that a process of today may still use. Where nothing can be written, or where a Numba has
other internals than those used here, functions compile in every process anew.

With OKBENCH_PLAIN_KERNELS=1 in the environment, read once, the functions that are written in LLVM's
own terms give way to their plain twins (`okbench.learners.numeric.vector_products`).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numba
import platformdirs

Function = TypeVar("Function", bound=Callable[..., Any])
PLAIN_KERNELS = os.environ.get("OKBENCH_PLAIN_KERNELS") == "1"
KEPT_STATES = 3  # folders of a package that stay, whenever they were used
DAY = 24 * 60 * 60.0  # seconds
_OKBENCH = Path(__file__).parents[1]
_placing = Lock()  # Numba has one setting for all threads


def compiled(
    *,
    fastmath: bool | frozenset[str] = False,
    beside: type | None = None,
    makes_arrays: bool = True,
) -> Callable[[Function], Function]:
    """Compile without the interpreter lock, cached on disk where a cache can be written.

    A function that makes no arrays need not count who holds one, which costs much where arrays are
    handed over in tuples. A function that has the code of a class compiled into it is kept `beside`
    that class: in the cache of its package. A class without a file, of a notebook, has no cache.
    """

    def decorate(function: Function) -> Function:
        licences = fastmath if isinstance(fastmath, bool) else set(fastmath)
        dispatcher = numba.njit(
            nogil=True, error_model="numpy", fastmath=licences, _nrt=makes_arrays
        )(function)
        source = function.__code__.co_filename if beside is None else _file_of(beside)
        folder = cache_folder(_package_of(Path(source))) if source else None
        if folder is not None and _is_ready(folder):
            _keep(dispatcher, function, folder)
        return dispatcher

    return decorate


class _Cache:
    """Numba's own, but a disk that fills up costs the time to compile again, not the run."""

    def __init__(self, numbas: Any) -> None:
        self._numbas = numbas

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numbas, name)

    def save_overload(self, signature: Any, data: Any) -> None:
        with suppress(OSError):
            self._numbas.save_overload(signature, data)


def _keep(dispatcher: Any, function: Function, folder: Path) -> None:
    """Have Numba keep in this folder what it compiles of the function, if this Numba can."""
    try:
        from numba.core.caching import FunctionCache

        with _cache_in(folder):
            numbas = FunctionCache(function)
        if hasattr(dispatcher, "_cache"):
            dispatcher._cache = _Cache(numbas)
    except (ImportError, AttributeError, TypeError, RuntimeError):
        return


def _file_of(cls: type) -> str:
    return getattr(sys.modules.get(cls.__module__), "__file__", None) or ""


def _package_of(source: Path) -> Path:
    """The outermost package that a source belongs to, or its folder if it is in none."""
    folder = source.parent
    while (folder / "__init__.py").is_file() and (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@cache
def cache_folder(sources: Path) -> Path:
    """Where the compiled functions of a package or folder are kept until one of them changes.

    In a package those sources count that import `compiled` or something of a folder `numeric`, and
    those below such a folder. What others compile calls okbench, so its state is part of theirs.
    The folder is named after the package and its state.
    """
    in_package = (sources / "__init__.py").is_file()
    below = numba.__version__ if sources == _OKBENCH else cache_folder(_OKBENCH).name
    state = hashlib.sha256(f"{below} {PLAIN_KERNELS}".encode())
    for path in sorted(sources.rglob("*.py") if in_package else sources.glob("*.py")):
        text, place = path.read_bytes(), path.relative_to(sources)
        is_compiled = b"compiled" in text or b"numeric" in text or "numeric" in place.parts
        if is_compiled or not in_package:
            state.update(f"\n{place} {len(text)}\n".encode())
            state.update(text)
    with _placing:
        chosen = getattr(numba.config, "CACHE_DIR", "")
    root = Path(chosen) if chosen else platformdirs.user_cache_path("okbench") / "compiled"
    return root / f"{sources.name}-{state.hexdigest()[:16]}"


@cache
def _is_ready(folder: Path) -> bool:
    """Whether the folder is there and can be written; it is marked as used now."""
    try:
        is_new = not folder.is_dir()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
    except OSError:
        return False
    if is_new:
        _prune(folder)
    return True


def _prune(newest: Path) -> None:
    """Remove folders of older states, but for those used last and those used within a day.

    A process that still uses what is removed compiles again.
    """
    package = newest.name.rpartition("-")[0]
    state = re.compile(re.escape(package) + "-[0-9a-f]{16}")
    used = []
    with suppress(OSError):
        for folder in newest.parent.iterdir():
            if state.fullmatch(folder.name):
                with suppress(OSError):  # another process removes folders as well
                    used.append((folder.stat().st_mtime, folder))
    for last, folder in sorted(used, reverse=True)[KEPT_STATES:]:
        if last < time.time() - DAY:
            shutil.rmtree(folder, ignore_errors=True)


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
