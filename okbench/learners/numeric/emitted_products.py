"""The loops of `vector_products` in LLVM's own terms.

What Numba cannot compile well: in a loop over entries it loads and stores all sums at every entry,
because for all it knows the arrays overlap. Written out, they stay in registers. What is written
out has no calls either, so that loops around it keep their constants in registers too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from okbench.base.jit import Function

WIDEST = 8  # numbers in one of the widest registers

# Vectors × lanes that a sweep adds up at once. With a budget of 100 it is all of them.
SWEEPS = ((13, WIDEST), (4, WIDEST), (1, WIDEST), (1, 1))
# The same of a product of matrices, where several rows share what is loaded of the second one.
TILES = ((6, WIDEST), (2, WIDEST), (1, WIDEST), (1, WIDEST // 2), (1, 1))
# Vectors of whole registers that a product of sparse rows adds up at once, in either precision.
REGISTERS = (25, 8, 1)
TOGETHER = 4  # rows of such a product of matrices
WORD, DOUBLE = ir.IntType(64), ir.DoubleType()
FUSE = ("contract",)
LOOSE = ("contract", "reassoc", "nsz")
PARTIAL_SUMS = 4  # of an inner product: as many as hide how long an addition takes


def emitted(function: Function) -> Any:
    """For functions that write LLVM's code themselves."""
    return intrinsic(function)


@emitted
def products(
    typing: Any, values: Any, columns: Any, start: Any, stop: Any, matrix: Any, place: Any,
    width: Any, out: Any, k: Any,
) -> Any:  # fmt: skip
    """out[k]: inner products of a sparse row with the first `width` lanes; place[c] is the matrix
    row of column c."""
    kinds = (values, columns, start, stop, matrix, place, width, out, k)
    return swept(kinds, lambda builder, value, column, place: (value, item(builder, place, column)))


@emitted
def direct_products(
    typing: Any, values: Any, columns: Any, start: Any, stop: Any, matrix: Any, width: Any,
    out: Any, k: Any,
) -> Any:  # fmt: skip
    """The same where column c has matrix row c."""
    kinds = (values, columns, start, stop, matrix, width, out, k)
    return swept(kinds, lambda builder, value, column: (value, column))


@emitted
def matrix_product(typing: Any, rows: Any, first: Any, matrix: Any, out: Any) -> Any:
    """out: rows[first:first + len(out)] times the matrix. Each number is summed as in
    `direct_products`, whatever rows are taken together."""
    kinds = (rows, first, matrix, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        rows, matrix, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 2, 3)
        )
        first = arguments[1]
        n_rows, width = (builder.extract_value(out.shape, axis) for axis in (0, 1))
        n_terms = builder.extract_value(rows.shape, 1)
        in_groups = builder.sub(n_rows, builder.srem(n_rows, WORD(TOGETHER)))
        for lane, vector, count in stretches(builder, width, TILES):
            for together, start, stop in ((TOGETHER, WORD(0), in_groups), (1, in_groups, n_rows)):
                with cgutils.for_range_slice(builder, start, stop, WORD(together)) as (i, _):
                    group = [builder.add(i, WORD(r)) for r in range(together)]
                    sums = [zeros(builder, vector, count) for _ in group]
                    with cgutils.for_range(builder, n_terms) as term:
                        lanes = loaded(
                            builder, element(builder, matrix, term.index, lane), vector, count
                        )
                        for row, of_row in zip(group, sums, strict=True):
                            place = element(builder, rows, builder.add(first, row), term.index)
                            add_lanes(builder, builder.load(place), lanes, of_row)
                    for row, of_row in zip(group, sums, strict=True):
                        keep(builder, of_row, element(builder, out, row, lane))
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def scaled_products(
    typing: Any, values: Any, columns: Any, start: Any, stop: Any, matrix: Any, scales: Any,
    width: Any, out: Any, k: Any,
) -> Any:  # fmt: skip
    """The same with each value times its column's scale."""
    kinds = (values, columns, start, stop, matrix, scales, width, out, k)
    return swept(
        kinds,
        lambda builder, value, column, scales: (
            builder.fmul(value, item(builder, scales, column)),
            column,
        ),
    )


