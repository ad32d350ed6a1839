"""LIBSVM and LIBLINEAR, the libraries, as scikit-learn includes them."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.learners.batch.base import MEGABYTE, BatchLearner, refuse_beyond_memory
from okbench.learners.contract import (
    Clock,
    Diverged,
    FloatArray,
    NotConverged,
    Rows,
    RowsError,
    SettingsError,
)
from okbench.learners.holdings import Holdings
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import Choice, Flag, Number, Whole, default

AT_ONCE = 64 * MEGABYTE  # bytes of kernel values of rows to predict
MOST_ITERATIONS = 2**31 - 1  # the libraries count in 32 bits


class FittedMachine(NamedTuple):
    """What a library has learned. A fit that was stopped before it began has no estimator."""

    estimator: Any
    is_sparse: bool  # whether it was fitted to sparse rows
    present: NDArray[np.int64]  # the classes that have training rows, by place
    most: int  # the class that has most of them


class Library(BatchLearner):
    """A machine that a library trains.

    Its solver cannot be stopped or watched: the clock is asked before it begins, and a time limit
    of a run ends its process. A class without training rows is never predicted.
    """

    cost = Number(1.0, above=0.0, finite=True, meaning="weight of the losses (C)")
    tolerance = Number(1e-3, above=0.0, finite=True, meaning="precision at which the solver stops")
    max_iterations = Whole(100_000, at_least=1, meaning="steps of the solver before it is an error")

    compiled: ClassVar[bool] = False  # its trials have processes of their own, which can be ended

    _model: FittedMachine | None = None

    @property
    def _estimator(self) -> Any:
        return self._model.estimator if self._model else None

    def _train(self, block: Block, targets: FloatArray, clock: Clock) -> None:
        codes, counts = np.unique(targets, return_counts=True)
        present = (codes > 0.0 if self._begun().task == "binary" else codes).astype(np.int64)
        estimator = None
        if not clock.should_stop():
            estimator = self._solved(block, targets)
            clock.mark(len(block))
        most = int(present[np.argmax(counts)])
        self._model = FittedMachine(estimator, block.is_sparse, present, most)

    def _solved(self, block: Block, targets: FloatArray) -> Any:
        """The estimator after its fit; it is an error when that does not converge."""
        from sklearn.exceptions import ConvergenceWarning

        estimator, X = self._prepared(block)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                estimator.fit(X, targets)
            except ValueError as error:  # coefficients that are no finite numbers
                raise Diverged(0, f"{self.name}: {error}") from error
        if not self._has_converged(estimator):
            raise NotConverged(
                f"{self.name} did not converge in {self.max_iterations:,} iterations; scale the "
                "columns, lower the cost, or raise max_iterations"
            )
        return estimator

    def _scores(self, block: Block) -> FloatArray:
        """Decision values as scikit-learn gives them; a class without training rows has a lower
        one than all others."""
        self._check_fitted()
        assert self._model is not None
        (estimator, _, present, most), n_columns = self._model, self._begun().n_columns
        if estimator is None or not len(block):
            scores = np.zeros((len(block), n_columns))
            scores[:, most if n_columns > 1 else 0] = 1.0 if most or n_columns > 1 else -1.0
            return scores
        values = self._decisions(block)
        if n_columns == 1:
            return values.reshape(-1, 1)
        if values.ndim == 1:  # rows of two of the classes were there
            values = np.column_stack([-values, values])
        scores = np.full((len(block), n_columns), values.min() - 1.0)
        scores[:, present] = values
        return scores

    def _as_fitted(self, block: Block) -> Any:
        """Rows in the form, sparse or dense, that the estimator was fitted to."""
        assert self._model is not None
        return sp.csr_array(block.matrix) if self._model.is_sparse else block.dense

    @abstractmethod
    def _prepared(self, block: Block) -> tuple[Any, Any]:
        """An estimator of scikit-learn, and the training rows as it takes them."""

    @abstractmethod
    def _has_converged(self, estimator: Any) -> bool:
        """Whether the fit came to its end within the iterations."""

    @abstractmethod
    def _decisions(self, block: Block) -> FloatArray:
        """The decision values of rows."""


@learner("LIBSVM", paper="bkm", version=1, tasks=("binary", "multiclass"))
class LIBSVM(Library):
    """A kernel support vector machine, C-SVC, trained by LIBSVM (Chang and Lin 2011).

    `kernel` is rbf, exp(-d² / (2 width²)); laplacian, exp(-d / width) with d the sum of absolute
    differences; or precomputed: then a row holds its kernel with all training rows, in their order.
    `cache` is the memory for kernel rows in megabytes, and `cost` is C. Several classes are decided
    by the votes of all pairs. It is an error when the solver does not converge in `max_iterations`.
    """

    max_iterations = default(10_000_000)
    width = Number(8.0, above=0.0, meaning="width of the kernel (σ)")
    kernel = Choice("rbf", ("rbf", "laplacian", "precomputed"), meaning="the kernel by its name")
    cache = Number(200.0, above=0.0, finite=True, meaning="megabytes for rows of the kernel matrix")

    _rows: Block | None = None  # the training rows, where kernels with them are computed here
    _rate = 0.0  # the factor of the distance in the kernel's exponent

    @property
    def support_size(self) -> int:
        return len(self._estimator.support_) if self._estimator else 0

    @property
    def nbytes(self) -> int:
        if self._estimator is None:
            return 0
        held = [self._estimator.support_vectors_, self._estimator.dual_coef_]
        held += [] if self._rows is None else [self._rows.matrix]
        return sum(_bytes_of(matrix) for matrix in held)

    def check_settings(self) -> None:
        super().check_settings()
        if not math.isfinite(0.5 / self.width / self.width):
            raise SettingsError(
                f"{self.name}: width = {self.width!r}: the factor of the squared distance must be "
                "finite"
            )

    def needed_bytes(self, n_rows: int) -> int:
        """An estimate of what the kernel of so many training rows takes in memory."""
        gram = 0 if self.kernel == "rbf" else 8 * n_rows**2
        return gram + int(min(self.cache * MEGABYTE, 4.0 * n_rows**2))  # in single precision

    def predict(self, X: Rows) -> NDArray[Any]:
        block = self._moved(X)
        if self._begun().n_columns == 1 or self._estimator is None or not len(block):
            return super().predict(X)
        codes = self._by_parts(self._estimator.predict, block)
        return np.asarray(self._begun().classes)[codes.astype(np.int64)]

    def _prepared(self, block: Block) -> tuple[Any, Any]:
        refuse_beyond_memory(
            self.needed_bytes(len(block)),
            f"{self.name}: the kernel of {len(block):,} training rows",
            "lower the cache, or use kernel = 'rbf', which needs no Gram matrix",
        )
        width = self.width
        is_rbf, self._rows = self.kernel == "rbf", None
        self._rate = 0.5 / width / width if is_rbf else 1.0 / width
        if is_rbf:
            return self._machine("rbf", self._rate), block.matrix
        if self.kernel == "laplacian":
            self._rows = block
            return self._machine("precomputed"), _laplacian(block.matrix, block.matrix, self._rate)
        if len(block) != block.matrix.shape[1]:
            raise RowsError(
                f"{self.name}: kernel = 'precomputed': each of the {len(block)} training rows "
                f"needs its kernel with all of them, and has {block.matrix.shape[1]} columns"
            )
        return self._machine("precomputed"), block.dense

    def _machine(self, kernel: str, gamma: float | str = "scale") -> Any:
        from sklearn.svm import SVC

        return SVC(
            C=self.cost,
            kernel=kernel,
            gamma=gamma,
            cache_size=self.cache,
            tol=self.tolerance,
            max_iter=min(self.max_iterations, MOST_ITERATIONS),
            random_state=0,  # the solver draws nothing; without it the global generator is asked
        )

    def _has_converged(self, estimator: Any) -> bool:
        return int(estimator.fit_status_) == 0

    def _decisions(self, block: Block) -> FloatArray:
        return self._by_parts(self._estimator.decision_function, block)

    def _by_parts(self, method: Any, block: Block) -> FloatArray:
        """What a method of the estimator answers to rows, taking some of them at a time."""
        size = max(1, AT_ONCE // (8 * self._estimator.shape_fit_[0]))
        firsts = range(0, len(block), size)
        return np.concatenate([method(self._seen(block[i : i + size])) for i in firsts])

    def _seen(self, block: Block) -> Any:
        """Rows as the estimator takes them; it asks for the kernel with support vectors alone."""
        if self._estimator.kernel != "precomputed":
            return self._as_fitted(block)
        if self._rows is None:
            return block.dense
        supports = self._estimator.support_
        kernel = np.zeros((len(block), len(self._rows)))
        kernel[:, supports] = _laplacian(block.matrix, self._rows.matrix[supports], self._rate)
        return kernel


class LinearMachine(Library):
    """A linear support vector machine trained by LIBLINEAR on features of the rows."""

    loss: str
    bias: bool
    several: str
    in_dual: ClassVar[bool] = True  # or by Newton steps in the primal, for the squared hinge loss

    @property
    def nbytes(self) -> int:
        held = (self._estimator.coef_, self._estimator.intercept_) if self._estimator else ()
        return sum(_bytes_of(np.asarray(array)) for array in held)

    @property
    def _most_passes(self) -> int:
        """Passes over the rows after which the solver ends."""
        return self.max_iterations

    def _prepared(self, block: Block) -> tuple[Any, Any]:
        from sklearn.svm import LinearSVC

        seed = int(self.draws.stream("solver").uniforms(1)[0] * 2**31)
        estimator = LinearSVC(
            C=self.cost,
            loss=self.loss,
            dual=self.in_dual,
            fit_intercept=bool(self.bias),
            multi_class="ovr" if self.several == "one_against_rest" else "crammer_singer",
            tol=self.tolerance,
            max_iter=min(int(self._most_passes), MOST_ITERATIONS),
            random_state=seed,
        )
        return estimator, self._features(block)

    def _has_converged(self, estimator: Any) -> bool:
        return int(np.max(estimator.n_iter_)) < self.max_iterations

    def _decisions(self, block: Block) -> FloatArray:
        rows = Block.of(self._as_fitted(block))
        return np.asarray(self._estimator.decision_function(self._features(rows)))

    @abstractmethod
    def _features(self, block: Block) -> Any:
        """The features of rows, as a table or as sparse rows."""


@learner("LIBLINEAR", paper="bkm", version=1, tasks=("binary", "multiclass"))
class LIBLINEAR(LinearMachine):
    """A linear support vector machine trained by LIBLINEAR's dual descent (Fan et al. 2008).

    `loss` is hinge or squared_hinge, `cost` is C. With `bias` rows have one more column of ones,
    whose weight is regularised too. With several classes, `several` is one_against_rest or
    crammer_singer. It is an error when the solver does not converge in `max_iterations`.
    """

    loss = Choice("hinge", ("hinge", "squared_hinge"), meaning="the loss function")
    bias = Flag(True, meaning="whether a constant feature is added")
    several = Choice(
        "one_against_rest",
        ("one_against_rest", "crammer_singer"),
        meaning="how several classes are treated",
    )

    holdings = Holdings(weights=True)

    def _features(self, block: Block) -> Any:
        return block.matrix


def _laplacian(rows: Any, others: Any, rate: float) -> FloatArray:
    """exp(-rate · sum of absolute differences) of every row and every other one."""
    from sklearn.metrics.pairwise import laplacian_kernel

    return np.asarray(laplacian_kernel(rows, others, gamma=rate))


def _bytes_of(matrix: Any) -> int:
    """Bytes of a matrix, sparse or dense."""
    if not sp.issparse(matrix):
        return int(matrix.nbytes)
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
