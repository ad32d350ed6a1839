"""The learners that keep support vectors: against their plain renderings, and what they promise."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.plain import expansions as plain
from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import Draws, Problem, RecordedDraws
from okbench.learners.norma import Norma
from okbench.learners.ogd import OGD
from okbench.learners.online.forgetron import Forgetron
from okbench.learners.online.passive_aggressive import BPAS
from okbench.learners.online.projectron import Projectron, ProjectronPP
from okbench.learners.online.simple_budget import BOGD, RBP
from okbench.learners.perceptron import Perceptron

N_ROWS, N_FEATURES, WIDTH = 400, 7, 1.5
BUDGETS = (1, 15, 16, 40)  # with 16 the spare slot of a budget needs more lanes
UNIFORMS = np.random.default_rng(5).random(N_ROWS)
KEPT = {"width": WIDTH, "step": 0.4, "epsilon": 0.1}
CLASSIFYING = ("binary", "multiclass")
TASKS = (*CLASSIFYING, "regression")


def stream(task, n_rows=N_ROWS, filled=1.0):
    """Rows, targets as the compiled loops take them, and the problem."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((n_rows, N_FEATURES)) * (rng.random((n_rows, N_FEATURES)) < filled)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    if task == "regression":
        return X, 0.3 * signal, Problem(task, N_FEATURES, n_rows=n_rows)
    if task == "binary":
        return X, np.where(signal > 0.2, 1.0, -1.0), Problem(task, N_FEATURES, (-1.0, 1.0), n_rows)
    y = np.digitize(signal, [-0.8, 0.2, 1.0]).astype(float)
    return X, y, Problem(task, N_FEATURES, (0.0, 1.0, 2.0, 3.0), n_rows)


def plain_bogd(X, targets, *, task, decay=None, clip=None, **given):
    usual = {"binary": 1 / len(X) ** 2, "multiclass": 1e-5, "regression": 0.03}
    clip = clip or (10.0 if task == "binary" else np.inf)
    return plain.bogd(X, targets, task=task, decay=decay or usual[task], clip=clip, **given)


def plain_norma(X, targets, *, task, n_columns, **given):
    return plain.norma(X, targets, **given)


def plain_pp(X, targets, **given):
    return plain.projectron(X, targets, on_margin=True, **given)


def plain_correct_forgetron(X, targets, *, root, **given):
    return plain.forgetron(X, targets, reference=False, **given)


# name: class, rendering, settings, tasks, whether it has a budget, whether it draws
CASES = {
    "Perceptron": (Perceptron, plain.perceptron, KEPT, TASKS, False, False),
    "OGD": (OGD, plain.ogd, KEPT, TASKS, False, False),
    "Norma": (Norma, plain_norma, KEPT | {"decay": 0.1, "nu": 0.3}, TASKS[2:], False, False),
    "RBP": (RBP, plain.rbp, KEPT, TASKS, True, True),
    "Forgetron": (Forgetron, plain.forgetron, KEPT, TASKS, True, False),
    "Forgetron-correct": (
        Forgetron,
        plain_correct_forgetron,
        KEPT | {"root": "correct"},
        TASKS,
        True,
        False,
    ),
    "BOGD": (BOGD, plain_bogd, KEPT, TASKS, True, True),
    "BOGD-clipped": (BOGD, plain_bogd, KEPT | {"clip": 0.7, "decay": 0.02}, TASKS, True, True),
    "BPA-S": (BPAS, plain.bpas, {"width": WIDTH, "aggressiveness": 0.6}, CLASSIFYING, True, False),
    "Projectron": (Projectron, plain.projectron, KEPT, TASKS, True, False),
    "Projectron-guarded": (
        Projectron,
        plain.projectron,
        KEPT | {"guard": 0.3},
        TASKS,
        True,
        False,
    ),
    "Projectron++": (ProjectronPP, plain_pp, KEPT, CLASSIFYING, True, False),
}
MATRIX = [
    pytest.param(name, task, budget, id=f"{name}-{task}-{budget}" if budget else f"{name}-{task}")
    for name, (_, _, _, tasks, budgeted, _) in CASES.items()
    for task in tasks
    for budget in (BUDGETS if budgeted else (None,))
]
LEARNERS = [
    pytest.param(name, task, id=f"{name}-{task}")
    for name, (_, _, _, tasks, _, _) in CASES.items()
    for task in tasks
]


def learner(name, task, budget=None, n_rows=N_ROWS):
    cls, _, given, _, budgeted, _ = CASES[name]
    sized = {"budget": budget or 15} if budgeted else {}
    _, _, problem = stream(task, n_rows)
    return cls(**given, **sized).begin(problem, RecordedDraws(uniforms=UNIFORMS))


