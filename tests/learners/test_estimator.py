"""The learners as estimators: before they have learned, while settings change, asked by many."""

from __future__ import annotations

import copy
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from okbench.base.errors import OkbenchError, UsageError
from okbench.learners.base import OnlineLearner
from okbench.learners.bsgd import BSGD
from okbench.learners.checks import checks, run_check
from okbench.learners.checks.subject import Subject
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.fogd import FOGD
from okbench.learners.kernel import KernelLearner
from okbench.learners.norma import Norma
from okbench.learners.ogd import OGD
from okbench.learners.online.simple_budget import BOGD, RBP
from okbench.learners.perceptron import Perceptron
from okbench.learners.registry import Entry
from tests.learners.online import learners_online

SUBJECTS = [Subject(entry, entry.load()) for entry in learners_online()]
ALL = pytest.mark.parametrize("subject", SUBJECTS, ids=[s.entry.name for s in SUBJECTS])
KERNEL_SUBJECTS = [
    subject
    for subject in SUBJECTS
    if issubclass(subject.cls, KernelLearner | BSGD)  # their model is one record
]
NUMBERS = (np.ndarray, int, float)
# Other values than the small and the default ones, for every setting there is.
OTHERS = {
    "aggressiveness": 0.3, "budget": 40, "clip": 0.1, "components": 4, "cost": 9.0, "decay": 0.5,
    "epsilon": 0.01, "flush": 0.5, "guard": 0.5, "margin": 0.7, "merging": "any", "nu": 0.9,
    "rank": 2, "root": "correct", "scale_step": 0.02, "step": 0.1, "switch": "paper",
    "tolerance": 0.1, "width": 3.3,
    "handed_over": 2, "search": "table", "squared_width": True, "stale": True,
    "averages": False, "initial": 30, "library": "numpy", "map": "nearest", "partitionings": 7,
    "product": "naive", "psi": 8,
    "base": 3, "combination": "sampled", "directions": "independent", "discount": 0.6,
    "kernel": "laplacian", "kernels": ("cauchy",), "smoothing": 0.3,
    "update": "sampled", "weight_step": 0.4, "widths": (0.7, 2.0),
}  # fmt: skip


@ALL
def test_before_it_has_learned_it_says_so(subject):
    fresh = subject.new()
    assert (fresh.support_size, fresh.updates, fresh.nbytes) == (0, 0, 0)
    told = {name for name, _ in inspect.getmembers(fresh)}  # raises nothing
    assert not told & {"classes_", "coefficients", "support_rows", "weights", "log_scales"}
    with pytest.raises(UsageError, match=f"{subject.entry.name.replace('+', '.')} has learned not"):
        fresh.predict(np.zeros((1, 2)))


@ALL
def test_settings_count_from_the_next_begin_on(subject):
    changed = {name: value for name, value in OTHERS.items() if name in subject.settings}
    assert set(subject.settings) - set(changed) <= {"loss", "form"}  # they exclude other settings
    for stream in subject.streams(200):
        for cut in (7, 120):
            left, set_anew = subject.learned(stream[:cut]), subject.learned(stream[:cut])
            set_anew.set_params(**changed)
            rest = stream[cut:]
            for verb, given in (("scores", (stream.X,)), ("learn_scores", (rest.X, rest.y))):
                expected = getattr(left, verb)(*given)
                np.testing.assert_array_equal(getattr(set_anew, verb)(*given), expected)
            for name in ("nbytes", "weights", "coefficients", "support_rows"):
                if hasattr(left, name):
                    np.testing.assert_array_equal(getattr(set_anew, name), getattr(left, name))
            if hasattr(left, "kernel_gaps"):
                gaps = left.kernel_gaps(stream.X)
                np.testing.assert_array_equal(set_anew.kernel_gaps(stream.X), gaps)
        scores = set_anew.begin(stream.problem, Draws(0)).learn_scores(stream.X, stream.y)
        anew = subject.cls(**set_anew.get_params()).begin(stream.problem, Draws(0))
        np.testing.assert_array_equal(scores, anew.learn_scores(stream.X, stream.y))


@ALL
def test_bytes_are_those_of_all_arrays_it_holds(subject):
    for stream in subject.streams(200):
        learner = subject.learned(stream)
        vars(learner).pop("_work", None)  # scratch is no part of the model
        held = {array.ctypes.data: array.nbytes for array in arrays_of(learner) if array.size}
        assert learner.nbytes == sum(held.values())


