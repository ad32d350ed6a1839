"""What every built-in learner shares: settings, problem, and the methods of an estimator.

`RowLearner` learns rows one after the other, and `OnlineLearner` adds a `fit` of one pass. The
learners of the package `batch`, which are given all rows at once, derive from `Estimator` too.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from okbench.base.errors import did_you_mean
from okbench.learners.column_scales import warn_of_unequal_columns
from okbench.learners.contract import (
    Diverged,
    Draws,
    FloatArray,
    Problem,
    Rows,
    RowsError,
    SettingsError,
    Task,
    as_labels,
    not_begun,
)
from okbench.learners.holdings import Holdings
from okbench.learners.origin import Origin
from okbench.learners.registry import ALL_TASKS, settings_of
from okbench.learners.rows import Block, all_finite, as_one_row
from okbench.learners.settings import Declared, given


class Estimator(Declared, ABC):
    """A learner as an estimator.

    Settings are fields of the class (`okbench.learners.settings`). `begin` names the problem and
    starts afresh; without it the first rows learned suggest the problem.
    """

    # those of a learner that is not registered; the decorator of the registry sets its own
    name: ClassVar[str]
    version: ClassVar[int] = 1
    tasks: ClassVar[tuple[str, ...]] = ALL_TASKS
    compiled: ClassVar[bool] = True  # releases the interpreter lock: trials may share a process
    # Whether rows matter by their differences alone, over a width: they may then be moved together.
    has_gaussian_kernel: ClassVar[bool] = False
    has_fixed_features: ClassVar[bool] = False  # random features that are never changed
    holdings: ClassVar[Holdings] = Holdings()
    is_baseline: ClassVar[bool] = False  # looks at no features, and so learns nothing from them

    problem: Problem | None = None
    draws: Draws
    updates: int = 0  # rows that changed the model
    _names: tuple[str, ...] | None = None  # of the columns, where the first rows had some
    _is_announced: bool = False  # the problem, by a `begin` after which no rows were learned
    _origin: Origin = Origin()

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @np.errstate(all="ignore")  # what overflows here shows in the scores
    def begin(self, problem: Problem, draws: Draws | None = None) -> Self:
        """Forget everything and face this problem, with these draws."""
        if problem.task not in self.tasks:
            raise SettingsError(
                f"{self.name} does not do {problem.task}; it does {', '.join(self.tasks)}"
            )
        self.problem = None  # should it be refused
        self.draws = draws or Draws()
        self.updates = 0
        self._names = None
        self.check_settings()
        self._start(problem)
        self._origin = self._new_origin(problem)
        self.problem, self._is_announced = problem, True
        return self

    def _new_origin(self, problem: Problem) -> Origin:
        """Where rows are measured from, before the first of them has come."""
        width = getattr(self, "width", None) if self.has_gaussian_kernel else None
        return Origin() if width is None else Origin.for_width(width, self.has_fixed_features)

    def predict(self, X: Rows) -> NDArray[Any]:
        """Predictions; nothing is learned."""
        scores = self.scores(X)
        return self._begun().decide(scores)

    @np.errstate(all="ignore")  # what overflows shows in the scores
    def scores(self, X: Rows) -> FloatArray:
        """Scores: rows × columns; nothing is learned."""
        return self._finite(self._scores(self._moved(X)))

    def decision_function(self, X: Rows) -> FloatArray:
        """The scores as scikit-learn has them: one number per row where there is one column."""
        scores = self.scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def score(self, X: Rows, y: ArrayLike) -> float:
        """The share of correct predictions, or the coefficient of determination in regression."""
        labels, found = as_labels(y), self.predict(X)
        if self._begun().task != "regression":
            return float(np.mean(found == labels))
        rest = np.square(labels - found).sum()
        spread = np.square(labels - np.mean(labels)).sum()
        return float(1.0 - rest / spread) if spread else float(rest == 0.0)

    @property
    def support_size(self) -> int:
        """Rows kept as support vectors; 0 for a model that keeps none."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that hold the model."""
        return sum(array.nbytes for array in arrays_in(vars(self).values()))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: given(self, name) for name in settings_of(type(self))}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; they count from the next `begin` on."""
        known = settings_of(type(self))
        for name, value in settings.items():
            if name not in known:
                raise SettingsError(
                    f"{self.name} has no setting '{name}'.{did_you_mean(name, known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={given(self, name)!r}"
            for name, parameter in settings_of(type(self)).items()
            if parameter.default is inspect.Parameter.empty
            or given(self, name) != parameter.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        regression = (self.problem.task if self.problem else self.tasks[0]) == "regression"
        return Tags(
            estimator_type="regressor" if regression else "classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=None if regression else ClassifierTags(),
            regressor_tags=RegressorTags() if regression else None,
            input_tags=InputTags(sparse=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self.problem is not None

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes a score column or sign stands for, as scikit-learn names them."""
        return np.asarray(self._begun().classes)

    @property
    def n_features_in_(self) -> int:
        """The number of columns, as scikit-learn names it."""
        return self._begun().n_features

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns of the first rows, where they had some."""
        if self._names is None:
            raise not_begun(f"{self.name} has learned no rows with named columns")
        return np.asarray(self._names, dtype=object)

    def _check_names(self, X: Rows) -> None:
        """Refuse a data frame whose columns are not those of the rows that were learned."""
        names = names_of(X)
        if names is None or self._names is None or names == self._names:
            return
        pairs = zip_longest(names, self._names)
        given, expected = next(pair for pair in pairs if pair[0] != pair[1])
        raise RowsError(
            f"the columns are not those that were learned, or stand in another order: {given!r}"
            f" where {expected!r} is expected"
        )

    def _begun(self) -> Problem:
        if self.problem is None:
            raise not_begun(f"{self.name} has learned nothing yet: learn rows, or begin() first")
        return self.problem

    def _moved(self, X: Rows) -> Block:
        """Checked rows as the model sees them."""
        self._check_names(X)
        return self._origin.moved(Block.of(X, self._begun().n_features))

    def _suggested(self, block: Block, y: ArrayLike, n_rows: int | None) -> Problem:
        """The problem that rows and labels suggest to this learner."""
        if self.tasks == ("regression",):  # whole numbers are targets too, where no others are
            return Problem("regression", block.matrix.shape[1], n_rows=n_rows)
        return Problem.of(block.matrix, y, n_rows)

    def _first_of_fit(
        self, X: Rows, y: ArrayLike, draws: Draws | None = None, is_watched: bool = False
    ) -> tuple[Block, FloatArray]:
        """Checked rows and targets of a `fit`. It begins afresh with the problem that they suggest,
        unless `begin` has announced one. Where nobody watches the fit, unequal columns are warned
        of."""
        if not self._is_announced:
            self.problem = None
        elif draws is not None:
            self.begin(self._begun(), draws)
        self._names = None
        block = Block.of(X, self.problem.n_features if self.problem else None)
        if not len(block):
            raise RowsError(f"{self.name}: there are no rows to fit")
        targets = self._met(X, block, y, draws, len(block))
        if self.has_gaussian_kernel and not is_watched:
            warn_of_unequal_columns(block, self._names)
        return block, targets

    def _met(
        self,
        X: Rows,
        block: Block,
        y: ArrayLike,
        draws: Draws | None = None,
        n_rows: int | None = None,
    ) -> FloatArray:
        """The targets of rows to learn, of which the first may suggest the problem."""
        problem, targets = self._problem_and_targets(block, y, n_rows)
        if self.problem is None:
            self.begin(problem, draws)
            self._is_announced = False
        self._names = self._names or names_of(X)
        return targets

    def _problem_and_targets(
        self, block: Block, y: ArrayLike, n_rows: int | None
    ) -> tuple[Problem, FloatArray]:
        """The problem, or what rows and labels suggest, and the labels as targets in it."""
        labels = as_labels(y)
        if labels.shape != (len(block),):
            raise RowsError(f"{len(block)} rows came with labels of shape {labels.shape}")
        if self.problem is None and len(block) == 0:
            raise SettingsError(
                "the first rows suggest the problem, and there are none: begin() first"
            )
        problem = self.problem or self._suggested(block, labels, n_rows)
        targets = problem.encode(labels)
        if not np.isfinite(targets).all():
            raise RowsError(f"row {int(np.argmin(np.isfinite(targets)))}: the target is not finite")
        return problem, targets

    def _finite(self, answers: FloatArray, what: str = "score") -> FloatArray:
        """The answers, one line per row; a line that is not finite raises Diverged."""
        if not all_finite(answers):
            row = int(np.argmin(np.isfinite(answers).reshape(len(answers), -1).all(axis=1)))
            raise Diverged(row, f"{self.name}: the {what} of row {row} is not a finite number")
        return answers

    @abstractmethod
    def _start(self, problem: Problem) -> None:
        """Allocate an empty model."""

    @abstractmethod
    def _scores(self, block: Block) -> FloatArray:
        """Scores of rows, rows × columns; nothing is learned."""


class RowLearner(Estimator):
    """An estimator that learns the rows of any call one by one. A subclass has its own `fit`."""

    def learn(self, X: Rows, y: ArrayLike) -> NDArray[Any]:
        """Learn the rows one by one, in order; the prediction made for each before learning it."""
        scores = self.learn_scores(X, y)
        return self._begun().decide(scores)

    @np.errstate(all="ignore")  # what overflows shows in the scores
    def learn_scores(self, X: Rows, y: ArrayLike) -> FloatArray:
        """`learn`, giving the scores behind the predictions: rows × columns."""
        self._check_names(X)
        block = Block.of(X, self.problem.n_features if self.problem else None)
        return self._learn_block(block, self._met(X, block, y))

    def _learn_block(self, block: Block, targets: FloatArray) -> FloatArray:
        origin = self._origin.chosen(block)
        moved = origin.moved(block)
        origin.check(moved)
        self._origin, self._is_announced = origin, False
        return self._finite(self._learn(moved, targets))

    def learn_one(self, x: Rows, y: Any) -> Any:
        """Learn one row; the prediction made for it before. Blocks of rows are much faster."""
        return self.learn(as_one_row(x), [y])[0]

    def predict_one(self, x: Rows) -> Any:
        """The prediction for one row."""
        return self.predict(as_one_row(x))[0]

    def partial_fit(self, X: Rows, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more rows; `classes` names all labels at the first call when these lack some."""
        if self.problem is None and classes is not None:
            names = tuple(np.unique(np.asarray(classes)).tolist())
            task: Task = "binary" if len(names) <= 2 else "multiclass"
            self.begin(Problem(task, Block.of(X).matrix.shape[1], names))
        self.learn_scores(X, y)
        return self

    @abstractmethod
    def _learn(self, block: Block, targets: FloatArray) -> FloatArray:
        """Scores before each update, rows × columns, with the rows learned in order."""


class OnlineLearner(RowLearner):
    """An online learner as an estimator: `fit` is one pass over the rows."""

    def fit(self, X: Rows, y: ArrayLike, draws: Draws | None = None) -> Self:
        """Forget everything and learn these rows in one pass. A problem that `begin` has announced
        stays, and so do its draws."""
        with np.errstate(all="ignore"):  # what overflows shows in the scores
            self._learn_block(*self._first_of_fit(X, y, draws))
        return self


def names_of(X: Rows) -> tuple[str, ...] | None:
    """The names of the columns of a data frame; None for rows without names."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return tuple(columns)


def arrays_in(values: Iterable[Any]) -> Iterator[NDArray[Any]]:
    """The arrays among values and within the tuples among them, each once."""
    held: dict[int, NDArray[Any]] = {}
    for value in values:
        if isinstance(value, np.ndarray):
            held[id(value)] = value
        elif isinstance(value, tuple):
            held.update((id(array), array) for array in arrays_in(value))
    return iter(held.values())
