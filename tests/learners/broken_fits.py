"""Batch learners and maps that each break one promise, and two that break none."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


class Ridge:
    """A batch learner: ridge regression on -1 and +1 by gradient steps; two methods of a fit."""

    def __init__(self, rate=0.01, steps=200):
        self.rate, self.steps = rate, steps

    def fit(self, X, y, clock):
        self.classes = np.unique(y)
        self.w = np.zeros(X.shape[1] + 1)
        rows, targets = self._rows(X), np.where(y == self.classes[-1], 1.0, -1.0)
        for step in range(self.steps):
            if clock.should_stop():
                break
            residuals = rows @ self.w - targets
            self.w -= self.rate * (rows.T @ residuals / len(rows) + 1e-3 * self.w)
            clock.mark((step + 1) * len(rows), float(residuals @ residuals))
        return self

    def predict(self, X):
        return np.where(self._rows(X) @ self.w >= 0, self.classes[-1], self.classes[0])

    def _rows(self, X):
        if not np.isfinite(X).all():
            raise ValueError("a value is not a finite number")
        return np.hstack([X, np.ones((X.shape[0], 1))])


class OnePrediction(Ridge):
    def predict(self, X):
        return super().predict(X)[:1]


class FitsByChance(Ridge):
    def fit(self, X, y, clock):
        super().fit(X, y, clock)
        self.w = np.random.default_rng().standard_normal(self.w.shape)
        return self


class GoesOn(Ridge):
    def fit(self, X, y, clock):
        before = getattr(self, "w", 0.0)
        super().fit(X, y, clock)
        self.w = 0.1 * self.w - 10.0 * before
        return self


class RaisesWhenStopped(Ridge):
    def fit(self, X, y, clock):
        if clock.should_stop():
            raise TimeoutError("no time left")
        return super().fit(X, y, clock)


class MarksBackwards(Ridge):
    def fit(self, X, y, clock):
        super().fit(X, y, clock)
        clock.mark(1)
        return self


class MarksNothingFinite(Ridge):
    def fit(self, X, y, clock):
        clock.mark(1, float("nan"))
        return super().fit(X, y, clock)


class ShiftsItsRows(Ridge):
    def fit(self, X, y, clock):
        X -= X.mean(axis=0)
        return super().fit(X, y, clock)


class SparseRowsTwice(Ridge):
    def _rows(self, X):
        return super()._rows(2.0 * X.toarray() - 3.0 if sp.issparse(X) else X)


class NamesItsClasses(Ridge):
    def fit(self, X, y, clock):
        super().fit(X, y, clock)
        self.w *= 1.0 if self.classes[0] == 0 else -1.0
        return self


class InventsAClass(Ridge):
    def begin(self, problem, draws):
        pass

    def predict(self, X):
        return np.full(len(X), 7) if len(self.classes) == 1 else super().predict(X)


class OverflowsQuietly(Ridge):
    def predict(self, X):
        given = super().predict(X)
        return given if np.isfinite(self.w).all() else given + 7


class TakesAnything(Ridge):
    def _rows(self, X):
        return super()._rows(np.nan_to_num(X))


class KeepsAllRows(Ridge):
    def __init__(self, budget=10):
        super().__init__()
        self.budget = budget

    def fit(self, X, y, clock):
        super().fit(X, y, clock)
        self.support_size = len(X)
        return self

    support_size = 0


class HoldsAFunction(Ridge):
    def fit(self, X, y, clock):
        super().fit(X, y, clock)
        self.score = lambda rows: rows @ self.w
        return self


class GlobalChance(Ridge):
    def fit(self, X, y, clock):
        np.random.seed(3)  # noqa: NPY002
        return super().fit(X, y, clock)


class FitsNothing(Ridge):
    def __init__(self):
        super().__init__(steps=0)


class References:
    """A map: the nearest of a few rows that were drawn, for each of two groups, as an index."""

    def __init__(self, components=8):
        self.components = components

    def fit(self, X, draws):
        chosen = draws.stream("references")
        self.groups = [X[chosen.choice(len(X), self.components)] for _ in range(2)]
        return self

    def transform(self, X):
        near = [np.linalg.norm(X[:, None] - group, axis=2).argmin(axis=1) for group in self.groups]
        return np.column_stack(near)


class Flat(References):
    def transform(self, X):
        return super().transform(X).ravel()


class NotANumber(References):
    def transform(self, X):
        return super().transform(X) + np.nan


class Centres(References):
    def transform(self, X):
        return X - X.mean(axis=0)


class DrawsItsOwn(References):
    def fit(self, X, draws):
        self.groups = [np.random.default_rng().standard_normal((8, X.shape[1]))] * 2
        return self


BROKEN_FITS = {
    OnePrediction: "a-fit-predicts-every-row",
    FitsByChance: "the-same-draws-fit-the-same",
    GoesOn: "a-second-fit-forgets-the-first",
    RaisesWhenStopped: "a-fit-that-is-stopped-can-predict",
    MarksBackwards: "marks-of-progress-rise",
    MarksNothingFinite: "marks-of-progress-rise",
    ShiftsItsRows: "a-fit-leaves-its-input-alone",
    SparseRowsTwice: "a-fit-takes-sparse-rows",
    NamesItsClasses: "a-fit-knows-no-names-of-classes",
    InventsAClass: "a-fit-lacks-a-class",
    OverflowsQuietly: "a-fit-takes-odd-rows",
    TakesAnything: "a-fit-refuses-rows-that-are-not-finite",
    KeepsAllRows: "a-fit-keeps-its-budget",
    HoldsAFunction: "a-fit-pickles",
    GlobalChance: "a-fit-leaves-the-global-random-state-alone",
    FitsNothing: "a-fit-learns-something",
    Flat: "a-map-gives-features-for-every-row",
    NotANumber: "a-map-gives-features-for-every-row",
    Centres: "features-of-a-row-depend-on-it-alone",
    DrawsItsOwn: "the-same-draws-map-the-same",
}
