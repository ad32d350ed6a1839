"""Learners with the Laplacian kernel: rows in bytes and rows in numbers give the same scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain import isolation as plain
from okbench.learners.contract import Draws, Problem
from okbench.learners.isolation import laplacian_kernel
from okbench.learners.isolation.kernel_svm import LaplacianLIBSVM
from okbench.learners.isolation.laplacian import LaplacianOGD
from okbench.learners.isolation.laplacian_kernel import is_in_bytes
from okbench.learners.isolation.laplacian_model import LaplacianModel
from okbench.learners.isolation.laplacian_nogd import LaplacianNOGD
from okbench.learners.rows import Block

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
LEARNERS = (
    LaplacianOGD(psi=64),
    LaplacianOGD(psi=4096, step=0.3),
    LaplacianNOGD(psi=64, budget=30, rank=8),
)


def whole_rows(n_rows, n_columns, n_classes=2, seed=0):
    """Whole numbers from 0 to 255, a third of them 0, and labels that can be learned."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 256, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.67)
    sums = X[:, : n_columns // 2].sum(axis=1)
    return X.astype(float), np.searchsorted(np.quantile(sums, [0.5, 0.75][: n_classes - 1]), sums)


def begun(learner, n_columns, n_classes=2):
    task = "binary" if n_classes == 2 else "multiclass"
    problem = Problem(task, n_columns, tuple(range(n_classes)), 1000)
    return type(learner)(**learner.get_params()).begin(problem, Draws(0))


def learned(learner, parts, n_classes=2):
    """All that comes of learning some blocks, each of which is scored before and after."""
    made, found = begun(learner, parts[0][0].shape[1], n_classes), []
    for X, y in parts:
        found += [made.scores(X), made.learn_scores(X, y), made.scores(X[::-1])]
    return np.concatenate(found), made.support_rows.tolist(), made.updates


def in_numbers(monkeypatch, learner, parts, n_classes=2):
    """The same where no rows are compared as bytes."""
    with monkeypatch.context() as patch:
        patch.setattr(laplacian_kernel, "is_in_bytes", lambda block: False)
        return learned(learner, parts, n_classes)


def assert_same(found, expected):
    assert found[0].tobytes() == expected[0].tobytes()
    assert found[1:] == expected[1:]


@FORMS
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_columns", [60, 64, 200])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_bytes_give_the_scores_of_numbers(monkeypatch, learner, n_columns, n_classes, form):
    X, y = whole_rows(120, n_columns, n_classes)
    X[7], X[8] = 0.0, 255.0
    X[9] = -X[7]  # zeros with a sign
    assert is_in_bytes(Block.of(form(X)))
    for cut in (1, 50, 120):
        parts = [(form(X[at : at + cut]), y[at : at + cut]) for at in range(0, 120, cut)]
        expected = in_numbers(monkeypatch, learner, parts, n_classes)
        assert_same(learned(learner, parts, n_classes), expected)
        assert len(expected[1]) >= 30


@FORMS
@pytest.mark.parametrize("other", [-1.0, 0.5, 256.0, 1e6, 5e-324])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_rows_that_are_no_bytes_may_come_at_any_time(monkeypatch, place, other, form):
    X, y = whole_rows(150, 70)
    X[50 * place + 20, 3] = other
    parts = [(form(X[at : at + 50]), y[at : at + 50]) for at in (0, 50, 100)]
    for learner in LEARNERS:
        expected = in_numbers(monkeypatch, learner, parts)
        assert_same(learned(learner, parts), expected)
        assert np.isfinite(expected[0]).all()
    made = begun(LEARNERS[0], 70)
    for X, y in parts[:place]:
        made.learn(X, y)
    assert made._model.in_bytes == (place > 0)
    made.scores(parts[place][0])
    assert made._model.in_bytes == (place > 0)  # they are kept until others are learned
    made.learn(*parts[place])
    assert not made._model.in_bytes
    made.learn(*parts[-1])
    assert not made._model.in_bytes


def test_supports_in_bytes_hold_no_entries():
    X, y = whole_rows(1500, 200)
    made = begun(LEARNERS[0], 200)
    made.learn(X, y)
    assert made.support_size > 1000
    assert made._model.kept.supports.entries.values.nbytes == 0
    assert made.nbytes < 2 * made.support_size * (256 + 50)


def test_no_supports_in_bytes_are_none_in_numbers():
    X, _ = whole_rows(10, 70)
    points = laplacian_kernel.Points.of(Block.of(X))
    model = LaplacianModel.empty(70).with_room_for(points, 0, 10)
    assert model.in_bytes
    supports, pixels = model.in_numbers()
    assert len(pixels) == len(supports.entries.values) == supports.entries.stops.sum() == 0


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.full((5, 40), 255.0), True),
        (np.full((5, 40), -0.0), True),
        (np.full((5, 40), 255.5), False),
        (np.full((5, 40), np.nextafter(1.0, 2.0)), False),
        (np.full((5, 40), -1.0), False),
        (np.full((5, 20), 1.0), False),  # too few columns for a gain
        (sp.csr_array(np.eye(40)), False),  # too few values
        (np.zeros((3, 0)), False),
    ],
)
def test_rows_are_bytes_where_they_are_whole_numbers_and_many(X, expected):
    assert is_in_bytes(Block.of(X)) == expected


