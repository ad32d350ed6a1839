"""The Twin Vector Machine."""

from __future__ import annotations

import numpy as np

from okbench.learners.budget_base import Slotted
from okbench.learners.compiled.lanes import Entries, aligned, padded
from okbench.learners.compiled.rules.tvm import CRAMPED, Twinning, walk
from okbench.learners.compiled.rules.tvm_machine import Machine
from okbench.learners.contract import FloatArray, Problem
from okbench.learners.registry import learner
from okbench.learners.settings import check_choice, check_number


@learner("TVM", paper="lsokl", version=1, tasks=("binary",))
class TVM(Slotted):
    """Support vector machine on weighted twins, of which the closest merge (Wang and Vucetic 2009).

    A twin vector stands for an example of either class, with a weight in each: how many rows have
    gone into it. A row whose margin is at most `margin` joins with weight 1 in its class. Over
    budget, the two closest vectors of one class (the one they weigh more in) merge at their
    weighted mean; with merging="any", the two closest. Then the machine with C = cost, without a
    bias, is brought back to its optimum, to within `tolerance` in every score.
    Supports are told with the position of the oldest row that went into them.
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
        self._begun()
        return self._machine.state[1::-1, self._slots]

    def _clear(self, problem: Problem) -> None:
        super()._clear(problem)
        slots = self.budget + 1
        self._twinning = Twinning(
            self.budget, float(self.margin), self.sharpness, self.merging == "class"
        )
        self._machine = Machine(
            cost=float(self.cost),
            tolerance=float(self.tolerance),
            gram=aligned(slots, padded(slots)),
            state=aligned(4, padded(slots)),
            root=aligned(slots, padded(slots)),
            free=np.zeros(slots, dtype=np.int64),
            n_free=np.zeros(1, dtype=np.int64),
            work=aligned(3, padded(slots)),
        )
        self._draft = _one_vector(0)

    def _advance(
        self, rows: Entries, targets: FloatArray, first: int, scores: FloatArray, kernel: FloatArray
    ) -> tuple[int, int, int, int]:
        reason, learned, updates = CRAMPED, first, 0
        while reason == CRAMPED:
            self._lengthen(int((rows.stops - rows.starts).max(initial=0)))
            reason, learned, self._size, more = walk(
                rows, targets, learned, self._position, self._supports, self._size, self._twinning,
                self._machine, self._draft, scores, kernel,
            )  # fmt: skip
            updates += more
        return reason, learned, self._size, updates

    def _lengthen(self, row: int) -> None:
        """Give every slot room for means of vectors twice as long as now."""
        held = self._supports.entries
        longest = max(row, int((held.stops - held.starts).max()))
        self._supports = self._supports.with_room_for(min(4 * longest, self._begun().n_features))
        room = len(self._supports.entries.values) // len(self._supports.order)
        if room > len(self._draft.values):
            self._draft = _one_vector(room)


def _one_vector(room: int) -> Entries:
    starts, stops = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Entries(np.empty(room), np.empty(room, dtype=np.int32), starts, stops, np.zeros(1))
