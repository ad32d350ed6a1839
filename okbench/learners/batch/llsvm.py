"""Low-rank linearised support vector machine: a linear machine on a Nyström map of landmarks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.base import arrays_in
from okbench.learners.batch.base import BatchLearner, Progress
from okbench.learners.contract import Clock, Diverged, Draws, FloatArray, RowsError
from okbench.learners.holdings import Holdings
from okbench.learners.linear import score_on, stretches
from okbench.learners.maps import NystroemMap, multiply
from okbench.learners.numeric.kernels import Gaussian
from okbench.learners.numeric.lanes import Entries, Lanes, aligned, kernel_rows, padded
from okbench.learners.numeric.rules.dual_descent import Duals, descend
from okbench.learners.registry import learner
from okbench.learners.rows import Block, all_finite
from okbench.learners.settings import Choice, Number, Whole

ITERATIONS = 10  # of k-means
NO_EIGENVALUE = 1e-5  # as a share of the largest; those up to it have no features
STRETCH = 1024  # rows whose distances from all landmarks are computed at once


class LLSVMModel(NamedTuple):
    """What LLSVM has learned."""

    size: int  # how many landmarks there are
    lanes: Lanes  # which hold them
    formula: Gaussian
    basis: FloatArray  # lanes × features
    weights: FloatArray  # columns × features


@learner("LLSVM", paper="lsokl", version=1, tasks=("binary", "multiclass"))
class LLSVM(BatchLearner):
    """A linear support vector machine on the Nyström map of landmarks (Zhang et al. 2012).

    There are `budget` landmarks: centres of k-means (10 iterations) or random rows. The machine has
    hinge loss and no bias; dual coordinate descent with shrinking makes at most `passes`, and stops
    when the projected gradients lie within `tolerance`. Dual variables are at most 1 / `decay`.
    Rows come in parts of `chunk`: the next part goes on with the weights of those before it, and
    with dual variables of its own. With several classes, each has a machine against the rest.
    """

    budget = Whole(100, at_least=1, meaning="the largest number of support vectors (B)")
    width = Number(8.0, above=0.0, meaning="width of the kernel exp(-‖x - z‖² / (2 width²)) (σ)")
    decay = Number(0.1, above=0.0, meaning="strength of the regulariser (λ)")
    landmarks = Choice("kmeans", ("kmeans", "random"), meaning="centres of k-means, or random rows")
    passes = Whole(30, at_least=1, meaning="the largest number of passes of the solver")
    tolerance = Number(0.01, at_least=0.0, meaning="precision at which the solver stops")
    chunk = Whole(50_000, at_least=1, meaning="rows that are trained on at once")

    has_gaussian_kernel = True
    holdings = Holdings(supports="all", tables=3)  # means of rows, while they are computed
    _model: LLSVMModel | None = None

    @property
    def support_size(self) -> int:
        return self._model.size if self._model else 0

    @property
    def landmark_rows(self) -> FloatArray:
        """The landmarks, a row each."""
        model = self._fitted()
        return self._origin.back(model.lanes.matrix[:, : model.size].T)

    @property
    def basis(self) -> FloatArray:
        """What turns the kernel of the landmarks into features: landmarks × features."""
        model = self._fitted()
        return model.basis[: model.size]

    @property
    def weights(self) -> FloatArray:
        """The weights of the features: columns × features."""
        return self._fitted().weights

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in arrays_in((self._model or (), self._origin)))

    def _fitted(self) -> LLSVMModel:
        self._check_fitted()
        assert self._model is not None
        return self._model

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        if self.budget > len(block):
            raise RowsError(
                f"{self.name}: budget = {self.budget}: there are only {len(block)} training rows "
                "to take landmarks from; lower the budget"
            )
        progress = Progress(clock, len(block), len(block))
        centres = chosen_landmarks(block, self.budget, self.landmarks, self.draws, progress)
        formula = Gaussian.of(self.width)
        lanes, basis = nystroem(centres, formula)
        columns = self._begun().n_columns
        weights = aligned(columns, basis.shape[1])
        self._model = LLSVMModel(self.budget, lanes, formula, basis, weights)
        for first in range(0, len(block), self.chunk):
            rows = slice(first, first + self.chunk)
            features = self._features(block[rows], progress)
            if features is None:
                return
            for column in range(columns):
                own = targets[rows] if columns == 1 else targets[rows] == column
                signs = np.where(own > 0.0, 1.0, -1.0)
                if not self._descend(features, signs, column, progress):
                    return
            progress.advance(len(features), 0, 0)

    def _features(self, block: Block, progress: Progress) -> FloatArray | None:
        """The features of rows, unless the clock says to stop."""
        features = aligned(len(block), self._fitted().basis.shape[1])
        for first, projected in stretches(self._map(), block):
            if progress.must_stop():
                return None
            features[first : first + len(projected)] = projected
        return features

    def _descend(
        self, features: FloatArray, signs: FloatArray, column: int, progress: Progress
    ) -> bool:
        """Train the machine of a column on rows; whether the clock let it come to its end."""
        duals, n_active = Duals.of(features, signs), len(features)
        weights, box = self._fitted().weights, 1.0 / self.decay
        shuffled = self.draws.stream("passes")
        for _ in range(self.passes):
            if progress.must_stop():
                return False
            duals.order[:n_active] = duals.order[:n_active][shuffled.permutation(n_active)]
            n_active, spread = descend(features, duals, n_active, box, weights, column)
            self.updates += n_active
            if spread <= self.tolerance:
                if n_active == len(features):
                    break
                n_active = len(features)
                duals.bounds[:] = -np.inf, np.inf
        return True

    def _map(self) -> NystroemMap:
        model = self._fitted()
        return NystroemMap(model.lanes, model.formula, model.basis)

    def _scores(self, block: Block) -> FloatArray:
        weights = self._fitted().weights
        scores = np.empty((len(block), len(weights)))
        score_on(self._map(), weights, block, scores)
        return scores


def nystroem(centres: FloatArray, formula: Any) -> tuple[Lanes, FloatArray]:
    """Landmarks in lanes, and the basis P = V Λ^(-1/2) of their Gram matrix K = V Λ Vᵀ."""
    size = len(centres)
    lanes = Lanes.dense(centres.shape[1], size)
    lanes.matrix[:, :size] = centres.T
    rows = Entries.of(Block.of(centres))
    lanes.squared_norms[:size] = rows.squared_norms
    gram = aligned(size, padded(size))
    kernel_rows(rows, lanes, formula, gram)
    if not all_finite(gram):
        raise Diverged(0, "LLSVM: the kernel of two landmarks is not a finite number")
    eigenvalues, vectors = np.linalg.eigh(gram[:, :size])
    kept = eigenvalues > NO_EIGENVALUE * eigenvalues[-1]
    basis = aligned(padded(size), int(kept.sum()))
    basis[:size] = vectors[:, kept] / np.sqrt(eigenvalues[kept])
    return lanes, basis


def chosen_landmarks(
    block: Block, size: int, how: str, draws: Draws, progress: Progress
) -> FloatArray:
    """Random rows, or the centres of k-means that begins with them, a row each.

    A centre without rows becomes a random row. K-means ends early where no row changes its centre,
    or where the clock says to stop.
    """
    stream, n_rows = draws.stream("landmarks"), len(block)
    matrix = block.matrix
    centres = _dense(matrix[stream.choice(n_rows, size)])
    if how == "random":
        return centres
    before = np.full(n_rows, -1)
    for _ in range(ITERATIONS):
        nearest = _nearest(block, centres, progress)
        if nearest is None or np.array_equal(nearest, before):
            break
        before = nearest
        members = sp.csr_array(
            (np.ones(n_rows), (nearest, np.arange(n_rows))), shape=(size, n_rows)
        )
        counts = np.bincount(nearest, minlength=size)
        centres = _dense(members @ matrix)
        centres /= np.maximum(counts, 1)[:, np.newaxis]
        for empty in np.flatnonzero(counts == 0):
            row = int(n_rows * stream.uniforms(1)[0])
            centres[empty] = _dense(matrix[row : row + 1])[0]
    return centres


def _nearest(block: Block, centres: FloatArray, progress: Progress) -> NDArray[np.int64] | None:
    """The nearest centre of every row, the first of equals, unless the clock says to stop."""
    turned = np.ascontiguousarray(centres.T)
    halves = 0.5 * np.einsum("ij,ij->i", centres, centres)
    nearest, products = np.empty(len(block), np.int64), aligned(STRETCH, len(centres))
    for first in range(0, len(block), STRETCH):
        if progress.must_stop():
            return None
        found = products[: len(block) - first]
        multiply(block, first, turned, found)
        np.subtract(halves, found, out=found)
        np.argmin(found, axis=1, out=nearest[first : first + len(found)])
    return nearest


def _dense(rows: Any) -> FloatArray:
    return rows.toarray() if sp.issparse(rows) else np.array(rows)
