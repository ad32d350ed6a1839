"""RKS, FKL, RRF by mini-batches and its ensembles: records, plain renderings, hostile rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain.batch import mini_batches, scores
from okbench.base.errors import DataError, UsageError
from okbench.learners.batch import base, random_features
from okbench.learners.batch.multi_rrf import MultiRRFAverage, MultiRRFVote
from okbench.learners.batch.random_features import FKL, RRFBatch
from okbench.learners.batch.rks import RKS
from okbench.learners.contract import Diverged, Draws, Problem, RecordedDraws
from okbench.learners.rrf import FIRST_WEIGHTS
from tests.learners import rrf_oracle
from tests.learners.batch.clocks import Marking
from tests.learners.test_linear import N_FEATURES, stream

SINGLE = {"rks": RKS, "fkl": FKL, "rrf": RRFBatch}
FOLDER = rrf_oracle.SHARED / "oracle" / "bkm"
RECORDS = [
    f"{name}_{dataset}_{loss}"
    for name in SINGLE
    for dataset in ("german", "digits")
    for loss in ("hinge", "logit")
]
SMALL = {"components": 12, "step": 0.05, "decay": 0.02, "batch": 16, "epochs": 3}
CLOSE = {"atol": 1e-12, "rtol": 0}


def recorded(name):
    """A record, with its rows in the recorded order, of which the first train."""
    with np.load(FOLDER / f"{name}.npz") as held:
        record = {key: held[key] for key in held.files}
    _, dataset, loss = name.split("_")
    runs = rrf_oracle.names(f"rrf_{dataset}_*")
    with np.load(rrf_oracle.FOLDER / f"{runs[0]}.npz") as held:
        order = held["perm"]
    X, y = rrf_oracle.rows(dataset)
    n_train = {"german": 800, "digits": 1400}[dataset]
    return record, X[order], y[order], n_train, rrf_oracle.LOSSES.get(loss, loss)


@pytest.mark.shared("recorded runs of RKS, FKL and RRF by mini-batches")
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_equals_the_recorded_run(name, form):
    record, X, y, n_train, loss = recorded(name)
    scale, first = float(record["gamma"]), record["w0"].reshape(len(record["w0"]), -1)
    named = {
        ("weights", "normals"): [first / FIRST_WEIGHTS],
        ("noise", "normals"): [record["e"] if "e" in record else record["omega"] / scale],
        ("batches", "choice"): list(record["idx"]),
    }
    given = {
        "components": int(record["D"]),
        "scale": scale,
        "step": float(record["learning_rate"]),
        "decay": float(record["lbd"]),
        "batch": int(record["batch"]),
        "epochs": int(record["epochs"]),
        "loss": loss,
    }
    if "phase" in record:
        named["phases", "uniforms"] = [record["phase"] / (2.0 * math.pi)]
    if "learning_rate_gamma" in record:
        given["scale_step"] = float(record["learning_rate_gamma"])
    classes = tuple(np.unique(y).tolist())
    task = "binary" if len(classes) == 2 else "multiclass"
    learner = SINGLE[name[:3]](**given)
    learner.begin(Problem(task, X.shape[1], classes, n_train), RecordedDraws(named=named))
    learner.fit(form(X[:n_train]), y[:n_train])
    final = record["w_final"].reshape(len(first), -1)
    np.testing.assert_allclose(learner.weights.T, final, **CLOSE)
    if "gamma_final" in record:
        np.testing.assert_allclose(learner.log_scales, record["gamma_final"], **CLOSE)
    np.testing.assert_array_equal(learner.predict(form(X[n_train:])), record["pred_test"])


def plain(cls, seed, problem, X, y, scale, loss, scale_step, step):
    """Weights, log-scales and scores of the plain rendering, from the draws of the learner."""
    draws, size = Draws(seed), SMALL["components"]
    halves = 1 if cls is FKL else 2
    first = FIRST_WEIGHTS * draws.stream("weights").normals(halves * size, problem.n_columns).T
    noise = draws.stream("noise").normals(problem.n_features, size)
    phases = 2 * math.pi * draws.stream("phases").uniforms(size) if cls is FKL else None
    rows, updates = len(y), SMALL["epochs"] * math.ceil(len(y) / SMALL["batch"])
    batches = [draws.stream("batches").choice(rows, SMALL["batch"]) for _ in range(updates)]
    weights, log_scales = mini_batches(
        X,
        problem.encode(y),
        task=problem.task,
        loss=loss,
        noise=noise,
        weights=first,
        log_scales=np.full(problem.n_features, math.log(scale)),
        batches=batches,
        step=step,
        scale_step=scale_step,
        decay=SMALL["decay"],
        phases=phases,
    )
    given = {"noise": noise, "weights": weights, "log_scales": log_scales, "phases": phases}
    return weights, log_scales, scores(X, **given)


@pytest.mark.parametrize("filled", [0.3, 1.0])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize("cls", [RKS, FKL, RRFBatch])
def test_is_its_plain_loop(cls, task, loss, filled):
    X, y, problem = stream(task, filled=filled)
    own = {} if cls is RKS else {"scale_step": 0.2}
    expected = plain(cls, 3, problem, X, y, 0.7, loss, own.get("scale_step", 0.0), SMALL["step"])
    for form in (np.asarray, sp.csr_array):
        learner = cls(**SMALL, scale=0.7, loss=loss, **own).begin(problem, Draws(3))
        learner.fit(form(X), y)
        np.testing.assert_allclose(learner.weights, expected[0], **CLOSE)
        np.testing.assert_allclose(learner.log_scales, expected[1], **CLOSE)
        np.testing.assert_allclose(learner.scores(form(X)), expected[2], atol=1e-11, rtol=0)
    moved = np.abs(learner.log_scales - math.log(0.7)).max()
    assert moved == 0.0 if cls is RKS else moved > 1e-3


def test_the_step_may_be_divided_by_the_number_of_rows():
    X, y, problem = stream("binary")
    expected, _, _ = plain(RKS, 0, problem, X, y, 1.0, "hinge", 0.0, 60.0 / len(y))
    learner = RKS(**{**SMALL, "step": 60.0}, scale=1.0, divide_step=True)
    learner.begin(problem, Draws(0)).fit(X, y)
    np.testing.assert_allclose(learner.weights, expected, **CLOSE)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_batches_that_are_taken_in_parts_move_the_model_by_their_whole_mean(monkeypatch, form):
    X, y, problem = stream("multiclass")
    whole = RRFBatch(**SMALL, scale_step=0.2).begin(problem, Draws(1)).fit(form(X), y)
    monkeypatch.setattr(random_features, "AT_ONCE", 1000)  # a few rows
    parts = RRFBatch(**SMALL, scale_step=0.2).begin(problem, Draws(1)).fit(form(X), y)
    np.testing.assert_array_equal(parts.weights, whole.weights)
    np.testing.assert_array_equal(parts.log_scales, whole.log_scales)


def test_a_batch_larger_than_the_rows_takes_all_of_them():
    X, y, problem = stream("binary", n_rows=30)
    given = {**SMALL, "batch": 1000, "epochs": 7}
    learner = RKS(**given).begin(problem, Draws(0)).fit(X, y)
    assert learner.updates == 7
    permuted = RKS(**given).begin(problem, Draws(0)).fit(X[::-1], y[::-1])
    np.testing.assert_allclose(permuted.weights, learner.weights, **CLOSE)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_ensembles_combine_the_models_of_their_scales(task):
    X, y, problem = stream(task)
    scales, own = (0.2, 0.6, 1.8, 0.05), {**SMALL, "scale_step": 0.1}
    average = MultiRRFAverage(scales=scales, **own).begin(problem, Draws(2)).fit(X, y)
    vote = MultiRRFVote(scales=scales, **own).begin(problem, Draws(2)).fit(X, y)
    draws = Draws(2)
    members = []
    for scale in scales:  # they draw one after the other from the same streams
        models = random_features.drawn_model(problem, draws, SMALL["components"], scale, True)
        members.append(models)
    found = [random_features.scores_of(member, X_block) for member, X_block in
             zip(average._model, [random_features.Block.of(X)] * 4, strict=True)]  # fmt: skip
    for member, start in zip(average._model, members, strict=True):
        np.testing.assert_array_equal(member.model.noise, start.model.noise)
        assert not np.array_equal(member.model.weights, start.model.weights)
    np.testing.assert_allclose(average.scores(X), np.mean(found, axis=0), **CLOSE)
    votes = np.array([problem.encode(problem.decide(each)) for each in found]).astype(int)
    counts = np.array([(votes == code).sum(axis=0) for code in sorted(set(problem.encode(y)))])
    expected = np.asarray(problem.classes)[counts.argmax(axis=0)]  # of equals the first
    assert (np.sort(counts, axis=0)[-1] == np.sort(counts, axis=0)[-2]).any()  # some are equal
    np.testing.assert_array_equal(vote.predict(X), expected)


def test_an_ensemble_of_one_is_that_model():
    X, y, problem = stream("multiclass")
    alone = RRFBatch(**SMALL, scale=0.4).begin(problem, Draws(5)).fit(X, y)
    for cls in (MultiRRFAverage, MultiRRFVote):
        ensemble = cls(scales=[0.4], **SMALL).begin(problem, Draws(5)).fit(X, y)
        np.testing.assert_array_equal(ensemble.predict(X), alone.predict(X))


@pytest.mark.parametrize("cls", [FKL, RRFBatch])
def test_a_scale_that_overflows_is_a_divergence(cls):
    X, y, problem = stream("binary")
    learner = cls(**{**SMALL, "epochs": 50}, scale=2.0, scale_step=1e5).begin(problem, Draws(0))
    with pytest.raises(Diverged, match=r"the score of row \d+ is not a finite number") as caught:
        learner.fit(X, y)
    assert 0 <= caught.value.row < len(y)


def test_progress_ends_at_the_rows_and_counts_mistakes():
    X, y, problem = stream("binary")
    clock = Marking()
    learner = RKS(**{**SMALL, "components": 60, "epochs": 60}, scale=0.5)
    learner.begin(problem, Draws(0)).fit(X, y, clock)
    rows, totals = zip(*clock.marks, strict=True)
    assert list(rows) == sorted(set(rows))
    assert rows[-1] == len(y)
    assert len(rows) <= base.POINTS + 1
    assert all(0 <= total <= seen for seen, total in clock.marks)
    assert totals[-1] / rows[-1] < totals[0] / rows[0]


def test_a_fit_that_is_stopped_keeps_the_updates_so_far(monkeypatch):
    monkeypatch.setattr(base, "ASKED_EVERY", 0.0)
    X, y, problem = stream("binary")
    stopped = RRFBatch(**SMALL).begin(problem, Draws(0)).fit(X, y, Marking(questions=5))
    assert stopped.updates == 5
    assert np.isfinite(stopped.scores(X)).all()
    whole = RRFBatch(**SMALL).begin(problem, Draws(0)).fit(X, y)
    assert whole.updates == 3 * math.ceil(len(y) / 16)


@pytest.mark.parametrize(
    ("y", "X", "message"),
    [
        ([0, 0, 0], np.eye(3), "RKS: all 3 training rows are of class 0; rows of two classes"),
        ([], np.empty((0, 3)), "RKS: there are no rows to fit"),
        ([0, 1, 0], np.diag([1.0, np.nan, 1.0]), "row 1: a value is not a finite number"),
        ([0, 1, 0], np.eye(3)[:, :2], "rows have 2 columns; 3 were announced"),
        ([0, 1], np.eye(3), "3 rows came with labels of shape"),
        ([0, 1, 5], np.eye(3), "row 2: label 5 is not among the classes (0, 1)"),
    ],
)
def test_rows_that_cannot_be_fitted_are_refused(X, y, message):
    learner = RKS(**SMALL).begin(Problem("binary", 3, (0, 1)), Draws(0))
    with pytest.raises(DataError) as refused:
        learner.fit(X, y)
    assert message in str(refused.value)


def test_before_a_fit_it_says_so():
    learner = RKS()
    with pytest.raises(UsageError, match="RKS has learned nothing yet"):
        learner.predict(np.zeros((1, N_FEATURES)))
    learner.begin(Problem("binary", N_FEATURES, (0, 1)), Draws(0))
    with pytest.raises(UsageError, match=r"RKS has learned nothing yet: fit\(\) it first"):
        learner.predict(np.zeros((1, N_FEATURES)))
    assert learner.nbytes == 0


@pytest.mark.parametrize(
    ("cls", "changed", "message"),
    [
        (RKS, {"components": 0}, "RKS: components = 0: it must be 1 or more"),
        (RKS, {"scale": 0.0}, "RKS: scale = 0.0: it must be above 0"),
        (RKS, {"batch": 0}, "RKS: batch = 0: it must be 1 or more"),
        (FKL, {"epochs": 1.5}, "FKL: epochs = 1.5: a whole number is expected"),
        (RRFBatch, {"loss": "hing"}, "RRF-batch: loss = 'hing': choose hinge or logistic. Did you"),
        (RRFBatch, {"scale_step": -1}, "RRF-batch: scale_step = -1: it must be 0 or more"),
        (MultiRRFVote, {"scales": ()}, "MultiRRF-V: scales = (): a list of numbers is expected"),
        (MultiRRFVote, {"scales": (1.0, 0.0)}, "each must be above 0, also at place 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(cls, changed, message):
    with pytest.raises(UsageError) as refused:
        cls(**changed).begin(Problem("binary", 3, (0, 1)), Draws(0))
    assert message in str(refused.value)
