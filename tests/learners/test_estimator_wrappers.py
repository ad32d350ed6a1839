"""Learners within estimators: every rule of scikit-learn, and the learner's own numbers."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from okbench.learners.batch.base import NoLimit
from okbench.learners.batch.bkm import BKM
from okbench.learners.batch.llsvm import LLSVM
from okbench.learners.batch.rks import RKS
from okbench.learners.batch.scikit import LIBSVM
from okbench.learners.column_scales import ScaleWarning
from okbench.learners.contract import Draws, Problem
from okbench.learners.estimators import Classifier, Regressor
from okbench.learners.fogd import FOGD
from okbench.learners.isolation.descent import IKOGD
from okbench.learners.norma import Norma
from okbench.learners.ogd import OGD
from okbench.learners.online.nystroem import NOGD
from okbench.learners.online.projectron import Projectron
from okbench.learners.online.simple_budget import BOGD, RBP
from okbench.learners.online.tvm import TVM
from okbench.learners.perceptron import Perceptron

PAIRS = [
    Classifier(FOGD()),
    Classifier(OGD()),
    Classifier(NOGD()),
    Classifier(TVM()),
    Regressor(FOGD()),
    Regressor(RBP()),
    Regressor(Norma(width=2.0, step=0.3, decay=0.001)),  # its defaults take longer than 200 rows
]


@pytest.mark.parametrize("estimator", PAIRS, ids=str)
def test_every_check_of_scikit_learn_passes(estimator: Classifier | Regressor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that need what is not installed
        results = check_estimator(estimator, on_fail=None)
    failed = [one["check_name"] for one in results if one["status"] == "failed"]
    assert failed == []
    assert sum(one["status"] == "passed" for one in results) > 45


def rings(rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (rows, 2))
    return X, np.where((X**2).sum(axis=1) < 2.4, "in", "out")


def test_the_learner_within_does_what_it_does_by_itself() -> None:
    X, y = rings()
    for learner in (FOGD(width=0.6), RBP(budget=20, width=0.6), LLSVM(budget=20, width=0.6)):
        wrapped = Classifier(learner, random_state=5).fit(X, y)
        seed = int(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
        alone = clone(learner).begin(Problem("binary", 2, ("in", "out"), len(X)), Draws(seed))
        if isinstance(alone, LLSVM):
            alone.fit(X, y)
        else:
            alone.learn(X, y)
        np.testing.assert_array_equal(wrapped.decision_function(X), alone.scores(X)[:, 0])
        np.testing.assert_array_equal(wrapped.predict(X), alone.predict(X))
        assert wrapped.score(X, y) == alone.score(X, y) > 0.8


def test_whole_numbers_are_amounts_for_a_regressor_and_never_classes_unasked() -> None:
    X, y = load_diabetes(return_X_y=True)
    assert np.array_equal(y, np.floor(y))
    assert len(np.unique(y)) == 214
    assert Regressor(FOGD(width=0.2)).fit(X, y).score(X, y) > 0.2
    learner = FOGD(width=0.2).fit(X, y)
    assert learner.problem is not None
    assert learner.problem.task == "regression"
    assert learner.score(X, y) > 0.2
    regressor = Regressor(FOGD(width=0.2))
    regressor.partial_fit(X[:5], [3, 1, 4, 1, 5]).partial_fit(X[5:9], [2.5, 3.5, 1.25, 0.5])
    with pytest.raises(ValueError, match=r"begin\(Problem\('regression'"):
        FOGD().partial_fit(X[:5], [3.0, 1, 4, 1, 5]).partial_fit(X[5:9], [2.5, 3.5, 1.25, 0.5])


def test_the_example_of_the_documents_runs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
    section = text.partition("## As estimators of scikit-learn")[2]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    assert names["r2"] > 0.5
    assert names["accuracy"] > 0.8


def test_blocks_are_learned_as_a_whole() -> None:
    X, y = rings()
    whole = Classifier(BOGD(budget=30, width=0.6, decay=1e-4))
    whole.partial_fit(X, y, classes=["in", "out"])
    cut = Classifier(BOGD(budget=30, width=0.6, decay=1e-4))
    for begin in range(0, len(X), 70):
        cut.partial_fit(X[begin : begin + 70], y[begin : begin + 70], classes=["in", "out"])
    np.testing.assert_array_equal(whole.decision_function(X), cut.decision_function(X))
    with pytest.raises(ValueError, match="label 'other' is not among the classes"):
        cut.partial_fit(X[:1], ["other"])
    assert not hasattr(Classifier(LLSVM()), "partial_fit")


def test_settings_of_the_learner_are_searched_and_the_seed_matters() -> None:
    X, y = rings()
    grid = {"learner__width": [1e-4, 0.6]}
    search = GridSearchCV(Classifier(FOGD()), grid, cv=3).fit(X, y)
    assert search.best_params_ == {"learner__width": 0.6}
    first, second = (
        Classifier(FOGD(components=20), random_state=seed).fit(X, y).decision_function(X)
        for seed in (1, 2)
    )
    assert not np.array_equal(first, second)


def test_probabilities_come_from_calibration() -> None:
    """Margins of the hinge loss are no probabilities, so that no learner claims to have some."""
    X, y = rings()
    assert not hasattr(Classifier(FOGD()), "predict_proba")
    calibrated = CalibratedClassifierCV(Classifier(FOGD(width=0.6)), cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities[:, 0] > 0.5)[y == "in"].mean() > 0.7


def test_what_cannot_be_is_a_value_error() -> None:
    X, y = rings(40)
    for wrong, message in (
        (lambda: Classifier(FOGD(width=-1.0)).fit(X, y), "width = -1.0"),
        (lambda: Classifier(TVM()).fit(X, np.arange(40) % 3), "Only binary classification"),
        (lambda: Classifier(object()).fit(X, y), "is no learner of okbench"),
        (lambda: Regressor(TVM()).fit(X, X[:, 0]), "TVM does not do regression"),
        (lambda: FOGD().fit(X * np.nan, y), "not a finite number"),
        (lambda: FOGD().set_params(widht=1.0), "Did you mean 'width'?"),
    ):
        with pytest.raises(ValueError, match=message.replace("?", r"\?")):
            wrong()
    for fresh in (FOGD(), Classifier(FOGD()), Perceptron(), Regressor(), LLSVM()):
        with pytest.raises(NotFittedError):
            fresh.predict(X)
    assert is_classifier(Classifier())
    assert is_regressor(Regressor())


FITTED = pytest.mark.parametrize(
    "learner",
    [FOGD(width=0.6), LLSVM(budget=10, width=0.6), IKOGD(partitionings=5, psi=8)],
    ids=lambda learner: learner.name,
)


@FITTED
def test_columns_of_a_frame_in_another_order_are_refused(learner: Any) -> None:
    X, y = rings(60)
    frame = pd.DataFrame(X, columns=["a", "b"])
    learner.fit(frame, y)
    assert learner.feature_names_in_.tolist() == ["a", "b"]
    assert learner.n_features_in_ == 2
    np.testing.assert_array_equal(learner.predict(frame), learner.predict(X))
    with pytest.raises(ValueError, match="stand in another order: 'b' where 'a' is expected"):
        learner.predict(frame[["b", "a"]])
    learner.fit(X, y)
    assert not hasattr(learner, "feature_names_in_")


def test_every_way_to_predict_compares_the_names_of_columns() -> None:
    X, y = rings(60)
    frame = pd.DataFrame(X, columns=["a", "b"])
    three = np.where(X[:, 0] > 0, y, "left")
    for ask in (
        LIBSVM(width=0.6).fit(frame, three).predict,
        BKM(particles=2, components=8, iterations=2).fit(frame, y).predict_proba,
        FOGD(components=8, width=0.6).fit(frame, y).kernel_gaps,
    ):
        with pytest.raises(ValueError, match="another order"):
            ask(frame[["b", "a"]])


@FITTED
def test_a_second_fit_begins_afresh_on_other_columns_and_labels(learner: Any) -> None:
    X, y = rings(60)
    wide = np.hstack([X, X[::-1]])
    first = clone(learner).fit(wide, np.where(wide[:, 3] > 0, "p", "q"))
    expected = clone(learner).fit(X, y)
    np.testing.assert_array_equal(first.fit(X, y).scores(X), expected.scores(X))
    assert first.classes_.tolist() == ["in", "out"]


@FITTED
def test_a_fit_keeps_the_problem_that_was_announced(learner: Any) -> None:
    X, y = rings(60)
    learner.begin(Problem("binary", 2, ("out", "in")), Draws(3)).fit(X, y)
    assert learner.classes_.tolist() == ["out", "in"]


def test_unequal_columns_are_warned_of_where_a_person_fits() -> None:
    X, y = rings(60)
    frame = pd.DataFrame(X * [1.0, 1e5], columns=["age", "income"])
    with pytest.warns(ScaleWarning, match="^column .income. varies more than 100 times") as noted:
        FOGD().fit(frame, y)
    assert [Path(one.filename).name for one in noted] == [Path(__file__).name]
    with pytest.warns(ScaleWarning, match="^column 1 .counted from 0. varies"):
        Classifier(FOGD()).fit(frame, y)
    rows = frame.to_numpy()
    FOGD().learn(rows, y)  # as a run does; a warning would be an error here
    RKS(components=8).fit(rows, y, NoLimit())
    FOGD(width=0.6).fit(X, y)


def test_frames_are_learned_block_by_block_in_one_order() -> None:
    X, y = rings(60)
    frame = pd.DataFrame(X, columns=["a", "b"])
    learner = FOGD(width=0.6).partial_fit(frame[:30], y[:30], classes=["in", "out"])
    with pytest.raises(ValueError, match="another order"):
        learner.partial_fit(frame[["b", "a"]][30:], y[30:])
    learner.partial_fit(frame[30:], y[30:])


def test_rows_are_learned_one_by_one() -> None:
    X, y = rings(80)
    begun = Problem("binary", 2, ("in", "out"))
    block = Projectron(budget=20, width=0.6).begin(begun).learn(X, y)
    single = Projectron(budget=20, width=0.6).begin(begun)
    found = [single.learn_one(x, label) for x, label in zip(X, y, strict=True)]
    assert found == block.tolist()
    assert [single.predict_one(x) for x in X] == single.predict(X).tolist()
    sparse = sp.csr_array(X)
    assert [single.predict_one(sparse[[i]]) for i in range(80)] == single.predict(X).tolist()
    once = Projectron(budget=20, width=0.6).begin(begun)
    assert [once.learn_one(sparse[[i]], y[i]) for i in range(80)] == found
    with pytest.raises(ValueError, match=r"one row is expected, and this has the shape \(2, 2\)"):
        single.predict_one(sparse[:2])


def test_the_score_of_a_regression_is_the_coefficient_of_determination() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(50, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=50)
    learner = FOGD(width=1.0, step=0.02).fit(X, y)
    assert learner.score(X, y) == pytest.approx(Regressor.score(_Fixed(learner), X, y))
    assert learner.decision_function(X).shape == (50,)


class _Fixed:
    def __init__(self, learner: FOGD) -> None:
        self.predict = learner.predict
