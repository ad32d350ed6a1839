"""Learners that each break one promise, and a minimal one that breaks none."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from okbench.learners.fogd import FOGD
from okbench.learners.online.simple_budget import RBP


class Minimal:
    """A stranger's perceptron: two verbs and nothing else."""

    def __init__(self):
        self.weights = None

    def predict(self, X):
        X = _table(X)
        if self.weights is None:
            raise ValueError("it has not learned yet")
        return np.array([self._predict(x) for x in X], dtype=self.classes.dtype)

    def learn(self, X, y):
        X = _table(X)
        if self.weights is None:
            self.classes = np.unique(y)
            self.weights = np.zeros(X.shape[1] + 1)
        predictions = np.empty(len(y), dtype=self.classes.dtype)
        for i, (x, label) in enumerate(zip(X, y, strict=True)):
            predictions[i] = self._predict(x)
            if predictions[i] != label:
                self.weights += (1 if label == self.classes[-1] else -1) * np.append(x, 1.0)
        return predictions

    def _predict(self, x):
        return self.classes[-1 if self.weights @ np.append(x, 1.0) >= 0 else 0]


def _table(X):
    if sp.issparse(X):
        raise TypeError("only tables")
    X = np.asarray(X, dtype=float)
    if not np.isfinite(X).all():
        raise ValueError("not finite")
    return X


class WrongShape(FOGD):
    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


class KnowsTheLabel(FOGD):
    def learn(self, X, y):
        super().learn(X, y)
        return self.predict(X)


class TwoMinds(FOGD):
    def predict(self, X):
        return np.roll(self.problem.classes or [0.0], 1)[0] * np.ones(np.shape(X)[0])


class LearnsBlocks(FOGD):
    def learn(self, X, y):
        predictions = self.predict(X) if self.problem else np.asarray(y)
        super().learn(X, y)
        return predictions


class LearnsWhenAsked(FOGD):
    def predict(self, X):
        predictions = super().predict(X)
        self.weights *= -0.5
        return predictions


class RollsItsOwnDice(FOGD):
    def begin(self, problem, draws=None):
        super().begin(problem, draws)
        self.weights += np.random.default_rng().standard_normal(self.weights.shape)
        return self


class Remembers(FOGD):
    def begin(self, problem, draws=None):
        kept = getattr(self, "weights", None)
        super().begin(problem, draws)
        if kept is not None:
            self.weights[:] = kept
        return self


class ReadsLabels(Minimal):
    def _predict(self, x):
        return self.classes[-1] if self.classes[-1] == 1 else super()._predict(x)


class MisreadsSparseRows(FOGD):
    def learn(self, X, y):
        return super().learn(2 * X if sp.issparse(X) else X, y)


class ReadsMemory(FOGD):
    def learn(self, X, y):
        X = np.asarray(X)
        return super().learn(X.T.reshape(X.shape) if np.isfortran(X) else X, y)


class WritesToItsInput(FOGD):
    def learn(self, X, y):
        predictions = super().learn(X, y)
        np.asarray(X)[-1] = 0.0
        return predictions


class KeepsAView(Minimal):
    def learn(self, X, y):
        self.seen = np.asarray(X)
        return super().learn(X, y)

    def predict(self, X):
        self.weights[0] = self.seen[0, 0]
        return super().predict(X)


class DividesByTheSpread(Minimal):
    def learn(self, X, y):
        if np.ptp(X) == 0.0:
            raise ZeroDivisionError("no spread")
        return super().learn(X, y)


class HatesRepeats(Minimal):
    def learn(self, X, y):
        if len(np.unique(X, axis=0)) < len(X) // 2:
            raise RuntimeError("singular matrix")
        return super().learn(X, y)


class WantsRows(FOGD):
    def learn(self, X, y):
        return super().learn(X, y)[np.argmax(y) :]


class WantsTwoRows(FOGD):
    def learn(self, X, y):
        if len(y) == 1:
            raise ValueError("one row has no covariance")
        return super().learn(X, y)


class WantsEveryClass(FOGD):
    def learn(self, X, y):
        if self.problem and self.problem.task != "regression" and len(np.unique(y)) < 2:
            raise ValueError("more than one class is needed")
        return super().learn(X, y)


class MustBeBegun(FOGD):
    def learn(self, X, y):
        if self.problem is None:
            raise RuntimeError("begin first")
        return super().learn(X, y)


class Overflows(Minimal):
    def learn(self, X, y):
        if np.abs(X).max(initial=0.0) > 1e100:
            return np.full(len(y), 99)
        return super().learn(X, y)


class SwallowsNaN(FOGD):
    def learn(self, X, y):
        return super().learn(X if sp.issparse(X) else np.nan_to_num(X), y)


class RoundsItsSettings(FOGD):
    def __init__(self, components=400, width=8.0, step=0.002, epsilon=0.1):
        super().__init__(int(components), width, step, epsilon)


class Unspeakable(FOGD):
    def __repr__(self):
        return f"{type(self).__name__}()"


class ClonesShareState(FOGD):
    shared = np.zeros((5, 32))

    def begin(self, problem, draws=None):
        super().begin(problem, draws)
        self.weights = self.shared[: problem.n_columns, : self.weights.shape[1]]
        return self


class HoldsALambda(FOGD):
    def begin(self, problem, draws=None):
        self.kernel = lambda x: x
        return super().begin(problem, draws)


class UsesTheGlobalState(FOGD):
    def learn(self, X, y):
        np.random.rand()  # noqa: NPY002
        return super().learn(X, y)


class Overspends(RBP):
    @property
    def support_size(self):
        return super().support_size + self.budget * (super().support_size == self.budget)


class Hoards(RBP):
    def learn(self, X, y):
        self.hoard = [*getattr(self, "hoard", []), np.array(X)]
        return super().learn(X, y)


class NeverLearns(FOGD):
    def learn_scores(self, X, y):
        super().learn_scores(X[:0], y[:0])
        return self.scores(X)


BROKEN = {
    WrongShape: "one-prediction-a-row",
    KnowsTheLabel: "predictions-come-before-learning",
    TwoMinds: "learning-predicts-as-predict-does",
    LearnsBlocks: "blocking-does-not-matter",
    LearnsWhenAsked: "predicting-changes-nothing",
    RollsItsOwnDice: "same-seed-same-predictions",
    Remembers: "beginning-forgets-everything",
    ReadsLabels: "class-names-do-not-matter",
    MisreadsSparseRows: "dense-and-sparse-rows-agree",
    ReadsMemory: "memory-layout-does-not-matter",
    WritesToItsInput: "leaves-its-input-alone",
    KeepsAView: "leaves-its-input-alone",
    DividesByTheSpread: "takes-constant-rows",
    HatesRepeats: "takes-repeated-rows",
    WantsRows: "takes-no-rows",
    WantsTwoRows: "takes-one-row",
    WantsEveryClass: "takes-one-class",
    MustBeBegun: "suggests-the-problem-itself",
    Overflows: "survives-huge-values",
    SwallowsNaN: "refuses-values-that-are-not-finite",
    RoundsItsSettings: "the-constructor-stores-its-arguments",
    Unspeakable: "its-repr-evaluates-back",
    ClonesShareState: "a-clone-is-fresh",
    HoldsALambda: "pickles",
    UsesTheGlobalState: "leaves-the-global-random-state-alone",
    Overspends: "keeps-its-budget",
    Hoards: "memory-is-bounded",
    NeverLearns: "learns-something",
}
