"""Linear support vector machines on maps, trained by LIBLINEAR."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import (
    Clock,
    Draws,
    FloatArray,
    NotBegun,
    Problem,
    Rows,
    as_labels,
)
from okbench.learners.isolation.maps import (
    ChiSquareMap,
    IsolationMap,
    check_map_settings,
    indicators,
)
from okbench.learners.registry import learner
from okbench.learners.rows import Block
from okbench.learners.settings import check_number, check_whole


class LinearSVM(ABC):
    """An L2-regularised linear SVM with the squared hinge loss, solved in the dual, without a bias.

    A subclass brings the map. Several classes are learned one against the rest. LIBLINEAR cannot
    be interrupted; a fit that is stopped before it begins predicts the most frequent class.
    """

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    compiled: ClassVar[bool] = False  # the solver holds the interpreter lock

    cost: float
    iterations: int

    problem: Problem | None = None
    draws: Draws
    weights: NDArray[np.float64] | None = None  # columns × features
    _answer: Any = None  # where a single class is all that is predicted

    def begin(self, problem: Problem, draws: Draws | None = None) -> Self:
        """Forget everything and face this problem, with these draws."""
        if problem.task not in self.tasks:
            raise UsageError(
                f"{self.name} does not do {problem.task}; it does {', '.join(self.tasks)}"
            )
        self.check_settings()
        self.problem, self.draws = problem, draws or Draws()
        self.weights, self._answer = None, None
        return self

    def fit(self, X: Rows, y: ArrayLike, clock: Clock | None = None) -> Self:
        """Make the map of these rows and train on all of them."""
        block, labels = Block.of(X, self.problem.n_features if self.problem else None), as_labels(y)
        if labels.shape != (len(block),) or not len(block):
            raise DataError(f"{len(block)} rows came with labels of shape {labels.shape}")
        if self.problem is None:
            self.begin(Problem.of(block.matrix, labels, len(block)))
        assert self.problem is not None
        self.problem.encode(labels)  # refuses labels that are not among the classes
        names, counts = np.unique(labels, return_counts=True)
        self.weights, self._answer = None, names[np.argmax(counts)]
        self._fit_map(block)
        if len(names) > 1 and not (clock and clock.should_stop()):
            self._solve(self._features(block), labels)
        return self

    def predict(self, X: Rows) -> NDArray[Any]:
        """The class of each row."""
        scores = self.scores(X)
        if self.weights is None:
            return np.full(len(scores), self._answer)
        if len(self.weights) == 1:
            return np.where(scores[:, 0] >= 0.0, self._classes[1], self._classes[0])
        return self._classes[np.argmax(scores, axis=1)]

    def scores(self, X: Rows) -> FloatArray:
        """Scores: one column for two classes, else one for each class of the training rows."""
        if self.problem is None or self._answer is None:
            raise NotBegun(f"{self.name} has learned nothing yet: fit() it first")
        block = Block.of(X, self.problem.n_features)
        if self.weights is None:
            return np.zeros((len(block), 1))
        return np.asarray(self._features(block) @ self.weights.T)

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        check_number(self, "cost", above=0.0)
        check_whole(self, "iterations", at_least=1)

    def _solve(self, features: Any, labels: NDArray[Any]) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        seed = int(self.draws.stream("solver").uniforms(1)[0] * 2**31)
        solver = LinearSVC(
            C=float(self.cost), loss="squared_hinge", dual=True, fit_intercept=False,
            max_iter=int(self.iterations), random_state=seed,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solver.fit(features, labels)
        self._classes, self.weights = solver.classes_, solver.coef_
        self.passes = int(np.max(solver.n_iter_))

    @abstractmethod
    def _fit_map(self, block: Block) -> None:
        """Make the map of rows."""

    @abstractmethod
    def _features(self, block: Block) -> Any:
        """The features of rows, as a table or as sparse rows."""


@learner("IK-SVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class IKSVM(LinearSVM):
    """A linear SVM on the map of the isolation kernel, by LIBLINEAR (Ting et al. 2019).

    Features are 1/√partitionings or 0, so that inner products are kernel values and `cost` means
    the same as for an SVM with the kernel. `iterations` is the most passes that the solver makes.
    """

    def __init__(
        self,
        partitionings: int = 100,
        psi: int = 16,
        map: str = "nearest",
        cost: float = 1.0,
        iterations: int = 1000,
        library: str = "numpy",
    ) -> None:
        self.partitionings = partitionings
        self.psi = psi
        self.map = map
        self.cost = cost
        self.iterations = iterations
        self.library = library

    def check_settings(self) -> None:
        super().check_settings()
        check_map_settings(self)

    def _fit_map(self, block: Block) -> None:
        made = IsolationMap(int(self.partitionings), int(self.psi), self.map, self.library)
        self._map = made.fit(block.matrix, self.draws)

    def _features(self, block: Block) -> Any:
        made = self._map
        return indicators(made.cells(block), made.size, made.partitionings**-0.5)


@learner("ChiSquare-SVM", paper="ik", version=1, tasks=("binary", "multiclass"))
class ChiSquareSVM(LinearSVM):
    """A linear SVM on one feature sign(x) √|x| for each input, by LIBLINEAR: the additive χ² map
    with b = 0 that Ting et al. 2019 compare with.

    `iterations` is the most passes that the solver makes.
    """

    def __init__(self, cost: float = 1.0, iterations: int = 1000) -> None:
        self.cost = cost
        self.iterations = iterations

    def _fit_map(self, block: Block) -> None:
        self._map = ChiSquareMap().fit(block.matrix)

    def _features(self, block: Block) -> Any:
        return self._map.transform(block.matrix)
