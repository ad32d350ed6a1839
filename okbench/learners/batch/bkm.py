"""Bayesian kernel machine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okbench.base.blas_threads import one_thread
from okbench.learners.base import arrays_in
from okbench.learners.batch.base import BatchLearner, Progress
from okbench.learners.batch.mini_batches import mini_batches
from okbench.learners.batch.particle_angles import Angles, angles_of, n_lines
from okbench.learners.batch.stein import STEPS, Stein
from okbench.learners.contract import Clock, Diverged, FloatArray, Problem, Rows
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.rules.bkm import (
    NOBODY,
    TOGETHER,
    Form,
    ParticleScratch,
    count_mistakes,
    learn_batch,
    score_batch,
)
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Flag, Number, Whole

LINE = 16  # numbers of a cache line in single precision: lanes are a multiple of it
PREDICTED = 256  # rows at a time
# Updates per hundred training rows, up to so many rows (the authors' program).
RULE = ((30_000, 40), (400_000, 10), (8_000_000, 4), (math.inf, 2))
RULED, MEDIAN = "rule", "median"
FACTORS, DATA_TERMS, PREDICTIONS = ("none", "root"), ("sum", "mean"), ("sum", "vote", "average")
PRECISIONS = {"single": np.float32, "double": np.float64}


class Particles(NamedTuple):
    """The model: a line of numbers per particle, as `rules.bkm` states, and the noise of all."""

    form: Form
    numbers: NDArray[Any]  # particles × numbers
    noise: NDArray[Any]  # inputs × lanes


@learner("BKM", paper="bkm", version=1, tasks=("binary", "multiclass"))
class BKM(BatchLearner):
    """Bayesian kernel machine: particles moved by Stein gradients (Nguyen et al. 2018).

    Each of `particles` is a model on random features: weights, and a scale per input. The
    frequencies of a particle are noise, which all share, times its scales; its features are cosines
    and sines; the loss is the cross-entropy of softmax. An update draws a mini-batch of `batch`
    rows and moves particles by `step`, towards a lower loss and away from each other. With
    moves_scales=False the scales stay as drawn (Algorithm 1 of the paper; otherwise Algorithm 2).

    `iterations` is the number of updates, or "rule": a share of the rows, as in their program.
    `bandwidth` is that of the kernel between particles, or "median". `decay` is the regulariser λ.

    The defaults are those of the authors' program. What the paper prints differently are settings:
    `factor` of the features ("none", or "root": 1/√D), `bias` (a constant feature), `data_term`
    ("sum" over the batch, or "mean"), `weight_deviation` and `scale_deviation` of the start values,
    `positive_scales` (absolute normals), `root` of the step: "forgetting" (a running mean of
    squared directions), "cumulative" (all squared gradients of the posterior), "none" (plain).

    `prediction` is by the "sum" of the particles' scores, by the "vote" of their classes, or by the
    "average" particle; ties go to the first class. `precision` is single, as theirs, or double.
    """

    particles = Whole(100, at_least=1, meaning="number of particles (S)")
    components = Whole(400, at_least=1, meaning="number of random frequencies (D)")
    step = Number(1e-3, above=0.0, meaning="step size of the updates (η)")
    decay = Number(1e-3, at_least=0.0, meaning="strength of the regulariser (λ)")
    batch = Whole(200, at_least=1, meaning="rows of a mini-batch")
    iterations = Whole[int | str](
        "rule",
        at_least=0,
        words=("rule",),
        meaning="number of updates, or the rule of the program",
    )
    bandwidth = Number[float | str](
        "median", above=0.0, words=("median",), meaning="width of the kernel between particles"
    )
    moves_scales = Flag(True, meaning="whether the scales are learned")
    factor = Choice("none", FACTORS, meaning="factor of the features: none, or 1/√D")
    bias = Flag(True, meaning="whether a constant feature is added")
    data_term = Choice("sum", DATA_TERMS, meaning="whether a gradient is a sum or a mean")
    weight_deviation = Number(1.0, above=0.0, meaning="deviation of the weights at the start")
    scale_deviation = Number(1.0, above=0.0, meaning="deviation of the scales at the start")
    positive_scales = Flag(False, meaning="whether scales start positive")
    root = Choice("forgetting", STEPS, meaning="how the step is divided by past gradients")
    prediction = Choice("sum", PREDICTIONS, meaning="what is added up: scores, votes or particles")
    precision = Choice("single", PRECISIONS, meaning="single or double precision")

    _model: Particles | None = None
    _stein: Stein | None = None  # while it is fitted

    @property
    def numbers(self) -> NDArray[Any]:
        """The particles: the weights class by class (cosines, sines, the constant feature), then
        the scales; particles × numbers."""
        weights, scales = self.weights, self.scales
        return np.hstack([weights.reshape(len(weights), -1), scales])

    @property
    def weights(self) -> NDArray[Any]:
        """The weights: particles × classes × features, of which the constant one is the last."""
        form, numbers, _ = self._fitted()
        by_class = numbers[:, : 2 * form.classes * form.lanes].reshape(
            len(numbers), form.classes, 2, form.lanes
        )
        held = by_class[..., : form.components].reshape(len(numbers), form.classes, -1)
        constant = numbers[:, form.n_weights - form.biased : form.n_weights, np.newaxis]
        return np.concatenate([held, constant], axis=2) if form.biased else held

    @property
    def scales(self) -> NDArray[Any]:
        """The standard deviations of the frequencies, with their signs: particles × inputs."""
        form, numbers, noise = self._fitted()
        return numbers[:, form.n_weights : form.n_weights + len(noise)]

    @property
    def last_bandwidth(self) -> float:
        """The bandwidth of the kernel between particles in the latest update."""
        self._check_fitted()
        return self._last_bandwidth

    @property
    def nbytes(self) -> int:
        stein = self._stein
        moving = (stein.gradients, stein.squares) if stein else ()
        return sum(array.nbytes for array in arrays_in((self._model or (), moving)))

    def predict_proba(self, X: Rows) -> FloatArray:
        """The posterior predictive probability of each class: the mean over the particles of what
        softmax makes of their scores; rows × classes."""
        return self._posterior(X)[0]

    def predict_deviation(self, X: Rows) -> FloatArray:
        """How uncertain `predict_proba` is: the standard deviation of a class's probability over
        the particles; rows × classes."""
        return self._posterior(X)[1]

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        self._model = model = self._drawn(self._begun(), PRECISIONS[self.precision])
        self._stein = stein = Stein(
            model.numbers,
            model.form.n_weights,
            model.form.n_moved,
            decay=self.decay,
            rate=self.step,
            bandwidth=None if isinstance(self.bandwidth, str) else self.bandwidth,
            step=self.root,
        )
        try:
            self._move(stein, model, block, targets, clock)
        finally:
            self._stein = None

    def _move(
        self, stein: Stein, model: Particles, block: Block, targets: FloatArray, clock: Clock
    ) -> None:
        """All updates, or as many as the clock allows."""
        size = min(self.batch, len(block))
        iterations = iterations_of(self.iterations, len(block))
        progress = Progress(clock, len(block), iterations)
        batches = mini_batches(self.draws.stream("batches"), len(block), size)
        angles, is_binary = angles_of(block, model.noise, size), self._begun().task == "binary"
        batch = _Batch(model, angles, size, is_binary, self.data_term == "mean")
        for _ in range(iterations):
            chosen = next(batches)
            batch.take(chosen, targets)
            if not batch.add_gradients(stein.gradients, progress):
                return
            if not stein.update():
                row = int(chosen[0])
                raise Diverged(row, f"{self.name}: a particle is not a finite number any more")
            self._last_bandwidth = stein.bandwidth
            self.updates += 1
            progress.advance(1, size, batch.mistakes())

    def _drawn(self, problem: Problem, kind: Any) -> Particles:
        """The particles before any row: normals for the weights, the scales and the noise."""
        form = self._form(problem)
        count, size, n_features = self.particles, self.components, problem.n_features
        numbers = aligned(count, _whole_lines(form.n_weights + n_features), kind=kind)
        noise = aligned(n_features, form.lanes, kind=kind)
        # In doubles the weights take twice the particles' memory, so they are not copied, and gone
        # before the gradients are there.
        by_class = (
            self.draws.stream("weights")
            .normals(count, form.classes * (2 * size + (form.biased > 0)))
            .reshape(count, form.classes, -1)
        )
        lanes = numbers[:, : 2 * form.classes * form.lanes].reshape(
            count, form.classes, 2, form.lanes
        )
        both = by_class[..., : 2 * size].reshape(count, form.classes, 2, size)
        np.multiply(both, self.weight_deviation, out=lanes[..., :size], casting="same_kind")
        if form.biased:
            numbers[:, form.n_weights - form.biased : form.n_weights] = (
                self.weight_deviation * by_class[..., -1]
            )
        del by_class, both
        scales = self.draws.stream("scales").normals(count, n_features)
        numbers[:, form.n_weights : form.n_weights + n_features] = self.scale_deviation * (
            np.abs(scales) if self.positive_scales else scales
        )
        del scales
        self.draws.stream("noise").fill_normals(noise[:, :size].T)
        return Particles(form, numbers, noise)

    def _form(self, problem: Problem) -> Form:
        classes, lanes = len(problem.classes), _whole_lines(self.components)
        biased = classes if self.bias else 0
        n_weights = 2 * classes * lanes + biased
        return Form(
            classes=classes,
            components=self.components,
            lanes=lanes,
            biased=biased,
            n_weights=n_weights,
            n_moved=n_weights + (problem.n_features if self.moves_scales else 0),
            factor=1.0 if self.factor == "none" else 1.0 / math.sqrt(self.components),
        )

    def _fitted(self) -> Particles:
        self._check_fitted()
        assert self._model is not None
        return self._model

    def _scores(self, block: Block) -> FloatArray:
        """A column per class; in binary problems what the second has more than the first, and where
        that is nothing, the least negative number: the first class wins."""
        form, numbers, noise = model = self._fitted()
        if self.prediction == "average":
            model = Particles(form, numbers.mean(axis=0, keepdims=True), noise)
        found = np.zeros((len(block), form.classes))
        for rows, scores in _scores_of(model, block):
            if self.prediction == "vote":
                found[rows.start + np.arange(len(scores)), scores.argmax(axis=1)] += 1.0
            else:
                found[rows] += scores
        if self._begun().task != "binary":
            return found
        difference = found[:, -1] - found[:, 0]
        difference[difference == 0.0] = np.nextafter(0.0, -1.0)
        return difference[:, np.newaxis]

    @one_thread
    def _posterior(self, X: Rows) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation over the particles of each class's probability, by sums of
        differences from the mean so far, which lose no digits (Welford)."""
        model, block = self._fitted(), self._moved(X)
        mean, squares = np.zeros((2, len(block), model.form.classes))
        n_scored = np.zeros(len(block))
        for rows, scores in _scores_of(model, block):
            chances = np.exp(scores - scores.max(axis=1, keepdims=True))
            chances /= chances.sum(axis=1, keepdims=True)
            n_scored[rows] += 1.0
            apart = chances - mean[rows]
            mean[rows] += apart / n_scored[rows, np.newaxis]
            squares[rows] += apart * (chances - mean[rows])
        return self._finite(mean), np.sqrt(squares / len(model.numbers))


