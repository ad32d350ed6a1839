"""The walks of learners with the Laplacian kernel psi^(-‖x - z‖₁ / d).

As in `numeric.expansion`, a block of rows are lanes that all supports sweep over in the order they
joined, and a row that joins sweeps over the block itself. ‖x - z‖₁ is ‖x‖₁ + ‖z‖₁ less twice the
sum of min(|x_j|, |z_j|) over the columns in which both have the same sign, so that zeros cost
nothing. `Entries` hold ‖x‖₁ in the place of the squared norms. Where rows and supports are whole
numbers from 0 to 255, every such sum is exact, and the distance of their bytes is the same number.

Several learners that differ in psi learn in one walk. A row is a support as soon as one of them
keeps it, and `Expanding` has a line of coefficients for each support and a place in it for each
learner; where `plus` is negative there, that learner did not keep the row. So a distance is found
once for all of them, and each adds up the kernels of its own supports in the order they joined.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, LIFT, lifted_exp2
from okbench.learners.numeric.expansion import BLOCK, Expanding, append_support, most_entries
from okbench.learners.numeric.lanes import (
    Entries,
    Lanes,
    aligned,
    clear_lane,
    inlined,
    padded,
    set_lane,
)
from okbench.learners.numeric.losses import HINGE, add_step, step
from okbench.learners.numeric.rules.linear import add, score
from okbench.learners.numeric.vector_products import (
    GROUP,
    PACKED,
    byte_distances,
    distances,
    full_distances,
    group_byte_distances,
)
from okbench.learners.numeric.walks import RowStream

WIDE = 1024  # columns from which on a block of rows does not fit into the caches
CHUNK = 4096  # values that are looked at in one go
AT_ONCE = 16  # supports whose distances are held
NOT_KEPT = -1


class Laplacian(NamedTuple):
    """Learners that differ in psi, in numbers."""

    rates: FloatArray  # of the exponent to the base 2: -log2(psi) / d
    step: float
    budget: int  # supports after which the walk ends, at the next row with a loss


class Kept(NamedTuple):
    """Supports, as bytes if there are such lines: then their entries hold norms alone."""

    supports: Expanding
    pixels: NDArray[np.uint8]


class LaplacianWork(NamedTuple):
    """Scratch: a block of rows as lanes, in numbers or in bytes, the distances of the lanes from
    some supports, and the sums of each learner: learners × columns × lanes."""

    lanes: Lanes
    pixels: NDArray[np.uint8]
    apart: FloatArray
    sums: FloatArray

    @classmethod
    def of(cls, n_features: int, n_columns: int, n_learners: int = 1) -> LaplacianWork:
        return cls(
            Lanes.empty(n_features, BLOCK, n_rows=1024),
            aligned(0, 0, kind=np.uint8),
            aligned(AT_ONCE, BLOCK),
            aligned(n_learners, n_columns, BLOCK),
        )

    def with_room_for(self, rows: Entries, first: int, last: int, in_bytes: bool) -> LaplacianWork:
        """Lanes that any block of rows[first:last], cut from `first` on, can be together."""
        if in_bytes:
            if len(self.pixels):
                return self
            return self._replace(pixels=clear_pixels(BLOCK, len(self.lanes.place)))
        n_entries = most_entries(rows, first, last)
        if self.lanes.has_room_for(n_entries):
            return self
        return self._replace(lanes=self.lanes.widened(n_entries))


def clear_pixels(n_rows: int, n_features: int) -> NDArray[np.uint8]:
    """Rows of zeros as bytes, as wide as they are compared."""
    return aligned(n_rows, -(-n_features // PACKED) * PACKED, kind=np.uint8)


@compiled()
def all_bytes(values: Any) -> bool:
    """Whether all values are whole numbers from 0 to 255."""
    for start in range(0, len(values), CHUNK):
        part, n_others = values[start : start + CHUNK], 0
        for i in range(len(part)):
            value = part[i]
            n_others += 1 if (value < 0.0) | (value > 255.0) | (value != np.floor(value)) else 0
        if n_others > 0:
            return False
    return True


@compiled()
def set_pixels(rows: Entries, first: int, last: int, pixels: Any) -> None:
    """Put rows[first:last] into the first lines of bytes, which are clear."""
    for i in range(first, last):
        for e in range(rows.starts[i], rows.stops[i]):
            pixels[i - first, rows.columns[e]] = np.uint8(rows.values[e])


@inlined
def _set_lanes(
    rows: Entries, first: int, last: int, in_bytes: bool, lanes: Any, pixels: Any
) -> None:
    """Make rows[first:last] the lanes."""
    if in_bytes:
        set_pixels(rows, first, last, pixels)
    else:
        for i in range(first, last):
            set_lane(lanes, i - first, rows, i)


@inlined
def _clear_lanes(
    rows: Entries, first: int, last: int, in_bytes: bool, lanes: Any, pixels: Any
) -> None:
    """Clear the lanes again."""
    if in_bytes:
        pixels[: last - first] = 0
    else:
        for i in range(first, last):
            clear_lane(lanes, i - first, rows, i)


@compiled()
def _are_full(starts: Any, stops: Any, first: int, last: int, n_columns: int) -> bool:
    """Whether all of these rows hold every column."""
    n_full = 0
    for i in range(first, last):
        n_full += stops[i] - starts[i] == n_columns
    return n_full == last - first


@compiled()
def _meet(
    others: Entries, held: Any, first: int, last: int, lanes: Lanes, pixels: Any, width: int,
    apart: Any,
) -> None:  # fmt: skip
    """apart[k]: the distances of row first + k of others and every lane, for all up to `last`."""
    values, columns, starts, stops, norms = others
    matrix, place, _, _, _, lane_norms = lanes
    in_bytes, n_columns, s = len(held) > 0, len(place), first
    while s < last:
        is_group, k = s + GROUP <= last, s - first
        if in_bytes and is_group:
            group_byte_distances(held, s, pixels, width, apart, k)
        elif in_bytes:
            is_group = False
            byte_distances(held, s, pixels, width, apart, k)
        elif is_group and n_columns >= WIDE and _are_full(starts, stops, s, s + GROUP, n_columns):
            full_distances(
                values, columns, starts, s, norms, matrix, place, lane_norms, width, apart, k
            )
        else:
            is_group = False
            distances(
                values, columns, starts[s], stops[s], norms[s], matrix, place, lane_norms, width,
                apart, k,
            )  # fmt: skip
        s += GROUP if is_group else 1


@compiled(fastmath=FUSED)
def _spread(
    apart: Any, k: int, width: int, rate: float, gain: float, learner: int, plus: int, minus: int,
    sums: Any,
) -> None:  # fmt: skip
    """Add a support of a learner to its sums of all lanes, of the distances in line k."""
    for j in range(width):
        change = gain * lifted_exp2(apart[k, j] * rate)
        sums[learner, plus, j] += change
        if minus >= 0:
            sums[learner, minus, j] -= change


@compiled(fastmath=FUSED)
def _sweep(
    kept: Kept, first: int, last: int, lanes: Lanes, pixels: Any, width: int, rates: Any,
    apart: Any, sums: Any,
) -> None:  # fmt: skip
    """Add supports[first:last] to the sums of all lanes, in order."""
    supports, held = kept
    entries, gains, plus, minus, _ = supports
    n_learners = len(rates)
    for start in range(first, last, AT_ONCE):
        stop = min(start + AT_ONCE, last)
        _meet(entries, held, start, stop, lanes, pixels, width, apart)
        for s in range(start, stop):
            for p in range(n_learners):
                if plus[s, p] != NOT_KEPT:
                    _spread(
                        apart, s - start, width, rates[p], gains[s, p], p, plus[s, p],
                        minus[s, p], sums,
                    )  # fmt: skip


@inlined
def _fill(
    rows: Entries, first: int, last: int, kept: Kept, size: int, rates: Any, lanes: Any,
    pixels: Any, apart: Any, sums: Any,
) -> None:  # fmt: skip
    """Make rows[first:last] the lanes and add all supports to their sums."""
    _set_lanes(rows, first, last, len(kept.pixels) > 0, lanes, pixels)
    sums[:] = 0.0
    _sweep(kept, 0, size, lanes, pixels, padded(last - first), rates, apart, sums)


@inlined
def _meet_row(
    i: int, lane: int, target: float, kept: Kept, size: int, length: float, sums: Any, scores: Any
) -> bool:
    """Fill in the scores of a row, and what it has as support number `size` in each learner;
    whether one keeps it."""
    _, gains, plus, minus, _ = kept.supports
    is_kept = False
    for p in range(len(scores)):
        for column in range(scores.shape[2]):
            scores[p, i, column] = sums[p, column, lane] / LIFT
        gain, more, less, _ = step(HINGE, scores[p], i, target, 0.0)
        gains[size, p], plus[size, p], minus[size, p] = length * gain, more, less
        if gain == 0.0:
            plus[size, p] = NOT_KEPT
        else:
            is_kept = True
    return is_kept


@compiled()
def learn_laplacian(
    stream: RowStream, first: int, last: int, kept: Kept, size: int, rule: Laplacian,
    work: LaplacianWork,
) -> tuple[int, int]:  # fmt: skip
    """Learn rows[first:last] by the hinge loss: (rows learned up to, supports there are then).

    The scores are learners × rows × columns. It ends at a row with a loss that the budget has no
    place for; the scores of it are there.
    """
    rows, targets, scores, position = stream
    lanes, pixels, apart, sums = work
    in_bytes, done = len(kept.pixels) > 0, last
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _fill(rows, start, stop, kept, size, rule.rates, lanes, pixels, apart, sums)
        for i in range(start, stop):
            if not _meet_row(i, i - start, targets[i], kept, size, rule.step, sums, scores):
                continue
            if size == rule.budget:
                done = i
                break
            if in_bytes:
                kept.pixels[size] = pixels[i - start]
                kept.supports.entries.squared_norms[size] = rows.squared_norms[i]
            else:
                append_support(kept.supports, size, rows, i)
            kept.supports.rows[size] = position + i
            _sweep(
                kept, size, size + 1, lanes, pixels, padded(stop - start), rule.rates, apart, sums
            )
            size += 1
        _clear_lanes(rows, start, stop, in_bytes, lanes, pixels)
        if done < last:
            break
    return done, size


@compiled()
def copy_supports(supports: Expanding, learner: int, places: Any, to: Expanding) -> None:
    """Copy the supports at some places, with what they are for one learner, to where none are."""
    for k in range(len(places)):
        s = places[k]
        append_support(to, k, supports.entries, s)
        to.gains[k, 0] = supports.gains[s, learner]
        to.plus[k, 0], to.minus[k, 0] = supports.plus[s, learner], supports.minus[s, learner]
        to.rows[k] = supports.rows[s]


@compiled()
def score_laplacian(
    rows: Entries, kept: Kept, size: int, rates: Any, work: LaplacianWork, scores: Any
) -> None:
    """Fill in the scores of rows: learners × rows × columns; nothing is learned."""
    lanes, pixels, apart, sums = work
    for start in range(0, scores.shape[1], BLOCK):
        stop = min(start + BLOCK, scores.shape[1])
        _fill(rows, start, stop, kept, size, rates, lanes, pixels, apart, sums)
        for p in range(len(scores)):
            for i in range(start, stop):
                for column in range(scores.shape[2]):
                    scores[p, i, column] = sums[p, column, i - start] / LIFT
        _clear_lanes(rows, start, stop, len(kept.pixels) > 0, lanes, pixels)


@compiled(fastmath=FUSED)
def _exponentiate(apart: Any, k: int, width: int, rate: float) -> None:
    """Replace the distances in line k by their kernel."""
    for j in range(width):
        apart[k, j] = lifted_exp2(apart[k, j] * rate) / LIFT


@compiled()
def kernel_laplacian(
    rows: Entries, others: Entries, held: Any, rate: float, work: LaplacianWork, out: Any
) -> None:
    """out[i, s]: the kernel of row i and support s, which line s of `held` has as bytes if there
    are lines."""
    lanes, pixels, apart, _ = work
    for start in range(0, len(out), BLOCK):
        stop = min(start + BLOCK, len(out))
        width = padded(stop - start)
        _set_lanes(rows, start, stop, len(held) > 0, lanes, pixels)
        for first in range(0, out.shape[1], AT_ONCE):
            last = min(first + AT_ONCE, out.shape[1])
            _meet(others, held, first, last, lanes, pixels, width, apart)
            for s in range(first, last):
                _exponentiate(apart, s - first, width, rate)
                for i in range(start, stop):
                    out[i, s] = apart[s - first, i - start]
        _clear_lanes(rows, start, stop, len(held) > 0, lanes, pixels)


@compiled()
def learn_averaged(
    features: Any, first: int, targets: Any, weights: Any, totals: Any, updates: int, rate: float,
    averages: bool, own: Any, scores: Any,
) -> int:  # fmt: skip
    """Learn rows by the hinge loss of the weights; row 0 of the features is row `first` of targets
    and scores. How many updates there are then.

    `totals` add up the weights after every update, and with `averages` the scores are those of
    their mean. `own` is scratch memory: the scores of the weights.
    """
    for i in range(len(features)):
        row = first + i
        for column in range(len(weights)):
            own[0, column] = score(weights, column, features[i])
            scores[row, column] = own[0, column]
            if averages:
                scores[row, column] = score(totals, column, features[i]) / max(updates, 1)
        gain, plus, minus, _ = step(HINGE, own, 0, targets[row], 0.0)
        if gain == 0.0:
            continue
        updates += 1
        add(weights, plus, rate * gain, features[i])
        if minus >= 0:
            add(weights, minus, -rate * gain, features[i])
        for column in range(len(weights)):
            for j in range(weights.shape[1]):
                add_step(totals, j, column, -1, weights[column, j])
    return updates
