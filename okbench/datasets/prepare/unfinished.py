"""Files that are being read, kept so that reading goes on where it was interrupted.

    <key>.unfinished/<file key>/
        values.bin, …   the arrays read so far
        state.json      the place in the file, the lengths of the arrays, their checksums, and what
                        the reader knows

The state is written after every 64 MB of a file, when the arrays are on the disk. Whatever comes
behind it, in a process that was killed or on a disk that is full, is cut off and read again: the
arrays are then those of a reading without interruption, byte for byte. If they are damaged, the
file is read from its beginning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from okbench.base.errors import StoreError
from okbench.base.whole_files import make_folder
from okbench.datasets.prepare.checksums import (
    DamagedRowsError,
    PieceChecksums,
    check_file,
    read_record,
    write_record,
)
from okbench.datasets.readers.chunks import BEGINNING, Position
from okbench.datasets.readers.disk_array import DiskArray, DiskArrays, disk_full
from okbench.datasets.unpack import packing

EVERY = 64 << 20  # bytes of a file, unpacked, between two states
_STATE = "state.json"
_Known: TypeAlias = tuple[Position, Callable[[], Mapping[str, Any]]]


class UnfinishedFile(DiskArrays):
    """The arrays of one file in a folder of their own; a bar on a terminal shows the progress."""

    def __init__(self, folder: Path, path: Path, every: int | None = None) -> None:
        super().__init__(folder)
        self._home, self._path = folder, path
        self._every = EVERY if every is None else every
        self._arrays: dict[str, DiskArray] = {}
        self._kept = _read_state(folder)
        self._checksums: dict[str, PieceChecksums] = defaultdict(PieceChecksums)
        for name, size in self._kept.get("bytes", {}).items():
            self._checksums[name] = PieceChecksums(self._kept["checksums"][name], size)
        self.found = self._kept.get("reader", {})
        self.position = Position(*self._kept.get("position", BEGINNING))
        self.ended = bool(self._kept.get("ended"))
        self._written = self.position.byte
        self._latest: _Known = self.position, lambda: self.found
        self._bar = _bar(path, self._written)

    def new(self, dtype: DTypeLike, name: str) -> DiskArray:
        """An array of that name, with what was read of it before."""
        size = self._kept.get("bytes", {}).get(name, 0)
        path = self._home / f"{name}.bin"
        try:
            make_folder(self._home)
            file = self._files.enter_context(path.open("r+b" if size else "w+b"))
            file.truncate(size)
            file.seek(size)
        except OSError as error:
            raise disk_full(error) from error
        self._arrays[name] = DiskArray(dtype, file, size)
        return self._arrays[name]

    def keep(self, position: Position, reader: Callable[[], Mapping[str, Any]]) -> None:
        """Note how far the file is read, and what the reader knows by then."""
        self._bar.update(max(0, position.byte - self._bar.n))
        self._latest = position, reader
        if position.byte - self._written >= self._every:
            self._write(ended=False)

    def end(self) -> None:
        """The file is read to its end. Of one that is read in a moment, no state is worth it."""
        self._bar.close()
        if self._written and not self.ended:
            self._write(ended=True)

    def _write(self, ended: bool) -> None:
        position, reader = self._latest
        try:
            sizes = {name: array.to_disk() for name, array in self._arrays.items()}
            for name, size in sizes.items():
                self._checksums[name].add_file(self._home / f"{name}.bin", size)
            state = {
                "position": position,
                "bytes": sizes,
                "checksums": {name: self._checksums[name].values for name in sizes},
                "reader": reader(),
                "ended": ended,
            }
            write_record(self._home / _STATE, state)
        except OSError as error:
            raise disk_full(error) from error
        self._written = position.byte

    def __exit__(self, *raised: Any) -> None:
        self._bar.close()
        super().__exit__(*raised)


def is_kept(folder: Path) -> bool:
    """Whether there is a state of any file from which reading can go on."""
    return any(folder.glob(f"*/{_STATE}"))


def _read_state(folder: Path) -> dict[str, Any]:
    """How far the file was read; nothing if the arrays are not those that were written by then."""
    path = folder / _STATE
    try:
        found = read_record(path)
        for name, size in found["bytes"].items():
            check_file(folder / f"{name}.bin", size, found["checksums"][name])
    except (FileNotFoundError, ValueError, DamagedRowsError):
        return {}
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error}); delete its folder") from error
    return found


def _bar(path: Path, done: int) -> Any:
    from tqdm import tqdm

    try:
        total = None if packing(path) else path.stat().st_size
    except OSError:  # the reader will say so
        total = None
    return tqdm(
        total=total, initial=done, unit="B", unit_scale=True, desc=f"reading {path.name}",
        disable=None, delay=1.0, leave=False, dynamic_ncols=True,
    )  # fmt: skip
