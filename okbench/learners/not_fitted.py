"""The error of an estimator that has learned nothing, as scikit-learn knows it."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError

from okbench.learners.contract import NotBegun


class NotFitted(NotBegun, NotFittedError):  # type: ignore[misc]
    """Raised where a learner is asked for what it has learned, before its first row."""