@pytest.mark.parametrize(("n_columns", "expected"), [(2**24, True), (2**24 + 1, False)])
def test_rows_are_no_bytes_where_their_distance_may_have_more_than_32_bits(n_columns, expected):
    n_values = 1_700_000
    parts = np.full(n_values, 255.0), np.arange(n_values), [0, n_values]
    assert is_in_bytes(Block.of(sp.csr_array(parts, shape=(1, n_columns)))) == expected


@FORMS
def test_a_value_far_behind_in_a_block_is_seen(form):
    X, _ = whole_rows(300, 100)
    assert is_in_bytes(Block.of(form(X)))
    X[-1, -1] = 0.5
    assert not is_in_bytes(Block.of(form(X)))


@FORMS
@pytest.mark.parametrize("n_columns", [1, 60, 1100])
def test_a_kernel_of_bytes_is_that_of_numbers_and_of_the_formula(monkeypatch, n_columns, form):
    X, _ = whole_rows(130, n_columns)
    for rows, others in ((X, X[:37]), (X + 0.5, X[:9]), (X[:0], X), (X, X[:0]), (X, X + 0.5)):
        found = laplacian_kernel.laplacian_kernel(form(rows), form(others), 256)
        np.testing.assert_allclose(found, plain.laplacian(rows, others, 256), rtol=1e-10)
        with monkeypatch.context() as patch:
            patch.setattr(laplacian_kernel, "is_in_bytes", lambda block: False)
            in_numbers = laplacian_kernel.laplacian_kernel(form(rows), form(others), 256)
        assert found.tobytes() == in_numbers.tobytes()


@FORMS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_machine_on_bytes_is_that_on_numbers(monkeypatch, n_classes, form):
    X, y = whole_rows(120, 70, n_classes)

    def scores():
        made = begun(LaplacianLIBSVM(psi=64), 70, n_classes)
        return made.fit(form(X[:80]), y[:80]).scores(form(X))

    found = scores()
    monkeypatch.setattr(laplacian_kernel, "is_in_bytes", lambda block: False)
    assert found.tobytes() == scores().tobytes()


@FORMS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_wide_rows_are_learned_as_the_plain_loop_learns_them(n_classes, form):
    """Several that have every column are compared together, the others alone."""
    X = np.random.default_rng(0).standard_normal((230, 1030))
    X[40:50, ::3] = 0.0
    y = np.arange(230) % n_classes
    found = begun(LEARNERS[0], 1030, n_classes)
    targets = found.problem.encode(y)
    expected = plain.laplacian_ogd(X, targets, n_columns=found.problem.n_columns, psi=64, step=0.5)
    np.testing.assert_allclose(found.learn_scores(form(X), y), expected, atol=1e-10, rtol=0)
