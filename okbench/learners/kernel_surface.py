"""The kernel of a point with the points around it, on a grid from which contours are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from okbench.learners.contract import FloatArray, RowsError
from okbench.learners.rows import Block

SIDE = 41  # points of the grid in each direction
Surface = dict[str, list[Any]]  # x, y: places of the grid; values: a list for each y


def plane_of(block: Block) -> FloatArray:
    """The last two columns of rows, in which their surface is."""
    width = block.matrix.shape[1]
    if width < 2:
        raise RowsError("a surface is over two columns, and these rows have one")
    return np.ascontiguousarray(Block.of(block.matrix[:, width - 2 :]).dense)


def surface_of(
    plane: FloatArray, kernel: Callable[[FloatArray, FloatArray], FloatArray]
) -> tuple[FloatArray, Surface]:
    """The kernel of the median point of rows of two columns with every row, and on a grid over them
    that has the median point among its places. `kernel(point, points)` gives the values."""
    middle = np.median(plane, axis=0)
    places = [_places(column, at) for column, at in zip(plane.T, middle, strict=True)]
    grid = np.stack(np.meshgrid(*places), axis=-1).reshape(-1, 2)
    values = kernel(middle, grid).reshape(len(places[1]), len(places[0]))
    x, y = (np.round(place, 6).tolist() for place in places)
    return kernel(middle, plane), {"x": x, "y": y, "values": np.round(values, 6).tolist()}


def _places(column: FloatArray, middle: float) -> FloatArray:
    """Places from the least value to the largest, one of them the middle."""
    places = np.linspace(column.min(), column.max(), SIDE)
    places[np.argmin(np.abs(places - middle))] = middle
    return np.unique(places)
