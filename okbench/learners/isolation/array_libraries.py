"""The library that finds nearest points: NumPy, or PyTorch where it is installed.

Both multiply in single precision, and `numeric.nearest` decides what a product cannot decide, so
that every library and every device gives the same cells.
"""

from __future__ import annotations

import importlib
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.blas_threads import one_thread
from okbench.learners.contract import FloatArray, SettingsError
from okbench.learners.numeric.nearest import find_cells, settle

LIBRARIES = ("numpy", "torch")
Single = NDArray[np.float32]
Lines = NDArray[np.int32]  # partitionings × points: where each point is


def finder_of(library: str, points: FloatArray, single: Single, several: Sequence[Lines]) -> Finder:
    """What finds the nearest of these points by a library, in the partitionings of several maps."""
    if library == "numpy":
        return NumpyFinder(points, single, several)
    return TorchFinder(_torch(), points, single, several)


def device_of(library: str) -> str:
    """Where the products of a library are computed: `cpu`, or `cuda` if there is such a device."""
    return "cpu" if library == "numpy" else _torch_device(_torch())


def described(library: str) -> str:
    """A library and its device, for those who read seconds: `torch 2.13.0 on cpu`."""
    if library == "numpy":
        return f"numpy {np.__version__} on cpu"
    torch = _torch()
    device = _torch_device(torch)
    name = f" ({torch.cuda.get_device_name()})" if device == "cuda" else ""
    return f"torch {torch.__version__} on {device}{name}"


class Finder(ABC):
    """Finds the nearest of given points, a block of rows at a time.

    `points` are in doubles, `single` are the same as they are multiplied, and `several` has for
    every map the lines in which the points of its partitionings stand.
    """

    rows: int  # of a block
    n_bytes: int  # of the closenesses of some partitionings

    def __init__(self, points: FloatArray, single: Single, several: Sequence[Lines]) -> None:
        self._points, self._single, self._several = points, single, several
        # whether products with all points are needed before partitionings can be compared
        in_order = np.arange(len(points), dtype=np.int32)
        self._is_shared = not (len(several) == 1 and np.array_equal(several[0].ravel(), in_order))

    @abstractmethod
    def find(
        self, rows: FloatArray, rounded: Single, slacks: FloatArray, out: Sequence[Any]
    ) -> None:
        """Fill in the cells (rows × partitionings, for every map) of rows, given as they are and as
        they are multiplied, and how far apart two closenesses must be to decide."""

    def _parts(self, lines: Lines) -> Iterator[slice]:
        """Which partitionings of a map are done at a time."""
        count, size = lines.shape
        together = max(1, self.n_bytes // (4 * self.rows * size))
        for first in range(0, count, together):
            yield slice(first, min(first + together, count))


def _lines_of(part: slice, size: int) -> slice:
    """The lines of some partitionings, where every point has its own."""
    return slice(part.start * size, part.stop * size)


class NumpyFinder(Finder):
    """By NumPy's BLAS, and a compiled pass over its product while that is in the cache."""

    rows = 128
    n_bytes = 1024 * 1024

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        most = len(self._points)
        if not self._is_shared:
            (lines,) = self._several
            most = next(self._parts(lines)).stop * lines.shape[1]
        self._scratch = np.empty(most * self.rows, dtype=np.float32)

    @one_thread
    def find(
        self, rows: FloatArray, rounded: Single, slacks: FloatArray, out: Sequence[Any]
    ) -> None:
        work = np.empty((2, len(rows)), dtype=np.float32)
        number = np.empty(len(rows), dtype=np.int32)
        closeness, offset = self._scratch[:0], 0
        if self._is_shared:
            closeness = self._product(self._single, rounded)
        for lines, cells in zip(self._several, out, strict=True):
            for part in self._parts(lines):
                if not self._is_shared:
                    own = _lines_of(part, lines.shape[1])
                    closeness, offset = self._product(self._single[own], rounded), own.start
                find_cells(
                    rows, self._points, lines[part], offset, closeness, slacks, work, number,
                    cells, part.start,
                )  # fmt: skip

    def _product(self, points: Single, rounded: Single) -> Single:
        shape = len(points), len(rounded)
        out = self._scratch[: shape[0] * shape[1]].reshape(shape)
        return np.matmul(points, rounded.T, out=out)


class TorchFinder(Finder):
    """By PyTorch, on a CUDA device if there is one.

    Points are sent to the device once. What comes back for each row and partitioning is how many
    points may be the nearest, and the number of the first of them.
    """

    rows = 1024
    n_bytes = 256 * 1024 * 1024

    def __init__(self, torch: Any, *given: Any) -> None:
        self._torch, self._device = torch, _torch_device(torch)
        if self._device == "cpu":
            self.rows, self.n_bytes = 256, NumpyFinder.n_bytes
        super().__init__(*given)
        torch.set_float32_matmul_precision("highest")  # no product of fewer digits
        self._sent = self._on_device(self._single)
        self._places = [self._on_device(lines.astype(np.int64)) for lines in self._several]
        self._numbers = [
            self._on_device(np.arange(lines.shape[1], dtype=np.int32).reshape(1, -1, 1))
            for lines in self._several
        ]

    def find(
        self, rows: FloatArray, rounded: Single, slacks: FloatArray, out: Sequence[Any]
    ) -> None:
        turned = self._on_device(rounded).T
        slack = self._on_device(np.nextafter(slacks.astype(np.float32), np.float32(np.inf)))
        shared = self._torch.matmul(self._sent, turned) if self._is_shared else None
        for lines, places, numbers, cells in zip(
            self._several, self._places, self._numbers, out, strict=True
        ):
            size = lines.shape[1]
            for part in self._parts(lines):
                if shared is None:
                    own = self._torch.matmul(self._sent[_lines_of(part, size)], turned)
                else:
                    own = self._torch.index_select(shared, 0, places[part].reshape(-1))
                own = own.reshape(part.stop - part.start, size, len(rows))
                near = own >= own.amax(dim=1, keepdim=True) - slack
                found = self._torch.where(near, numbers, size).amin(dim=1).cpu().numpy()
                counts = near.sum(dim=1).cpu().numpy()
                cells[:, part] = found.T
                settle(rows, self._points, lines[part], slacks, counts, cells[:, part])

    def _on_device(self, values: NDArray[Any]) -> Any:
        return self._torch.from_numpy(values).to(self._device)


def _torch() -> Any:
    if importlib.util.find_spec("torch") is None:
        raise SettingsError(
            "library = 'torch': PyTorch is not installed; install it with pip install "
            "'okbench[torch]', or choose numpy"
        )
    return importlib.import_module("torch")


def _torch_device(torch: Any) -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
