"""What the learners share that are fitted at once on an isolation map of their training rows."""

from __future__ import annotations

from okbench.learners.batch.base import BatchLearner
from okbench.learners.isolation.shared_maps import OnMap
from okbench.learners.rows import Block
from okbench.learners.settings import default


class OnIsolationMap(OnMap, BatchLearner):
    """Stands before the class of the machine, whose settings it adds those of the map to."""

    map = default("nearest")

    def _fit_map(self, block: Block) -> None:
        self._map = self._map_of(block)
