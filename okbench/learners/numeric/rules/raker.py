"""The walk of Raker and AdaRaker over the projections of rows (Shen et al. 2018, 2019).

An instance has weights on the features of every kernel and a weight per kernel; AdaRaker has one
instance per length of interval and a weight per instance on top of them, Raker a single instance.
Arrays with an entry per kernel and instance have a line per kernel, so that the instances, of which
AdaRaker has many, lie side by side.

Two forms of the rules: the papers', whose weights are logarithms, and that of the released program,
whose weights are multiplied by powers of errors that are scaled to [-1, 1].
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.jit import compiled
from okbench.learners.contract import FloatArray
from okbench.learners.numeric.elementary import FUSED, SINCOS_REACH, exp, sincos, sincos_sweep
from okbench.learners.numeric.lanes import aligned, inlined
from okbench.learners.numeric.losses import RESIDUAL
from okbench.learners.numeric.vector_products import inner_products, reaches, shrink_and_add

# What the released program adds so that it never divides by zero and no weight becomes zero.
TINY_OF_KERNELS, TINY_OF_INSTANCES, LEAST_WEIGHT = 1e-12, 1e-10, 1e-4
LARGEST_WEIGHT = 1e10


class InstanceModel(NamedTuple):
    """What was learned. Weights of kernels and instances are logarithms in the papers' form."""

    weights: FloatArray  # of the features: kernels · instances × 2 lanes, those of kernel 0 first
    kernel_weights: FloatArray  # kernels × instances
    instance_weights: FloatArray  # instances
    clock: NDArray[np.int64]  # rows learned


class InstanceRule(NamedTuple):
    """The settings in numbers; arrays have an entry per instance."""

    loss: int  # RESIDUAL or LOGISTIC
    is_released: bool  # the form of the released program
    is_layered: bool  # instances are begun anew, and weighted
    components: int
    scale: float  # of the features
    lengths: NDArray[np.int64]  # of the intervals at whose beginnings an instance is begun anew
    first_weights: FloatArray  # of an instance that is begun anew
    steps: FloatArray  # of its weights on features
    keeps: FloatArray  # what they are multiplied by at every row
    weight_steps: FloatArray  # of its weights on kernels, and of its own


class InstanceWork(NamedTuple):
    """Scratch for one row."""

    features: FloatArray  # kernels × 2 lanes: cosines, then sines
    outputs: FloatArray  # of every kernel in every instance: kernels × instances
    answers: FloatArray  # of the instances
    shares: FloatArray  # instances, as the following
    totals: FloatArray
    gains: FloatArray
    places: NDArray[np.int32]  # numbers of the rows of `InstanceModel.weights`

    @classmethod
    def of(cls, model: InstanceModel) -> InstanceWork:
        (n_kernels, n_instances), n_lanes = model.kernel_weights.shape, model.weights.shape[1]
        places = np.arange(len(model.weights), dtype=np.int32)
        answers, shares, totals, gains = (aligned(n_instances) for _ in range(4))
        features, outputs = aligned(n_kernels, n_lanes), aligned(n_kernels, n_instances)
        return cls(features, outputs, answers, shares, totals, gains, places)


@compiled(fastmath=FUSED)
def learn_instances(
    projected: Any,
    first: int,
    targets: Any,
    model: InstanceModel,
    rule: InstanceRule,
    work: InstanceWork,
    scores: Any,
) -> None:
    """Score, then learn, every projected row; row 0 of them is row `first` of the targets."""
    weights, kernel_weights, instance_weights, clock = model
    loss, is_released, is_layered, components, scale, lengths, first_weights = rule[:7]
    steps, keeps, weight_steps = rule[7:]
    features, outputs, answers, shares, totals, gains, places = work
    n_kernels, n_instances, width = len(features), len(lengths), weights.shape[1]
    for i in range(len(projected)):
        row = first + i
        target = targets[row]
        n_alive = alive(clock[0], lengths)
        find_kernel_features(projected, i, features, components, scale)
        for p in range(n_kernels):
            start = p * n_instances
            inner_products(
                places, start, start + n_alive, weights, features, p, width, shares
            )  # fmt: skip
            for k in range(n_alive):
                outputs[p, k] = shares[k]
                gains[k] = steps[k] * slope_of(loss, shares[k], target)
            # What a kernel learns depends on its own output alone, and its weights are in cache.
            shrink_and_add(weights, start, start + n_alive, keeps, gains, features, p, width)
        find_answers(kernel_weights, outputs, n_alive, is_released, shares, totals, answers)
        score = combine(instance_weights, n_alive, answers, is_released, is_layered)
        scores[row, 0] = score
        if is_released:
            reweigh_kernels(kernel_weights, outputs, loss, n_alive, target)
            if is_layered:
                last_step = weight_steps[n_alive - 1]
                reweigh_instances(instance_weights, answers, loss, n_alive, target, last_step)
        else:
            move_kernel_weights(kernel_weights, outputs, loss, n_alive, target, weight_steps)
            if is_layered:
                move_instance_weights(
                    instance_weights, answers, loss, n_alive, target, score, weight_steps
                )  # fmt: skip
        clock[0] += 1
        if is_layered:
            begin_anew(
                weights, kernel_weights, instance_weights, clock[0], lengths, first_weights,
                is_released,
            )  # fmt: skip


