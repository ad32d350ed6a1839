"""What the learners share that are fitted at once on an isolation map of their training rows."""

from __future__ import annotations

from okbench.learners.batch.base import BatchLearner
from okbench.learners.isolation.maps import check_map_settings
from okbench.learners.isolation.shared_maps import OnMap
from okbench.learners.rows import Block


class OnIsolationMap(OnMap, BatchLearner):
    """Stands before the class of the machine, whose settings it adds those of the map to."""

    @property
    def device(self) -> str | None:
        """The library and the device that multiplied rows with points, where it was done."""
        made = getattr(self, "_map", None)
        return made.device if made else None

    @property
    def remark(self) -> str | None:
        """That there were fewer rows than psi, where it is so."""
        made = getattr(self, "_map", None)
        return made.remark if made else None

    def check_settings(self) -> None:
        """Refuse settings that make no sense."""
        super().check_settings()
        check_map_settings(self)

    def _fit_map(self, block: Block) -> None:
        self._map = self._map_of(block)
