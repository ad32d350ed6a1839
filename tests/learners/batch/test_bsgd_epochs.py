"""BSGD over several epochs: one pass after the other through permuted rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain.bsgd import bsgd as plain_bsgd
from okbench.base.errors import DataError, UsageError
from okbench.learners.batch import base, bsgd
from okbench.learners.batch.bsgd import BSGDEpochs
from okbench.learners.contract import Draws, Problem, RecordedDraws
from tests.learners import rrf_oracle
from tests.learners.batch.clocks import Marking
from tests.learners.test_linear import stream

SMALL = {"budget": 15, "width": 1.5, "decay": 0.02, "epochs": 3}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("maintenance", ["merging", "removal"])
def test_is_the_plain_loop_over_the_rows_of_all_epochs(maintenance, task, form):
    X, y, problem = stream(task, filled=0.7)
    stream_of_orders = Draws(4).stream("epochs")
    order = np.concatenate([stream_of_orders.permutation(len(y)) for _ in range(3)])
    learner = BSGDEpochs(**SMALL, maintenance=maintenance).begin(problem, Draws(4))
    clock = Marking()
    learner.fit(form(X), y, clock)
    given = {"budget": 15, "width": 1.5, "decay": 0.02, "merging": maintenance == "merging"}
    scores, vectors, coefficients = plain_bsgd(
        X[order], problem.encode(y)[order], n_columns=problem.n_columns, **given
    )
    np.testing.assert_allclose(learner.support_vectors, vectors, atol=1e-12, rtol=0)
    np.testing.assert_allclose(learner.coefficients.T, coefficients, atol=1e-10, rtol=0)
    mistakes = int((problem.decide(scores) != y[order]).sum())
    rows, total = clock.marks[-1]
    assert rows == len(y)
    assert total == pytest.approx(mistakes / 3)


@pytest.mark.parametrize("seconds", [(-1.0, 0.0), (10.0, 20.0)], ids=["few rows", "many rows"])
def test_how_many_rows_are_learned_between_two_looks_changes_nothing(monkeypatch, seconds):
    X, y, problem = stream("binary")
    expected = BSGDEpochs(**SMALL).begin(problem, Draws(1)).fit(X, y).scores(X)
    monkeypatch.setattr(bsgd, "LEAST_SECONDS", seconds[0])
    monkeypatch.setattr(bsgd, "MOST_SECONDS", seconds[1])
    found = BSGDEpochs(**SMALL).begin(problem, Draws(1)).fit(X, y).scores(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.shared("recorded accuracy of BSGD over epochs")
@pytest.mark.parametrize("epochs", [1, 3])
def test_merging_is_as_accurate_as_the_recorded_run(epochs):
    """`tests/learners/test_bsgd.py` repeats the records to their precision with 80-bit numbers,
    which decide their ties; with doubles other vectors stay, and accuracy is compared."""
    path = rrf_oracle.SHARED / "oracle" / "bsgd" / f"exact_german_merging_e{epochs}.npz"
    with np.load(path) as held:
        record = {key: held[key] for key in held.files}
    X, y = (part[record["perm"]] for part in rrf_oracle.rows("german"))
    named = {("epochs", "permutation"): [np.arange(800)] * epochs}
    learner = BSGDEpochs(
        budget=int(record["B"]),
        width=float(1 / np.sqrt(record["gamma"])),
        decay=float(record["lam"]),
        epochs=epochs,
    )
    learner.begin(Problem("binary", 24, (-1.0, 1.0), 800), RecordedDraws(named=named))
    learner.fit(X[:800], y[:800])
    theirs = np.mean(record["pred_label_from_model"] == y[800:])
    assert np.mean(learner.predict(X[800:]) == y[800:]) == pytest.approx(theirs, abs=0.04)


def test_a_budget_larger_than_the_rows_keeps_every_row_with_a_loss_once():
    X, y, problem = stream("binary", n_rows=40)
    learner = BSGDEpochs(**{**SMALL, "budget": 1000}).begin(problem, Draws(0)).fit(X, y)
    assert learner.support_size == learner.updates
    assert set(map(tuple, learner.support_vectors)) <= set(map(tuple, X))


def test_a_fit_that_is_stopped_keeps_what_it_has(monkeypatch):
    monkeypatch.setattr(base, "ASKED_EVERY", 0.0)
    X, y, problem = stream("binary")
    learner = BSGDEpochs(**SMALL).begin(problem, Draws(0)).fit(X, y, Marking(questions=1))
    assert 0 < learner.updates <= bsgd.FIRST_PART
    assert np.isfinite(learner.scores(X)).all()


@pytest.mark.filterwarnings("ignore::okbench.learners.column_scales.ScaleWarning")
def test_rows_too_far_apart_are_refused_with_their_own_number():
    X, y, problem = stream("binary")
    X[171, 2] = 1e9
    with pytest.raises(DataError, match="row 171: column 2"):
        BSGDEpochs(**SMALL).begin(problem, Draws(0)).fit(X, y)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"maintenance": "remove"}, "BSGD: maintenance = 'remove': choose merging or removal"),
        ({"epochs": 0}, "BSGD: epochs = 0: it must be 1 or more"),
        ({"budget": 0}, "BSGD: budget = 0: it must be 1 or more"),
        ({"decay": 0.0}, "BSGD: decay = 0.0: it must be above 0"),
        ({"search": "tabel"}, "BSGD: search = 'tabel': choose golden or table. Did you mean"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        BSGDEpochs(**changed).begin(Problem("binary", 3, (0, 1)))
    assert message in str(refused.value)
