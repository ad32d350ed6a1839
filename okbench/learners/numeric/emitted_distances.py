"""The loops of `vector_products` that compare vectors in the L1 norm, in LLVM's own terms.

As in `emitted_products`, sums stay in registers. What two numbers have in common is added as a
fused product of its sign and a number between 0 and both: one step for either sign, and exact.
Bytes are compared in a form that LLVM knows: on x86 it takes one instruction for 64 of them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from okbench.learners.numeric.emitted_products import (
    DOUBLE,
    TILES,
    WORD,
    add_lanes,
    element,
    emitted,
    everywhere,
    item,
    loaded,
    places,
    stretches,
    zeros,
)

GROUP = 4  # vectors whose distances from the lanes are found together
PACKED = 64  # bytes of the widest registers: rows of bytes have a multiple of it
BYTES, WIDENED = ir.VectorType(ir.IntType(8), PACKED), ir.VectorType(ir.IntType(32), PACKED)


@emitted
def distances(
    typing: Any, values: Any, columns: Any, start: Any, stop: Any, norm: Any, matrix: Any,
    place: Any, norms: Any, width: Any, out: Any, k: Any,
) -> Any:  # fmt: skip
    """out[k]: the L1 distances of a sparse row and the first `width` lanes; place[c] is the matrix
    row of column c. They are the sum of the two norms, less twice what is in common: the lesser of
    two numbers of one sign, in absolute value."""
    kinds = (values, columns, start, stop, norm, matrix, place, norms, width, out, k)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, columns, matrix, place, norms, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 1, 5, 6, 7, 9)
        )
        _, _, start, stop, norm, _, _, _, width, _, k = arguments
        for lane, vector, count in stretches(builder, width):
            shared = zeros(builder, vector, count)
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
                row = item(builder, place, item(builder, columns, e))
                lanes = loaded(builder, element(builder, matrix, row, lane), vector, count)
                add_shared(builder, item(builder, values, e), lanes, shared)
            keep_distances(builder, norm, norms, lane, shared, element(builder, out, k, lane))
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def full_distances(
    typing: Any, values: Any, columns: Any, starts: Any, first: Any, norms_of_rows: Any,
    matrix: Any, place: Any, norms: Any, width: Any, out: Any, k: Any,
) -> Any:  # fmt: skip
    """out[k], out[k + 1], …: the same of GROUP rows from `first` on, which all have every column,
    in one order. The lanes are read once for all of them."""
    kinds = (values, columns, starts, first, norms_of_rows, matrix, place, norms, width, out, k)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, columns, starts, norms_of_rows, matrix, place, norms, out = (
            context.make_array(kinds[a])(context, builder, arguments[a])
            for a in (0, 1, 2, 4, 5, 6, 7, 9)
        )
        _, _, _, first, _, _, _, _, width, _, k = arguments
        rows = [builder.add(first, WORD(r)) for r in range(GROUP)]
        begins = [item(builder, starts, row) for row in rows]
        n_columns = builder.extract_value(place.shape, 0)
        for lane, vector, count in stretches(builder, width, TILES):
            several = [zeros(builder, vector, count) for _ in rows]
            with cgutils.for_range(builder, n_columns) as term:
                column = item(builder, columns, builder.add(begins[0], term.index))
                line = element(builder, matrix, item(builder, place, column), lane)
                lanes = loaded(builder, line, vector, count)
                for begin, shared in zip(begins, several, strict=True):
                    value = item(builder, values, builder.add(begin, term.index))
                    add_shared(builder, value, lanes, shared)
            for r, (row, shared) in enumerate(zip(rows, several, strict=True)):
                norm = item(builder, norms_of_rows, row)
                to = element(builder, out, builder.add(k, WORD(r)), lane)
                keep_distances(builder, norm, norms, lane, shared, to)
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def byte_distances(
    typing: Any, held: Any, first: Any, lanes: Any, width: Any, out: Any, k: Any
) -> Any:
    """out[k]: the L1 distances of row `first` of `held` and the first `width` rows of `lanes`. Both
    are bytes, in rows of a multiple of PACKED."""
    return compared((held, first, lanes, width, out, k), 1)


@emitted
def group_byte_distances(
    typing: Any, held: Any, first: Any, lanes: Any, width: Any, out: Any, k: Any
) -> Any:
    """out[k], out[k + 1], …: the same of GROUP rows from `first` on. The lanes are read once for
    all of them."""
    return compared((held, first, lanes, width, out, k), GROUP)


def compared(kinds: tuple[Any, ...], together: int) -> Any:
    """A comparison of some rows of bytes with all lanes. Sums have 32 bits, which hold those of up
    to 2^24 columns."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held, lanes, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 2, 4)
        )
        _, first, _, width, _, k = arguments
        rows = [builder.add(first, WORD(r)) for r in range(together)]
        n_columns = builder.extract_value(lanes.shape, 1)
        kind = ir.FunctionType(ir.IntType(32), [WIDENED])
        add_all = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.vector.reduce.add.v{PACKED}i32"
        )
        with cgutils.for_range(builder, width) as lane:
            several = [cgutils.alloca_once(builder, WIDENED) for _ in rows]
            for total in several:
                builder.store(ir.Constant(WIDENED, None), total)
            with cgutils.for_range_slice(builder, WORD(0), n_columns, WORD(PACKED)) as (c, _):
                own = widened(builder, element(builder, lanes, lane.index, c))
                for row, total in zip(rows, several, strict=True):
                    other = widened(builder, element(builder, held, row, c))
                    apart = absolute(builder, builder.sub(own, other))
                    builder.store(builder.add(builder.load(total), apart), total)
            for r, total in enumerate(several):
                distance = builder.uitofp(builder.call(add_all, [builder.load(total)]), DOUBLE)
                to = element(builder, out, builder.add(k, WORD(r)), lane.index)
                builder.store(distance, to)
        return context.get_dummy_value()

    return types.void(*kinds), generate


