"""A learner on its way through the rows, which it learns a part at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Problem, begun
from okbench.learners.registry import find
from okbench.protocols.contract import Stage
from okbench.protocols.metrics import METRICS
from okbench.trials.choose.standings import Mark
from okbench.trials.plan.row_orders import RowOrder
from okbench.trials.plan.seeds import draws, with_seed
from okbench.trials.run.account import Finished, ProgressReport
from okbench.trials.run.protocol_loop import Limits, Route, Walker, figure_of, never
from okbench.trials.run.workers import one_process
from okbench.trials.trial_types import Trial

Watch = Callable[[int], None]  # so many rows of a part are learned


def nobody(rows: int) -> None:
    """Where no one follows the rows."""


class Runner:
    """A learner with its settings and draws. `order` are the rows that it is going to meet."""

    def __init__(
        self,
        trial: Trial,
        data: Dataset,
        order: RowOrder,
        memory: float = math.inf,
        stopped: Callable[[], bool] = never,
        watch: Watch = nobody,
    ) -> None:
        cls = find(trial.learner).load()
        problem = Problem(data.task, data.n_features, data.classes, len(order))
        with one_process():
            self._learner = begun(cls, with_seed(cls, trial), problem, draws(trial))
        # of a learner that does not state its size, the growth of the process says nothing here
        bytes_limit = math.inf if self.bytes is None else memory
        metric = METRICS[trial.metric]
        name = f"{trial.learner} × {trial.dataset}"
        route = Route(name, data, order, (), metric, stops=(), observe=self._note)
        self._walker = Walker(route, self._learner, Limits(math.inf, bytes_limit, stopped),
                              self._tell, base=0)  # fmt: skip
        self._watch = watch
        self._begin = 0
        self._costs = np.empty(0)
        self._total = 0.0

    @property
    def seconds(self) -> float:
        """Seconds in the learner so far."""
        return self._walker.seconds

    @property
    def cpu_seconds(self) -> float:
        """The same without the time that other processes took."""
        return self._walker.cpu_seconds

    @property
    def bytes(self) -> int | None:
        """What the learner says that its model takes."""
        return figure_of(self._learner, "nbytes")

    def learn(self, begin: int, end: int) -> NDArray[np.float64]:
        """Learn these rows of the order; what each cost. `Ended` where it goes no further."""
        self._begin, self._costs = begin, np.zeros(end - begin)
        self._walker.go(Stage(begin, end, ("learn",), counted=True))
        self._total += float(self._costs.sum())
        return self._costs

    def mark(self, rows: int) -> Mark:
        """What it has cost by now."""
        return Mark(rows, self._total, self.seconds, self.bytes)

    def _note(self, span: tuple[int, int], costs: NDArray[np.float64]) -> None:
        self._costs[span[0] - self._begin : span[1] - self._begin] = costs

    def _tell(self, report: ProgressReport) -> None:
        if isinstance(report, Finished):
            self._watch(report.upto)