@compiled(fastmath=FUSED)
def score_instances(
    projected: Any,
    first: int,
    model: InstanceModel,
    rule: InstanceRule,
    work: InstanceWork,
    scores: Any,
) -> None:
    """`learn_instances` without learning."""
    weights, kernel_weights, instance_weights, clock = model
    features, outputs, answers, shares, totals, _, places = work
    is_released, is_layered, components, scale = (
        rule.is_released, rule.is_layered, rule.components, rule.scale,
    )  # fmt: skip
    n_kernels, n_instances, width = len(features), len(rule.lengths), weights.shape[1]
    n_alive = alive(clock[0], rule.lengths)
    for i in range(len(projected)):
        find_kernel_features(projected, i, features, components, scale)
        for p in range(n_kernels):
            start = p * n_instances
            inner_products(places, start, start + n_alive, weights, features, p, width, shares)
            for k in range(n_alive):
                outputs[p, k] = shares[k]
        find_answers(kernel_weights, outputs, n_alive, is_released, shares, totals, answers)
        scores[first + i, 0] = combine(
            instance_weights, n_alive, answers, is_released, is_layered
        )  # fmt: skip


@compiled(fastmath=FUSED)
def find_kernel_features(
    projected: Any, i: int, features: Any, components: int, scale: float
) -> None:
    """The features of every kernel; those of padding are zero, so that their weights stay so."""
    n_lanes = features.shape[1] // 2
    if reaches(projected, i, projected.shape[1], SINCOS_REACH):
        for p in range(len(features)):
            angles = projected[i, p * n_lanes : (p + 1) * n_lanes]
            sincos_sweep(angles, features[p, n_lanes:], features[p], 0, n_lanes)
            for j in range(2 * n_lanes):
                features[p, j] *= scale
    else:
        for p in range(len(features)):
            for j in range(n_lanes):
                sine, cosine = sincos(projected[i, p * n_lanes + j])
                features[p, j] = scale * cosine
                features[p, n_lanes + j] = scale * sine
    for p in range(len(features)):
        for j in range(components, n_lanes):
            features[p, j] = 0.0


@inlined
def alive(clock: int, lengths: Any) -> int:
    """Instances that learn the next row: number k is first used after lengths[k] rows."""
    n_alive = 1
    while n_alive < len(lengths) and lengths[n_alive] <= clock:
        n_alive += 1
    return n_alive


@compiled()
def begin_anew(
    weights: Any, kernel_weights: Any, instance_weights: Any, clock: int, lengths: Any,
    first_weights: Any, is_released: bool,
) -> None:  # fmt: skip
    """Begin the instances anew whose intervals begin with the next row. In the released program no
    more than their own weight is set back."""
    for k in range(alive(clock, lengths)):
        if clock % lengths[k] != 0:
            break  # nor does an interval begin that is longer
        instance_weights[k] = first_weights[k]
        if is_released:
            continue
        for p in range(len(kernel_weights)):
            kernel_weights[p, k] = 0.0
            for j in range(weights.shape[1]):
                weights[p * len(lengths) + k, j] = 0.0


@compiled(fastmath=FUSED)
def find_answers(
    kernel_weights: Any, outputs: Any, n_alive: int, is_released: bool, shares: Any, totals: Any,
    answers: Any,
) -> None:  # fmt: skip
    """The weighted mean of the kernels' outputs, for every instance."""
    for k in range(n_alive):
        totals[k], answers[k] = 0.0, 0.0
        shares[k] = kernel_weights[0, k]  # the largest, which is subtracted from the logarithms
    for p in range(1, len(kernel_weights)):
        for k in range(n_alive):
            shares[k] = max(shares[k], kernel_weights[p, k])
    for p in range(len(kernel_weights)):
        for k in range(n_alive):
            share = kernel_weights[p, k]
            if not is_released:
                share = exp(share - shares[k])
            totals[k] += share
            answers[k] += share * outputs[p, k]
    for k in range(n_alive):
        answers[k] /= totals[k]


