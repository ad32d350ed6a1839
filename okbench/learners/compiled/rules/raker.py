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
from okbench.learners.compiled.elementary import FUSED, exp, sincos_sweep
from okbench.learners.compiled.lanes import aligned, inlined
from okbench.learners.compiled.losses import RESIDUAL
from okbench.learners.compiled.vector_products import inner_products, shrink_and_add
from okbench.learners.contract import FloatArray

# What the released program adds so that it never divides by zero and no weight becomes zero.
TINY_OF_KERNELS, TINY_OF_INSTANCES, LEAST_WEIGHT = 1e-12, 1e-10, 1e-4
LARGEST_WEIGHT = 1e10


class Model(NamedTuple):
    """What was learned. Weights of kernels and instances are logarithms in the papers' form."""

    weights: FloatArray  # of the features: kernels · instances × 2 lanes, those of kernel 0 first
    kernel_weights: FloatArray  # kernels × instances
    instance_weights: FloatArray  # instances
    clock: NDArray[np.int64]  # rows learned


class Rule(NamedTuple):
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


class Work(NamedTuple):
    """Scratch for one row."""

    features: FloatArray  # kernels × 2 lanes: cosines, then sines
    outputs: FloatArray  # of every kernel in every instance: kernels × instances
    shares: FloatArray  # weights of the kernels in every instance: kernels × instances
    totals: FloatArray  # their sums: 1 × instances
    answers: FloatArray  # of the instances: 1 × instances
    errors: FloatArray  # 1 × instances
    gains: FloatArray  # instances
    places: NDArray[np.int32]  # numbers of the rows of `Model.weights`

    @classmethod
    def of(cls, model: Model) -> Work:
        (n_kernels, n_instances), n_lanes = model.kernel_weights.shape, model.weights.shape[1]
        by_kernel = aligned(n_kernels, n_instances), aligned(n_kernels, n_instances)
        by_instance = (aligned(1, n_instances) for _ in range(3))
        places = np.arange(len(model.weights), dtype=np.int32)
        return cls(
            aligned(n_kernels, n_lanes), *by_kernel, *by_instance, aligned(n_instances), places
        )


@compiled()
def learn_rows(
    projected: Any, first: int, targets: Any, model: Model, rule: Rule, work: Work, scores: Any
) -> None:
    """Score, then learn, every projected row; row 0 of them is row `first` of targets and scores."""
    for i in range(len(projected)):
        row = first + i
        find_features(projected, i, rule, work.features)
        n_alive = alive(model.clock[0], rule)
        score = find_score(model, rule, n_alive, work)
        scores[row, 0] = score
        learn_row(model, rule, n_alive, targets[row], score, work)
        model.clock[0] += 1
        if rule.is_layered:
            begin_anew(model, rule)


@compiled()
def score_rows(
    projected: Any, first: int, model: Model, rule: Rule, work: Work, scores: Any
) -> None:
    """`learn_rows` without learning."""
    n_alive = alive(model.clock[0], rule)
    for i in range(len(projected)):
        find_features(projected, i, rule, work.features)
        scores[first + i, 0] = find_score(model, rule, n_alive, work)


@inlined
def find_features(projected: Any, i: int, rule: Rule, features: Any) -> None:
    """The features of every kernel; those of padding are zero, so that their weights stay so."""
    n_lanes = features.shape[1] // 2
    for p in range(len(features)):
        angles = projected[i, p * n_lanes : (p + 1) * n_lanes]
        sincos_sweep(angles, features[p, n_lanes:], features[p], 0, n_lanes)
        scale_features(features, p, n_lanes, rule.components, rule.scale)


@compiled(fastmath=FUSED)
def scale_features(features: Any, p: int, n_lanes: int, components: int, scale: float) -> None:
    """Multiply the features of a kernel, and clear the cosines of the padding."""
    for j in range(2 * n_lanes):
        features[p, j] *= scale
    for j in range(components, n_lanes):
        features[p, j] = 0.0


@inlined
def alive(clock: int, rule: Rule) -> int:
    """Instances that learn the next row: interval k + 1 is first used when so many rows are past."""
    n_alive = 1
    while n_alive < len(rule.lengths) and rule.lengths[n_alive] <= clock:
        n_alive += 1
    return n_alive


