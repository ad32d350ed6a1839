"""A learner on its way through the rows, which it learns a part at a time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Problem, begun
from okbench.learners.registry import find
from okbench.protocols.contract import Stage
from okbench.protocols.metrics import METRICS
from okbench.trials.plan.row_orders import RowOrder
from okbench.trials.plan.seeds import draws, with_seed
from okbench.trials.run.account import Finished, ProgressReport
from okbench.trials.run.protocol_loop import Limits, Route, Walker, figure_of
from okbench.trials.run.workers import one_process
from okbench.trials.trial_types import Trial

Watch = Callable[[int], None]  # so many rows of a part are learned


def nobody(rows: int) -> None:
    """Where no one follows the rows."""


@dataclass(frozen=True)
class Learned:
    """What came of learning some rows: what each of them cost, the seconds in the learner, and the
    bytes that its model takes now."""

    costs: NDArray[np.float64]
    seconds: float
    cpu_seconds: float  # without the time that other processes took
    bytes: int | None  # None for a learner that does not say
    drew: bool  # whether the learner has used its random numbers so far


class Runner:
    """A learner with its settings and draws, in this process. `order` are the rows that it is going
    to meet.

    `base` is what the process held before the learner was made, in bytes, where the process runs
    nothing else. What the learner says of its size is then compared with the growth of the process.
    """

    is_guarded = False

    def __init__(
        self,
        trial: Trial,
        data: Dataset,
        order: RowOrder,
        memory: float = math.inf,
        watch: Watch = nobody,
        base: int | None = None,
    ) -> None:
        cls = find(trial.learner).load()
        problem = Problem(data.task, data.n_features, data.classes, len(order))
        self._draws = draws(trial)
        with one_process():
            self._learner = begun(cls, with_seed(cls, trial), problem, self._draws)
        # of a learner that does not state its size, the growth of the process says too little here
        limit = math.inf if self._bytes is None else memory
        limits = Limits(math.inf, limit, self._is_over, believes=base is None)
        route = Route(
            f"{trial.learner} × {trial.dataset}", data, order, (), METRICS[trial.metric], stops=(),
            observe=self._note,
        )  # fmt: skip
        self._walker = Walker(route, self._learner, limits, self._tell, base or 0)
        self._watch = watch
        self._begin, self._until = 0, math.inf
        self._costs = np.empty(0)

    def learn(
        self, begin: int, end: int, left: float = math.inf, patience: float = math.inf
    ) -> Learned:
        """Learn these rows of the order; `Ended` where it goes no further, or when the time that is
        `left` is over. A guarded learner is ended if it does not return within its `patience`."""
        self._begin, self._costs = begin, np.zeros(end - begin)
        self._until = time.monotonic() + left
        walker = self._walker
        seconds, cpu_seconds = walker.seconds, walker.cpu_seconds
        walker.go(Stage(begin, end, ("learn",), counted=True))
        return Learned(
            self._costs, walker.seconds - seconds, walker.cpu_seconds - cpu_seconds, self._bytes,
            self._draws.used,
        )  # fmt: skip

    def end(self) -> None:
        """The learner goes with this object."""

    @property
    def _bytes(self) -> int | None:
        return figure_of(self._learner, "nbytes")

    def _is_over(self) -> bool:
        return time.monotonic() > self._until

    def _note(self, span: tuple[int, int], costs: NDArray[np.float64]) -> None:
        self._costs[span[0] - self._begin : span[1] - self._begin] = costs

    def _tell(self, report: ProgressReport) -> None:
        if isinstance(report, Finished):
            self._watch(report.upto)
