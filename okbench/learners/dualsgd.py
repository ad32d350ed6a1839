"""Dual space gradient descent."""

from __future__ import annotations

from okbench.learners.contract import FloatArray, Problem
from okbench.learners.loss_choice import LOSSES, check_loss, chosen_loss
from okbench.learners.numeric.lanes import Entries, aligned, padded
from okbench.learners.numeric.losses import HINGE, HINGE_CLOSED
from okbench.learners.numeric.rules.dualsgd import (
    DualWorkspace,
    Features,
    Rule,
    learn_dual,
    score_dual,
)
from okbench.learners.numeric.walks import RowStream
from okbench.learners.pegasos import Pegasos, PegasosModel
from okbench.learners.registry import learner
from okbench.learners.settings import Choice, Flag, Number, Whole, default


@learner("DualSGD", paper="rrf", version=1)
class DualSGD(Pegasos):
    """A budget of vectors, and random features for those that had to leave (Le et al. 2016).

    Every row joins. When the budget is full, the `handed_over` vectors with the shortest
    coefficients go over to the features. `decay` is the regulariser λ: of the order of 1 / rows,
    but 1 or more for l2. `loss` is hinge or logistic, and in regression eps_insensitive (silent up
    to epsilon), l1 or l2; by default the first of them.

    The authors' program differs in two ways, each behind a switch: its frequencies are those of
    width² (`squared_width`), and with more classes than two a recycled row of coefficients keeps
    what it held of other classes (`stale`).
    """

    components = Whole(200, at_least=1, meaning="number of random frequencies (D)")
    handed_over = Whole(
        20, at_least=1, meaning="support vectors that go over to the features at once"
    )
    decay = default(1e-3)
    loss = Choice[str | None](None, LOSSES, meaning="the loss function")
    epsilon = Number(0.1, at_least=0.0, meaning="residual up to which regression learns nothing")
    squared_width = Flag(False, meaning="whether the frequencies are those of width²")
    stale = Flag(False, meaning="whether a reused row keeps coefficients of other classes")

    @property
    def weights(self) -> FloatArray:
        """Weights of the cosines, then of the sines: columns × 2 components."""
        self._begun()
        held = self._features.weights[:, : self._features.components]
        return held.reshape(len(held) // 2, -1)

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        check_loss(self, problem.task)
        loss, epsilon = chosen_loss(self, problem.task)
        self._rule = Rule(
            budget=self.budget,
            handed_over=min(self.handed_over, self.budget),
            loss=HINGE_CLOSED if loss == HINGE else loss,
            epsilon=epsilon,
            decay=self.decay,
            formula=self.formula,
            stale=self.stale,
        )
        self._leftover = aligned(problem.n_columns, self._rule.handed_over)
        lanes = padded(self.components)
        frequencies = aligned(problem.n_features, lanes)
        used = frequencies[:, : self.components]
        self.draws.fill_normals(used)
        used /= self.width**2 if self.squared_width else self.width
        self._features = Features(
            components=self.components,
            frequencies=frequencies,
            weights=aligned(2 * problem.n_columns, lanes),
        )

    def _advance(
        self, stream: RowStream, model: PegasosModel, kernel: FloatArray
    ) -> tuple[int, int]:
        rows, targets, scores, seen = stream
        return learn_dual(
            rows, targets, seen, model.supports, model.size, DualWorkspace.of(self._features),
            self._leftover, self._rule, kernel, scores,
        )  # fmt: skip

    def _score(self, rows: Entries, scores: FloatArray, kernel: FloatArray) -> None:
        workspace = DualWorkspace.of(self._features)
        score_dual(rows, self._learned().supports, workspace, self.formula, kernel, scores)
