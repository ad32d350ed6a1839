"""The loops of BKM over rows, and over the numbers of its particles.

All of them take single or double precision as the arrays are. The numbers of a particle stand in
one line: the weights of the cosines and of the sines of each class, `lanes` each; then the weight
of the constant feature of each class, if there is one; then a scale for each input; then padding.

Rows are walked over TOGETHER at a time, so that what is loaded of a particle serves all of them.
A batch is filled up to a multiple of it with rows of zeros, whose label is NOBODY.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.numeric.elementary import FUSED, exp
from okbench.learners.numeric.lanes import REASSOCIATED
from okbench.learners.numeric.single_precision import sincos_lines
from okbench.learners.numeric.vector_products import (
    find_slopes,
    inner_products,
    sparse_product,
)

TOGETHER = 4  # rows
NOBODY = -1  # the label of a row that is not there


class Form(NamedTuple):
    """What the numbers of a particle are."""

    classes: int
    components: int
    lanes: int  # components and padding
    biased: int  # classes that have a weight for the constant feature: all or none
    n_weights: int
    n_moved: int  # weights, and scales if they move
    factor: float  # of the cosines and sines


class ParticleScratch(NamedTuple):
    """Where the features of a few rows are made."""

    cosines: NDArray[Any]  # TOGETHER × lanes
    sines: NDArray[Any]
    scores: NDArray[Any]  # TOGETHER × classes; then what the loss does as they rise


class Entries(NamedTuple):
    """The entries of a batch of sparse rows. Without rows it says that the angles are given."""

    values: NDArray[Any]
    columns: NDArray[np.int32]
    starts: NDArray[np.int32]  # of each row, and the end of the last one
    work: NDArray[Any]  # a number for each entry


@compiled(fastmath=FUSED)
def learn_batch(
    form: Form, angles: Any, entries: Entries, noise: Any, labels: Any, share: float,
    particle: Any, gradient: Any, totals: Any, scratch: ParticleScratch,
) -> None:  # fmt: skip
    """Add the loss's gradient by a particle's weights to `gradient`, and the particle's scores to
    `totals`. `share` is the part of each row in the loss.

    The angles of all rows are given, and become what the loss does as they rise. Those of sparse
    rows are made here, a few rows at a time, and so is the gradient by the scales.
    """
    cosines, sines, scores = scratch
    weights, slopes = by_class(form, particle), by_class(form, gradient)
    constant, constant_slope = constant_weights(form, particle), constant_weights(form, gradient)
    scales, scale_slopes = particle[form.n_weights :], gradient[form.n_weights :]
    is_sparse, moves_scales = len(entries.starts) > 1, form.n_moved > form.n_weights
    for first in range(0, len(labels), TOGETHER):
        line = 0 if is_sparse else first
        if is_sparse:
            find_sparse_angles(entries, first, scales, noise, angles)
        find_few_scores(form, angles, line, weights, constant, cosines, sines, scores)
        for i in range(TOGETHER):
            for m in range(form.classes):
                totals[first + i, m] += scores[i, m]
            find_residuals(scores, i, labels[first + i], share)
        for m in range(form.classes):
            add_four(scores, m, cosines, sines, slopes)
        for m in range(form.biased):
            constant_slope[m] += scores[0, m] + scores[1, m] + scores[2, m] + scores[3, m]
        if moves_scales:
            find_slopes(scores, particle, cosines, sines, line, angles)
            if is_sparse:
                add_sparse_slopes(entries, first, noise, angles, scale_slopes)


@compiled(fastmath=FUSED)
def score_batch(
    form: Form, angles: Any, entries: Entries, noise: Any, particle: Any, out: Any,
    scratch: ParticleScratch,
) -> None:  # fmt: skip
    """out: the scores of a particle, with angles and sparse rows as in `learn_batch`."""
    cosines, sines, scores = scratch
    weights, constant = by_class(form, particle), constant_weights(form, particle)
    scales, is_sparse = particle[form.n_weights :], len(entries.starts) > 1
    for first in range(0, len(out), TOGETHER):
        line = 0 if is_sparse else first
        if is_sparse:
            find_sparse_angles(entries, first, scales, noise, angles)
        find_few_scores(form, angles, line, weights, constant, cosines, sines, scores)
        for i in range(TOGETHER):
            for m in range(form.classes):
                out[first + i, m] = scores[i, m]


@compiled()
def by_class(form: Form, numbers: Any) -> Any:
    """The weights among the numbers: classes × (of cosines, of sines) × lanes."""
    return numbers[: 2 * form.classes * form.lanes].reshape(form.classes, 2, form.lanes)


@compiled()
def constant_weights(form: Form, numbers: Any) -> Any:
    """The weights of the constant feature among the numbers."""
    return numbers[form.n_weights - form.biased : form.n_weights]


@compiled(fastmath=FUSED)
def find_few_scores(
    form: Form, angles: Any, first: int, weights: Any, constant: Any, cosines: Any, sines: Any,
    scores: Any,
) -> None:  # fmt: skip
    """Features and scores of a few rows."""
    sincos_lines(angles, first, sines, cosines)
    for i in range(TOGETHER):
        for j in range(form.components, form.lanes):  # padding has no features
            cosines[i, j] = 0.0
    if form.factor != 1.0:
        scale_lines(sines, form.factor)
        scale_lines(cosines, form.factor)
    for m in range(form.classes):
        four = inner_four(weights, m, cosines, sines)
        scores[0, m], scores[1, m], scores[2, m], scores[3, m] = four
    for m in range(form.biased):
        for i in range(TOGETHER):
            scores[i, m] += constant[m]


@compiled(fastmath=FUSED)
def find_residuals(scores: Any, i: int, label: int, share: float) -> None:
    """The scores of a row become the derivatives of the cross-entropy by them, times `share`."""
    n_classes = scores.shape[1]
    highest = scores[i, 0]
    for m in range(1, n_classes):
        highest = max(highest, scores[i, m])
    total = 0.0
    for m in range(n_classes):
        scores[i, m] = exp(float(scores[i, m] - highest))
        total += scores[i, m]
    for m in range(n_classes):
        residual = scores[i, m] / total - (1.0 if m == label else 0.0)
        scores[i, m] = share * residual if label != NOBODY else 0.0


@compiled(fastmath=REASSOCIATED)
def inner_four(weights: Any, m: int, cosines: Any, sines: Any) -> Any:
    """The scores of four rows by the weights of class m."""
    a = b = c = d = weights.dtype.type(0.0)
    for j in range(weights.shape[2]):
        by_cosine, by_sine = weights[m, 0, j], weights[m, 1, j]
        a += by_cosine * cosines[0, j] + by_sine * sines[0, j]
        b += by_cosine * cosines[1, j] + by_sine * sines[1, j]
        c += by_cosine * cosines[2, j] + by_sine * sines[2, j]
        d += by_cosine * cosines[3, j] + by_sine * sines[3, j]
    return a, b, c, d


@compiled(fastmath=REASSOCIATED)
def add_four(factors: Any, m: int, cosines: Any, sines: Any, to: Any) -> None:
    """Add the features of four rows, each times its factor for class m."""
    a, b, c, d = factors[0, m], factors[1, m], factors[2, m], factors[3, m]
    for j in range(to.shape[2]):
        to[m, 0, j] += a * cosines[0, j] + b * cosines[1, j] + c * cosines[2, j] + d * cosines[3, j]
        to[m, 1, j] += a * sines[0, j] + b * sines[1, j] + c * sines[2, j] + d * sines[3, j]


@compiled(fastmath=FUSED)
def scale_lines(values: Any, factor: float) -> None:
    """values times factor, in place."""
    by = values.dtype.type(factor)
    for i in range(len(values)):
        for j in range(values.shape[1]):
            values[i, j] *= by


@compiled(fastmath=FUSED)
def gather(rows: Any, chosen: Any, out: Any) -> None:
    """out: the chosen rows, in the precision of `out`."""
    for i in range(len(chosen)):
        row, line = rows[chosen[i]], out[i]
        for n in range(len(line)):
            line[n] = row[n]


@compiled()
def n_entries(starts: Any, chosen: Any) -> int:
    """The entries of the chosen sparse rows."""
    total = 0
    for i in range(len(chosen)):
        total += starts[chosen[i] + 1] - starts[chosen[i]]
    return total


@compiled(fastmath=FUSED)
def take_entries(rows: Any, chosen: Any, entries: Any) -> None:
    """Fill `entries` with the chosen sparse rows; those behind them are empty."""
    values, columns, starts = rows
    n = 0
    for i in range(len(chosen)):
        entries.starts[i] = n
        for e in range(starts[chosen[i]], starts[chosen[i] + 1]):
            entries.values[n], entries.columns[n] = values[e], columns[e]
            n += 1
    entries.starts[len(chosen) :] = n


@compiled(fastmath=FUSED)
def find_sparse_angles(entries: Any, first: int, scales: Any, noise: Any, angles: Any) -> None:
    """angles: rows from `first` on, times the scales, times the noise."""
    values, columns, starts, work = entries
    for e in range(starts[first], starts[first + TOGETHER]):
        work[e] = values[e] * scales[columns[e]]
    sparse_product(work, columns, starts[first:], noise, angles)


@compiled(fastmath=FUSED)
def add_sparse_slopes(entries: Any, first: int, noise: Any, slopes: Any, to: Any) -> None:
    """Add to `to` what the loss does as each scale rises, by these rows' slopes of the angles."""
    values, columns, starts, work = entries
    for i in range(TOGETHER):
        start, stop = starts[first + i], starts[first + i + 1]
        inner_products(columns, start, stop, noise, slopes, i, noise.shape[1], work)
        for e in range(start, stop):
            to[columns[e]] += values[e] * work[e - start]


@compiled(fastmath=FUSED)
def add_inner_products(some: Any, others: Any, to: Any) -> None:
    """Add the inner product of each line of a matrix and the same line of another."""
    for n in range(len(some)):
        to[n] += inner(some[n], others[n])


@compiled(fastmath=REASSOCIATED)
def inner(one: Any, other: Any) -> Any:
    total = one.dtype.type(0.0)
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@compiled()
def count_mistakes(totals: Any, labels: Any) -> int:
    """Rows whose largest total, the first of equal ones, is not that of their label."""
    mistakes = 0
    for i in range(len(labels)):
        best = 0
        for m in range(1, totals.shape[1]):
            if totals[i, m] > totals[i, best]:
                best = m
        mistakes += best != labels[i]
    return mistakes