@emitted
def sparse_product(
    typing: Any, values: Any, columns: Any, starts: Any, matrix: Any, out: Any
) -> Any:
    """out: sparse rows times the matrix, in its precision. The entries of row i stand from
    starts[i] to starts[i + 1]."""
    kinds = (values, columns, starts, matrix, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        *entries, matrix, out = (
            context.make_array(kind)(context, builder, given)
            for kind, given in zip(kinds, arguments, strict=True)
        )
        n_rows = builder.extract_value(out.shape, 0)
        for row, lane, sums in summed_rows(builder, entries, n_rows, matrix):
            keep(builder, sums, element(builder, out, row, lane))
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def find_slopes(
    typing: Any, residuals: Any, weights: Any, cosines: Any, sines: Any, first: Any, out: Any
) -> Any:
    """Of TOGETHER rows, what a loss does as each angle rises, into the lines of `out` from `first`
    on: the sum over the classes m of residuals[i, m] times the cosines' derivatives and the sines'.
    `weights` holds those of the cosines and those of the sines of each class, one line each."""
    kinds = (residuals, weights, cosines, sines, first, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        residuals, weights, cosines, sines, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 1, 2, 3, 5)
        )
        n_classes, width = (builder.extract_value(a.shape, 1) for a in (residuals, cosines))
        number = out.data.type.pointee
        sizes = *((count, whole_register(number)) for count in (2, 1)), (1, 1)
        for lane, vector, count in stretches(builder, width, sizes, number):
            of_sines, of_cosines = (
                [zeros(builder, vector, count) for _ in range(TOGETHER)] for _ in range(2)
            )
            with cgutils.for_range(builder, n_classes) as m:
                line = builder.mul(builder.mul(WORD(2), m.index), width)
                for start, sums in ((line, of_sines), (builder.add(line, width), of_cosines)):
                    place = builder.gep(weights.data, [builder.add(start, lane)])
                    lanes = loaded(builder, place, vector, count)
                    for i in range(TOGETHER):
                        residual = builder.load(element(builder, residuals, WORD(i), m.index))
                        add_lanes(builder, residual, lanes, sums[i])
            for i in range(TOGETHER):
                cosine, sine = (
                    loaded(builder, element(builder, a, WORD(i), lane), vector, count)
                    for a in (cosines, sines)
                )
                row = element(builder, out, builder.add(arguments[4], WORD(i)), lane)
                for j, place in enumerate(places(builder, row, vector, count)):
                    rise = builder.fmul(builder.load(of_cosines[i][j]), cosine[j], flags=FUSE)
                    fall = builder.fmul(builder.load(of_sines[i][j]), sine[j], flags=FUSE)
                    builder.store(builder.fsub(rise, fall, flags=FUSE), place, align=4)
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def inner_products(
    typing: Any, columns: Any, start: Any, stop: Any, matrix: Any, other: Any, k: Any,
    width: Any, out: Any,
) -> Any:  # fmt: skip
    """out[e - start]: inner product of row columns[e] of the matrix with row k of the other, over
    `width` columns."""
    kinds = (columns, start, stop, matrix, other, k, width, out)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, matrix, other, out = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 3, 4, 7)
        )
        _, start, stop, _, _, k, width, _ = arguments
        number = matrix.data.type.pointee
        with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
            place = builder.gep(out.data, [builder.sub(e, start)])
            builder.store(number(0.0), place)
        sizes = SWEEPS if number == DOUBLE else registers(number)
        for lane, vector, count in stretches(builder, width, sizes, number):
            held = loaded(builder, element(builder, other, k, lane), vector, count)
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
                first = element(builder, matrix, item(builder, columns, e), lane)
                place = builder.gep(out.data, [builder.sub(e, start)])
                add_inner(builder, loaded(builder, first, vector, count), held, place)
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def inner_product(typing: Any, matrix: Any, row: Any, other: Any, k: Any, width: Any) -> Any:
    """Inner product of a row of the matrix and row k of the other, over `width` columns."""
    kinds = (matrix, row, other, k, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, other = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 2)
        )
        _, row, _, k, width = arguments
        total = cgutils.alloca_once_value(builder, ir.DoubleType()(0.0))
        for lane, vector, count in stretches(builder, width):
            held = loaded(builder, element(builder, other, k, lane), vector, count)
            first = element(builder, matrix, row, lane)
            add_inner(builder, loaded(builder, first, vector, count), held, total)
        return builder.load(total)

    return types.float64(*kinds), generate


