"""Inner products of a sparse row with many vectors at once, in LLVM's own terms.

The one function that Numba cannot compile well: in a loop over entries it loads and stores all sums
at every entry, because for all it knows the arrays overlap. Written out, they stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from okbench.jit import Function

LANES = 8  # lane counts are multiples of it: one of the widest registers

# Vectors × lanes that a sweep adds up at once. With a budget of 100 it is all of them.
SWEEPS = ((13, LANES), (4, LANES), (1, LANES), (1, 1))
WORD = ir.IntType(64)
FUSE = ("contract",)


def emitted(function: Function) -> Any:
    """For functions that write LLVM's code themselves."""
    return intrinsic(function)


@emitted
def products(
    typing: Any, values: Any, columns: Any, start: Any, stop: Any, matrix: Any, place: Any,
    width: Any, out: Any, k: Any,
) -> Any:  # fmt: skip
    """out[k]: inner products of a sparse row with the first `width` lanes."""
    kinds = (values, columns, start, stop, matrix, place, width, out, k)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, columns, matrix, place, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 1, 4, 5, 7)
        )
        _, _, start, stop, _, _, width, _, k = arguments

        def add_up(lane: Any, sums: list[Any]) -> None:
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
                column = builder.load(builder.gep(columns.data, [e]))
                row = builder.sext(builder.load(builder.gep(place.data, [column])), WORD)
                value = builder.load(builder.gep(values.data, [e]))
                add_lanes(builder, value, element(builder, matrix, row, lane), sums)

        sweep(builder, width, add_up, lambda lane: element(builder, out, k, lane))
        return context.get_dummy_value()

    return types.void(*kinds), generate


def sweep(
    builder: Any, width: Any, add_up: Callable[[Any, list[Any]], None], to: Callable[[Any], Any]
) -> None:
    """Add up as many lanes at once as there are, and store the sums."""
    done: Any = WORD(0)
    for count, lanes in SWEEPS:
        vector, step = ir.VectorType(ir.DoubleType(), lanes), WORD(count * lanes)
        end = builder.sub(width, builder.srem(builder.sub(width, done), step))
        with cgutils.for_range_slice(builder, done, end, step) as (lane, _):
            sums = [cgutils.alloca_once(builder, vector) for _ in range(count)]
            for total in sums:
                builder.store(ir.Constant(vector, None), total)
            add_up(lane, sums)
            for total, place in zip(sums, vectors(builder, to(lane), sums), strict=True):
                builder.store(builder.load(total), place, align=8)
        done = end


def add_lanes(builder: Any, value: Any, first: Any, sums: list[Any]) -> None:
    """Add value × the lanes from `first` on to the sums."""
    vector = sums[0].type.pointee
    one = builder.insert_element(ir.Constant(vector, None), value, ir.IntType(32)(0))
    all_first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    everywhere = builder.shuffle_vector(one, one, all_first)
    for total, place in zip(sums, vectors(builder, first, sums), strict=True):
        product = builder.fmul(everywhere, builder.load(place, align=8), flags=FUSE)
        builder.store(builder.fadd(builder.load(total), product, flags=FUSE), total)


def element(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Where an element of a matrix is."""
    width = builder.extract_value(matrix.shape, 1)
    return builder.gep(matrix.data, [builder.add(builder.mul(row, width), column)])


def vectors(builder: Any, first: Any, sums: list[Any]) -> list[Any]:
    """Where the vectors are that begin at `first`, one for each sum."""
    begin = builder.bitcast(first, sums[0].type)
    return [builder.gep(begin, [WORD(i)]) for i in range(len(sums))]