@compiled(fastmath=FUSED)
def begin_anew(model: Model, rule: Rule) -> None:
    """Begin the instances anew whose intervals begin with the next row. In the released program no
    more than their own weight is set back."""
    weights, kernel_weights, instance_weights, clock = model
    n_instances = len(rule.lengths)
    for k in range(alive(clock[0], rule)):
        if clock[0] % rule.lengths[k] != 0:
            break  # nor does an interval that is a multiple as long
        instance_weights[k] = rule.first_weights[k]
        if rule.is_released:
            continue
        for p in range(len(kernel_weights)):
            kernel_weights[p, k] = 0.0
            for j in range(weights.shape[1]):
                weights[p * n_instances + k, j] = 0.0


@inlined
def find_score(model: Model, rule: Rule, n_alive: int, work: Work) -> float:
    """Outputs, shares and answers of the instances alive, and their combination."""
    weights, kernel_weights, instance_weights, _ = model
    n_kernels, n_instances = kernel_weights.shape
    width = weights.shape[1]
    for p in range(n_kernels):
        start = p * n_instances
        inner_products(
            work.places, start, start + n_alive, weights, work.features, p, width, work.outputs[p]
        )
    find_answers(kernel_weights, n_alive, rule.is_released, work)
    if not rule.is_layered:
        return work.answers[0, 0]
    if rule.is_released:
        return of_all(instance_weights, n_alive, work.answers)
    return of_alive(instance_weights, n_alive, work.answers)


@compiled(fastmath=FUSED)
def find_answers(kernel_weights: Any, n_alive: int, is_released: bool, work: Work) -> None:
    """The outputs of the kernels, weighted, for every instance."""
    outputs, shares, totals, answers = work.outputs, work.shares, work.totals, work.answers
    n_kernels = len(kernel_weights)
    for k in range(n_alive):
        totals[0, k], answers[0, k] = 0.0, 0.0
        work.errors[0, k] = kernel_weights[0, k]
    for p in range(1, n_kernels):
        for k in range(n_alive):
            work.errors[0, k] = max(work.errors[0, k], kernel_weights[p, k])
    for p in range(n_kernels):
        for k in range(n_alive):
            share = kernel_weights[p, k]
            if not is_released:
                share = exp(share - work.errors[0, k])
            shares[p, k] = share
            totals[0, k] += share
            answers[0, k] += share * outputs[p, k]
    for k in range(n_alive):
        answers[0, k] /= totals[0, k]


@compiled(fastmath=FUSED)
def of_alive(logarithms: Any, n_alive: int, answers: Any) -> float:
    """The answers of the instances alive, weighted by the exponentials of the logarithms."""
    largest = logarithms[0]
    for k in range(1, n_alive):
        largest = max(largest, logarithms[k])
    total, score = 0.0, 0.0
    for k in range(n_alive):
        share = exp(logarithms[k] - largest)
        total += share
        score += share * answers[0, k]
    return score / total


@compiled(fastmath=FUSED)
def of_all(instance_weights: Any, n_alive: int, answers: Any) -> float:
    """The same by plain weights, over all instances: those not alive yet answer 0."""
    total, score = 0.0, 0.0
    for k in range(len(instance_weights)):
        total += instance_weights[k]
        if k < n_alive:
            score += instance_weights[k] * answers[0, k]
    return score / total


@inlined
def learn_row(
    model: Model, rule: Rule, n_alive: int, target: float, score: float, work: Work
) -> None:
    """Move all weights: first those of the instances and of the kernels, by what they answered."""
    weights, kernel_weights, instance_weights, _ = model
    n_kernels, n_instances = kernel_weights.shape
    if rule.is_released:
        reweigh_kernels(kernel_weights, rule.loss, n_alive, target, work)
        if rule.is_layered:
            reweigh_instances(instance_weights, rule, n_alive, target, work)
    else:
        move_kernel_weights(kernel_weights, rule, n_alive, target, work)
        if rule.is_layered:
            move_instance_weights(instance_weights, rule, n_alive, target, score, work)
    for p in range(n_kernels):
        for k in range(n_alive):
            work.gains[k] = rule.steps[k] * pull(rule.loss, work.outputs[p, k], target)
        start = p * n_instances
        shrink_and_add(
            weights, start, start + n_alive, rule.keeps, work.gains, work.features, p,
            weights.shape[1],
        )  # fmt: skip