@ALL
def test_asking_writes_to_nothing_it_holds(subject):
    """So that many may ask at once, of a learner that was mapped from a file as well."""
    for stream in subject.streams(200):
        learner = subject.learned(stream)
        expected = learner.scores(stream.X)
        before = [array.tobytes() for array in arrays_of(learner)]
        learner.scores(stream.X[::-1])
        assert [array.tobytes() for array in arrays_of(learner)] == before
        for array in arrays_of(learner):
            array.setflags(write=False)
        np.testing.assert_array_equal(learner.scores(stream.X), expected)


@ALL
def test_two_threads_may_ask_one_learner_at_once(subject):
    for stream in subject.streams(200):
        learner = subject.learned(stream)
        expected = learner.predict(stream.X)
        both = Barrier(2)

        def ask(learner=learner, stream=stream, both=both):
            both.wait()
            return [learner.predict(stream.X) for _ in range(20)]

        with ThreadPoolExecutor(2) as pool:
            for answers in [pool.submit(ask) for _ in range(2)]:
                for found in answers.result():
                    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "subject", KERNEL_SUBJECTS, ids=[subject.entry.name for subject in KERNEL_SUBJECTS]
)
def test_what_was_learned_is_one_record_of_arrays_and_numbers(subject):
    """Scores follow from it and the settings; scratch of another learner changes nothing."""
    for stream in subject.streams(200):
        learner, other = subject.learned(stream), subject.learned(stream[:30])
        expected = learner.learn_scores(stream.X[:50], stream.y[:50])
        learner = subject.learned(stream)
        other._model = copy.deepcopy(learner._model)
        other.draws, other._position = learner.draws, getattr(learner, "_position", 0)
        np.testing.assert_array_equal(other.scores(stream.X), learner.scores(stream.X))
        found = other.learn_scores(stream.X[:50], stream.y[:50])
        np.testing.assert_array_equal(found, expected)
        assert all(isinstance(part, NUMBERS) for part in parts_of(learner._model))


@ALL
def test_copies_go_on_as_the_original_to_the_last_bit(subject):
    for stream in subject.streams(200):
        learner = subject.learned(stream[:120])
        copies = [copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))]
        expected = learner.learn_scores(stream.X[120:], stream.y[120:])
        for copied in copies:
            found = copied.learn_scores(stream.X[120:], stream.y[120:])
            np.testing.assert_array_equal(found, expected)


@ALL
def test_a_budget_or_a_rank_beyond_the_stream_is_no_trouble(subject):
    roomy = {"budget": 500, "rank": 500, "components": 700}
    for stream in subject.streams():
        learner = subject.new(**{k: v for k, v in roomy.items() if k in subject.settings})
        scores = learner.begin(stream.problem, Draws(0)).learn_scores(stream.X, stream.y)
        assert np.isfinite(scores).all()
        assert learner.support_size <= len(stream)


@ALL
def test_a_begin_that_was_refused_leaves_nothing_begun(subject):
    stream = next(subject.streams())
    learner = subject.learned(stream)
    if not subject.settings:
        return  # a learner without settings refuses none
    name = "width" if "width" in subject.settings else "step"
    learner.set_params(**{name: 0.0})
    with pytest.raises(UsageError, match=rf"{name} = 0\.0"):
        learner.begin(stream.problem)
    with pytest.raises(UsageError, match="has learned nothing yet"):
        learner.predict(stream.X)
    with pytest.raises(UsageError, match=rf"{name} = 0\.0"):
        learner.learn(stream.X, stream.y)
    learner.set_params(**{name: 8.0})
    learner.begin(stream.problem, Draws(0)).learn(stream.X, stream.y)


def test_a_score_that_is_no_number_is_refused_in_predictions_too():
    learner = OGD(step=1e300).begin(Problem("binary", 3, (-1, 1)))
    learner.learn(np.zeros((1, 3)), [1])
    asked = np.vstack([1000.0 * np.eye(3), np.zeros(3)])
    for verb in (learner.predict, learner.scores):
        with pytest.raises(Diverged, match="OGD: the score of row 3 is not a finite") as refused:
            verb(asked)
        assert refused.value.row == 3


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (OGD(width=10**400), "OGD: width = 1000.*: it is beyond the largest number"),
        (RBP(budget=True), "RBP: budget = True: a whole number is expected"),
    ],
)
def test_a_setting_that_is_no_usable_number_is_refused(made, message):
    with pytest.raises(UsageError, match=message):
        made.begin(Problem("binary", 3, (-1, 1)))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, int])
def test_numbers_of_any_kind_are_taken_as_settings(kind):
    stream = next(SUBJECTS[0].streams())
    made = OGD(width=kind(3), step=kind(1)).begin(stream.problem)
    plain = OGD(width=3.0, step=1.0).begin(stream.problem)
    np.testing.assert_array_equal(
        made.learn_scores(stream.X, stream.y), plain.learn_scores(stream.X, stream.y)
    )


