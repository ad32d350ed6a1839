"""The baselines against plain loops."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from okbench.learners.baselines import Constant, Previous
from okbench.learners.contract import Problem

TARGETS = {
    "regression": np.array([0.5, 2.0, -1.0, 4.0, 4.5]),
    "binary": np.array([1, 1, -1, -1, -1, -1, 1]),
    "multiclass": np.array(["c", "a", "a", "b", "b", "b", "c"]),
}


def problem(task):
    classes = () if task == "regression" else tuple(sorted(set(TARGETS[task].tolist())))
    return Problem(task, 2, classes)


def cut(learner, y):
    """The answers to all rows, given in two calls."""
    X = np.zeros((len(y), 2))
    return np.concatenate([learner.learn(X[rows], y[rows]) for rows in (slice(3), slice(3, None))])


@pytest.mark.parametrize("task", TARGETS)
def test_previous_is_the_target_of_the_row_before(task):
    y = TARGETS[task]
    learner = Previous().begin(problem(task))
    first = {"regression": 0.0, "binary": 1, "multiclass": "a"}[task]
    assert cut(learner, y).tolist() == [first, *y[:-1].tolist()]
    assert learner.predict(np.zeros((2, 2))).tolist() == [y[-1]] * 2


def test_constant_is_the_mean_of_the_targets_so_far():
    y = TARGETS["regression"]
    learner = Constant().begin(problem("regression"))
    expected = [0.0, *(y[:t].mean() for t in range(1, len(y)))]
    assert cut(learner, y).tolist() == pytest.approx(expected, abs=1e-15)
    assert learner.predict(np.zeros((1, 2)))[0] == pytest.approx(y.mean())


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_constant_is_the_most_frequent_class_so_far(task):
    y, known = TARGETS[task], problem(task)
    order = list(known.classes)
    if task == "binary":
        order = order[::-1]  # a score of 0 is the positive class
    expected = []
    for t in range(len(y)):
        counts = Counter(y[:t].tolist())
        expected.append(max(order, key=lambda name, counts=counts: counts[name]))
    assert cut(Constant().begin(known), y).tolist() == expected
