"""The learners as estimators of scikit-learn, with its rules for rows, labels and errors.

    from okbench.learners.estimators import Classifier, Regressor

    Classifier(FOGD(width=2.0)).fit(X, y).score(X_test, y_test)
    Regressor(FOGD(width=2.0), random_state=7).fit(X, y)

`Classifier` takes every label for a class, and `Regressor` every target for an amount, whatever
the numbers look like. The learner within sees the same rows in the same order as by itself. Scores
are margins and no probabilities; scikit-learn's CalibratedClassifierCV makes some of them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from okbench.learners.base import Estimator, OnlineLearner, RowLearner
from okbench.learners.batch.base import BatchLearner
from okbench.learners.contract import Draws, Problem, Rows, RowsError, SettingsError, Task
from okbench.learners.fogd import FOGD

_SEEDS = np.iinfo(np.int32).max


def _is_online(wrapped: Any) -> bool:
    return wrapped.learner is None or isinstance(wrapped.learner, RowLearner)


class _Wrapped(BaseEstimator):  # type: ignore[misc]
    """A learner within an estimator. Without one it is FOGD with its default settings."""

    _tasks: tuple[Task, ...] = ()

    def __init__(self, learner: Any = None, *, random_state: Any = 0) -> None:
        self.learner = learner
        self.random_state = random_state

    def _inner(self) -> Any:
        """A learner that has learned nothing, with the settings of the one that is given."""
        if self.learner is None:
            return FOGD()
        if not isinstance(self.learner, Estimator):
            raise SettingsError(
                f"{type(self).__name__}: {self.learner!r} is no learner of okbench;"
                " write Classifier(FOGD())"
            )
        return clone(self.learner)

    def _begin(self, task: Task, n_features: int, classes: int, n_rows: int | None) -> None:
        """Begin a learner that knows classes by their places."""
        inner = self._inner()
        seed = int(check_random_state(self.random_state).randint(_SEEDS))
        self.learner_ = inner.begin(
            Problem(task, n_features, tuple(range(classes)), n_rows), Draws(seed)
        )

    def _learn(self, X: Rows, targets: NDArray[Any], whole: bool) -> Self:
        inner = self.learner_
        if whole and isinstance(inner, OnlineLearner | BatchLearner):
            inner.fit(X, targets)
        else:
            inner.learn_scores(X, targets)
        return self

    def _rows(self, X: Rows, **more: Any) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, **more)

    def _scores(self, X: Rows) -> NDArray[np.float64]:
        check_is_fitted(self)
        return np.asarray(self.learner_.scores(self._rows(X, reset=False)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Classifier(ClassifierMixin, _Wrapped):  # type: ignore[misc]
    """A learner that takes labels for classes, with the interface of scikit-learn."""

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Forget everything and learn these rows: an online learner in one pass."""
        rows, labels = self._rows(X, y=y, multi_output=False)
        check_classification_targets(labels)
        self._set_classes(np.unique(labels), rows.shape, len(labels))
        return self._learn(rows, np.searchsorted(self.classes_, labels), whole=True)

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Rows, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more rows; the first call names all classes if its labels lack some."""
        is_first = not hasattr(self, "learner_")
        rows, labels = self._rows(X, y=y, reset=is_first)
        check_classification_targets(labels)
        if is_first:
            self._set_classes(np.unique(labels if classes is None else classes), rows.shape, None)
        places = np.minimum(np.searchsorted(self.classes_, labels), len(self.classes_) - 1)
        unknown = self.classes_[places] != labels
        if unknown.any():
            label = labels.tolist()[int(np.argmax(unknown))]
            raise RowsError(
                f"label {label!r} is not among the classes of the first call; name them all with"
                " partial_fit(X, y, classes=...)"
            )
        return self._learn(rows, places, whole=False)

    def predict(self, X: Rows) -> NDArray[Any]:
        """The class of each row."""
        scores = self._scores(X)
        if scores.shape[1] == 1:
            places = (scores[:, 0] >= 0.0).astype(np.int64) * (len(self.classes_) - 1)
        else:
            places = np.argmax(scores, axis=1)
        found: NDArray[Any] = self.classes_[places]
        return found

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """The margin of each row, one number for two classes, and one per class for more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _set_classes(self, classes: NDArray[Any], shape: tuple[int, int], rows: int | None) -> None:
        tasks = self._inner().tasks
        if len(classes) > 2 and "multiclass" not in tasks:
            raise SettingsError(
                "Only binary classification is supported. The type of the target is"
                f" {type_of_target(classes)}."
            )
        self.classes_ = classes
        task: Task = "multiclass" if len(classes) > 2 else "binary"
        self._begin(task, shape[1], len(classes), rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = "multiclass" in self._inner().tasks
        return tags


class Regressor(RegressorMixin, _Wrapped):  # type: ignore[misc]
    """A learner that takes targets for amounts, with the interface of scikit-learn."""

    def fit(self, X: Rows, y: ArrayLike) -> Self:
        """Forget everything and learn these rows: an online learner in one pass."""
        rows, labels = self._rows(X, y=y, y_numeric=True)
        self._begin("regression", rows.shape[1], 0, len(labels))
        return self._learn(rows, labels.astype(np.float64), whole=True)

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Rows, y: ArrayLike) -> Self:
        """Learn more rows."""
        is_first = not hasattr(self, "learner_")
        rows, labels = self._rows(X, y=y, y_numeric=True, reset=is_first)
        if is_first:
            self._begin("regression", rows.shape[1], 0, None)
        return self._learn(rows, labels.astype(np.float64), whole=False)

    def predict(self, X: Rows) -> NDArray[np.float64]:
        """The prediction of each row."""
        return self._scores(X)[:, 0]