@compiled(fastmath=FUSED)
def combine(
    instance_weights: Any, n_alive: int, answers: Any, is_released: bool, is_layered: bool
) -> float:
    """The weighted mean of the instances' answers. In the released program those not used yet
    answer 0, and their weights count."""
    if not is_layered:
        return float(answers[0])
    total, score, largest = 0.0, 0.0, instance_weights[0]
    if is_released:
        for k in range(len(instance_weights)):
            total += instance_weights[k]
            if k < n_alive:
                score += instance_weights[k] * answers[k]
        return float(score / total)
    for k in range(1, n_alive):
        largest = max(largest, instance_weights[k])
    for k in range(n_alive):
        share = exp(instance_weights[k] - largest)
        total += share
        score += share * answers[k]
    return float(score / total)


@compiled(fastmath=FUSED)
def slope_of(loss: int, output: float, target: float) -> float:
    """Minus the derivative of the loss by the output."""
    if loss == RESIDUAL:
        return 2.0 * (target - output)
    return target / (1.0 + exp(target * output))


@compiled(fastmath=FUSED)
def loss_at(loss: int, output: float, target: float) -> float:
    """The squared error, or log(1 + exp(-margin))."""
    if loss == RESIDUAL:
        return (target - output) * (target - output)
    margin = target * output
    return max(0.0, -margin) + math.log1p(exp(-abs(margin)))


@compiled(fastmath=FUSED)
def move_kernel_weights(
    logarithms: Any, outputs: Any, loss: int, n_alive: int, target: float, weight_steps: Any
) -> None:
    """Exponential weights: each logarithm falls by step × loss."""
    for p in range(len(logarithms)):
        for k in range(n_alive):
            logarithms[p, k] -= weight_steps[k] * loss_at(loss, outputs[p, k], target)


@compiled(fastmath=FUSED)
def move_instance_weights(
    logarithms: Any, answers: Any, loss: int, n_alive: int, target: float, score: float,
    weight_steps: Any,
) -> None:  # fmt: skip
    """The same by how much larger the loss of an instance is than that of the combination."""
    of_score = loss_at(loss, score, target)
    for k in range(n_alive):
        logarithms[k] -= weight_steps[k] * (loss_at(loss, answers[k], target) - of_score)


@compiled()
def reweigh_kernels(
    kernel_weights: Any, outputs: Any, loss: int, n_alive: int, target: float
) -> None:
    """The weights of kernels in the released program."""
    n_kernels = len(kernel_weights)
    for k in range(n_alive):
        if loss != RESIDUAL:
            divide(kernel_weights, k, total_of(kernel_weights, k))
            for p in range(n_kernels):
                part = 0.5 if target * outputs[p, k] < 0.0 else 1.0
                kernel_weights[p, k] = kernel_weights[p, k] * part + LEAST_WEIGHT
            continue
        least, largest, highest = np.inf, -np.inf, 0.0
        for p in range(n_kernels):
            error = error_of(loss, outputs[p, k], target)
            least, largest = min(least, error), max(largest, error)
        for p in range(n_kernels):
            error = error_of(loss, outputs[p, k], target)
            part = rescaled(error, least, largest, TINY_OF_KERNELS)
            kernel_weights[p, k] = kernel_weights[p, k] * 0.5**part + TINY_OF_KERNELS
            highest = max(highest, kernel_weights[p, k])
        if highest > LARGEST_WEIGHT:
            divide(kernel_weights, k, total_of(kernel_weights, k))


@compiled()
def reweigh_instances(
    instance_weights: Any, answers: Any, loss: int, n_alive: int, target: float, last_step: float
) -> None:
    """The weights of instances in the released program: the step is that of the last one alive."""
    least, largest, total = np.inf, -np.inf, 0.0
    for k in range(n_alive):
        error = error_of(loss, answers[k], target)
        least, largest = min(least, error), max(largest, error)
    for k in range(len(instance_weights)):
        if k < n_alive:
            part = rescaled(error_of(loss, answers[k], target), least, largest, TINY_OF_INSTANCES)
            instance_weights[k] = instance_weights[k] * last_step**part + TINY_OF_INSTANCES
        total += instance_weights[k]
    for k in range(len(instance_weights)):
        instance_weights[k] /= total


@compiled()
def error_of(loss: int, output: float, target: float) -> float:
    """The squared error, or whether the sign is wrong."""
    if loss == RESIDUAL:
        return (output - target) * (output - target)
    return 1.0 if target * output < 0.0 else 0.0


@compiled()
def rescaled(error: float, least: float, largest: float, tiny: float) -> float:
    """An error from -1, the least, to 1, the largest."""
    middle, radius = (largest + least) / 2.0, (largest - least) / 2.0
    return (error - middle + tiny) / (radius + tiny)


@compiled()
def total_of(matrix: Any, k: int) -> float:
    """The sum of a column."""
    total = 0.0
    for p in range(len(matrix)):
        total += matrix[p, k]
    return total


@compiled()
def divide(matrix: Any, k: int, by: float) -> None:
    """Divide a column."""
    for p in range(len(matrix)):
        matrix[p, k] /= by
