"""The random numbers of one learner in one trial: drawn from a seed, or given back from a record.

    draws.stream("frequencies").normals(77, 50)
    draws.stream("references").choice(n_rows, 256)

Each use of chance has a name. Every name has a stream of its own, and in it every kind of number,
so that drawing more for one use never changes what another use draws.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okbench.base.blas_threads import one_thread
from okbench.base.errors import DataError, UsageError

Kind = Literal["normals", "uniforms", "choice", "permutation", "orthogonal"]
KINDS: tuple[Kind, ...] = get_args(Kind)
STRETCH = 2**17  # normals that are drawn at a time where a table is filled
NamedArrays = Mapping[tuple[str, Kind], Sequence[NDArray[Any]]]  # one array for each call

_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Draws:
    """Random numbers for one learner in one trial, reproducible from its seed.

    `stream(name)` gives the numbers of one use. `normals` (feature maps) and `look_ahead` with
    `use_up` (removals from a full budget) are two further streams, which have no name.
    """

    # Whether several calls draw what one call for all rows draws. A record has an array per call.
    runs_on: ClassVar[bool] = True
    used: bool = False  # whether any number was drawn

    def __init__(self, seed: int | Sequence[int] = 0) -> None:
        self._root = np.random.SeedSequence(seed)
        normals, uniforms = self._root.spawn(2)
        self._normals = np.random.default_rng(normals)
        self._uniforms = np.random.default_rng(uniforms)
        self._ahead: NDArray[np.float64] = np.empty(0)
        self._generators: dict[tuple[str, Kind], np.random.Generator] = {}

    def stream(self, name: str) -> NamedDraws:
        """The draws of that name, going on where they were left."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"'{name}' cannot name draws: use letters, digits, - and _")
        return NamedDraws(self, name)

    def normals(self, rows: int, columns: int) -> NDArray[np.float64]:
        """The next rows × columns standard normals."""
        self.used = True
        return self._normals.standard_normal((rows, columns))

    def fill_normals(self, *tables: NDArray[Any]) -> None:
        """Fill tables of equal width with what `normals` draws for all their rows together. No
        second table of that size is made, unless the numbers come from a record."""
        _fill(tables, self.normals, self.runs_on)

    def look_ahead(self, count: int) -> NDArray[np.float64]:
        """The next `count` uniforms in [0, 1), not yet used up."""
        missing = count - len(self._ahead)
        if missing > 0:
            self.used = True
            self._ahead = np.concatenate([self._ahead, self._uniforms.random(missing)])
        return self._ahead[:count]

    def use_up(self, count: int) -> None:
        """Drop the first `count` uniforms of those looked ahead at."""
        self._ahead = self._ahead[count:]

    def named(self, name: str, kind: Kind, *size: int) -> NDArray[Any]:
        """The next draw of that kind in the stream of that name; see `NamedDraws`."""
        self.used = True
        if (name, kind) not in self._generators:
            self._generators[name, kind] = np.random.default_rng(self._seed_of(name, kind))
        return _DRAW[kind](self._generators[name, kind], *size)

    def _seed_of(self, name: str, kind: Kind) -> np.random.SeedSequence:
        digest = hashlib.sha256(f"{name}/{kind}".encode()).digest()
        words = np.frombuffer(digest, dtype="<u4").tolist()  # eight: no key of `spawn` is so long
        return np.random.SeedSequence(self._root.entropy, spawn_key=(*self._root.spawn_key, *words))


@dataclass(frozen=True)
class NamedDraws:
    """The random numbers of one use, by kind. Each kind is a stream of its own."""

    source: Draws
    name: str

    def normals(self, rows: int, columns: int) -> NDArray[np.float64]:
        """The next rows × columns standard normals."""
        return self.source.named(self.name, "normals", rows, columns)

    def fill_normals(self, *tables: NDArray[Any]) -> None:
        """Fill tables with the next normals, as `Draws.fill_normals` does."""
        _fill(tables, self.normals, self.source.runs_on)

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """The next `count` numbers in [0, 1). Two calls draw what one call for both draws."""
        return self.source.named(self.name, "uniforms", count)

    def choice(self, of: int, count: int) -> NDArray[np.int64]:
        """`count` different whole numbers below `of`, in random order."""
        if not 0 <= count <= of:
            raise UsageError(f"draws '{self.name}': {count} different ones of {of} do not exist")
        return self.source.named(self.name, "choice", of, count)

    def permutation(self, of: int) -> NDArray[np.int64]:
        """The whole numbers below `of` in random order."""
        return self.source.named(self.name, "permutation", of)

    def orthogonal(self, size: int) -> NDArray[np.float64]:
        """An orthogonal size × size matrix, uniform among all of them (Haar's measure)."""
        return self.source.named(self.name, "orthogonal", size)


