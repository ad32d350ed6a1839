"""Isolation trees as complete binary trees in flat arrays: how they grow, and where rows end.

Node p has the children 2p + 1 (values below the threshold) and 2p + 2. A branch that ends above the
lowest level goes on to the left, by thresholds of +inf, so that all rows take the same number of
steps. Its leaf has one number all the same: leaves are numbered from left to right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled

UNUSED = -1  # a column that no tree looks at
FEW = 8  # columns are looked at one by one as soon as no more than one in so many is left


@compiled()
def grow_dense(
    rows: Any, sample: Any, uniforms: Any, attributes: Any, thresholds: Any, leaves: Any, tree: int,
    work: Any,
) -> None:  # fmt: skip
    """Grow a tree from some of the rows; node p takes uniforms 2p (attribute) and 2p + 1
    (threshold)."""
    order, begins, ends, varies, left = work
    _plant(sample, order, begins, ends)
    for p in range(attributes.shape[1]):
        _stop(p, tree, attributes, thresholds, begins, ends)
        if ends[p] - begins[p] < 2:
            continue
        varied = _find_varied(rows, order, begins[p], ends[p], varies, left)
        if varied == 0:
            continue
        chosen, before = -1, _place(uniforms[2 * p], varied)
        while before >= 0:
            chosen += 1
            before -= varies[chosen]
        low = high = rows[order[begins[p]], chosen]
        for r in range(begins[p] + 1, ends[p]):
            low, high = min(low, rows[order[r], chosen]), max(high, rows[order[r], chosen])
        threshold = _between(low, high, uniforms[2 * p + 1])
        attributes[tree, p], thresholds[tree, p] = chosen, threshold
        middle = begins[p]
        for r in range(begins[p], ends[p]):
            if rows[order[r], chosen] < threshold:
                order[r], order[middle] = order[middle], order[r]
                middle += 1
        _branch(p, middle, begins, ends)
    _number(leaves, tree, begins)


@compiled()
def grow_sparse(
    values: Any, columns: Any, starts: Any, names: Any, uniforms: Any, attributes: Any,
    thresholds: Any, leaves: Any, tree: int, work: Any,
) -> None:  # fmt: skip
    """The same tree from sparse rows, whose columns are numbered in order; names[c] is the column
    c among all. Values that are not there are 0."""
    order, begins, ends, lows, highs, counts, touched = work
    _plant(np.arange(len(starts) - 1), order, begins, ends)
    for p in range(attributes.shape[1]):
        _stop(p, tree, attributes, thresholds, begins, ends)
        size, met = ends[p] - begins[p], 0
        if size < 2:
            continue
        for r in range(begins[p], ends[p]):
            for e in range(starts[order[r]], starts[order[r] + 1]):
                c, value = columns[e], values[e]
                if counts[c] == 0:
                    touched[met] = c
                    met += 1
                    lows[c] = highs[c] = value
                counts[c] += 1
                lows[c], highs[c] = min(lows[c], value), max(highs[c], value)
        varied = 0
        for m in range(met):
            c = touched[m]
            if counts[c] < size:
                lows[c], highs[c] = min(lows[c], 0.0), max(highs[c], 0.0)
            counts[c] = 0
            if lows[c] < highs[c]:
                touched[varied] = c
                varied += 1
        if varied == 0:
            continue
        c = _smallest_but(touched, varied, _place(uniforms[2 * p], varied))
        threshold = _between(lows[c], highs[c], uniforms[2 * p + 1])
        attributes[tree, p], thresholds[tree, p] = names[c], threshold
        middle = begins[p]
        for r in range(begins[p], ends[p]):
            if _value(values, columns, starts, order[r], c) < threshold:
                order[r], order[middle] = order[middle], order[r]
                middle += 1
        _branch(p, middle, begins, ends)
    _number(leaves, tree, begins)


@compiled()
def find_leaves_dense(
    rows: Any, attributes: Any, thresholds: Any, leaves: Any, depth: int, nodes: Any, cells: Any
) -> None:
    """The leaf of every tree in which each row ends."""
    for row in range(len(rows)):
        _walk(rows, row, attributes, thresholds, leaves, depth, nodes, cells, row)


@compiled()
def find_leaves_sparse(
    values: Any, columns: Any, starts: Any, places: Any, attributes: Any, thresholds: Any,
    leaves: Any, depth: int, row_values: Any, nodes: Any, cells: Any,
) -> None:  # fmt: skip
    """The same of sparse rows. Attributes are numbered among the columns that trees look at:
    places[c] is the number of column c, or UNUSED."""
    for row in range(len(cells)):
        for e in range(starts[row], starts[row + 1]):
            if places[columns[e]] != UNUSED:
                row_values[0, places[columns[e]]] = values[e]
        _walk(row_values, 0, attributes, thresholds, leaves, depth, nodes, cells, row)
        for e in range(starts[row], starts[row + 1]):
            if places[columns[e]] != UNUSED:
                row_values[0, places[columns[e]]] = 0.0


@compiled()
def _walk(
    rows: Any, row: int, attributes: Any, thresholds: Any, leaves: Any, depth: int, nodes: Any,
    cells: Any, out: int,
) -> None:  # fmt: skip
    """All trees take a step together, because steps in different trees need not wait. Numbers
    without a sign keep Numba from asking whether a place is counted from the end."""
    n_trees, inner = len(attributes), np.uint64(attributes.shape[1])
    every, cuts, values = attributes.reshape(-1), thresholds.reshape(-1), rows[row]
    for t in range(n_trees):
        nodes[t] = 0
    for _ in range(depth):
        for t in range(n_trees):
            tree = np.uint64(t)
            at = tree * inner + nodes[tree]
            below = values[np.uint64(every[at])] < cuts[at]
            nodes[tree] = np.uint64(2) * (nodes[tree] + np.uint64(1)) - np.uint64(below)
    for t in range(n_trees):
        tree = np.uint64(t)
        cells[out, t] = leaves[tree, nodes[tree] - inner]


@compiled()
def _plant(sample: Any, order: Any, begins: Any, ends: Any) -> None:
    """All rows of a sample stand at the root, and no other node is there."""
    for r in range(len(sample)):
        order[r] = sample[r]
    for p in range(len(begins)):
        begins[p], ends[p] = -1, -1
    begins[0], ends[0] = 0, len(sample)


@compiled()
def _stop(p: int, tree: int, attributes: Any, thresholds: Any, begins: Any, ends: Any) -> None:
    """Have node p lead to its left child, with all its rows, until it is split."""
    attributes[tree, p], thresholds[tree, p] = 0, np.inf
    if begins[p] >= 0:
        begins[2 * p + 1], ends[2 * p + 1] = begins[p], ends[p]


@compiled()
def _branch(p: int, middle: int, begins: Any, ends: Any) -> None:
    """Share out the rows of node p between its children."""
    begins[2 * p + 1], ends[2 * p + 1] = begins[p], middle
    begins[2 * p + 2], ends[2 * p + 2] = middle, ends[p]


@compiled()
def _number(leaves: Any, tree: int, begins: Any) -> None:
    """Number the leaves from left to right, by the nodes of the lowest level that are there."""
    lowest = len(begins) - leaves.shape[1]
    number = -1
    for b in range(leaves.shape[1]):
        number += begins[lowest + b] >= 0
        leaves[tree, b] = number


@compiled()
def _place(uniform: float, count: int) -> int:
    """The place among `count` that a number in [0, 1) chooses."""
    return min(int(uniform * count), count - 1)


@compiled()
def _between(low: float, high: float, uniform: float) -> float:
    """The number at that share of the way; the sum cannot overflow as a difference can."""
    return min(max(low * (1.0 - uniform) + high * uniform, low), high)


@compiled()
def _find_varied(rows: Any, order: Any, begin: int, end: int, varies: Any, left: Any) -> int:
    """Mark the columns in which rows order[begin:end] are not all alike; how many there are.

    Few rows show it of most columns. So whole rows are compared with the first only until few
    columns are left, because rows of many columns do not fit into the caches.
    """
    width, first = rows.shape[1], order[begin]
    varies[:] = 0
    r, step, n_left = begin + 1, 1, width
    while r < end and n_left > width // FEW:
        for other in order[r : min(r + step, end)]:
            _compare(rows, first, other, varies)
        r, step = min(r + step, end), 2 * step
        n_left = width - _count(varies)
    if r == end or n_left == 0:
        return width - n_left
    n_left = 0
    for j in range(width):
        if not varies[j]:
            left[n_left] = j
            n_left += 1
    while r < end and n_left > 0:
        n_left = _sift(rows, first, order[r], varies, left, n_left)
        r += 1
    return width - n_left


@compiled()
def _compare(rows: Any, first: int, other: int, varies: Any) -> None:
    """Mark the columns in which two rows differ."""
    for j in range(rows.shape[1]):
        varies[j] |= np.uint8(rows[first, j] != rows[other, j])


@compiled()
def _count(varies: Any) -> int:
    total = 0
    for j in range(len(varies)):
        total += varies[j]
    return total


@compiled()
def _sift(rows: Any, first: int, other: int, varies: Any, left: Any, n_left: int) -> int:
    """The same of the columns that are left, which are fewer then."""
    kept = 0
    for m in range(n_left):
        j = left[m]
        if rows[first, j] != rows[other, j]:
            varies[j] = 1
        else:
            left[kept] = j
            kept += 1
    return kept


@compiled()
def _smallest_but(items: Any, size: int, place: int) -> int:
    """The item that would stand at that place if the first `size` were in order."""
    first, last = 0, size - 1
    while first < last:
        pivot, i, j = items[(first + last) // 2], first, last
        while i <= j:
            while items[i] < pivot:
                i += 1
            while items[j] > pivot:
                j -= 1
            if i <= j:
                items[i], items[j] = items[j], items[i]
                i += 1
                j -= 1
        if place <= j:
            last = j
        elif place >= i:
            first = i
        else:
            break
    return int(items[place])


@compiled()
def _value(values: Any, columns: Any, starts: Any, row: int, column: int) -> float:
    """A value of a sparse row, whose columns stand in order."""
    first, last = starts[row], starts[row + 1]
    while first < last:
        middle = (first + last) // 2
        if columns[middle] < column:
            first = middle + 1
        else:
            last = middle
    return values[first] if first < starts[row + 1] and columns[first] == column else 0.0