@emitted
def shrink_and_add(
    typing: Any, matrix: Any, start: Any, stop: Any, keeps: Any, gains: Any, other: Any, k: Any,
    width: Any,
) -> Any:  # fmt: skip
    """Multiply matrix[r] by keeps[r - start] and add gains[r - start] times row k of the other, for
    every r from `start` to `stop`, over `width` columns."""
    kinds = (matrix, start, stop, keeps, gains, other, k, width)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix, keeps, gains, other = (
            context.make_array(kinds[a])(context, builder, arguments[a]) for a in (0, 3, 4, 5)
        )
        _, start, stop, _, _, _, k, width = arguments
        for lane, vector, count in stretches(builder, width):
            added = loaded(builder, element(builder, other, k, lane), vector, count)
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (row, _):
                place = builder.sub(row, start)
                keep_one, gain = (
                    everywhere(builder, item(builder, each, place), vector)
                    for each in (keeps, gains)
                )
                first = element(builder, matrix, row, lane)
                for at, more in zip(places(builder, first, vector, count), added, strict=True):
                    kept = builder.fmul(builder.load(at, align=8), keep_one, flags=FUSE)
                    product = builder.fmul(gain, more, flags=FUSE)
                    builder.store(builder.fadd(kept, product, flags=FUSE), at, align=8)
        return context.get_dummy_value()

    return types.void(*kinds), generate


@emitted
def reaches(typing: Any, matrix: Any, k: Any, width: Any, limit: Any) -> Any:
    """Whether one of the first `width` numbers of row k is further than `limit` from zero."""
    kinds = (matrix, k, width, limit)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        matrix = context.make_array(kinds[0])(context, builder, arguments[0])
        _, k, width, limit = arguments
        found = cgutils.alloca_once_value(builder, ir.IntType(1)(0))
        for lane, vector, count in stretches(builder, width):
            limits = everywhere(builder, builder.fmul(limit, limit), vector)
            beyond: Any = ir.Constant(ir.VectorType(ir.IntType(1), vector.count), None)
            for numbers in loaded(builder, element(builder, matrix, k, lane), vector, count):
                squares = builder.fmul(numbers, numbers)
                beyond = builder.or_(beyond, builder.fcmp_ordered(">", squares, limits))
            bits = ir.IntType(vector.count)
            here = builder.icmp_unsigned("!=", builder.bitcast(beyond, bits), bits(0))
            builder.store(builder.or_(builder.load(found), here), found)
        return builder.load(found)

    return types.boolean(*kinds), generate


