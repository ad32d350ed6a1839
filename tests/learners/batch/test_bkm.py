"""BKM: recorded runs, a plain rendering, limits in which its outcome is known, hostile settings."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.plain.bkm import bkm, features, softmax
from okbench.base.errors import UsageError
from okbench.learners.batch import base, particle_angles
from okbench.learners.batch.bkm import BKM, iterations_of
from okbench.learners.contract import Diverged, Draws, Problem, RecordedDraws
from okbench.learners.numeric.single_precision import SINGLE_REACH, sincos_lines
from tests.learners import rrf_oracle
from tests.learners.batch.clocks import Marking
from tests.shared import mostly_slow

FOLDER = rrf_oracle.SHARED / "oracle" / "bkm"
RECORDS = ("german_S5", "german_S20", "digits_S5", "digits_S20", "digits_S20_sgd")
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
SMALL = {"particles": 6, "components": 9, "batch": 10, "iterations": 12, "step": 0.02,
         "decay": 0.1, "precision": "double"}  # fmt: skip
N_ROWS, N_FEATURES = 60, 5


def recorded(name):
    """A record, its rows in the recorded order, how many of them train, and the numbers that the
    program drew: they follow from its seed and its generator, in the order of the draws."""
    with np.load(FOLDER / f"bkm_{name}.npz") as held:
        record = {key: held[key] for key in held.files}
    dataset = name.partition("_")[0]
    runs = rrf_oracle.names(f"rrf_{dataset}_*")
    with np.load(rrf_oracle.FOLDER / f"{runs[0]}.npz") as held:
        order = held["perm"]
    X, y = rrf_oracle.rows(dataset)
    n_train = {"german": 800, "digits": 1400}[dataset]
    S, D, size = (int(record[key]) for key in ("S", "D", "batch"))
    source = np.random.RandomState(int(record["seed"]))
    drawn = {
        ("weights", "normals"): source.normal(size=(S, len(record["classes"]) * (2 * D + 1))),
        ("scales", "normals"): source.normal(size=(S, X.shape[1])),
        ("noise", "normals"): source.normal(size=(D, X.shape[1])),
    }
    last = int(record["curve"][-1, 0])
    batches = [source.permutation(n_train)[:size] for _ in range(last)]
    return record, X[order], y[order], n_train, drawn, batches


def repeated(record, X, y, n_train, drawn, batches, updates, precision, root):
    named = {place: [array] for place, array in drawn.items()}
    named["batches", "choice"] = batches[:updates]
    classes = tuple(record["classes"].tolist())
    task = "binary" if len(classes) == 2 else "multiclass"
    learner = BKM(
        particles=int(record["S"]),
        components=int(record["D"]),
        batch=int(record["batch"]),
        step=float(record["step"]),
        decay=float(record["lam"]),
        iterations=updates,
        root=root,
        precision=precision,
    ).begin(Problem(task, X.shape[1], classes, n_train), RecordedDraws(named=named))
    return learner.fit(X[:n_train], y[:n_train])


@pytest.mark.shared("recorded runs of BKM")
@pytest.mark.parametrize("name", mostly_slow(RECORDS, set(RECORDS) - {"digits_S20"}))
@pytest.mark.parametrize("precision", ["single", "double"])
def test_equals_the_recorded_run(name, precision):
    record, X, y, n_train, drawn, batches = recorded(name)
    root = "none" if name.endswith("sgd") else "forgetting"
    for updates, accuracy, _ in record["curve"]:
        learner = repeated(record, X, y, n_train, drawn, batches, int(updates), precision, root)
        found = learner.predict(X[n_train:])
        assert np.mean(found == y[n_train:]) == pytest.approx(accuracy, abs=1e-12)
        wanted = record["h"][record["iters"] == updates - 1]
        np.testing.assert_allclose([learner.last_bandwidth] * len(wanted), wanted, atol=1e-6)
    if "pred_test" in record:
        assert (found == record["pred_test"]).all()
        np.testing.assert_allclose(learner.numbers, record["params_final"], rtol=0, atol=3e-6)
    else:
        means = learner.scales.mean(axis=0)
        np.testing.assert_allclose(means, record["gamma_mean_final"], rtol=0, atol=3e-6)


@pytest.mark.shared("recorded runs of BKM")
@pytest.mark.parametrize("name", ["german_S5", "digits_S5"])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_first_updates_agree_to_the_stated_precision(name, precision):
    record, X, y, n_train, drawn, batches = recorded(name)
    first = np.hstack([drawn["weights", "normals"], drawn["scales", "normals"]])
    assert (first == record["params_init"]).all()
    assert (drawn["noise", "normals"] == record["e"]).all()
    for place, update in enumerate(record["iters"]):
        assert (batches[update] == record["idx"][place]).all()
    for updates in (1, 2, 3, 4):
        learner = repeated(record, X, y, n_train, drawn, batches, updates, precision, "forgetting")
        wanted = record[f"params_it{updates}"]
        np.testing.assert_allclose(learner.numbers, wanted, rtol=0, atol=4.5e-7)


def a_problem(n_classes, filled=1.0):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < filled)
    labels = np.digitize(X[:, 0] + X[:, 1], np.linspace(-1, 1, n_classes - 1))
    labels[:n_classes] = np.arange(n_classes)
    task = "binary" if n_classes == 2 else "multiclass"
    return X, labels, Problem(task, N_FEATURES, tuple(range(n_classes)), N_ROWS)


def both(settings, n_classes=2, filled=1.0, form=np.asarray, **plain):
    """A fitted learner, and what the plain rendering makes of the same draws."""
    X, labels, problem = a_problem(n_classes, filled)
    learner = BKM(**{**SMALL, **settings}).begin(problem, Draws(3)).fit(form(X), labels)
    draws, size = Draws(3), learner.components
    n_weights = n_classes * (2 * size + learner.bias)
    weights = draws.stream("weights").normals(learner.particles, n_weights)
    weights = learner.weight_deviation * weights.reshape(learner.particles, n_classes, -1)
    scales = learner.scale_deviation * draws.stream("scales").normals(learner.particles, N_FEATURES)
    scales = np.abs(scales) if learner.positive_scales else scales
    noise = draws.stream("noise").normals(size, N_FEATURES)
    batches = [
        draws.stream("batches").choice(N_ROWS, min(learner.batch, N_ROWS))
        for _ in range(learner.iterations)
    ]
    given = {"step": learner.step, "decay": learner.decay, **plain}
    return learner, X, noise, bkm(X, labels, weights, scales, noise, batches, **given)


def assert_equal(learner, expected, atol=1e-9):
    np.testing.assert_allclose(learner.weights, expected[0], rtol=0, atol=atol)
    np.testing.assert_allclose(learner.scales, expected[1], rtol=0, atol=atol)


@FORMS
@pytest.mark.parametrize("filled", [1.0, 0.1], ids=["full", "sparse"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_equals_the_plain_rendering(n_classes, filled, form):
    learner, _, _, expected = both({}, n_classes, filled, form)
    assert_equal(learner, expected)


@pytest.mark.parametrize(
    ("settings", "plain"),
    [
        ({"moves_scales": False}, {"moves_scales": False}),
        ({"factor": "root"}, {"factor": 1 / 3.0}),
        ({"bias": False}, {"bias": False}),
        ({"data_term": "mean"}, {"mean": True}),
        ({"weight_deviation": 0.3, "scale_deviation": 2.5}, {}),
        ({"positive_scales": True}, {}),
        ({"root": "cumulative"}, {"root": "cumulative"}),
        ({"root": "none", "step": 1e-4}, {"root": "none"}),
        ({"bandwidth": 1.7}, {"bandwidth": 1.7}),
        ({"batch": 1000}, {}),
        ({"batch": 1}, {}),
    ],
    ids=str,
)
def test_every_switch_does_what_the_plain_rendering_does(settings, plain):
    for n_classes in (2, 3):
        learner, _, _, expected = both(settings, n_classes, **plain)
        assert_equal(learner, expected)


@pytest.mark.parametrize("filled", [1.0, 0.1])
def test_single_precision_is_near_the_double(filled):
    learner, _, _, expected = both({"precision": "single"}, 3, filled)
    assert learner.numbers.dtype == np.float32
    assert_equal(learner, expected, atol=2e-4)


def test_one_particle_is_stochastic_gradient_map():
    """The median distance is 0, and no particle repels: steps down the posterior's gradient."""
    settings = {"particles": 1, "root": "none", "step": 1e-3}
    learner, _, _, expected = both(settings, root="none", bandwidth=0.0)
    assert learner.last_bandwidth == 0.0
    assert_equal(learner, expected)
    forgetting, _, _, expected = both({"particles": 1}, bandwidth=0.0)
    assert_equal(forgetting, expected)


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-3])
def test_a_vanishing_bandwidth_leaves_particles_alone(bandwidth):
    """Each moves as it would by itself, by the share 1/S of its gradient."""
    settings = {"bandwidth": bandwidth, "root": "none", "step": 6e-3}
    learner, _, _, expected = both(settings, bandwidth=0.0, root="none")
    assert_equal(learner, expected)