def rendering(name, task, budget, X, targets, n_columns):
    _, render, given, _, _, draws = CASES[name]
    sized = {"budget": budget} if budget else {}
    drawn = {"uniforms": UNIFORMS} if draws else {}
    return render(X, targets, task=task, n_columns=n_columns, **given, **sized, **drawn)


@pytest.mark.parametrize(("name", "task", "budget"), MATRIX)
def test_is_its_plain_loop(name, task, budget):
    X, targets, problem = stream(task)
    expected, rows, coefficients = rendering(name, task, budget, X, targets, problem.n_columns)
    found = learner(name, task, budget)
    # the Forgetron divides by small differences: relative errors grow there
    np.testing.assert_allclose(found.learn_scores(X, targets), expected, rtol=1e-8, atol=1e-9)
    assert found.support_rows.tolist() == rows.tolist()
    np.testing.assert_allclose(found.coefficients, coefficients, rtol=0, atol=1e-9)
    assert found.support_size == len(rows)


@pytest.mark.parametrize("filled", [0.4, 0.9, 1.0])
@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_sparse_rows_give_what_the_same_dense_rows_give(name, task, filled):
    X, targets, _ = stream(task, filled=filled)
    dense, sparse = learner(name, task), learner(name, task)
    expected = dense.learn_scores(X, targets)
    np.testing.assert_allclose(
        sparse.learn_scores(sp.csr_array(X), targets), expected, rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(sparse.scores(sp.csr_array(X)), dense.scores(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("name", "task"), LEARNERS)
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=6))
@settings(max_examples=5)
def test_cutting_the_rows_changes_nothing(name, task, cuts):
    X, targets, _ = stream(task)
    whole = learner(name, task).learn_scores(X, targets)
    cut = learner(name, task)
    parts = [
        cut.learn_scores(X[first:stop], targets[first:stop])
        for first, stop in pairwise([0, *sorted(cuts), N_ROWS])
    ]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_learning_row_by_row_changes_nothing(name, task):
    X, targets, _ = stream(task)
    whole = learner(name, task).learn_scores(X[:150], targets[:150])
    single = learner(name, task)
    rows = [single.learn_scores(X[i : i + 1], targets[i : i + 1]) for i in range(150)]
    np.testing.assert_allclose(np.concatenate(rows), whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_scores_are_those_of_supports_and_coefficients(name, task):
    X, targets, _ = stream(task)
    found = learner(name, task)
    found.learn_scores(X[:300], targets[:300])
    distances = ((X[300:, None] - X[found.support_rows]) ** 2).sum(axis=2)
    kernel = np.exp(-distances / (2 * WIDTH**2))
    np.testing.assert_allclose(
        found.scores(X[300:]), kernel @ found.coefficients.T, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_predicting_changes_nothing(name, task):
    X, targets, _ = stream(task)
    asked, left = learner(name, task), learner(name, task)
    first = asked.learn_scores(X[:200], targets[:200])
    asked.scores(X)
    np.testing.assert_array_equal(first, left.learn_scores(X[:200], targets[:200]))
    np.testing.assert_array_equal(
        asked.learn_scores(X[200:], targets[200:]), left.learn_scores(X[200:], targets[200:])
    )


@pytest.mark.parametrize(("name", "task"), LEARNERS)
def test_a_pickled_learner_goes_on_where_it_was(name, task):
    X, targets, _ = stream(task)
    found = learner(name, task)
    found.learn_scores(X[:200], targets[:200])
    woken = pickle.loads(pickle.dumps(found))
    np.testing.assert_allclose(
        woken.learn_scores(X[200:], targets[200:]),
        found.learn_scores(X[200:], targets[200:]),
        rtol=0,
        atol=1e-12,
    )


@pytest.mark.parametrize(("name", "task"), [case for case in LEARNERS if CASES[case.values[0]][4]])
def test_the_budget_holds_and_memory_with_it(name, task):
    X, targets, _ = stream(task)
    found = learner(name, task, budget=15)
    found.draws = Draws(3)
    found.learn_scores(X[:200], targets[:200])
    held = found.nbytes
    for _ in range(5):
        size = found.learn_scores(X[200:300], targets[200:300]).shape
        assert found.support_size <= 15
        assert found.nbytes == held
    assert size == (100, found.problem.n_columns)


@pytest.mark.parametrize("name", ["RBP", "Perceptron"])
def test_memory_follows_what_is_held_however_wide_the_rows(name):
    n_features = 1_000_000
    rng = np.random.default_rng(2)
    columns = rng.integers(0, n_features, (300, 20))
    X = sp.csr_array(
        (np.ones(6000), columns.ravel(), np.arange(0, 6001, 20)), shape=(300, n_features)
    )
    X.sum_duplicates()
    targets = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    used, narrow = np.unique(X.indices, return_inverse=True)
    small = sp.csr_array((X.data, narrow, X.indptr), shape=(300, len(used)))
    cls, _, given, *_ = CASES[name]
    scores = []
    for rows in (X, small):
        found = cls(**given)
        found.begin(Problem("binary", rows.shape[1], (-1.0, 1.0)))
        scores.append(found.learn_scores(rows, targets))
        if rows is X:
            assert found.nbytes < 30 * n_features
    np.testing.assert_allclose(scores[0], scores[1], rtol=0, atol=1e-12)


def test_a_stretch_of_full_rows_in_a_wide_sparse_stream_finds_room():
    """Wherever it lies: rows come in blocks that are cut anew every so many rows."""
    n_rows, n_features = 1300, 100_000
    rng = np.random.default_rng(6)
    lengths = np.ones(n_rows, dtype=int)
    lengths[1024:1128] = 10  # together more columns than lanes have room for to begin with
    columns = rng.permutation(n_features)[: lengths.sum()]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    X = sp.csr_array(
        (rng.standard_normal(len(columns)), columns, starts), shape=(n_rows, n_features)
    )
    targets = np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    problem = Problem("binary", n_features, (-1.0, 1.0))
    whole, cut = OGD(width=1.0).begin(problem), OGD(width=1.0).begin(problem)
    scores = [cut.learn_scores(X[i : i + 50], targets[i : i + 50]) for i in range(0, n_rows, 50)]
    np.testing.assert_array_equal(whole.learn_scores(X, targets), np.concatenate(scores))


def test_a_removal_beyond_the_record_is_refused():
    X, targets, problem = stream("binary")
    found = RBP(budget=5, width=WIDTH).begin(problem, RecordedDraws(uniforms=UNIFORMS[:3]))
    with pytest.raises(DataError, match="the recorded draws end before row"):
        found.learn_scores(X, targets)


def test_the_two_roots_of_the_forgetron_differ():
    X, targets, _ = stream("multiclass")
    reference = learner("Forgetron", "multiclass").learn_scores(X, targets)
    correct = learner("Forgetron-correct", "multiclass").learn_scores(X, targets)
    assert not np.allclose(reference, correct)


def test_repeated_rows_leave_a_guarded_projectron_unharmed():
    X, targets, problem = stream("binary")
    X, targets = np.tile(X[:20], (10, 1)), np.where(UNIFORMS[:200] < 0.5, 1.0, -1.0)
    guarded = Projectron(budget=30, width=WIDTH, guard=1e-10).begin(problem)
    scores = guarded.learn_scores(X, targets)
    assert np.abs(scores).max() < 100
    assert guarded.support_size <= 20


@pytest.mark.parametrize("scale", [1e-3, 1e6])
def test_a_far_row_scores_by_its_nearest_support_alone(scale):
    """Kernels below the smallest normal number still decide a sign."""
    found = Perceptron(width=scale).begin(Problem("binary", 1, (-1.0, 1.0)))
    assert found.learn(np.array([[0.0]]), [-1.0]).tolist() == [1.0]
    far = np.array([[38.0 * scale], [60.0 * scale]])  # exp(-722) is subnormal, exp(-1800) is 0
    scores = found.scores(far)[:, 0]
    assert -1e-308 < scores[0] < 0
    assert scores[1] == 0
    assert found.predict(far).tolist() == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (RBP(budget=0), r"RBP: budget = 0: it must be 1 or more"),
        (RBP(budget=2.5), r"RBP: budget = 2\.5: a whole number is expected"),
        (OGD(width=0), r"OGD: width = 0: it must be above 0"),
        (OGD(step="fast"), r"OGD: step = 'fast': a number is expected"),
        (Perceptron(epsilon=-1), r"Perceptron: epsilon = -1: it must be 0 or more"),
        (Forgetron(root="corect"), r"Forgetron: root = 'corect': .*Did you mean 'correct'"),
        (BPAS(aggressiveness=0), r"BPA-S: aggressiveness = 0: it must be above 0"),
        (Projectron(guard=-1e-3), r"Projectron: guard = -0\.001: it must be 0 or more"),
        (BOGD(clip=0), r"BOGD: clip = 0: it must be above 0"),
        (BOGD(), r"BOGD: decay is 1/n² unless it is given"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, str) else "",
)
def test_a_senseless_setting_is_refused_at_the_beginning(made, message):
    with pytest.raises(UsageError, match=message):
        made.begin(Problem("binary", 3, (-1, 1)))


@pytest.mark.parametrize(("made", "task"), [(Norma(), "binary"), (BPAS(), "regression")])
def test_a_task_a_learner_has_no_form_for_is_refused(made, task):
    classes = (-1, 1) if task == "binary" else ()
    with pytest.raises(UsageError, match=f"does not do {task}"):
        made.begin(Problem(task, 3, classes))
