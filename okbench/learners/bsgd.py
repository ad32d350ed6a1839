"""Budgeted stochastic gradient descent."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.numeric.losses import HINGE
from okbench.learners.numeric.merging import placed
from okbench.learners.numeric.rules.bsgd import BSGDRule, Partners, learn_bsgd
from okbench.learners.numeric.walks import RowStream
from okbench.learners.pegasos import Pegasos, PegasosModel
from okbench.learners.registry import learner
from okbench.learners.settings import Choice


class BSGD(Pegasos):
    """Pegasos on a budget. A subclass says how the budget is kept.

    The first row has weight 1. Where coefficients are equal, the oldest counts as the smallest.
    """

    merges: ClassVar[bool]

    @property
    def _factor(self) -> float:
        seen = self._learned().seen
        return 1.0 / (self._rule.decay * seen) if seen else 0.0

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        self._rule = BSGDRule(
            budget=self.budget,
            loss=HINGE,
            formula=self.formula,
            decay=self.decay,
            merges=self.merges,
            looks_up=self._looks_up(),
        )

    def _looks_up(self) -> bool:
        return False

    def _advance(
        self, stream: RowStream, model: PegasosModel, kernel: FloatArray
    ) -> tuple[int, int]:
        partners = Partners.of(model.supports, placed() if self._rule.looks_up else np.empty(0))
        return learn_bsgd(stream, model.supports, model.size, self._rule, partners, kernel)


@learner("BSGD-M", paper="rrf", version=2, tasks=("binary", "multiclass"))
class BSGDMerging(BSGD):
    """Pegasos that merges two vectors when it is full (Wang, Crammer and Vucetic 2012).

    The best place of a merged vector is searched by golden section, or read off a table (`search`).
    Merges whose losses differ by rounding are equally good, and the oldest partner is taken.
    """

    search = Choice(
        "golden", ("golden", "table"), meaning="how the place of a merged vector is computed"
    )

    merges = True

    def _looks_up(self) -> bool:
        return self.search == "table"


@learner("BSGD-R", paper="rrf", version=1, tasks=("binary", "multiclass"))
class BSGDRemoval(BSGD):
    """Pegasos that removes the vector with the smallest coefficients when it is full."""

    merges = False