def iterations_of(wanted: int | str, n_rows: int) -> int:
    """The number of updates for so many training rows."""
    if not isinstance(wanted, str):
        return int(wanted)
    share = next(share for most, share in RULE if n_rows <= most)
    return n_rows * share // 100


class _Batch:
    """A mini-batch, and where the gradients of the particles by it are made."""

    def __init__(
        self, model: Particles, angles: Angles, size: int, is_binary: bool, is_mean: bool
    ) -> None:
        self._model, self._angles, self._size = model, angles, size
        self._is_binary = is_binary
        lines, kind = n_lines(angles), model.noise.dtype
        self._share = 1.0 / size if is_mean else 1.0
        self._targets = np.empty(size)
        self._labels = np.full(lines, NOBODY)
        self._totals = np.zeros((lines, model.form.classes))
        self._scratch = _scratch(model.form, kind)

    def take(self, chosen: NDArray[np.int64], targets: FloatArray) -> None:
        """Choose rows; targets are classes by number, or -1 and 1."""
        self._angles.take(chosen)
        labels = self._labels[: self._size]
        labels[:] = np.take(targets, chosen, out=self._targets, mode="clip")
        if self._is_binary:
            labels += 1
            labels //= 2
        self._totals.fill(0.0)

    def add_gradients(self, gradients: NDArray[Any], progress: Progress) -> bool:
        """Add the gradients of all particles, unless the clock says to stop; whether they are."""
        form, numbers, noise = self._model
        angles, scales = self._angles, slice(form.n_weights, form.n_weights + len(noise))
        for particle, gradient in zip(numbers, gradients, strict=True):
            if progress.must_stop():
                return False
            for part in angles.parts:
                learn_batch(
                    form,
                    angles.find(particle[scales], part),
                    angles.entries,
                    noise,
                    self._labels[part],
                    self._share,
                    particle,
                    gradient,
                    self._totals[part],
                    self._scratch,
                )
                if form.n_moved > form.n_weights:
                    angles.add_slopes(gradient[scales], part)
        return True

    def mistakes(self) -> int:
        """Rows that the summed scores put into a wrong class, before they were learned."""
        return count_mistakes(self._totals[: self._size], self._labels[: self._size])


def _scores_of(model: Particles, block: Block) -> Iterator[tuple[slice, FloatArray]]:
    """The scores of rows by one particle after the other: rows × classes, which the next step
    overwrites."""
    form, numbers, noise = model
    scratch = _scratch(form, noise.dtype)
    for first in range(0, len(block), PREDICTED):
        rows = slice(first, min(first + PREDICTED, len(block)))
        part = block[rows]
        angles = angles_of(part, noise, len(part))
        angles.take(np.arange(len(part)))
        scores = np.empty((n_lines(angles), form.classes))
        for particle in numbers:
            scales = particle[form.n_weights : form.n_weights + len(noise)]
            for lines in angles.parts:
                found = angles.find(scales, lines)
                score_batch(form, found, angles.entries, noise, particle, scores[lines], scratch)
            yield rows, scores[: len(part)]


def _scratch(form: Form, kind: Any) -> ParticleScratch:
    features = aligned(2, TOGETHER, form.lanes, kind=kind)
    return ParticleScratch(features[0], features[1], np.zeros((TOGETHER, form.classes), kind))


def _whole_lines(count: int) -> int:
    return -(-count // LINE) * LINE