def test_an_infinite_bandwidth_moves_all_particles_alike():
    learner, *_ = both({"bandwidth": math.inf, "root": "none", "decay": 0.0})
    unmoved, *_ = both({"iterations": 0})
    moves = learner.numbers - unmoved.numbers
    assert np.abs(moves).max() > 1e-3
    np.testing.assert_allclose(moves - moves[0], 0.0, rtol=0, atol=1e-12)


@FORMS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_predictions_are_those_of_the_particles(n_classes, form):
    """Sum, vote, average and probabilities against features of each particle."""
    learner, X, noise, _ = both({}, n_classes)
    scores = np.array(
        [
            features(X, g, noise, 1.0, True)[0] @ W.T
            for W, g in zip(learner.weights, learner.scales, strict=True)
        ]
    )
    assert (learner.predict(form(X)) == scores.sum(axis=0).argmax(axis=1)).all()
    chances = np.array([softmax(each) for each in scores])
    np.testing.assert_allclose(learner.predict_proba(form(X)), chances.mean(axis=0), atol=1e-12)
    deviation = learner.predict_deviation(form(X))
    np.testing.assert_allclose(deviation, chances.std(axis=0), atol=1e-12)
    learner.set_params(prediction="vote")
    votes = np.eye(n_classes)[scores.argmax(axis=2)].sum(axis=0)
    assert (learner.predict(form(X)) == votes.argmax(axis=1)).all()  # ties: the first class
    learner.set_params(prediction="average")
    phi = features(X, learner.scales.mean(axis=0), noise, 1.0, True)[0]
    averaged = phi @ learner.weights.mean(axis=0).T
    assert (learner.predict(form(X)) == averaged.argmax(axis=1)).all()


