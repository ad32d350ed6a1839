"""A trial and what came of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from okbench.papers.table_types import Orders
from okbench.papers.values import Value, spelled
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS

Status = Literal["done", "timeout", "memory", "diverged", "failed", "interrupted"]
Settings = tuple[tuple[str, Value | None], ...]
Curve = tuple[tuple[float | None, ...], ...]

PROTOCOL_VERSION = 1  # raised by hand when the protocol loop changes outcomes


@dataclass(frozen=True)
class Trial:
    """One learner on one permutation of one dataset; its id covers all that decides the outcome."""

    dataset: str
    variant: str
    fingerprint: str
    learner: str  # registry name or module:Class
    learner_version: int
    settings: Settings  # every setting, defaults included, sorted by name; a list is a tuple
    protocol: str
    metric: str
    repetition: int
    order: Orders = "seeded"
    block: int = 0
    seed: int = 0
    protocol_version: int = PROTOCOL_VERSION
    tolerance: float = 0.0  # approximation protocol: how far apart two kernels may be

    @property
    def spelled(self) -> str:
        """The id before hashing, to be checked by eye."""
        settings = " ".join(f"{name}={spelled(value)}" for name, value in self.settings)
        kind = PROTOCOLS[self.protocol]
        rows = f"{self.dataset}:{self.variant}" if self.variant else self.dataset
        # totals of metrics that forget are sums of their own, all others differ in words alone
        own = f" {self.metric}" if METRICS[self.metric].forgetting else ""
        return (
            f"{kind.spelled(kind.detail(self))}/{self.protocol_version}{own} | "
            f"{self.learner}/{self.learner_version} {settings} | "
            f"{rows}@{self.fingerprint} | "
            f"order={self.order}/{self.repetition} seed={self.seed}"
        )

    @cached_property
    def id(self) -> str:
        return hashlib.sha256(self.spelled.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Outcome:
    """What came of a trial: one line of a results file.

    `total` is the number of mistakes (classification), the summed squared loss (regression) or the
    number of rows whose kernel is beyond the tolerance (approximation), over the `rows` scored;
    tables divide. `seconds` is the time inside the learner alone. `curve` holds (rows, total so
    far, support size, seconds so far) at up to a few dozen points, support None for a learner that
    does not say, seconds None in a baseline whose curve was measured apart; where a protocol has
    test rows it is drawn while training. Metrics that forget have weighted totals.
    """

    trial: Trial
    status: Status
    rows: int = 0
    total: float | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None
    train_seconds: float | None = None  # of `seconds`, where training comes first
    support: int | None = None
    bytes: int | None = None
    curve: Curve = ()
    reason: str = ""
    timed: bool = False  # measured alone, by --timing
    environment: str = ""  # hash of the environment record
    finished: str = ""  # UTC, ISO 8601
    extra: dict[str, Any] = field(default_factory=dict)
