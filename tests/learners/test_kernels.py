"""Every kernel in every kind of kernel learner, against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from okbench import BOGD, FOGD, NOGD, OGD, OMKL, RBP, TVM, Forgetron, Projectron
from okbench.base.errors import UsageError
from okbench.learners.contract import Draws, Problem, RecordedDraws
from okbench.learners.kernels import KERNELS, OF_DISTANCES

WIDTH, STEP, ROWS = 2.5, 0.3, 240
PROBLEM = Problem("binary", 6, (-1, 1), ROWS)
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])


def stream(offset):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((ROWS, 6)) * (rng.uniform(size=(ROWS, 6)) < 0.7)
    X[1::9] = X[::9][: len(X[1::9])]  # rows that come again
    y = np.where(np.sin(X[:, 0] * 2) + X[:, 1] > 0.2, 1, -1)
    return X + offset * (np.arange(6) < 3), y


def kernel(name, ones, other):
    """The kernel of rows with a row, from exact differences."""
    if name in OF_DISTANCES:
        arguments = np.square((ones - other) / WIDTH).sum(axis=1)
    else:
        arguments = ones @ other / WIDTH**2
    return KERNELS[name].profile(arguments)


def plain_perceptron(name, X, y, budget, uniforms):
    """RBP by its definition; without a budget, the Perceptron."""
    kept, signs, scores, drawn = [], [], np.empty(len(X)), 0
    for i, x in enumerate(X):
        scores[i] = STEP * (np.array(signs) @ kernel(name, X[kept], x)) if kept else 0.0
        if (1 if scores[i] >= 0 else -1) == y[i]:
            continue
        if len(kept) == budget:
            place = int(budget * uniforms[drawn])
            drawn += 1
            del kept[place], signs[place]
        kept.append(i)
        signs.append(float(y[i]))
    return scores


@FORMS
@pytest.mark.parametrize("offset", [0.0, 1000.0], ids=["near", "far"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_budget_with_any_kernel_is_its_plain_loop(name, offset, form):
    if offset and name not in OF_DISTANCES:
        offset = 3.0  # a kernel of inner products is not the same elsewhere
    X, y = stream(offset)
    uniforms = np.random.default_rng(1).uniform(size=ROWS)
    learner = RBP(budget=15, width=WIDTH, step=STEP, kernel=name)
    learner.begin(PROBLEM, RecordedDraws(uniforms=uniforms))
    expected = plain_perceptron(name, X, y, 15, uniforms)
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(learner.learn_scores(form(X), y)[:, 0], expected, atol=2e-6 * scale)
    assert learner.updates > 15


@pytest.mark.parametrize("name", KERNELS)
def test_an_expansion_with_any_kernel_is_its_plain_loop(name):
    X, y = stream(0.0)
    learner = OGD(width=WIDTH, step=STEP, kernel=name).begin(PROBLEM, Draws(0))
    scores = learner.learn_scores(X, y)
    kept, signs, expected = [], [], np.empty(ROWS)
    for i, x in enumerate(X):
        expected[i] = STEP * (np.array(signs) @ kernel(name, X[kept], x)) if kept else 0.0
        if y[i] * expected[i] < 1.0:
            kept.append(i)
            signs.append(float(y[i]))
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", OF_DISTANCES)
def test_the_map_of_nogd_has_the_kernel_of_its_supports(name):
    X, y = stream(0.0)
    learner = NOGD(budget=20, rank=20, width=WIDTH, kernel=name).begin(PROBLEM, Draws(0))
    learner.learn_scores(X, y)
    rows = X[learner.support_rows]
    expected = np.array([kernel(name, rows, row) for row in rows])
    np.testing.assert_allclose(learner.support_kernel(), expected, atol=1e-6)


@pytest.mark.parametrize("name", OF_DISTANCES)
def test_random_features_have_the_kernel_of_fogd_in_their_mean(name):
    X, _ = stream(0.0)
    pair = X[2:4]
    gaps = FOGD(components=20_000, width=WIDTH, kernel=name).begin(PROBLEM, Draws(5))
    assert gaps.kernel_gaps(pair)[0] < 0.02


@pytest.mark.parametrize("name", KERNELS)
def test_an_ensemble_of_one_kernel_has_the_scores_of_that_kernel(name):
    X, y = stream(0.0)
    settings = {"widths": (WIDTH,), "kernels": (name,), "step": STEP, "decay": 0.0}
    scores = OMKL(**settings).begin(PROBLEM, Draws(0)).learn_scores(X, y)
    gains, expected = [], np.empty(ROWS)
    for i, x in enumerate(X):
        expected[i] = np.array(gains) @ kernel(name, X[:i], x) if i else 0.0
        gains.append(STEP * y[i] / (1.0 + np.exp(np.clip(y[i] * expected[i], -700, 700))))
    np.testing.assert_allclose(scores[:, 0], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("cls", [Forgetron, Projectron, TVM])
def test_a_rule_for_vectors_of_length_1_refuses_kernels_without_them(cls):
    with pytest.raises(UsageError, match=r"kernel = 'polynomial-2': its rule is derived for"):
        cls(kernel="polynomial-2").begin(PROBLEM, Draws(0))


def test_random_features_refuse_kernels_of_inner_products():
    with pytest.raises(UsageError, match=r"kernel = 'polynomial-1': choose gaussian"):
        FOGD(kernel="polynomial-1").begin(PROBLEM, Draws(0))


def test_the_default_kernel_is_the_gaussian():
    X, y = stream(0.0)
    both = [
        BOGD(width=WIDTH, **more).begin(PROBLEM, Draws(1)) for more in ({}, {"kernel": "gaussian"})
    ]
    first, second = (learner.learn_scores(X, y) for learner in both)
    np.testing.assert_array_equal(first, second)
