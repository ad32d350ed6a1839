"""The innermost loops over vectors of numbers: inner products above all.

They are written twice. `emitted_products` and `emitted_distances` state them in LLVM's own terms,
because what Numba makes of plain loops is several times slower. `plain_products` has the same loops
in plain Python, as the definition that the first are tested against, and for a Numba whose
internals have changed: set OKBENCH_PLAIN_KERNELS=1 in the environment before okbench is imported.

Sums over the entries of a row are equal to the last bit in both, and so are L1 distances, which are
made of such sums. Inner products over lanes
(`inner_product`, `inner_products`) add up in another order: they differ by rounding, at most
width × 2^-52 times the sum of the products' magnitudes. `sparse_product`, `inner_products` and
`find_slopes` are in single precision as well.
"""

from __future__ import annotations

from okbench.base.jit import PLAIN_KERNELS

if PLAIN_KERNELS:
    from okbench.learners.numeric.plain_products import (
        GROUP,
        PACKED,
        byte_distances,
        direct_products,
        distances,
        find_slopes,
        full_distances,
        group_byte_distances,
        inner_product,
        inner_products,
        matrix_product,
        products,
        put_last,
        reaches,
        scaled_products,
        shrink_and_add,
        sparse_product,
    )
else:
    from okbench.learners.numeric.emitted_distances import (
        GROUP,
        PACKED,
        byte_distances,
        distances,
        full_distances,
        group_byte_distances,
    )
    from okbench.learners.numeric.emitted_products import (
        direct_products,
        find_slopes,
        inner_product,
        inner_products,
        matrix_product,
        products,
        put_last,
        reaches,
        scaled_products,
        shrink_and_add,
        sparse_product,
    )

__all__ = [
    "GROUP",
    "LANES",
    "PACKED",
    "byte_distances",
    "direct_products",
    "distances",
    "find_slopes",
    "full_distances",
    "group_byte_distances",
    "inner_product",
    "inner_products",
    "matrix_product",
    "products",
    "put_last",
    "reaches",
    "scaled_products",
    "shrink_and_add",
    "sparse_product",
]

LANES = 8  # lane counts are multiples of it, so that loops over them take whole registers
