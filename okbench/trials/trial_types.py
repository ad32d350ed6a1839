"""A trial and what came of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, Literal

from okbench.base.quick_objects import quick_constructor
from okbench.papers.table_types import Orders
from okbench.papers.values import Value, spelled
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS

Status = Literal["done", "timeout", "memory", "diverged", "failed", "interrupted"]
Settings = tuple[tuple[str, Value | None], ...]
Curve = tuple[tuple[float | None, ...], ...]

PROTOCOL_VERSION = 1  # raised by hand when the protocol loop changes outcomes


class _Computed:
    """What is computed of a trial once. Slots, because a report holds a million of trials."""

    __slots__ = ("_family", "_id")

    _family: Family
    _id: str


@dataclass(frozen=True, slots=True)
class Trial(_Computed):
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
    def family(self) -> Family:
        """What this trial has in common with its other repetitions."""
        try:
            return self._family
        except AttributeError:
            object.__setattr__(self, "_family", Family(self))
            return self._family

    @property
    def spelled(self) -> str:
        """The id before hashing, to be checked by eye."""
        return self.family.spelled(self.repetition)

    @property
    def id(self) -> str:
        try:
            return self._id
        except AttributeError:
            object.__setattr__(self, "_id", self.family.id_of(self.repetition))
            return self._id

    def repeated(self, repetition: int) -> Trial:
        """The same trial on another permutation. It shares its family, so it takes a fraction of
        the time of `replace`."""
        return self.family.repetition(repetition)


_NAMES = [field.name for field in fields(Trial)]
_PLACE = _NAMES.index("repetition")
_values_before = attrgetter(*_NAMES[:_PLACE])
_values_after = attrgetter(*_NAMES[_PLACE + 1 :])
_trial = quick_constructor(Trial)
_set_family, _set_id = (vars(_Computed)[name].__set__ for name in ("_family", "_id"))


class Family:
    """Trials that differ in their repetition alone: `trial` is one of them. Families are equal if
    all other fields of their trials are."""

    __slots__ = ("_after", "_before", "_hash", "_key", "trial")

    _key: tuple[tuple[Any, ...], tuple[Any, ...]]  # the fields before and after the repetition

    def __init__(self, trial: Trial) -> None:
        settings = " ".join(f"{name}={spelled(value)}" for name, value in trial.settings)
        kind = PROTOCOLS[trial.protocol]
        rows = f"{trial.dataset}:{trial.variant}" if trial.variant else trial.dataset
        # totals of metrics that forget are sums of their own, all others differ in words alone
        own = f" {trial.metric}" if METRICS[trial.metric].forgetting else ""
        self.trial = trial
        self._key = _values_before(trial), _values_after(trial)
        self._hash = hash(self._key)
        self._before = (
            f"{kind.spelled(kind.detail(trial))}/{trial.protocol_version}{own} | "
            f"{trial.learner}/{trial.learner_version} {settings} | "
            f"{rows}@{trial.fingerprint} | "
            f"order={trial.order}/"
        )
        self._after = f" seed={trial.seed}"

    def spelled(self, repetition: int) -> str:
        """All that decides the outcome of a repetition."""
        return f"{self._before}{repetition}{self._after}"

    def id_of(self, repetition: int) -> str:
        """The id of a repetition."""
        return hashlib.sha256(self.spelled(repetition).encode()).hexdigest()[:16]

    def repetition(self, repetition: int) -> Trial:
        """A trial of the family. Its id is computed at once, because almost every trial needs it
        and finding out that it is missing takes as long."""
        before, after = self._key
        made = _trial(*before, repetition, *after)
        _set_family(made, self)
        _set_id(made, self.id_of(repetition))
        return made

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Family) and self._key == other._key)


@dataclass(frozen=True, slots=True)
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
