"""How far the kernel that random features make is from the one they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import diags_array

from okbench.learners.contract import FloatArray, RowsError
from okbench.learners.kernels import KERNELS
from okbench.learners.linear import stretches
from okbench.learners.maps import FourierMap
from okbench.learners.numeric.kernel_gaps import pair_products
from okbench.learners.rows import Block


def fourier_gaps(
    fourier: FourierMap,
    scales: FloatArray,
    block: Block,
    exact: Callable[[FloatArray], FloatArray] = KERNELS["gaussian"].profile,
) -> FloatArray:
    """|z(x)·z(x') / D − k(x, x')| for rows 0 and 1, 2 and 3, …: two equal numbers per pair.

    z are D cosines and sines, and k is `exact` of Σ s² (x − x')², by default exp(−½ …), with a
    scale s for every input, by which the normals behind the frequencies were multiplied (Nguyen et
    al. 2017, section 3.1).
    """
    if len(block) % 2:
        raise RowsError(f"rows come in pairs here, and these are {len(block)}")
    ones, others = (Block.of(block.matrix[start::2]) for start in (0, 1))
    kernels = np.empty(len(ones))
    both = zip(stretches(fourier, ones), stretches(fourier, others), strict=True)
    for (first, projected), (_, partners) in both:
        pair_products(fourier.finish, projected, partners, fourier.size, first, kernels)
    apart = Block((ones.matrix - others.matrix) @ diags_array(scales))
    return np.repeat(np.abs(kernels / fourier.width - exact(apart.squared_norms)), 2)
