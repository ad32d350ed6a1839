"""DualSGD against the recorded runs of its authors' program, and against its plain rendering."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.plain.dualsgd import dualsgd
from okbench.base.errors import UsageError
from okbench.learners.contract import Draws, RecordedDraws
from okbench.learners.dualsgd import DualSGD
from tests.learners import rrf_oracle
from tests.learners.test_linear import N_FEATURES, stream
from tests.learners.test_oracle_rrf import error

SMOOTH = ("logit", "l2")  # without ties between coefficients, which the program breaks by chance
CLOSE = {"atol": 1e-13, "rtol": 0}


@pytest.mark.shared("recorded runs of DualSGD")
@pytest.mark.parametrize("name", rrf_oracle.names("dualsgd_*"))
def test_comes_out_as_the_recorded_run(name):
    record, X, y, problem, loss = rrf_oracle.read(name)
    width = 1.0 / math.sqrt(2.0 * record["gamma"])
    learner = DualSGD(
        budget=int(record["B"]),
        components=int(record["D"]),
        handed_over=int(record["k"]),
        width=width,
        decay=float(record["lbd"]),
        loss=loss,
        epsilon=float(record["eps"]),
        squared_width=True,
        stale=True,
    ).begin(problem, RecordedDraws(record["u"] * width**2))
    scores = learner.learn_scores(X[:300], y[:300])
    if name.endswith(SMOOTH):
        expect_model(learner, record["w_300"], record["rw_300"])
    scores = np.concatenate([scores, learner.learn_scores(X[300:], y[300:])])
    found, recorded = error(problem, scores, y), float(record["online_error"])
    assert learner.support_size == record["budget_size"]
    if name.endswith(SMOOTH):
        assert found == pytest.approx(recorded, rel=1e-12)
        expect_model(learner, record["w_final"], record["rw_final"])
        held = learner.support_vectors
        rows, _ = rrf_oracle.rows(name.split("_")[1])
        recorded_rows = rows[record["perm"][record["sv_index"][: len(held)].astype(int)]]
        np.testing.assert_array_equal(held, recorded_rows)
    else:
        assert found == pytest.approx(recorded, abs=0.005)


def expect_model(learner, coefficients, weights):
    held = learner.coefficients.T
    np.testing.assert_allclose(held, coefficients[: len(held)], **CLOSE)
    np.testing.assert_allclose(learner.weights.T, weights, **CLOSE)


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize(
    ("task", "loss"),
    [
        ("binary", "hinge"),
        ("binary", "logistic"),
        ("multiclass", "logistic"),
        ("regression", "eps_insensitive"),
        ("regression", "l1"),
        ("regression", "l2"),
    ],
)
def test_is_its_plain_loop(task, loss, stale):
    X, y, problem = stream(task)
    given = {
        "budget": 25,
        "handed_over": 7,
        "width": 1.5,
        "decay": 2.0 if loss == "l2" else 0.02,
        "loss": loss,
        "epsilon": 0.1 if loss == "eps_insensitive" else 0.0,
        "stale": stale,
    }
    learner = DualSGD(components=30, **given).begin(problem, Draws(4))
    scores, coefficients, weights = dualsgd(
        X,
        problem.encode(y),
        task=task,
        n_columns=problem.n_columns,
        frequencies=Draws(4).normals(N_FEATURES, 30) / 1.5,
        **given,
    )
    np.testing.assert_allclose(learner.learn_scores(X, y), scores, atol=1e-9, rtol=0)
    np.testing.assert_allclose(learner.coefficients, coefficients, atol=1e-11, rtol=0)
    np.testing.assert_allclose(learner.weights, weights, atol=1e-10, rtol=0)


def test_zeroed_rows_make_fewer_mistakes_than_stale_ones():
    X, y, problem = stream("multiclass", n_rows=1500)
    mistakes = [
        (DualSGD(budget=20, handed_over=15, width=1.5, decay=0.01, loss="logistic", stale=stale)
         .begin(problem, Draws(0)).learn(X, y) != y).sum()
        for stale in (False, True)
    ]  # fmt: skip
    assert mistakes[0] < mistakes[1]


def test_handing_over_more_than_there_are_hands_over_all():
    X, y, problem = stream("binary")
    learner = DualSGD(budget=10, handed_over=99, decay=0.01).begin(problem, Draws(0))
    learner.learn(X[:10], y[:10])
    assert learner.support_size == 10
    learner.learn(X[10:11], y[10:11])
    assert learner.support_size == 1
    assert np.abs(learner.weights).max() > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"decay": 0.0}, "DualSGD: decay = 0.0: it must be above 0"),
        ({"handed_over": 0}, "DualSGD: handed_over = 0: it must be 1 or more"),
        ({"loss": "l1"}, "DualSGD: loss = 'l1': choose hinge or logistic"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changed, message):
    with pytest.raises(UsageError) as refused:
        DualSGD(**changed).begin(stream("binary")[2], Draws(0))
    assert message in str(refused.value)
