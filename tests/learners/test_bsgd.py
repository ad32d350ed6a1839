"""BSGD: its plain rendering against recorded runs of BudgetedSVM, and the learners against it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.plain.bsgd import best, bsgd
from okbench.base.errors import UsageError
from okbench.learners.bsgd import BSGDMerging, BSGDRemoval
from okbench.learners.contract import Problem
from okbench.learners.numeric.lanes import aligned
from okbench.learners.numeric.merging import (
    KERNEL,
    LOG_KERNEL,
    M1,
    M2,
    TILE_SIZE,
    H,
    placed,
    search,
    search_in_table,
    value,
)
from okbench.learners.numeric.pegasos import oldest_of_least
from okbench.learners.numeric.supports import TILE
from tests.learners import rrf_oracle
from tests.learners.test_linear import stream

EXTENDED = np.finfo(np.longdouble).nmant > 60  # as wide as what the recorded program reckons with


def recorded(kind, epochs):
    path = rrf_oracle.SHARED / "oracle" / "bsgd" / f"exact_german_{kind}_e{epochs}.npz"
    with np.load(path) as held:
        return {key: held[key] for key in held.files}


@pytest.mark.skipif(not EXTENDED, reason="no 80-bit numbers here: recorded ties not checked")
@pytest.mark.shared("recorded runs of BSGD")
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("kind", ["merging", "removal"])
def test_the_rules_in_extended_precision_are_the_recorded_ones(kind, epochs):
    record, (X, y) = recorded(kind, epochs), rrf_oracle.rows("german")
    train = record["perm"][:800]
    _, vectors, coefficients = bsgd(
        np.tile(X[train].astype(np.float32), (epochs, 1)),
        np.tile((y[train] > 0).astype(int), epochs),
        n_columns=2,
        budget=int(record["B"]),
        width=1 / np.sqrt(np.longdouble(np.float32(record["gamma"]))),
        decay=np.float32(record["lam"]),
        merging=kind == "merging",
        literal=True,
        dtype=np.longdouble,
    )
    # merged vectors are kept in single precision there
    np.testing.assert_allclose(vectors.astype(float), record["sv"], atol=3e-7, rtol=0)
    np.testing.assert_allclose(coefficients.astype(float), record["alphas"], atol=3e-8, rtol=0)


@pytest.mark.shared("recorded accuracy of BSGD")
@pytest.mark.parametrize("how", ["golden", "table"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_merging_is_as_accurate_as_the_recorded_run(epochs, how):
    record, (X, y) = recorded("merging", epochs), rrf_oracle.rows("german")
    train, test = record["perm"][:800], record["perm"][800:]
    width = 1 / np.sqrt(record["gamma"])
    learner = BSGDMerging(
        budget=int(record["B"]), width=float(width), decay=float(record["lam"]), search=how
    )
    learner.begin(Problem("binary", 24, (-1.0, 1.0)))
    for _ in range(epochs):
        learner.learn(X[train], y[train])
    accuracy = np.mean(learner.predict(X[test]) == y[test])
    assert accuracy == pytest.approx(np.mean(record["pred_label_from_model"] == y[test]), abs=0.04)


@pytest.mark.parametrize("filled", [0.4, 1.0])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("cls", [BSGDMerging, BSGDRemoval])
def test_is_its_plain_loop(cls, task, filled):
    X, y, problem = stream(task, filled=filled)
    X[150:200], y[150:200] = X[100:150], y[:50]  # rows met before, of other classes too
    given = {"budget": 20, "width": 1.5, "decay": 0.02}
    learner = cls(**given).begin(problem)
    scores, vectors, coefficients = bsgd(
        X, problem.encode(y), n_columns=problem.n_columns, merging=cls is BSGDMerging, **given
    )
    np.testing.assert_allclose(learner.learn_scores(X, y), scores, atol=1e-9, rtol=0)
    np.testing.assert_allclose(learner.support_vectors, vectors, atol=1e-12, rtol=0)
    np.testing.assert_allclose(learner.coefficients.T, coefficients, atol=1e-10, rtol=0)


def pairs(seed, least=0.01, most=0.99):
    """A tile of kernels and shares, of one sign and of two."""
    rng = np.random.default_rng(seed)
    tile = aligned(TILE_SIZE)
    shares = rng.uniform(-0.9, 1.0, TILE)
    shares[:2] = 1.0
    tile[KERNEL : KERNEL + TILE] = rng.uniform(least, most, TILE)
    tile[LOG_KERNEL : LOG_KERNEL + TILE] = np.log(tile[KERNEL : KERNEL + TILE])
    first = rng.random(TILE) < 0.5
    tile[M1 : M1 + TILE] = np.where(first, 1.0, shares)
    tile[M2 : M2 + TILE] = np.where(first, shares, 1.0)
    return tile


def values(tile):
    parts = zip(*(tile[at : at + TILE] for at in (M1, M2, LOG_KERNEL, H)), strict=True)
    return np.array([value(*part) for part in parts])


@pytest.mark.parametrize("seed", range(5))
def test_all_places_searched_at_once_are_those_searched_singly(seed):
    tile = pairs(seed)
    search(tile)
    parts = zip(*(tile[at : at + TILE] for at in (M1, M2, LOG_KERNEL)), strict=True)
    np.testing.assert_allclose(tile[H : H + TILE], [best(*part) for part in parts], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_table_finds_places_as_good_as_the_search(seed):
    searched, looked_up = pairs(seed), pairs(seed)
    search(searched)
    search_in_table(looked_up, placed())
    same_sign = searched[M1 : M1 + TILE] * searched[M2 : M2 + TILE] > 0
    lost = values(searched) - values(looked_up)
    assert lost[same_sign].max() < 1e-4
    assert np.median(np.abs(lost)) < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_places_between_close_vectors_are_those_of_the_search(seed):
    searched, looked_up = pairs(seed, 0.992, 0.9999), pairs(seed, 0.992, 0.9999)
    search(searched)
    search_in_table(looked_up, placed())
    same_sign = searched[M1 : M1 + TILE] * searched[M2 : M2 + TILE] > 0
    apart = np.abs(searched[H : H + TILE] - looked_up[H : H + TILE])[same_sign]
    assert apart.max() < 2e-4  # as long as the bracket that the search ends with


def test_the_table_makes_nearly_the_same_mistakes():
    X, y, problem = stream("binary", n_rows=3000)
    given = {"budget": 30, "width": 1.5, "decay": 1e-3}
    golden = BSGDMerging(**given).begin(problem).learn(X, y)
    table = BSGDMerging(**given, search="table").begin(problem).learn(X, y)
    assert abs(int((golden != y).sum()) - int((table != y).sum())) <= 0.02 * len(y)


def test_where_kernels_are_wide_the_table_makes_the_same_predictions():
    X, y, problem = stream("binary", n_rows=3000)
    given = {"budget": 30, "width": 8.0, "decay": 1e-3}
    golden = BSGDMerging(**given).begin(problem).learn(X, y)
    table = BSGDMerging(**given, search="table").begin(problem).learn(X, y)
    assert np.mean(golden != table) <= 0.002


@pytest.mark.parametrize("seed", range(20))
def test_of_equal_values_the_oldest_vectors_counts(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(-3, 3, TILE) * 0.1  # many equal ones, of both signs
    values[rng.random(TILE) < 0.1] = np.inf
    order = rng.permutation(TILE).astype(np.int32)
    size = int(rng.integers(1, TILE + 1))  # whatever is left in free slots
    by_age = values[order[:size]]
    assert oldest_of_least(values, order, size) == np.argmin(by_age)


def test_a_row_that_is_a_vector_already_joins_it():
    X = np.array([[0.0], [5.0], [0.0], [0.0]])
    y = np.array([1.0, -1.0, -1.0, -1.0])
    learner = BSGDMerging(budget=2, width=1.0, decay=1.0).begin(Problem("binary", 1, (-1.0, 1.0)))
    learner.learn(X, y)
    assert learner.support_vectors.ravel().tolist() == [0.0, 5.0]
    # weight 1 of the first row, counted twice for its lead, then one step against it
    assert learner.coefficients[0].tolist() == pytest.approx([(2 - 2 - 2 * 1) / 4, -2 / 4])


def test_where_all_are_equal_removal_takes_the_oldest():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40)
    learner = BSGDRemoval(budget=5, width=0.05, decay=0.01)
    learner.begin(Problem("binary", 3, (-1.0, 1.0))).learn(X, y)  # so narrow that all rows join
    np.testing.assert_array_equal(learner.support_vectors, X[-5:])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decay": 0.0}, "BSGD-M: decay = 0.0: it must be above 0"),
        ({"budget": 0}, "BSGD-M: budget = 0: it must be 1 or more"),
        ({"search": "tabel"}, "choose golden or table. Did you mean 'table'?"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        BSGDMerging(**changed).begin(Problem("binary", 3, (0, 1)))
    assert message in str(refused.value)


@pytest.mark.parametrize("width", [0.2, 8.0])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("seed", [4, 15, 28, 36])
def test_merges_that_are_equally_good_are_chosen_as_in_the_plain_loop(task, width, seed):
    """Coefficients of one size, and odd seeds with few places: merges that only rounding ranks."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((220, [2, 4, 6][seed % 3]))
    X = 0.5 * np.round(X) if seed % 2 else X
    wished = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(220)
    y = np.where(wished > 0, 1, -1) if task == "binary" else np.digitize(wished, [-0.4, 0.4])
    problem = Problem.of(X, y, 220)
    given = {"budget": 12, "width": width, "decay": 1e-3 if seed % 2 else 0.02}
    found = BSGDMerging(**given).begin(problem).learn_scores(X, y)
    expected, _, _ = bsgd(X, problem.encode(y), n_columns=problem.n_columns, merging=True, **given)
    np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max(), rtol=0)


def test_the_search_between_equal_shares_goes_to_the_right():
    """Two bumps of one height: shares that differ by rounding are equal."""
    tile = aligned(TILE_SIZE)
    tile[LOG_KERNEL : LOG_KERNEL + TILE] = -50.0
    tile[M1 : M1 + TILE] = 0.5
    tile[M2 : M2 + TILE] = 0.5 + 1e-16 * np.arange(-TILE // 2, TILE // 2).clip(-2, 2)
    search(tile)
    assert (tile[H : H + TILE] > 0.99).all()


@pytest.mark.parametrize("decay", [1e-2, 1e4])
def test_what_stands_for_no_sum_is_that_of_the_models_coefficients(decay):
    """Where one column of two vectors adds up to 0, the others count by comparison with it."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    given = {"budget": 4, "width": 1.5, "decay": decay}
    learner = BSGDMerging(**given).begin(Problem("multiclass", 2, (0, 1, 2)))
    learner.learn(X, y)
    _, vectors, coefficients = bsgd(X, y, n_columns=3, merging=True, **given)
    np.testing.assert_allclose(learner.support_vectors, vectors, atol=1e-9)
    np.testing.assert_allclose(learner.coefficients.T * decay, coefficients * decay, atol=1e-9)
