"""Learners with several kernels against their plain renderings, and what only they promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain import many_kernels as plain
from okbench.base.errors import UsageError
from okbench.learners.checks import checks, run_check
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.frequencies import DIRECTIONS, frequencies
from okbench.learners.kernels import KERNELS, OF_DISTANCES
from okbench.learners.many_kernels.adaraker import AdaRaker
from okbench.learners.many_kernels.omkc import OMKC
from okbench.learners.many_kernels.omkl import OMKL
from okbench.learners.many_kernels.omkr import OMKR
from okbench.learners.many_kernels.raker import Raker
from okbench.learners.many_kernels.rbf import RBF
from okbench.learners.registry import find
from tests.learners.test_cuts import all_scores, cuts_of
from tests.learners.test_linear import stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
TASKS = pytest.mark.parametrize("task", ["binary", "regression"])
CLOSE = {"atol": 1e-10, "rtol": 0}
WIDTHS, NAMES = [0.7, 1.5, 4.0], ["gaussian", "laplacian", "cauchy"]
EXPANSIONS = {
    "OMKL": (OMKL, {"decay": 0.02, "weight_step": 0.7}),
    "OMKR": (OMKR, {"discount": 0.6}),
    "OMKC": (OMKC, {"discount": 0.9}),
}


def stacked(learner):
    """The frequencies that a learner has drawn: kernels × components × inputs."""
    held, size = learner.map.frequencies, learner.components
    by_kernel = held.reshape(len(held), len(learner.widths), -1)[:, :, :size]
    return by_kernel.transpose(1, 2, 0)


@FORMS
@TASKS
@pytest.mark.parametrize("components", [1, 8, 21])
def test_raker_is_its_plain_loop(task, components, form):
    X, y, problem = stream(task, filled=0.6)
    rates = {"step": 0.3, "weight_step": 0.7, "decay": 0.02}
    learner = Raker(components=components, widths=WIDTHS, kernels=NAMES, **rates).begin(
        problem, Draws(3)
    )
    scores = learner.learn_scores(form(X), y)
    expected = plain.raker(X, problem.encode(y), task=task, frequencies=stacked(learner), **rates)
    np.testing.assert_allclose(scores, expected, **CLOSE)


@FORMS
@TASKS
@pytest.mark.parametrize("base", [2, 5])
def test_adaraker_is_its_plain_loop(task, base, form):
    X, y, problem = stream(task, filled=0.6)
    problem = Problem(task, problem.n_features, problem.classes, len(y))
    learner = AdaRaker(components=10, widths=WIDTHS, kernels=NAMES, step=0.8, decay=0.02, base=base)
    learner.begin(problem, Draws(3))
    scores = learner.learn_scores(form(X), y)
    expected = plain.adaraker(
        X, problem.encode(y), task=task, frequencies=stacked(learner), step=0.8, decay=0.02,
        base=base,
    )  # fmt: skip
    np.testing.assert_allclose(scores, expected, **CLOSE)


@TASKS
def test_adaraker_in_the_released_form_is_its_plain_loop(task):
    X, y, problem = stream(task)
    problem = Problem(task, problem.n_features, problem.classes, len(y))
    learner = AdaRaker(components=6, widths=WIDTHS, step=0.1, form="released").begin(
        problem, Draws(3)
    )
    depth = np.arange(1, plain.depth_of(len(y), 2) + 1)
    expected = plain.released(
        X, problem.encode(y), task=task, frequencies=stacked(learner),
        steps=np.minimum(0.05, 0.1 / np.sqrt(2.0**depth)), decay=0.01, layered=True,
    )  # fmt: skip
    np.testing.assert_allclose(learner.learn_scores(X, y), expected, **CLOSE)


def test_adaraker_needs_no_number_of_rows():
    X, y, problem = stream("regression")
    known = AdaRaker(components=10).begin(Problem("regression", X.shape[1], (), len(y)), Draws(1))
    unknown = AdaRaker(components=10).begin(problem, Draws(1))
    np.testing.assert_allclose(known.learn(X, y), unknown.learn(X, y), rtol=1e-12)


def expected_of(name, X, targets, task, settings, draws_seed, step=0.4):
    """What the plain loop makes of the same settings and draws."""
    given = {"widths": WIDTHS, "kernels": NAMES, "step": step, **settings}
    given["uniforms"] = Draws(draws_seed).stream("kernels").uniforms(4 * len(X)).reshape(-1, 4)
    given["loss"] = {"OMKC": "mistake"}.get(name, "squared")
    if name == "OMKL":
        given["keep"] = 1.0 - step * given.pop("decay")
        given["step"] *= 2.0 if task == "regression" else 1.0
        given["loss"] = "squared" if task == "regression" else "logistic"
    else:
        given["weight_step"] = -np.log(given.pop("discount"))
    return plain.omkl(X, targets, **given)


@FORMS
@pytest.mark.parametrize("budget", [None, 15])
@pytest.mark.parametrize("combination", ["weighted", "sampled"])
@pytest.mark.parametrize("update", ["all", "sampled"])
@pytest.mark.parametrize(
    ("name", "task"),
    [("OMKL", "binary"), ("OMKL", "regression"), ("OMKR", "regression"), ("OMKC", "binary")],
)
def test_expansions_are_their_plain_loop(name, task, update, combination, budget, form):
    X, y, problem = stream(task, filled=0.6)
    cls, settings = EXPANSIONS[name]
    sampling = {"update": update, "combination": combination, "smoothing": 0.2, "budget": budget}
    learner = cls(widths=WIDTHS, kernels=NAMES, step=0.4, **settings, **sampling)
    scores = learner.begin(problem, Draws(5)).learn_scores(form(X), y)
    expected = expected_of(name, X, problem.encode(y), task, {**settings, **sampling}, 5)
    np.testing.assert_allclose(scores, expected, **CLOSE)
    assert learner.support_size == (budget or learner.updates)
    assert len(learner.support_rows) == learner.coefficients.shape[1] == learner.support_size


POLYNOMIALS = {
    "widths": [2.0, 3.0, 4.0, 1.5],
    "kernels": ["polynomial-1", "polynomial-2", "polynomial-3", "gaussian"],
}


@FORMS
@pytest.mark.parametrize("budget", [None, 15])
@pytest.mark.parametrize(
    ("name", "task"),
    [("OMKL", "binary"), ("OMKL", "regression"), ("OMKR", "regression"), ("OMKC", "binary")],
)
def test_expansions_of_polynomial_kernels_are_their_plain_loop(name, task, budget, form):
    X, y, problem = stream(task, filled=0.6)
    cls, settings = EXPANSIONS[name]
    given = {**POLYNOMIALS, **settings, "budget": budget}
    learner = cls(step=0.02, **given).begin(problem, Draws(5))
    scores = learner.learn_scores(form(X), y)
    expected = expected_of(name, X, problem.encode(y), task, given, 5, step=0.02)
    np.testing.assert_allclose(scores, expected, **CLOSE)
    again = cls(step=0.02, **given).begin(problem, Draws(5))
    halves = [again.learn_scores(form(X[rows]), y[rows]) for rows in (slice(7), slice(7, None))]
    assert np.array_equal(np.concatenate(halves), scores)


def test_rows_of_a_polynomial_kernel_are_not_moved():
    """A polynomial kernel depends on where rows are, so that far rows must stay there."""
    X, y, problem = stream("regression")
    far = X + 1e6
    settings = {"widths": [1e6], "kernels": ["polynomial-2"], "step": 1e-3}
    scores = OMKR(**settings).begin(problem, Draws(0)).learn_scores(far, y)
    expected = plain.omkl(
        far, y, loss="squared", weight_step=np.log(2.0), **settings, uniforms=None
    )
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("cls", [Raker, AdaRaker])
def test_random_features_have_no_polynomial_kernel(cls):
    with pytest.raises(UsageError, match="of the distance alone; OMKL, OMKR and OMKC take"):
        cls(kernels=["polynomial-2"]).begin(Problem("regression", 3), Draws(0))


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_rbf_is_its_plain_loop(task):
    X, y, problem = stream(task, filled=0.6)
    learner = RBF(width=1.5, step=0.3, decay=0.05).begin(problem)
    expected = plain.rbf(
        X, problem.encode(y), task=task, n_columns=problem.n_columns, width=1.5, step=0.3,
        decay=0.05,
    )  # fmt: skip
    np.testing.assert_allclose(learner.learn_scores(X, y), expected, **CLOSE)


def test_with_one_kernel_omkl_is_rbf():
    X, y, problem = stream("regression")
    one = OMKL(widths=[1.5], step=0.3).begin(problem).learn(X, y)
    np.testing.assert_allclose(one, RBF(width=1.5, step=0.3).begin(problem).learn(X, y), **CLOSE)


def test_with_many_components_raker_nears_omkl():
    X, y, problem = stream("regression")
    exact = OMKL(widths=WIDTHS, step=0.3).begin(problem).learn(X, y)
    apart = [
        np.abs(
            Raker(components=size, widths=WIDTHS, step=0.3).begin(problem, Draws(0)).learn(X, y)
            - exact
        ).max()
        for size in (20, 20_000)
    ]
    assert apart[1] < 0.05 < apart[0]


@FORMS
@pytest.mark.parametrize(
    "learner",
    [
        AdaRaker(components=9, widths=WIDTHS, kernels=NAMES),
        AdaRaker(components=9, step=0.1, form="released"),
        OMKL(widths=WIDTHS, kernels=NAMES, update="sampled", combination="sampled"),
        OMKL(widths=WIDTHS, step=0.9, decay=0.9),
    ],
    ids=["paper", "released", "sampled", "shrinking"],
)
def test_any_cut_of_larger_models_gives_the_same_bits(learner, form):
    """Beside the small settings of `test_cuts`: without a budget, and shrinking so much that the
    common factor is multiplied out."""
    X, y, problem = stream("regression")
    expected = all_scores(learner.begin(problem, Draws(2)), form(X), y, [])
    for cuts in cuts_of(len(y), np.random.default_rng(5)):
        found = all_scores(learner.begin(problem, Draws(2)), form(X), y, cuts)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", OF_DISTANCES)
@pytest.mark.parametrize("directions", DIRECTIONS)
def test_the_features_have_the_kernel_in_their_mean(name, directions):
    rng = np.random.default_rng(0)
    difference = rng.standard_normal(5)
    drawn = [frequencies(Draws(seed), 5, 40, name, directions) for seed in range(500)]
    found = np.cos(difference @ np.hstack(drawn))
    exact = KERNELS[name].profile(np.array(float(difference @ difference)))
    assert found.mean() == pytest.approx(exact, abs=4 / np.sqrt(found.size))


def test_orthogonal_frequencies_are_orthogonal_in_blocks():
    drawn = frequencies(Draws(1), 6, 15, "gaussian", "orthogonal")
    for block in (drawn[:, :6], drawn[:, 6:12], drawn[:, 12:]):
        units = block / np.linalg.norm(block, axis=0)
        np.testing.assert_allclose(units.T @ units, np.eye(block.shape[1]), atol=1e-12)


def test_lengths_of_orthogonal_frequencies_are_those_of_normal_vectors():
    squares = (frequencies(Draws(1), 4, 20_000, "gaussian", "orthogonal") ** 2).sum(axis=0)
    assert squares.mean() == pytest.approx(4.0, abs=0.1)  # χ² with 4 degrees of freedom
    assert squares.var() == pytest.approx(8.0, abs=0.6)


def test_kernel_gaps_are_those_of_the_mean_kernel_and_smaller_with_orthogonal_features():
    X = np.random.default_rng(1).random((200, 7))
    problem = Problem("regression", 7)
    gaps = {}
    for directions in DIRECTIONS:
        learner = Raker(components=14, widths=WIDTHS, kernels=NAMES, directions=directions)
        found = [learner.begin(problem, Draws(seed)).kernel_gaps(X) for seed in range(40)]
        z = plain_features(stacked(learner), X)
        approximate = np.array([one @ other for one, other in zip(z[0::2], z[1::2], strict=True)])
        squares = ((X[0::2] - X[1::2]) ** 2).sum(axis=1)
        exact = np.mean(
            [plain.kernel(*each) for each in zip(NAMES, 3 * [squares], WIDTHS, strict=True)],
            axis=0,
        )
        np.testing.assert_allclose(found[-1][::2], np.abs(approximate - exact), **CLOSE)
        np.testing.assert_array_equal(found[-1][::2], found[-1][1::2])
        gaps[directions] = np.mean(np.square(found))
    assert gaps["orthogonal"] < 0.8 * gaps["independent"]


def plain_features(by_kernel, X):
    """Features of all kernels together, whose inner product is the mean of the kernels."""
    scale = 1.0 / np.sqrt(by_kernel.shape[0] * by_kernel.shape[1])
    return np.array([plain.features(by_kernel, x, scale).ravel() for x in X])


def test_weights_stay_finite_where_every_loss_is_large():
    """Exponentials of the losses would underflow; logarithms do not."""
    X, _, problem = stream("regression")
    learner = Raker(components=10, widths=WIDTHS, step=1e-9, weight_step=1e3).begin(
        problem, Draws(0)
    )
    learner.learn(X, np.full(len(X), 50.0))
    assert learner.kernel_weights.sum() == pytest.approx(1.0)


def test_a_step_that_is_too_large_diverges():
    X, y, problem = stream("regression")
    with pytest.raises(Diverged, match="Raker: the score of row"):
        Raker(components=10, step=1e3).begin(problem, Draws(0)).learn(
            np.tile(X, (3, 1)), np.tile(y, 3)
        )


@pytest.mark.parametrize("cls", [OMKL, OMKC])
def test_it_keeps_every_promise_without_a_budget_too(cls):
    of_budgets = ("keeps-its-budget", "memory-is-bounded")
    wanted = [check for check in checks() if check.name not in of_budgets]
    results = [run_check(check, find(cls.name), {"budget": None}) for check in wanted]
    assert not [result for result in results if result.status == "failed"]


@pytest.mark.parametrize(
    ("cls", "changed", "message"),
    [
        (Raker, {"widths": []}, "Raker: widths = []: a list of numbers is expected"),
        (Raker, {"widths": [1.0, 0.0]}, "each must be above 0, also at place 1"),
        (Raker, {"kernels": ["gaussian", "cauchy"]}, "one for each of the 3"),
        (Raker, {"kernels": ["gausian"]}, "choose gaussian or laplacian or cauchy or"),
        (Raker, {"kernels": "gaussian"}, "a list of words is expected"),
        (Raker, {"directions": "plain"}, "choose orthogonal or independent"),
        (Raker, {"form": "released", "kernels": ["cauchy"]}, "leave out kernels and directions"),
        (Raker, {"weight_step": -1.0}, "weight_step = -1.0: it must be 0 or more"),
        (AdaRaker, {"base": 1}, "AdaRaker: base = 1: it must be 2 or more"),
        (OMKL, {"decay": 4.0}, "OMKL: decay = 4.0: step · decay must be below 1"),
        (RBF, {"decay": 2.0}, "RBF: decay = 2.0: step · decay must be below 1"),
        (OMKL, {"update": "some"}, "choose all or sampled"),
        (OMKL, {"budget": 0}, "OMKL: budget = 0: it must be 1 or more"),
        (OMKL, {"smoothing": 1.5}, "smoothing = 1.5: it must be 1 or less"),
        (OMKC, {"discount": 1.5}, "discount = 1.5: it must be 1 or less"),
    ],
)
def test_settings_that_make_no_sense_are_refused(cls, changed, message):
    task = "regression" if "regression" in cls.tasks else "binary"
    classes = () if task == "regression" else (0, 1)
    with pytest.raises(UsageError) as refused:
        cls(**changed).begin(Problem(task, 3, classes), Draws(0))
    assert message in str(refused.value)
