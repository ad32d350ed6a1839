"""The learners of Lu et al.'s Table 1 without a reference program: against their plain renderings,
and by what their rules promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain import table1 as plain
from okbench.base.errors import UsageError
from okbench.learners.contract import Problem
from okbench.learners.numeric.gram_inverse import (
    extend_root,
    inverse_column,
    inverse_diagonal,
    reduce_root,
    solve,
)
from okbench.learners.online.budget_perceptron import BudgetPerceptron
from okbench.learners.online.passive_aggressive import BPANN, BPAP, BPAS
from okbench.learners.online.tvm import TVM

N_ROWS, N_FEATURES, WIDTH = 240, 6, 1.5
BUDGETS = (1, 2, 15, 16, 40)  # with 16 the spare slot of a budget needs more lanes
PASSIVE = {"aggressiveness": 0.6}
CLASSIFYING = ("binary", "multiclass")
TWINS = {"cost": 0.7, "margin": 1.0}

# name: class, rendering, settings, tasks, how far the scores may be apart
CASES = {
    "BudgetPerceptron": (
        BudgetPerceptron,
        plain.budget_perceptron,
        {"step": 0.4, "margin": 0.0},
        CLASSIFYING,
        1e-12,
    ),
    "BudgetPerceptron-margin": (
        BudgetPerceptron,
        plain.budget_perceptron,
        {"step": 0.4, "margin": 0.3},
        CLASSIFYING,
        1e-12,
    ),
    "BPA-P": (BPAP, plain.bpap, PASSIVE, CLASSIFYING, 1e-12),
    "BPA-NN": (BPANN, plain.bpann, PASSIVE, CLASSIFYING, 1e-12),
    "TVM": (TVM, plain.tvm, TWINS | {"merging": "class"}, CLASSIFYING[:1], 1e-6),
    "TVM-any": (TVM, plain.tvm, TWINS | {"merging": "any"}, CLASSIFYING[:1], 1e-6),
}
LEARNERS = [
    pytest.param(name, task, id=f"{name}-{task}")
    for name, (_, _, _, tasks, _) in CASES.items()
    for task in tasks
]
MATRIX = [
    pytest.param(*case.values, budget, id=f"{case.id}-{budget}")
    for case in LEARNERS
    for budget in BUDGETS
]


def stream(task, n_rows=N_ROWS, filled=1.0):
    """Rows, targets as the compiled loops take them, and the problem."""
    rng = np.random.default_rng(17)
    X = rng.standard_normal((n_rows, N_FEATURES)) * (rng.random((n_rows, N_FEATURES)) < filled)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    if task == "binary":
        return X, np.where(signal > 0.2, 1.0, -1.0), Problem(task, N_FEATURES, (-1.0, 1.0), n_rows)
    y = np.digitize(signal, [-0.8, 0.2, 1.0]).astype(float)
    return X, y, Problem(task, N_FEATURES, (0.0, 1.0, 2.0, 3.0), n_rows)


def learner(name, task, budget=15):
    cls, _, given, _, _ = CASES[name]
    exact = {"tolerance": 1e-10} if cls is TVM else {}
    return cls(budget=budget, width=WIDTH, **given, **exact).begin(stream(task)[2])


def kernel(U, V, width=WIDTH):
    return np.exp(-((U[:, None] - V) ** 2).sum(axis=2) / (2 * width**2))


@pytest.mark.parametrize(("name", "task", "budget"), MATRIX)
def test_is_its_plain_loop(name, task, budget):
    cls, render, given, _, apart = CASES[name]
    X, targets, problem = stream(task)
    shape = {} if cls is TVM else {"task": task, "n_columns": problem.n_columns}
    expected, rows, coefficients = render(X, targets, budget=budget, width=WIDTH, **given, **shape)
    found = learner(name, task, budget)
    np.testing.assert_allclose(found.learn_scores(X, targets), expected, rtol=0, atol=apart)
    assert found.support_rows.tolist() == rows.tolist()
    np.testing.assert_allclose(found.coefficients, coefficients, rtol=0, atol=10 * apart)


@pytest.mark.parametrize(("name", "task"), [case for case in LEARNERS if "TVM" not in case.id])
def test_among_equals_the_first_is_chosen(name, task):
    # small whole numbers: many supports are equally near
    X, targets, problem = stream(task)
    X, first = np.unique(np.round(X), axis=0, return_index=True)
    X, targets = X[np.argsort(first)], targets[np.sort(first)]
    render, given = CASES[name][1:3]
    shape = {"task": task, "n_columns": problem.n_columns}
    expected, *_ = render(X, targets, budget=15, width=WIDTH, **given, **shape)
    found = learner(name, task).learn_scores(X, targets)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("filled", [0.4, 1.0])
@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_sparse_rows_give_what_the_same_dense_rows_give(name, task, filled):
    X, targets, _ = stream(task, filled=filled)
    dense, sparse = learner(name, task), learner(name, task)
    expected = dense.learn_scores(X, targets)
    found = sparse.learn_scores(sp.csr_array(X), targets)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    np.testing.assert_allclose(sparse.scores(sp.csr_array(X)), dense.scores(X), rtol=0, atol=1e-7)


@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_the_budget_holds_and_memory_with_it(name, task):
    X, targets, _ = stream(task)
    found = learner(name, task)
    found.learn_scores(X, targets)
    held = found.nbytes
    for _ in range(3):
        found.learn_scores(X, targets)
        assert found.support_size == 15
        assert found.nbytes == held


@pytest.mark.parametrize(("name", "task"), [case for case in LEARNERS if "TVM" not in case.id])
def test_scores_are_those_of_supports_and_coefficients(name, task):
    X, targets, _ = stream(task)
    found = learner(name, task)
    found.learn_scores(X, targets)
    expected = kernel(X, X[found.support_rows]) @ found.coefficients.T
    np.testing.assert_allclose(found.scores(X), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", CLASSIFYING)
def test_with_one_support_all_passive_aggressive_variants_are_one(task):
    X, targets, problem = stream(task)
    simple, projecting, nearest = (
        cls(budget=1, width=WIDTH, **PASSIVE).begin(problem).learn_scores(X, targets)
        for cls in (BPAS, BPAP, BPANN)
    )
    np.testing.assert_allclose(projecting, simple, rtol=0, atol=1e-12)
    np.testing.assert_allclose(nearest, simple, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", CLASSIFYING)
@pytest.mark.parametrize("budget", [2, 5, 20])
def test_the_more_take_over_the_less_the_first_removal_changes(task, budget):
    X, targets, problem = stream(task)
    full = unbudgeted_steps(task, budget)
    changes = []
    for cls in (BPAS, BPANN, BPAP):
        found = cls(budget=budget, width=WIDTH, **PASSIVE).begin(problem)
        found.learn_scores(X[: full[-2] + 1], targets[: full[-2] + 1])
        before = np.zeros((problem.n_columns, len(X)))
        before[:, found.support_rows] = found.coefficients
        found.learn_scores(X[full[-2] + 1 : full[-1] + 1], targets[full[-2] + 1 : full[-1] + 1])
        after = np.zeros_like(before)
        after[:, found.support_rows] = found.coefficients
        moved = after - before
        changes.append(np.sum(moved @ kernel(X, X) * moved))
    simple, nearest, projecting = changes
    assert projecting <= nearest * (1 + 1e-9)
    assert nearest <= simple * (1 + 1e-9)
    assert projecting < simple


def unbudgeted_steps(task, budget):
    """The rows of the first budget + 1 updates, which no removal has changed."""
    X, targets, problem = stream(task)
    found = BPAP(budget=N_ROWS, width=WIDTH, **PASSIVE).begin(problem)
    found.learn_scores(X, targets)
    return found.support_rows[: budget + 1]


@pytest.mark.parametrize("task", CLASSIFYING)
def test_a_projection_is_not_seen_at_the_supports_that_stay(task):
    budget = 10
    X, targets, problem = stream(task)
    last = unbudgeted_steps(task, budget)[-1] + 1
    bounded, unbounded = (
        BPAP(budget=size, width=WIDTH, **PASSIVE).begin(problem) for size in (budget, N_ROWS)
    )
    for each in (bounded, unbounded):
        each.learn_scores(X[:last], targets[:last])
    stay = X[bounded.support_rows]
    np.testing.assert_allclose(bounded.scores(stay), unbounded.scores(stay), rtol=0, atol=1e-12)
    assert np.abs(bounded.scores(X) - unbounded.scores(X)).max() > 1e-3


@pytest.mark.parametrize("task", CLASSIFYING)
def test_rows_that_come_again_cost_bpap_no_support_and_no_accuracy(task):
    X, targets, problem = stream(task)
    X, targets = np.tile(X[:20], (6, 1)), np.tile(targets[:20], 6)
    bounded, unbounded = (
        cls(budget=budget, width=WIDTH, **PASSIVE).begin(problem)
        for cls, budget in ((BPAP, 20), (BPAS, 120))
    )
    expected = unbounded.learn_scores(X, targets)
    np.testing.assert_allclose(bounded.learn_scores(X, targets), expected, rtol=0, atol=1e-10)
    assert bounded.support_size <= 20


@pytest.mark.parametrize("cls", [BPAP, BPANN])
def test_rows_that_nearly_come_again_do_not_spoil_the_projections(cls):
    X, targets, problem = stream("binary")
    X = np.tile(X[:40], (6, 1)) + 1e-3 * X
    render = plain.bpap if cls is BPAP else plain.bpann
    shape = {"task": "binary", "n_columns": 1}
    expected, *_ = render(X, targets, budget=12, width=WIDTH, **PASSIVE, **shape)
    found = cls(budget=12, width=WIDTH, **PASSIVE).begin(problem)
    np.testing.assert_allclose(found.learn_scores(X, targets), expected, rtol=0, atol=1e-7)


def test_the_budget_perceptron_lets_go_of_what_the_others_know():
    # two rows side by side know each other's class; the third is alone
    X = np.array([[0.0], [0.5], [9.0], [20.0]])
    targets = np.array([1.0, 1.0, 1.0, -1.0])
    found = BudgetPerceptron(budget=3, width=1.0, margin=0.95).begin(
        Problem("binary", 1, (-1.0, 1.0))
    )
    found.learn_scores(X, targets)
    assert found.support_rows.tolist() == [1, 2, 3]  # of the two, which are equal, the older


@pytest.mark.parametrize("merging", ["class", "any"])
@pytest.mark.parametrize("budget", [1, 5, 30, N_ROWS])
@pytest.mark.parametrize("cost", [0.05, 1.0, 300.0])
def test_the_twin_machine_is_at_its_optimum_after_every_row(cost, budget, merging):
    X, targets, problem = stream("binary")
    found = TVM(budget=budget, width=WIDTH, cost=cost, merging=merging, tolerance=1e-6).begin(
        problem
    )
    for i in range(0, 120, 7):
        found.learn_scores(X[i : i + 7], targets[i : i + 7])
        minus, plus = found.weights
        own = found.coefficients[0]
        reached = own @ found.support_kernel()
        low, high = -cost * minus, cost * plus
        kink = low + high
        near = 1e-9 * cost * (minus + plus)
        slack = 2e-5  # the tolerance, and the ridge times the largest coefficient
        assert ((own >= low - near) & (own <= high + near)).all()
        assert (reached[own < kink - near] >= 1 - slack).all()
        assert (reached[own > kink + near] <= -1 + slack).all()
        below = (own > low + near) & (own <= kink + near)
        assert (reached[below] <= 1 + slack).all()
        above = (own >= kink - near) & (own < high - near)
        assert (reached[above] >= -1 - slack).all()


@pytest.mark.parametrize("merging", ["class", "any"])
def test_twins_count_every_row_that_joined(merging):
    X, targets, problem = stream("binary")
    found = TVM(budget=12, width=WIDTH, merging=merging).begin(problem)
    scores = found.learn_scores(X, targets)[:, 0]
    joined = targets * scores <= 1.0
    assert found.updates == joined.sum()
    assert found.weights.sum(axis=1).tolist() == [
        (joined & (targets < 0)).sum(),
        (joined & (targets > 0)).sum(),
    ]
    mixed = (found.weights > 0).all(axis=0).any()
    assert mixed == (merging == "any")


def test_a_single_twin_is_the_mean_of_what_joined():
    X, targets, problem = stream("binary")
    found = TVM(budget=1, width=WIDTH, margin=1e9).begin(problem)
    found.learn_scores(X, targets)
    centre = X.mean(axis=0, keepdims=True)
    expected = found.coefficients[0, 0] * kernel(X, centre)
    np.testing.assert_allclose(found.scores(X), expected, rtol=0, atol=1e-12)


def test_twins_of_wide_sparse_rows_find_room_for_the_columns_of_both():
    rng = np.random.default_rng(8)
    X = sp.random_array((150, 400), density=0.02, rng=rng, format="csr")
    targets = np.where(rng.random(150) < 0.5, 1.0, -1.0)
    problem = Problem("binary", 400, (-1.0, 1.0))
    sparse, dense, single = (
        TVM(budget=6, width=2.0, tolerance=1e-10).begin(problem) for _ in range(3)
    )
    expected = dense.learn_scores(X.toarray(), targets)
    np.testing.assert_allclose(sparse.learn_scores(X, targets), expected, rtol=0, atol=1e-8)
    rows = [single.learn_scores(X[i : i + 1], targets[i : i + 1]) for i in range(150)]
    np.testing.assert_allclose(np.concatenate(rows), expected, rtol=0, atol=1e-8)


@given(moves=st.lists(st.integers(-1, 5), min_size=1, max_size=40), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_a_root_that_members_join_and_leave_stays_that_of_the_inverse(moves, seed):
    X = np.random.default_rng(seed).standard_normal((len(moves), 3))
    root, half, solution, row = (np.zeros((n, 41)) for n in (41, 1, 1, 1))
    members = []
    for i, move in enumerate(moves):
        if 0 <= move < len(members):
            reduce_root(root, len(members), move)
            del members[move]
            continue
        row[0, : len(members)] = kernel(X[i : i + 1], X[members])
        rest = 1.0 - solve(root, row, len(members), half, solution)
        extend_root(root, solution, len(members), rest)
        members.append(i)
    n = len(members)
    assert not root[n:].any()
    assert not np.triu(root, 1).any()
    K = kernel(X[members], X[members])
    inverse = np.linalg.inv(K)
    close = {"rtol": 0, "atol": 1e-9 * np.abs(inverse).max(initial=1.0) ** 2}
    np.testing.assert_allclose(root[:n, :n].T @ root[:n, :n], inverse, **close)
    inverse_diagonal(root, n, row)
    np.testing.assert_allclose(row[0, :n], np.diag(inverse), **close)
    if n:
        inverse_column(root, n, n // 2, row)
        np.testing.assert_allclose(row[0, :n], inverse[n // 2], **close)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (BudgetPerceptron(margin=-1), r"BudgetPerceptron: margin = -1: it must be 0 or more"),
        (BudgetPerceptron(step=0), r"BudgetPerceptron: step = 0: it must be above 0"),
        (BPAP(guard=0), r"BPA-P: guard = 0: it must be above 0"),
        (BPANN(aggressiveness=0), r"BPA-NN: aggressiveness = 0: it must be above 0"),
        (TVM(budget=0), r"TVM: budget = 0: it must be 1 or more"),
        (TVM(cost=0), r"TVM: cost = 0: it must be above 0"),
        (TVM(tolerance=0), r"TVM: tolerance = 0: it must be above 0"),
        (TVM(merging="clas"), r"TVM: merging = 'clas': .*Did you mean 'class'"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_a_senseless_setting_is_refused_at_the_beginning(made, message):
    with pytest.raises(UsageError, match=message):
        made.begin(Problem("binary", 3, (-1, 1)))


@pytest.mark.parametrize(
    ("made", "task"),
    [(BudgetPerceptron(), "regression"), (BPAP(), "regression"), (TVM(), "multiclass")],
)
def test_a_task_a_learner_has_no_form_for_is_refused(made, task):
    classes = (0, 1, 2) if task == "multiclass" else ()
    with pytest.raises(UsageError, match=f"does not do {task}"):
        made.begin(Problem(task, 3, classes))
