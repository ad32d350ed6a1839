"""Random Fourier features of a row: the cosines of its angles u·x, then their sines.

All that learns on such features makes them here, in two moves: the angles of a row are sums over
its entries, in their order, and `find_features` takes their cosines and sines in one compiled loop.
Lanes behind the last component are padding: their frequencies are zero, so their cosines are 1, and
a learner keeps their weights at zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import SINCOS_REACH, sincos, sincos_sweep
from okbench.learners.numeric.lanes import aligned, inlined
from okbench.learners.numeric.vector_products import direct_products, matrix_product, reaches

COSINES, SINES = 0, 1  # halves of the features, and of the weights of a column


class Scratch(NamedTuple):
    """Where the features of one row are made; no part of a model, and every caller has its own."""

    angles: FloatArray  # 1 × lanes
    features: FloatArray  # 2 × lanes: COSINES, SINES

    @classmethod
    def empty(cls, lanes: int) -> Scratch:
        return cls(aligned(1, lanes), aligned(2, lanes))


@compiled()
def project_dense(rows: Any, first: int, frequencies: Any, angles: Any) -> None:
    """Rows from `first` on times a matrix, one row per line: the angles of dense rows."""
    matrix_product(rows, first, frequencies, angles)


@compiled()
def project_sparse(
    values: Any, columns: Any, starts: Any, first: int, frequencies: Any, angles: Any
) -> None:
    """The angles of sparse rows from `first` on, one row per line."""
    for i in range(angles.shape[0]):
        start, stop = starts[first + i], starts[first + i + 1]
        direct_products(values, columns, start, stop, frequencies, angles.shape[1], angles, i)


@inlined
def find_features(angles: Any, cosines: Any, sines: Any) -> None:
    """The features of a row's angles."""
    sincos_sweep(angles, sines, cosines, 0, angles.shape[0])


@inlined
def find_near_features(angles: Any, features: Any) -> bool:
    """`find_features` of scratch memory, unless an angle is beyond the reach of `sincos`.

    Whether they were found.

    A loop over rows that needs every nanosecond inlines this and leaves for `find_features`,
    because with a call in it every row would load the constants of `sincos` anew.
    """
    lanes = angles.shape[1]
    if reaches(angles, 0, lanes, SINCOS_REACH):
        return False
    for j in range(lanes):
        features[SINES, j], features[COSINES, j] = sincos(angles[0, j])
    return True
