"""What a protocol is made of: roles of learners, stages of rows, keys of a table's file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from okbench.base.config_nodes import Node
from okbench.base.errors import UsageError, did_you_mean


class UnknownName(UsageError, ValueError):
    """Raised for the name of a protocol or a metric that there is not."""


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=_HasName)


class Named(dict[str, T]):
    """Objects by their names; a name that none of them has is an UnknownName."""

    def __init__(self, what: str, *objects: T) -> None:
        super().__init__({each.name: each for each in objects})
        self._what = what

    def __missing__(self, name: str) -> T:
        raise UnknownName(
            f"there is no {self._what} '{name}'.{did_you_mean(name, self)} "
            f"There are {', '.join(self)}"
        )


@dataclass(frozen=True)
class Role:
    """What a protocol asks a learner to do, as the methods that the learner has for it.

    `methods` maps each method to the names of parameters by which it is known; a name after a minus
    sign must not be among them. `lack` completes the sentence "LEARNER … " for a learner without
    them, `spelled` names the methods in it.
    """

    name: str
    methods: Mapping[str, tuple[str, ...]]
    lack: str
    spelled: str

    def is_filled_by(self, learner: Any) -> bool:
        """Whether a learner, or its class, has the methods."""
        return all(
            callable(method := getattr(learner, name, None)) and _takes(method, parameters)
            for name, parameters in self.methods.items()
        )


ONLINE = Role(
    "online",
    {"learn": (), "predict": ()},
    lack="does not learn block by block",
    spelled="learn and predict",
)
BATCH = Role(
    "batch",
    {"fit": ("clock",), "predict": ()},
    lack="does not learn all rows at once",
    spelled="fit(X, y, clock) and predict",
)
FITTED = Role(
    "fitted",
    {"fit": ("clock",), "learn": (), "predict": ()},
    lack="does not learn block by block after a fit",
    spelled="fit(X, y, clock), learn and predict",
)
MAP = Role(
    "map",
    {"fit": ("-clock",), "transform": ()},
    lack="does not turn rows into features",
    spelled="fit(X, draws) and transform",
)
KERNEL = Role(
    "kernel",
    {"kernel_gaps": ()},
    lack="has no approximate kernel to measure",
    spelled="kernel_gaps",
)
SURFACE = Role(
    "surface",
    {"kernel_surface": ()},
    lack="has no kernel to draw",
    spelled="kernel_surface",
)


@dataclass(frozen=True)
class RowCounts:
    """How many rows a trial has; `n_train` is None for rows that come in one part."""

    count: int
    n_train: int | None = None


@dataclass(frozen=True)
class Stage:
    """A stretch of rows and what is done with them.

    `verbs` are the learner's methods, called in turn on every block; the answers of the first are
    scored, unless it is `fit`, which takes all rows at once and answers nothing.
    """

    begin: int
    end: int
    verbs: tuple[str, ...]
    counted: bool = False  # its total is the outcome's
    drawn: bool = False  # its curve is the outcome's
    training: bool = False  # its seconds are given apart, as seconds of training
    block: int = 0  # a fixed block size, or 0 for the usual sizes
    together: int = 1  # rows that no block divides

    @property
    def is_fit(self) -> bool:
        return self.verbs == ("fit",)


@dataclass(frozen=True)
class Key:
    """A key of a table's file that one protocol takes, and that it cannot do without.

    It stands in the table's `protocol`, or in each learner's column, and has a field of the same
    name in the trial, whose spelled id shows the value. `missing` is the message for a file
    that lacks the key.
    """

    name: str
    place: Literal["protocol", "column"]
    read: Callable[[Node], int | float]
    missing: str
    needs: str  # completes "PROTOCOL needs …"


def _whole(rows: RowCounts) -> int:
    return rows.count


@dataclass(frozen=True)
class ProtocolKind:
    """One way to run a trial.

    `roles` are those of the learners it runs; a learner that has several is run in the first of
    them. `stages` says what is done with the rows, given the role, the rows and the value of `key`.
    The first `shuffled` rows are permuted, and are those of which the learner knows the number; all
    others keep their places behind them. `answer` is what learners return, and so decides which
    metrics go with the protocol.
    """

    name: str
    roles: tuple[Role, ...]
    stages: Callable[[Role, RowCounts, int | float], tuple[Stage, ...]]
    answer: str = "prediction"
    key: Key | None = None
    shuffled: Callable[[RowCounts], int] = _whole
    needs_test_rows: bool = False
    is_one_pass: bool = False  # every row is answered, then learned: its rows are one stream
    folds_by: str = ""  # the protocol that scores folds of its training rows, in a search
    curve_note: str = ""  # what a reader of its curves must know
    bounds: frozenset[str] = field(default_factory=frozenset)  # proved of its metrics

    def role_of(self, learner: Any) -> Role | None:
        """The role in which a learner, or its class, is run; None when it has none of them."""
        return next((role for role in self.roles if role.is_filled_by(learner)), None)

    @property
    def lack(self) -> str:
        """What a learner without any of the roles lacks: completes the sentence "LEARNER … "."""
        methods = ", or ".join(role.spelled for role in self.roles)
        word = "method" if self.roles in ((KERNEL,), (SURFACE,)) else "methods"
        return f"{self.roles[-1].lack}: kind: {self.name} asks for the {word} {methods}"

    def detail(self, trial: Any) -> int | float:
        """The value of its key in a trial, 0 when it has no key."""
        return getattr(trial, self.key.name) if self.key else 0

    def details(self, protocol: Any, column: Any) -> dict[str, Any]:
        """Its key with the value that a table gives it, as a field of a trial."""
        if self.key is None:
            return {}
        owner = protocol if self.key.place == "protocol" else column
        return {self.key.name: getattr(owner, self.key.name)}

    def spelled(self, detail: int | float) -> str:
        """Its part of a trial's spelled id."""
        return f"{self.name}:{detail!r}" if detail else self.name


def _parameters(function: Any) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a function from elsewhere does not show its parameters
        return frozenset()


def _takes(method: Any, parameters: tuple[str, ...]) -> bool:
    has = _parameters(method) if parameters else frozenset()
    return all((name.removeprefix("-") in has) != name.startswith("-") for name in parameters)
