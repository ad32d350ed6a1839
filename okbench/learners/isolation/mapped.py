"""What the learners share that are fitted at once on an isolation map of their training rows."""

from __future__ import annotations

from okbench.learners.batch.base import BatchLearner
from okbench.learners.isolation.maps import IsolationMap, check_map_settings
from okbench.learners.rows import Block


class OnIsolationMap(BatchLearner):
    """Stands before the class of the machine, whose settings it adds those of the map to."""

    partitionings: int
    psi: int
    map: str
    library: str

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
        made = IsolationMap(int(self.partitionings), int(self.psi), self.map, self.library)
        self._map = made.fit(block.matrix, self.draws)