@compiled(fastmath=FUSED)
def pull(loss: int, output: float, target: float) -> float:
    """Minus the derivative of the loss by the output."""
    if loss == RESIDUAL:
        return 2.0 * (target - output)
    return target / (1.0 + exp(target * output))


@compiled(fastmath=FUSED)
def loss_of(loss: int, output: float, target: float) -> float:
    """The squared error, or log(1 + exp(-margin))."""
    if loss == RESIDUAL:
        return (target - output) * (target - output)
    margin = target * output
    return max(0.0, -margin) + math.log1p(exp(-abs(margin)))


@compiled(fastmath=FUSED)
def move_kernel_weights(
    logarithms: Any, rule: Rule, n_alive: int, target: float, work: Work
) -> None:
    """Exponential weights: each logarithm falls by step × loss."""
    for p in range(len(logarithms)):
        for k in range(n_alive):
            loss = loss_of(rule.loss, work.outputs[p, k], target)
            logarithms[p, k] -= rule.weight_steps[k] * loss


@compiled(fastmath=FUSED)
def move_instance_weights(
    logarithms: Any, rule: Rule, n_alive: int, target: float, score: float, work: Work
) -> None:
    """The same by how much larger the loss of an instance is than that of the combination."""
    of_score = loss_of(rule.loss, score, target)
    for k in range(n_alive):
        regret = loss_of(rule.loss, work.answers[0, k], target) - of_score
        logarithms[k] -= rule.weight_steps[k] * regret


@compiled()
def reweigh_kernels(kernel_weights: Any, loss: int, n_alive: int, target: float, work: Work) -> None:
    """The weights of kernels in the released program."""
    n_kernels, outputs, errors = len(kernel_weights), work.outputs, work.shares
    for k in range(n_alive):
        if loss == RESIDUAL:
            least, largest = np.inf, -np.inf
            for p in range(n_kernels):
                errors[p, k] = (target - outputs[p, k]) * (target - outputs[p, k])
                least, largest = min(least, errors[p, k]), max(largest, errors[p, k])
            highest = 0.0
            for p in range(n_kernels):
                part = rescaled(errors[p, k], least, largest, TINY_OF_KERNELS)
                kernel_weights[p, k] = kernel_weights[p, k] * 0.5**part + TINY_OF_KERNELS
                highest = max(highest, kernel_weights[p, k])
            if highest > LARGEST_WEIGHT:
                divide(kernel_weights, k, total_of(kernel_weights, k))
        else:
            divide(kernel_weights, k, total_of(kernel_weights, k))
            for p in range(n_kernels):
                part = 0.5 if target * outputs[p, k] < 0.0 else 1.0
                kernel_weights[p, k] = kernel_weights[p, k] * part + LEAST_WEIGHT


@compiled()
def reweigh_instances(
    instance_weights: Any, rule: Rule, n_alive: int, target: float, work: Work
) -> None:
    """The weights of instances in the released program: the step is that of the last one alive."""
    least, largest, errors = np.inf, -np.inf, work.errors
    for k in range(n_alive):
        answer = work.answers[0, k]
        if rule.loss == RESIDUAL:
            errors[0, k] = (answer - target) * (answer - target)
        else:
            errors[0, k] = 1.0 if target * answer < 0.0 else 0.0
        least, largest = min(least, errors[0, k]), max(largest, errors[0, k])
    total = 0.0
    for k in range(len(instance_weights)):
        if k < n_alive:
            part = rescaled(errors[0, k], least, largest, TINY_OF_INSTANCES)
            power = rule.weight_steps[n_alive - 1] ** part
            instance_weights[k] = instance_weights[k] * power + TINY_OF_INSTANCES
        total += instance_weights[k]
    for k in range(len(instance_weights)):
        instance_weights[k] /= total


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