def test_a_tied_vote_goes_to_the_first_class():
    X, labels, problem = a_problem(2)
    learner = BKM(**{**SMALL, "particles": 2, "prediction": "vote"}).begin(problem, Draws(0))
    learner.fit(X, labels)
    votes = learner.predict_deviation(X)[:, 0] > 0.4  # the two particles disagree
    assert votes.any()
    assert (learner.predict(X)[votes] == 0).all()


def test_rows_take_the_way_of_their_zeros_however_they_are_stored(monkeypatch):
    for filled in (1.0, 0.1):
        dense, *_ = both({}, 2, filled)
        sparse, *_ = both({}, 2, filled, sp.csr_array)
        assert (dense.numbers == sparse.numbers).all()
    monkeypatch.setattr(particle_angles, "SPARSE_BELOW", 2.0)
    other, *_ = both({}, 2, 1.0)
    dense, *_ = both({}, 2, 1.0)
    np.testing.assert_allclose(other.numbers, dense.numbers, rtol=0, atol=1e-9)


def test_a_clock_ends_a_fit_half_way_and_its_curve_stays(monkeypatch):
    monkeypatch.setattr(base, "ASKED_EVERY", 0.0)
    X, labels, problem = a_problem(2)
    whole, half = Marking(), Marking(questions=6 * 5 + 3)  # in the middle of the sixth update
    BKM(**SMALL).begin(problem, Draws(3)).fit(X, labels, whole)
    learner = BKM(**SMALL).begin(problem, Draws(3)).fit(X, labels, half)
    assert learner.updates == 5
    assert half.marks == whole.marks[: len(half.marks)]
    assert len(half.marks) > 0
    assert whole.marks[-1][0] == N_ROWS
    fifth = BKM(**{**SMALL, "iterations": 5}).begin(problem, Draws(3)).fit(X, labels)
    assert (learner.numbers == fifth.numbers).all()


