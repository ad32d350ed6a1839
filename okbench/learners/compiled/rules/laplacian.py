"""The walks of learners with the Laplacian kernel psi^(-‖x - z‖₁ / d).

As in `compiled.expansion`, a block of rows are lanes that all supports sweep over in the order they
joined, and a row that joins sweeps over the block itself. ‖x - z‖₁ is ‖x‖₁ + ‖z‖₁ less twice the
sum of min(|x_j|, |z_j|) over the columns in which both have the same sign, so that zeros cost
nothing. `Entries` hold ‖x‖₁ in the place of the squared norms.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED, LIFT, lifted_exp2
from okbench.learners.compiled.expansion import (
    BLOCK,
    Expanding,
    LaneWork,
    append_support,
    clear_lanes,
)
from okbench.learners.compiled.lanes import Entries, inlined, padded, set_lane
from okbench.learners.compiled.losses import HINGE, add_step, step
from okbench.learners.compiled.rules.linear import add, score
from okbench.learners.compiled.walks import RowStream


class Laplacian(NamedTuple):
    """The learner in numbers."""

    rate: float  # of the exponent to the base 2: -log2(psi) / d
    step: float
    budget: int  # supports after which the walk ends, at the next row with a loss


@compiled(fastmath=FUSED)
def _shared(
    values: Any, columns: Any, start: int, stop: int, matrix: Any, place: Any, width: int, out: Any
) -> None:
    """out[0]: what a support and every lane have in common."""
    for j in range(width):
        out[0, j] = 0.0
    for e in range(start, stop):
        lane, value = place[columns[e]], values[e]
        if value > 0.0:
            for j in range(width):
                least = min(matrix[lane, j], value)
                out[0, j] += least if least > 0.0 else 0.0
        else:
            for j in range(width):
                least = min(-matrix[lane, j], -value)
                out[0, j] += least if least > 0.0 else 0.0


@compiled(fastmath=FUSED)
def _shared_by_four(
    values: Any, columns: Any, starts: Any, first: int, matrix: Any, place: Any, width: int,
    out: Any,
) -> None:  # fmt: skip
    """out[k]: the same of support first + k, where these four hold every column.

    The lanes are read once for all of them: those of wide rows do not fit into the caches.
    """
    one, two, three, four = starts[first], starts[first + 1], starts[first + 2], starts[first + 3]
    for k in range(4):
        for j in range(width):
            out[k, j] = 0.0
    for e in range(len(place)):
        lane = place[columns[one + e]]
        a, b, c, d = values[one + e], values[two + e], values[three + e], values[four + e]
        side_a, side_b = 1.0 if a > 0.0 else -1.0, 1.0 if b > 0.0 else -1.0
        side_c, side_d = 1.0 if c > 0.0 else -1.0, 1.0 if d > 0.0 else -1.0
        for j in range(width):
            value = matrix[lane, j]
            out[0, j] += max(min(side_a * value, side_a * a), 0.0)
            out[1, j] += max(min(side_b * value, side_b * b), 0.0)
            out[2, j] += max(min(side_c * value, side_c * c), 0.0)
            out[3, j] += max(min(side_d * value, side_d * d), 0.0)


@compiled()
def _meet(
    values: Any, columns: Any, starts: Any, stops: Any, first: int, last: int, matrix: Any,
    place: Any, width: int, out: Any,
) -> int:  # fmt: skip
    """out[k]: what support first + k and every lane have in common. Of how many supports: four
    where these hold every column, else one."""
    full = 0
    while full < 4 and first + full < last:
        if stops[first + full] - starts[first + full] != len(place):
            break
        full += 1
    if full == 4:
        _shared_by_four(values, columns, starts, first, matrix, place, width, out)
        return 4
    _shared(values, columns, starts[first], stops[first], matrix, place, width, out)
    return 1


@inlined
def _lifted(rate: float, norm: float, other: float, shared: float) -> float:
    """LIFT times the kernel."""
    return lifted_exp2(((norm + other) - 2.0 * shared) * rate)


@compiled(fastmath=FUSED)
def _spread(
    shared: Any, norm: float, norms: Any, width: int, rate: float, gain: float, plus: int,
    minus: int, sums: Any,
) -> None:  # fmt: skip
    """Add a support to the sums of all lanes, of what it has in common with them."""
    for j in range(width):
        change = gain * _lifted(rate, norm, norms[j], shared[j])
        sums[plus, j] += change
        if minus >= 0:
            sums[minus, j] -= change


@compiled(fastmath=FUSED)
def _sweep(
    supports: Expanding, first: int, last: int, lanes: Any, width: int, rate: float, inner: Any,
    sums: Any,
) -> None:  # fmt: skip
    """Add supports[first:last] to the sums of all lanes, in order."""
    values, columns, starts, stops, norms = supports.entries
    _, gains, plus, minus, _ = supports
    matrix, place, _, _, _, lane_norms = lanes
    s = first
    while s < last:
        met = _meet(values, columns, starts, stops, s, last, matrix, place, width, inner)
        for k in range(met):
            _spread(inner[k], norms[s], lane_norms, width, rate, gains[s], plus[s], minus[s], sums)
            s += 1


@inlined
def _fill(
    rows: Entries, first: int, last: int, supports: Expanding, size: int, lanes: Any, rate: float,
    inner: Any, sums: Any,
) -> None:  # fmt: skip
    """Make rows[first:last] the lanes and add all supports to their sums."""
    width = padded(last - first)
    for i in range(first, last):
        set_lane(lanes, i - first, rows, i)
    for column in range(len(sums)):
        for j in range(width):
            sums[column, j] = 0.0
    _sweep(supports, 0, size, lanes, width, rate, inner, sums)


@compiled()
def learn_laplacian(
    stream: RowStream, first: int, last: int, supports: Expanding, size: int, rule: Laplacian,
    work: LaneWork,
) -> tuple[int, int]:  # fmt: skip
    """Learn rows[first:last] by the hinge loss: (rows learned up to, supports there are then).

    It ends at a row with a loss that the budget has no place for; the scores of it are there.
    """
    rows, targets, scores, position = stream
    lanes, inner, sums = work
    done = last
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _fill(rows, start, stop, supports, size, lanes, rule.rate, inner, sums)
        width = padded(stop - start)
        for i in range(start, stop):
            for column in range(len(sums)):
                scores[i, column] = sums[column, i - start] / LIFT
            gain, plus, minus, _ = step(HINGE, scores, i, targets[i], 0.0)
            if gain == 0.0:
                continue
            if size == rule.budget:
                done = i
                break
            append_support(supports, size, rows, i)
            supports.gains[size] = rule.step * gain
            supports.plus[size], supports.minus[size] = plus, minus
            supports.rows[size] = position + i
            _sweep(supports, size, size + 1, lanes, width, rule.rate, inner, sums)
            size += 1
        clear_lanes(rows, start, stop, lanes)
        if done < last:
            break
    return done, size


@compiled()
def score_laplacian(
    rows: Entries, supports: Expanding, size: int, rate: float, work: LaneWork, scores: Any
) -> None:
    """Fill in the scores of rows; nothing is learned."""
    lanes, inner, sums = work
    for start in range(0, len(scores), BLOCK):
        stop = min(start + BLOCK, len(scores))
        _fill(rows, start, stop, supports, size, lanes, rate, inner, sums)
        for i in range(start, stop):
            for column in range(len(sums)):
                scores[i, column] = sums[column, i - start] / LIFT
        clear_lanes(rows, start, stop, lanes)


@compiled(fastmath=FUSED)
def _exponentiate(shared: Any, norm: float, norms: Any, width: int, rate: float) -> None:
    """Replace what a support and the lanes have in common by their kernel."""
    for j in range(width):
        shared[j] = _lifted(rate, norm, norms[j], shared[j]) / LIFT


@compiled()
def kernel_laplacian(
    rows: Entries, supports: Expanding, rate: float, work: LaneWork, out: Any
) -> None:
    """out[i, s]: the kernel of row i and support s."""
    lanes, inner, _ = work
    matrix, place, _, _, _, lane_norms = lanes
    values, columns, starts, stops, norms = supports.entries
    last = out.shape[1]
    for start in range(0, len(out), BLOCK):
        stop = min(start + BLOCK, len(out))
        width, s = padded(stop - start), 0
        for i in range(start, stop):
            set_lane(lanes, i - start, rows, i)
        while s < last:
            met = _meet(values, columns, starts, stops, s, last, matrix, place, width, inner)
            for k in range(met):
                _exponentiate(inner[k], norms[s], lane_norms, width, rate)
                for i in range(start, stop):
                    out[i, s] = inner[k, i - start]
                s += 1
        clear_lanes(rows, start, stop, lanes)


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
