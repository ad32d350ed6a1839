"""The Twin Vector Machine."""

from __future__ import annotations

from okbench.learners.budget_base import BudgetedLearner, BudgetModel
from okbench.learners.compiled.losses import NOT_POSITIVE
from okbench.learners.compiled.rules.tvm import Bench, TVMRule, learn_tvm
from okbench.learners.compiled.rules.tvm_machine import Machine
from okbench.learners.compiled.supports import Supports
from okbench.learners.compiled.walks import RowStream, Work
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice, check_number


@learner("TVM", paper="lsokl", version=1, tasks=("binary",))
class TVM(BudgetedLearner):
    """Support vector machine on weighted twins, of which the closest merge (Wang and Vucetic 2009).

    A twin vector stands for an example of either class, with a weight in each: how many rows have
    gone into it. A row whose margin is at most `margin` joins with weight 1 in its class. Over
    budget, the two closest vectors of one class (the one they weigh more in) merge at their
    weighted mean; with merging="any", the two closest. Then the machine with C = cost, without a
    bias, is brought back to its optimum, to within `tolerance` in every score.
    Supports are listed with the position of the oldest row that went into them.
    """

    def __init__(
        self,
        budget: int = 100,
        width: float = 8.0,
        cost: float = 1.0,
        margin: float = 1.0,
        merging: str = "class",
        tolerance: float = 1e-3,
    ) -> None:
        self.budget = budget
        self.width = width
        self.cost = cost
        self.margin = margin
        self.merging = merging
        self.tolerance = tolerance

    def check_settings(self) -> None:
        super().check_settings()
        check_number(self, "cost", above=0.0)
        check_number(self, "margin", at_least=0.0)
        check_choice(self, "merging", ("class", "any"))
        check_number(self, "tolerance", above=0.0)

    @property
    def weights(self) -> FloatArray:
        """How many rows of either class the supports stand for, the first class first."""
        weights: FloatArray = self._learned().memory.state[1::-1, self._slots]
        return weights

    def rule(self, problem: Problem) -> TVMRule:
        return TVMRule(
            budget=self.budget,
            loss=NOT_POSITIVE,
            epsilon=0.0,
            sharpness=self.sharpness,
            margin=float(self.margin),
            within_class=self.merging == "class",
            cost=float(self.cost),
            tolerance=float(self.tolerance),
        )

    def memory(self, problem: Problem) -> Machine:
        return Machine.empty(self.budget + 1)

    def _advance(
        self, stream: RowStream, first: int, model: BudgetModel, work: Work
    ) -> tuple[int, int, int, int]:
        supports, size, machine = model
        bench = Bench.of(supports)
        return learn_tvm(stream, first, supports, size, self._rule, machine, bench, work)

    def _with_room(self, supports: Supports, widest: int) -> Supports:
        """Every slot takes means of vectors twice as long as now."""
        held = supports.entries
        longest = max(widest, int((held.stops - held.starts).max()))
        return supports.with_room_for(min(4 * longest, len(supports.lanes.place)))
