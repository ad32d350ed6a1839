"""The library that multiplies rows with points: NumPy, or PyTorch where it is installed.

The product alone is the library's; which point is nearest follows from it by the rule in
`compiled.nearest`, so that every library and every device gives the same cells.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from okbench.learners.contract import FloatArray, SettingsError

LIBRARIES = ("numpy", "torch")
Product = Callable[[FloatArray, FloatArray, FloatArray], None]  # rows, points → rows · pointsᵀ


def product_of(library: str) -> Product:
    """The product of a library; a library that is not installed is a UsageError."""
    if library == "numpy":
        return _numpy_product
    if importlib.util.find_spec(library) is None:
        raise SettingsError(
            "library = 'torch': PyTorch is not installed; install it with pip install "
            "'okbench[torch]', or choose numpy"
        )
    return TorchProduct(importlib.import_module(library))


def device_of(library: str) -> str:
    """Where the products of a library are computed: `cpu`, or `cuda` if there is such a device."""
    product = product_of(library)
    return product.device if isinstance(product, TorchProduct) else "cpu"


def _numpy_product(rows: FloatArray, points: FloatArray, out: FloatArray) -> None:
    np.matmul(rows, points.T, out=out)


class TorchProduct:
    """Products in doubles by PyTorch, on a CUDA device if there is one.

    The points are sent to the device once, and kept there while the same points are asked for.
    """

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self._points: FloatArray | None = None
        self._sent: Any = None

    def __call__(self, rows: FloatArray, points: FloatArray, out: FloatArray) -> None:
        if self._points is not points:
            self._points, self._sent = points, self._on_device(points).T
        found = self._torch.matmul(self._on_device(rows), self._sent)
        out[:] = found.cpu().numpy()

    def _on_device(self, values: FloatArray) -> Any:
        return self._torch.from_numpy(values).to(self.device)