class RecordedDraws(Draws):
    """The draws of a recorded run, given back in the order in which they were used.

    `normals` is one matrix, which every call returns (cut to the size that is asked for), or a
    list of matrices, one for each call.
    """

    runs_on = False

    def __init__(
        self,
        normals: ArrayLike | Sequence[ArrayLike] | None = None,
        uniforms: ArrayLike | None = None,
        named: NamedArrays | None = None,
    ) -> None:
        several = isinstance(normals, list | tuple) and all(np.ndim(each) == 2 for each in normals)
        matrices: Any = normals if several else [] if normals is None else [normals]
        self._matrices = [np.asarray(matrix, dtype=np.float64) for matrix in matrices]
        self._repeats = not several
        self._ahead = np.empty(0) if uniforms is None else np.asarray(uniforms, dtype=np.float64)
        self._named = {place: list(arrays) for place, arrays in (named or {}).items()}

    def normals(self, rows: int, columns: int) -> NDArray[np.float64]:
        found = np.empty((0, 0))
        if self._matrices:
            found = self._matrices[0] if self._repeats else self._matrices.pop(0)
        if found.shape[0] < rows or found.shape[1] < columns:
            raise DataError(
                f"the record holds {_times(found.shape)} normals; {rows} × {columns} are needed"
            )
        return found[:rows, :columns]

    def look_ahead(self, count: int) -> NDArray[np.float64]:
        """The recorded uniforms left, padded with NaN so that drawing past the record shows."""
        missing = max(0, count - len(self._ahead))
        return np.concatenate([self._ahead[:count], np.full(missing, np.nan)])

    def named(self, name: str, kind: Kind, *size: int) -> NDArray[Any]:
        left = self._named.get((name, kind), [])
        what = f"{kind} named '{name}'"
        if kind == "uniforms":
            return self._named_uniforms(left, what, *size)
        if not left:
            raise DataError(
                f"the record holds no more {what}; one of size {_times(size)} is needed"
            )
        found = left.pop(0)
        wanted = _SHAPE[kind](*size)
        if found.shape != wanted:
            raise DataError(
                f"the record holds {what} of size {_times(found.shape)}; {_times(wanted)} is needed"
            )
        if kind == "choice" and (found >= size[0]).any():
            raise DataError(f"the record holds {what} with {found.max()}, not below {size[0]}")
        return found

    def _named_uniforms(
        self, left: list[NDArray[Any]], what: str, count: int
    ) -> NDArray[np.float64]:
        """Uniforms run on from call to call, however they are cut."""
        together = left[0] if len(left) == 1 else np.concatenate([np.empty(0), *left])
        if len(together) < count:
            raise DataError(f"the record holds {len(together)} more {what}; {count} are needed")
        left[:] = [together[count:]]
        return together[:count]


def fault_of(kind: Kind, found: NDArray[Any]) -> str:
    """What keeps an array from being a draw of that kind, or nothing."""
    if kind == "uniforms" and not ((found >= 0) & (found < 1)).all():
        return "uniforms are from 0 to below 1"
    if kind == "permutation" and not np.array_equal(np.sort(found), np.arange(len(found))):
        return f"a permutation has each whole number from 0 to {len(found) - 1} once"
    if kind == "choice" and ((found < 0).any() or len(np.unique(found)) < len(found)):
        return "a choice is of different whole numbers from 0 on"
    if kind == "orthogonal":
        square = found.shape[0] == found.shape[1]
        if not square or not np.allclose(found @ found.T, np.eye(len(found)), atol=1e-6):
            return "the matrix is not orthogonal"
    return ""


def _fill(
    tables: Sequence[NDArray[Any]],
    normals: Callable[[int, int], NDArray[np.float64]],
    runs_on: bool,
) -> None:
    width = tables[0].shape[1]
    if not runs_on:
        drawn = normals(sum(map(len, tables)), width)
        for table in tables:
            table[:], drawn = drawn[: len(table)], drawn[len(table) :]
        return
    size = max(1, STRETCH // max(1, width))
    for table in tables:
        for first in range(0, len(table), size):
            part = table[first : first + size]
            part[:] = normals(*part.shape)


def _times(shape: Sequence[int]) -> str:
    return " × ".join(map(str, shape))


@one_thread
def _orthogonal(generator: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Q of the QR factorisation with a positive diagonal of R, without which Q is not uniform."""
    factor, triangle = np.linalg.qr(generator.standard_normal((size, size)))
    return factor * np.where(np.diagonal(triangle) < 0.0, -1.0, 1.0)


_DRAW: Mapping[Kind, Any] = {
    "normals": lambda generator, rows, columns: generator.standard_normal((rows, columns)),
    "uniforms": lambda generator, count: generator.random(count),
    "choice": lambda generator, of, count: generator.choice(of, count, replace=False),
    "permutation": lambda generator, of: generator.permutation(of),
    "orthogonal": _orthogonal,
}
_SHAPE: Mapping[Kind, Any] = {
    "normals": lambda rows, columns: (rows, columns),
    "choice": lambda of, count: (count,),
    "permutation": lambda of: (of,),
    "orthogonal": lambda size: (size, size),
}