def test_a_learner_of_regression_alone_takes_whole_numbers_for_targets():
    X = np.arange(12.0).reshape(6, 2)
    assert is_regressor(Norma())
    assert not is_regressor(OGD())
    assert Norma().fit(X, [3, 1, 4, 1, 5, 9]).problem.task == "regression"
    assert OGD().fit(X, [3, 1, 4, 1, 5, 9]).problem.task == "multiclass"


def test_a_grid_is_searched_in_a_pipeline():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 4))
    names = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    pipe = make_pipeline(StandardScaler(), BOGD(budget=20))
    search = GridSearchCV(pipe, {"bogd__width": [1e-4, 1.0]}, scoring="accuracy", cv=3)
    search.fit(X, names)
    assert search.best_params_ == {"bogd__width": 1.0}
    assert set(search.predict(X)) <= {"low", "mid", "high"}
    errors = {"scoring": "neg_mean_squared_error", "cv": 3}
    found = GridSearchCV(FOGD(components=20, width=1.0), {"step": [1e-9, 0.02]}, **errors).fit(
        X, X[:, 0]
    )
    assert found.best_params_ == {"step": 0.02}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("cls", [Perceptron, RBP, FOGD])
def test_rows_of_no_columns_can_be_learned(cls, form):
    learner = cls().begin(Problem("binary", 0, (-1, 1)))
    assert learner.learn(form(np.zeros((3, 0))), [1, 1, -1]).tolist() == [1, 1, 1]


def test_learning_goes_on_after_a_refusal_as_if_nothing_had_been():
    stream = next(SUBJECTS[0].streams())
    for subject in SUBJECTS:
        stream = next(subject.streams())
        learner, other = subject.learned(stream[:60]), subject.learned(stream[:60])
        for X, y in (
            (stream.X[:, :2], stream.y),
            (stream.X, stream.y[:3]),
            (stream.X * np.nan, stream.y),
            (stream.X, ["other"] * len(stream)),
        ):
            with pytest.raises(OkbenchError):
                learner.learn(X, y)
        rest = stream[60:]
        np.testing.assert_array_equal(
            learner.learn_scores(rest.X, rest.y), other.learn_scores(rest.X, rest.y)
        )


def parts_of(record):
    """Everything in a record of arrays, numbers and further records."""
    for part in record:
        if isinstance(part, tuple):
            yield from parts_of(part)
        else:
            yield part


def arrays_of(held):
    """All arrays that an object reaches through tuples and attributes, each once."""
    found = {}

    def visit(value):
        if isinstance(value, np.ndarray):
            found[id(value)] = value
        elif isinstance(value, tuple):
            for part in value:
                visit(part)
        elif hasattr(value, "__dict__") and not isinstance(value, type | Problem | Draws):
            for part in vars(value).values():
                visit(part)

    visit(held)
    return list(found.values())


class Unregistered(OnlineLearner):
    """A learner that is derived from ours and not announced to the registry: the sign of a sum."""

    def _start(self, problem):
        self.sum = np.zeros((problem.n_features, 1))

    def _scores(self, block):
        return np.asarray(block.matrix @ self.sum)

    def _learn(self, block, targets):
        scores = []
        for row, target in zip(np.asarray(block.matrix), targets, strict=True):
            scores.append(row @ self.sum)
            self.sum += row[:, np.newaxis] * target
        return np.array(scores).reshape(len(block), 1)


class Announced(Unregistered):
    name = "of the module"


def test_a_learner_that_is_not_announced_has_the_name_of_its_class():
    fresh = Unregistered()
    with pytest.raises(OkbenchError, match=r"^Unregistered has learned nothing yet"):
        fresh.predict([[1.0, 2.0]])
    with pytest.raises(UsageError, match=r"^Unregistered has no setting 'width'"):
        fresh.set_params(width=3)
    assert fresh.fit([[1.0, 2.0], [-1.0, -2.0]], [1, -1]).predict([[2.0, 1.0]]).tolist() == [1]
    assert Announced.name == "of the module"
    assert Perceptron.name == "Perceptron"


def test_the_checks_run_a_learner_that_is_not_announced():
    entry = Entry("Unregistered", f"{__name__}:Unregistered")
    assert (Unregistered.version, Unregistered.tasks) == (entry.version, entry.tasks)
    results = [run_check(check, entry) for check in checks() if check.role == "online"]
    assert len(results) > 10
    assert not [result for result in results if "AttributeError" in result.reason]
    assert sum(result.status == "passed" for result in results) > len(results) / 2
