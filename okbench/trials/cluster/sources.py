"""The modules of user-defined learners, sent with the trials of a run.

A module is sent with all that it imports from its own folder. Modules of installed packages are
not: a worker must have them installed, from the same sources.
"""

from __future__ import annotations

import hashlib
import shutil
import sysconfig
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from modulefinder import ModuleFinder
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Lock
from typing import BinaryIO

from okbench.base.errors import UsageError
from okbench.base.locks import try_lock
from okbench.learners.registry import find, is_ours

_MOST_BYTES = 1_000_000  # every task brings them along
_PREFIX, _LOCK = "okbench-learners-", ".lock"
_unpacked: dict[str, tuple[TemporaryDirectory[str], BinaryIO]] = {}  # with the file that is locked
_unpacking = Lock()


@dataclass(frozen=True)
class Sources:
    """Modules as files: their places in a folder, and their bytes."""

    files: tuple[tuple[str, bytes], ...] = ()

    @cached_property
    def digest(self) -> str:
        return digest_of(self.files)

    @property
    def bytes(self) -> int:
        return sum(len(content) for _, content in self.files)

    def folder(self) -> str:
        """A folder of this process that has the modules, until it ends; "" for no modules."""
        if not self.files:
            return ""
        with _unpacking:
            if self.digest not in _unpacked:
                _remove_leftovers()
                folder, lock = _locked_folder()
                for name, content in self.files:
                    path = Path(folder.name) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                _unpacked[self.digest] = folder, lock
            return _unpacked[self.digest][0].name


def _locked_folder() -> tuple[TemporaryDirectory[str], BinaryIO]:
    """A folder that is removed when this process ends, and a file in it that is locked until then,
    so that another process can remove what this one leaves if it is killed."""
    while True:
        folder = TemporaryDirectory(prefix=_PREFIX)
        lock = (Path(folder.name) / _LOCK).open("wb")
        if try_lock(lock.fileno()):  # else another process has taken it for a leftover
            return folder, lock
        lock.close()


def _remove_leftovers() -> None:
    """Remove the folders of processes that were killed."""
    for lock in Path(gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("r+b") as file:
            if try_lock(file.fileno()):
                shutil.rmtree(lock.parent, ignore_errors=True)


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """A short hash of the names and bytes of files."""
    digest = hashlib.sha256()
    for name, content in sorted(files):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def user_modules(learners: Iterable[str]) -> tuple[str, ...]:
    """The top-level modules of these learners, except okbench's own."""
    entries = {name: find(name) for name in learners}
    targets = [entry.target for entry in entries.values() if not is_ours(entry)]
    return tuple(dict.fromkeys(target.partition(":")[0].partition(".")[0] for target in targets))


def sources_of(learners: Iterable[str]) -> Sources:
    """The modules that these learners need and that no package installs."""
    entries = [find(name) for name in dict.fromkeys(learners)]
    modules = [e.target.partition(":")[0] for e in entries if not is_ours(e)]
    files: dict[str, bytes] = {}
    for module in modules:
        files |= _with_imports(module)
    sources = Sources(tuple(sorted(files.items())))
    if sources.bytes > _MOST_BYTES:
        raise UsageError(
            f"the modules of {', '.join(modules)} are {sources.bytes:,} bytes; more than "
            f"{_MOST_BYTES:,} are not sent to workers. Install them there as a package"
        )
    return sources


def module_files(name: str) -> Mapping[str, bytes]:
    """The sources of a top-level module or package as it is found here; nothing if it is not."""
    origin = _origin(name)
    if origin is None:
        return {}
    if origin.name != "__init__.py":
        return {origin.name: origin.read_bytes()}
    paths = sorted(origin.parent.rglob("*.py"))
    return {path.relative_to(origin.parents[1]).as_posix(): path.read_bytes() for path in paths}


def is_installed(name: str) -> bool:
    """Whether a top-level module belongs to an installed package."""
    origin = _origin(name)
    places = (sysconfig.get_path(kind) for kind in ("purelib", "platlib", "stdlib"))
    return origin is not None and any(origin.is_relative_to(place) for place in places)


def _with_imports(module: str) -> dict[str, bytes]:
    """The files of a module's top level, and of all that it imports from the same folder."""
    top = module.partition(".")[0]
    origin = _origin(top)
    if origin is None or is_installed(top):
        return {}
    folder = origin.parents[1 if origin.name == "__init__.py" else 0]
    finder = ModuleFinder(path=[str(folder)])
    finder.import_hook(module)
    found = dict(module_files(top))
    for imported in finder.modules:
        found |= module_files(imported.partition(".")[0])
    return found


def _origin(top: str) -> Path | None:
    """The file of a top-level module; None for one that is not found or has none."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    path = Path(spec.origin) if spec and spec.origin else None
    return path.resolve() if path and path.suffix == ".py" and path.is_file() else None
