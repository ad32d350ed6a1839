"""Dual space gradient descent."""

from __future__ import annotations

from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.losses import HINGE, HINGE_CLOSED
from okbench.learners.compiled.rules.dualsgd import (
    DualWorkspace,
    Features,
    Rule,
    learn_dual,
    score_dual,
)
from okbench.learners.compiled.walks import RowStream
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.loss_choice import check_loss, chosen_loss
from okbench.learners.pegasos import Pegasos, PegasosModel
from okbench.learners.registry import learner
from okbench.learners.settings import check_whole


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

    def __init__(
        self,
        budget: int = 100,
        components: int = 200,
        handed_over: int = 20,
        width: float = 8.0,
        decay: float = 1e-3,
        loss: str | None = None,
        epsilon: float = 0.1,
        squared_width: bool = False,
        stale: bool = False,
    ) -> None:
        self.budget = budget
        self.components = components
        self.handed_over = handed_over
        self.width = width
        self.decay = decay
        self.loss = loss
        self.epsilon = epsilon
        self.squared_width = squared_width
        self.stale = stale

    @property
    def weights(self) -> FloatArray:
        """Weights of the cosines, then of the sines: columns × 2 components."""
        self._begun()
        held = self._features.weights[:, : self._features.components]
        return held.reshape(len(held) // 2, -1)

    def check_settings(self) -> None:
        super().check_settings()
        check_whole(self, "components", at_least=1)
        check_whole(self, "handed_over", at_least=1)

    def _start(self, problem: Problem) -> None:
        super()._start(problem)
        check_loss(self, problem.task)
        loss, epsilon = chosen_loss(self, problem.task)
        self._rule = Rule(
            budget=self.budget,
            handed_over=min(self.handed_over, self.budget),
            loss=HINGE_CLOSED if loss == HINGE else loss,
            epsilon=epsilon,
            decay=float(self.decay),
            sharpness=self.sharpness,
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
        score_dual(rows, self._learned().supports, workspace, self.sharpness, kernel, scores)
