"""The loops of BKM over rows, and over the numbers of its particles.

All of them take single or double precision as the arrays are. The numbers of a particle stand in
one line: the weights of the cosines and of the sines of each class, `lanes` each; then the weight
of the constant feature of each class, if there is one; then a scale for each input; then padding.

Rows are walked over TOGETHER at a time, so that what is loaded of a particle serves all of them.
A batch is filled up to a multiple of it with rows of zeros, whose label is NOBODY.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.compiled.elementary import FUSED, exp
from okbench.learners.compiled.lanes import REASSOCIATED
from okbench.learners.compiled.single_precision import sincos_line

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


@compiled(fastmath=FUSED)
def learn_batch(
    form: Form, angles: Any, labels: Any, share: float, particle: Any, gradient: Any, totals: Any,
    scratch: ParticleScratch,
) -> None:  # fmt: skip
    """Add the loss's gradient by a particle's weights to `gradient`, and the particle's scores to
    `totals`; angles become what the loss does as they rise. `share` is the part of each row."""
    cosines, sines, scores = scratch
    for first in range(0, len(angles), TOGETHER):
        find_few_scores(form, angles, first, particle, scratch)
        for i in range(TOGETHER):
            for m in range(form.classes):
                totals[first + i, m] += scores[i, m]
            find_residuals(scores[i], labels[first + i], share)
        for m in range(form.classes):
            line = 2 * m * form.lanes
            add_four(scores, m, cosines, gradient[line : line + form.lanes])
            line += form.lanes
            add_four(scores, m, sines, gradient[line : line + form.lanes])
        for m in range(form.biased):
            residual = scores[0, m] + scores[1, m] + scores[2, m] + scores[3, m]
            gradient[2 * form.classes * form.lanes + m] += residual
        if form.n_moved > form.n_weights:
            for i in range(TOGETHER):
                find_angle_slopes(
                    form, particle, scores[i], cosines[i], sines[i], angles[first + i]
                )


@compiled(fastmath=FUSED)
def score_batch(form: Form, angles: Any, particle: Any, out: Any, scratch: ParticleScratch) -> None:
    """out: the scores of a particle."""
    for first in range(0, len(angles), TOGETHER):
        find_few_scores(form, angles, first, particle, scratch)
        for i in range(TOGETHER):
            for m in range(form.classes):
                out[first + i, m] = scratch.scores[i, m]


@compiled(fastmath=FUSED)
def find_few_scores(
    form: Form, angles: Any, first: int, particle: Any, scratch: ParticleScratch
) -> None:
    """Features and scores of a few rows."""
    cosines, sines, scores = scratch
    for i in range(TOGETHER):
        sincos_line(angles[first + i], sines[i], cosines[i])
        for j in range(form.components, form.lanes):  # padding has no features
            cosines[i, j] = 0.0
        if form.factor != 1.0:
            scale_line(sines[i], form.factor)
            scale_line(cosines[i], form.factor)
    for m in range(form.classes):
        line = 2 * m * form.lanes
        middle, end = line + form.lanes, line + 2 * form.lanes
        four = inner_four(particle[line:middle], particle[middle:end], cosines, sines)
        scores[0, m], scores[1, m], scores[2, m], scores[3, m] = four
    for m in range(form.biased):
        for i in range(TOGETHER):
            scores[i, m] += particle[2 * form.classes * form.lanes + m]


@compiled(fastmath=FUSED)
def find_residuals(scores: Any, label: int, share: float) -> None:
    """Scores become the derivatives of the cross-entropy by them, times `share`."""
    highest = scores[0]
    for m in range(1, len(scores)):
        highest = max(highest, scores[m])
    total = 0.0
    for m in range(len(scores)):
        scores[m] = exp(float(scores[m] - highest))
        total += scores[m]
    for m in range(len(scores)):
        residual = scores[m] / total - (1.0 if m == label else 0.0)
        scores[m] = share * residual if label != NOBODY else 0.0


@compiled(fastmath=REASSOCIATED)
def inner_four(by_cosine: Any, by_sine: Any, cosines: Any, sines: Any) -> Any:
    """The scores of four rows by the weights of one class."""
    a = b = c = d = by_cosine.dtype.type(0.0)
    cos0, cos1, cos2, cos3 = cosines[0], cosines[1], cosines[2], cosines[3]
    sin0, sin1, sin2, sin3 = sines[0], sines[1], sines[2], sines[3]
    for j in range(len(by_cosine)):
        a += by_cosine[j] * cos0[j] + by_sine[j] * sin0[j]
        b += by_cosine[j] * cos1[j] + by_sine[j] * sin1[j]
        c += by_cosine[j] * cos2[j] + by_sine[j] * sin2[j]
        d += by_cosine[j] * cos3[j] + by_sine[j] * sin3[j]
    return a, b, c, d


@compiled(fastmath=REASSOCIATED)
def add_four(factors: Any, m: int, features: Any, to: Any) -> None:
    """Add the features of four rows, each times its factor for class m."""
    a, b, c, d = factors[0, m], factors[1, m], factors[2, m], factors[3, m]
    one, two, three, four = features[0], features[1], features[2], features[3]
    for j in range(len(to)):
        to[j] += a * one[j] + b * two[j] + c * three[j] + d * four[j]


@compiled(fastmath=FUSED)
def find_angle_slopes(
    form: Form, particle: Any, residuals: Any, cosines: Any, sines: Any, out: Any
) -> None:
    """out: what the loss of a row does as each of its angles rises."""
    lanes = form.lanes
    for m in range(0, form.classes, 2):
        other = min(m + 1, form.classes - 1)  # of an odd number of classes, the last counts once
        a, b = residuals[m], residuals[other] if other > m else residuals.dtype.type(0.0)
        line, next_line = 2 * m * lanes, 2 * other * lanes
        add_slopes(
            a, b, particle[line : line + lanes], particle[line + lanes : line + 2 * lanes],
            particle[next_line : next_line + lanes],
            particle[next_line + lanes : next_line + 2 * lanes], cosines, sines, out, m == 0,
        )  # fmt: skip


@compiled(fastmath=REASSOCIATED)
def add_slopes(
    a: Any, b: Any, cosine_a: Any, sine_a: Any, cosine_b: Any, sine_b: Any, cosines: Any,
    sines: Any, out: Any, is_first: bool,
) -> None:  # fmt: skip
    """`find_angle_slopes` for two classes, by their weights."""
    if is_first:
        for j in range(len(out)):
            rise = (a * sine_a[j] + b * sine_b[j]) * cosines[j]
            out[j] = rise - (a * cosine_a[j] + b * cosine_b[j]) * sines[j]
    else:
        for j in range(len(out)):
            rise = (a * sine_a[j] + b * sine_b[j]) * cosines[j]
            out[j] += rise - (a * cosine_a[j] + b * cosine_b[j]) * sines[j]


@compiled(fastmath=FUSED)
def scale_line(values: Any, factor: float) -> None:
    """values times factor, in place."""
    by = values.dtype.type(factor)
    for j in range(len(values)):
        values[j] *= by


@compiled(fastmath=FUSED)
def gather(rows: Any, chosen: Any, out: Any) -> None:
    """out: the chosen rows, in the precision of `out`."""
    for i in range(len(chosen)):
        row, line = rows[chosen[i]], out[i]
        for n in range(len(line)):
            line[n] = row[n]


@compiled(fastmath=FUSED)
def sparse_angles(rows: Any, chosen: Any, scales: Any, noise: Any, angles: Any) -> None:
    """angles: the chosen sparse rows, times the scales, times the noise."""
    values, columns, starts = rows
    for i in range(len(chosen)):
        line = angles[i]
        line[:] = 0.0
        start, stop = starts[chosen[i]], starts[chosen[i] + 1]
        for e in range(start, stop - 3, 4):
            p, q, r, s = columns[e], columns[e + 1], columns[e + 2], columns[e + 3]
            add_lines(
                scales[p] * values[e], scales[q] * values[e + 1], scales[r] * values[e + 2],
                scales[s] * values[e + 3], noise[p], noise[q], noise[r], noise[s], line,
            )  # fmt: skip
        for e in range(stop - (stop - start) % 4, stop):
            add_line(scales[columns[e]] * values[e], noise[columns[e]], line)


@compiled(fastmath=FUSED)
def add_sparse_slopes(rows: Any, chosen: Any, noise: Any, slopes: Any, gradient: Any) -> None:
    """Add to `gradient` what the loss does as each scale rises."""
    values, columns, starts = rows
    for i in range(len(chosen)):
        line = slopes[i]
        for e in range(starts[chosen[i]], starts[chosen[i] + 1]):
            gradient[columns[e]] += values[e] * inner(noise[columns[e]], line)


@compiled(fastmath=FUSED)
def add_inner_products(some: Any, others: Any, to: Any) -> None:
    """Add the inner product of each line of a matrix and the same line of another."""
    for n in range(len(some)):
        to[n] += inner(some[n], others[n])


@compiled(fastmath=REASSOCIATED)
def add_lines(
    a: float, b: float, c: float, d: float, one: Any, two: Any, three: Any, four: Any, to: Any
) -> None:
    kind = to.dtype.type
    p, q, r, s = kind(a), kind(b), kind(c), kind(d)
    for j in range(len(to)):
        to[j] += p * one[j] + q * two[j] + r * three[j] + s * four[j]


@compiled(fastmath=REASSOCIATED)
def add_line(a: float, one: Any, to: Any) -> None:
    factor = to.dtype.type(a)
    for j in range(len(to)):
        to[j] += factor * one[j]


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