@emitted
def put_last(typing: Any, items: Any, place: Any, size: Any) -> Any:
    """Make an item the last of the first `size`; those behind it move up."""
    kinds = (items, place, size)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        items = context.make_array(kinds[0])(context, builder, arguments[0])
        _, place, size = arguments
        last = builder.sub(size, WORD(1))
        here, behind, end = (
            builder.gep(items.data, [at]) for at in (place, builder.add(place, WORD(1)), last)
        )
        held, n_behind = builder.load(here), builder.sub(last, place)
        cgutils.raw_memmove(builder, here, behind, n_behind, itemsize=held.type.width // 8)
        builder.store(held, end)
        return context.get_dummy_value()

    return types.void(*kinds), generate


def swept(kinds: tuple[Any, ...], entry: Callable[..., tuple[Any, Any]]) -> Any:
    """A sweep over the entries of a row; `entry` says what to multiply with which matrix row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, columns, start, stop, matrix, *by_column, width, out, k = (
            context.make_array(kind)(context, builder, given)
            if isinstance(kind, types.Array)
            else given
            for kind, given in zip(kinds, arguments, strict=True)
        )

        def add_up(lane: Any, sums: list[Any]) -> None:
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
                given = item(builder, values, e), item(builder, columns, e)
                factor, row = entry(builder, *given, *by_column)
                first = element(builder, matrix, row, lane)
                lanes = loaded(builder, first, sums[0].type.pointee, len(sums))
                add_lanes(builder, factor, lanes, sums)

        sweep(builder, width, add_up, lambda lane: element(builder, out, k, lane))
        return context.get_dummy_value()

    return types.void(*kinds), generate


def summed_rows(
    builder: Any, entries: list[Any], n_rows: Any, matrix: Any
) -> Iterator[tuple[Any, Any, list[Any]]]:
    """The sums of sparse rows times the matrix, row after row in each stretch of lanes: the row,
    its first lane there and the sums, which the body of the loop writes away."""
    values, columns, starts = entries
    width, number = builder.extract_value(matrix.shape, 1), matrix.data.type.pointee
    for lane, vector, count in stretches(builder, width, registers(number), number):
        with cgutils.for_range(builder, n_rows) as row:
            start = item(builder, starts, row.index)
            stop = item(builder, starts, builder.add(row.index, WORD(1)))
            sums = zeros(builder, vector, count)
            with cgutils.for_range_slice(builder, start, stop, WORD(1)) as (e, _):
                first = element(builder, matrix, item(builder, columns, e), lane)
                lanes = loaded(builder, first, vector, count)
                add_lanes(builder, item(builder, values, e), lanes, sums)
            yield row.index, lane, sums


def registers(number: Any) -> tuple[tuple[int, int], ...]:
    """Vectors × numbers that a sweep of sparse rows in this precision adds up at once."""
    return *((count, whole_register(number)) for count in REGISTERS), (1, 1)


def whole_register(number: Any) -> int:
    """How many numbers one of the widest registers holds."""
    return WIDEST * (2 if number == ir.FloatType() else 1)


def sweep(
    builder: Any, width: Any, add_up: Callable[[Any, list[Any]], None], to: Callable[[Any], Any]
) -> None:
    """Add up as many lanes at once as there are, and store the sums."""
    for lane, vector, count in stretches(builder, width):
        sums = zeros(builder, vector, count)
        add_up(lane, sums)
        keep(builder, sums, to(lane))


def zeros(builder: Any, vector: Any, count: int) -> list[Any]:
    """Sums of vectors that begin at zero."""
    sums = [cgutils.alloca_once(builder, vector) for _ in range(count)]
    for total in sums:
        builder.store(ir.Constant(vector, None), total)
    return sums


def keep(builder: Any, sums: list[Any], first: Any) -> None:
    """Store the sums from `first` on."""
    vector = sums[0].type.pointee
    for total, place in zip(sums, places(builder, first, vector, len(sums)), strict=True):
        builder.store(builder.load(total), place, align=8)


def stretches(
    builder: Any, width: Any, sizes: tuple[tuple[int, int], ...] = SWEEPS, number: Any = DOUBLE
) -> Iterator[tuple[Any, Any, int]]:
    """Loops that cover `width` lanes one after the other, the body of each to be written at once:
    its first lane, the vectors it takes, and how many."""
    done: Any = WORD(0)
    for count, lanes in sizes:
        vector, step = ir.VectorType(number, lanes), WORD(count * lanes)
        end = builder.sub(width, builder.srem(builder.sub(width, done), step))
        with cgutils.for_range_slice(builder, done, end, step) as (lane, _):
            yield lane, vector, count
        done = end


def add_lanes(builder: Any, value: Any, lanes: list[Any], sums: list[Any]) -> None:
    """Add value × the lanes to the sums."""
    values = everywhere(builder, value, sums[0].type.pointee)
    for total, vector in zip(sums, lanes, strict=True):
        product = builder.fmul(values, vector, flags=FUSE)
        builder.store(builder.fadd(builder.load(total), product, flags=FUSE), total)


def add_inner(builder: Any, some: list[Any], others: list[Any], to: Any) -> None:
    """Add the inner product of two lines of vectors to the number at `to`."""
    sums: list[Any] = []
    for one, other in zip(some, others, strict=True):
        sums.append(builder.fmul(one, other, flags=LOOSE))
        if len(sums) > PARTIAL_SUMS:
            sums.append(builder.fadd(sums.pop(0), sums.pop(), flags=LOOSE))
    while len(sums) > 1:
        sums.append(builder.fadd(sums.pop(0), sums.pop(0), flags=LOOSE))
    vector, number = sums[0].type, sums[0].type.element
    total = builder.extract_element(sums[0], ir.IntType(32)(0))
    if vector.count > 1:
        kind = ir.FunctionType(number, [number, vector])
        bits = 64 if number == DOUBLE else 32
        name = f"llvm.vector.reduce.fadd.v{vector.count}f{bits}"
        add_all = cgutils.get_or_insert_function(builder.module, kind, name)
        total = builder.call(add_all, [number(-0.0), sums[0]], fastmath=LOOSE)
    builder.store(builder.fadd(builder.load(to), total, flags=LOOSE), to)


def everywhere(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of one value."""
    one = builder.insert_element(ir.Constant(vector, None), value, ir.IntType(32)(0))
    all_first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(one, one, all_first)


def item(builder: Any, array: Any, index: Any) -> Any:
    """An item of an array; a whole number as a word."""
    found = builder.load(builder.gep(array.data, [index]))
    return builder.sext(found, WORD) if isinstance(found.type, ir.IntType) else found


def element(builder: Any, matrix: Any, row: Any, column: Any) -> Any:
    """Where an element of a matrix is."""
    width = builder.extract_value(matrix.shape, 1)
    return builder.gep(matrix.data, [builder.add(builder.mul(row, width), column)])


def places(builder: Any, first: Any, vector: Any, count: int) -> list[Any]:
    """Where the vectors are that begin at `first`."""
    begin = builder.bitcast(first, vector.as_pointer())
    return [builder.gep(begin, [WORD(i)]) for i in range(count)]


def loaded(builder: Any, first: Any, vector: Any, count: int) -> list[Any]:
    """The vectors that begin at `first`."""
    return [builder.load(place, align=8) for place in places(builder, first, vector, count)]
