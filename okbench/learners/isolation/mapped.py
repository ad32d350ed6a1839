"""What the learners share that are fitted at once on an isolation map of their training rows."""

from __future__ import annotations

from okbench.learners.batch.base import BatchLearner
from okbench.learners.isolation.maps import check_map_settings
from okbench.learners.isolation.shared_maps import OnMap
from okbench.learners.rows import Block


class OnIsolationMap(OnMap, BatchLearner):
    """Stands before the class of the machine, whose settings it adds those of the map to."""

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        super().check_settings()
        check_map_settings(self)

    def _fit_map(self, block: Block) -> None:
        self._map = self._map_of(block)