@pytest.mark.parametrize("filled", [1.0, 0.1])
def test_memory_is_three_times_the_particles_and_little_of_a_batch(filled):
    """The features of the batch alone would be 15 times the particles."""
    X, labels, problem = a_problem(2, filled)
    X, labels = np.tile(X, (20, 1)), np.tile(labels, 20)
    settings = {**SMALL, "particles": 20, "components": 200, "batch": 600, "precision": "single"}
    learner = BKM(**settings).begin(problem, Draws(0)).fit(X, labels)
    tracemalloc.start()
    try:
        learner.begin(problem, Draws(0)).fit(X, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    targets, pairs, columns = 8 * len(X), 16 * 20**2, 2 * 128 * 20 * 4
    part = 100 * 200 * 4 if filled == 1.0 else 0
    known = 3 * learner.numbers.nbytes + targets + pairs + columns + part
    assert peak < known + 200_000  # old versions of SciPy copy more of sparse rows


def test_numbers_that_overflow_are_a_divergence():
    X, labels, problem = a_problem(2)
    learner = BKM(**{**SMALL, "root": "none", "step": 1e300}).begin(problem, Draws(0))
    with pytest.raises(Diverged, match="BKM: a particle is not a finite number any more"):
        learner.fit(X, labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"particles": 0}, "^BKM: particles = 0: it must be 1 or more$"),
        ({"batch": 0}, "^BKM: batch = 0: it must be 1 or more$"),
        ({"components": 0}, "components = 0"),
        ({"iterations": -1}, "iterations = -1: it must be 0 or more"),
        ({"iterations": "rul"}, "iterations = 'rul': choose rule. Did you mean"),
        ({"bandwidth": 0.0}, "bandwidth = 0.0: it must be above 0"),
        ({"bandwidth": "mean"}, "choose median"),
        ({"decay": -1.0}, "decay = -1.0"),
        ({"factor": "sqrt"}, "choose none or root"),
        ({"data_term": "all"}, "choose sum or mean"),
        ({"root": "plain"}, "choose forgetting or cumulative or none"),
        ({"prediction": "mean"}, "choose sum or vote or average"),
        ({"precision": "half"}, "choose single or double"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(UsageError, match=message):
        BKM(**settings).begin(a_problem(2)[2], Draws(0))


@pytest.mark.parametrize(
    ("n_rows", "updates"),
    [(10, 4), (30_000, 12_000), (30_001, 3_000), (32_561, 3_256), (400_000, 40_000),
     (400_001, 16_000), (8_000_000, 320_000), (8_800_000, 176_000)],
)  # fmt: skip
def test_the_rule_of_the_number_of_updates(n_rows, updates):
    assert iterations_of("rule", n_rows) == updates
    assert iterations_of(7, n_rows) == 7


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("reach", [1e-3, 1.0, 30.0, SINGLE_REACH, 1e5, 1e7])
def test_sines_and_cosines_in_either_precision(kind, reach):
    angles = np.random.default_rng(1).uniform(-reach, reach, (5, 10_000)).astype(kind)
    sines, cosines = np.empty((2, 4, 10_000), kind)
    sincos_lines(angles, 1, sines, cosines)
    angles = angles[1:]
    wide, bound = angles.astype(np.longdouble), 1.2e-7 if kind is np.float32 else 1e-15
    assert float(np.max(np.abs(sines - np.sin(wide)))) < bound
    assert float(np.max(np.abs(cosines - np.cos(wide)))) < bound


def test_an_angle_that_is_no_number_stays_one_alone():
    angles = np.array([[1.0, np.nan, 2.0, np.inf]], np.float32)
    sines, cosines = np.empty((2, 1, 4), np.float32)
    sincos_lines(angles, 0, sines, cosines)
    assert np.isnan(sines).tolist() == np.isnan(cosines).tolist() == [[False, True, False, True]]
    np.testing.assert_allclose(sines[0, [0, 2]], np.sin([1.0, 2.0]), atol=1e-7)