def add_shared(builder: Any, value: Any, lanes: list[Any], sums: list[Any]) -> None:
    """Add what a value and the lanes have in common to the sums."""
    vector, zero = sums[0].type.pointee, DOUBLE(0.0)
    lowest, highest = (
        everywhere(builder, end(builder, value, zero), vector) for end in (lesser, greater)
    )
    side = builder.select(builder.fcmp_ordered(">", value, zero), DOUBLE(1.0), DOUBLE(-1.0))
    between = [lesser(builder, greater(builder, lane, lowest), highest) for lane in lanes]
    add_lanes(builder, side, between, sums)


def keep_distances(
    builder: Any, norm: Any, norms: Any, lane: Any, shared: list[Any], to: Any
) -> None:
    """Store the distances of a row and some lanes, of what they have in common."""
    vector = shared[0].type.pointee
    norm, less = (everywhere(builder, each, vector) for each in (norm, DOUBLE(-2.0)))
    others = loaded(builder, builder.gep(norms.data, [lane]), vector, len(shared))
    kind = ir.FunctionType(vector, [vector] * 3)
    name = f"llvm.fmuladd.v{vector.count}f64"
    add_product = cgutils.get_or_insert_function(builder.module, kind, name)
    for total, other, place in zip(
        shared, others, places(builder, to, vector, len(shared)), strict=True
    ):
        both = builder.fadd(norm, other)
        distance = builder.call(add_product, [less, builder.load(total), both])
        builder.store(distance, place, align=8)


def widened(builder: Any, first: Any) -> Any:
    """The bytes that begin at `first` as wider numbers."""
    found = builder.load(builder.bitcast(first, BYTES.as_pointer()), align=1)
    return builder.zext(found, WIDENED)


def absolute(builder: Any, numbers: Any) -> Any:
    """Their absolute values."""
    flag = ir.IntType(1)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(WIDENED, [WIDENED, flag]), f"llvm.abs.v{PACKED}i32"
    )
    return builder.call(function, [numbers, flag(0)])


def lesser(builder: Any, one: Any, other: Any) -> Any:
    """The lesser of two numbers, or of each two of two vectors."""
    return builder.select(builder.fcmp_ordered("<", one, other), one, other)


def greater(builder: Any, one: Any, other: Any) -> Any:
    """The greater of two numbers, or of each two of two vectors."""
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)
