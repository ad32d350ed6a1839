"""The settings of a learner, declared once, as fields of its class.

    class Window(BudgetedLearner):
        step = Number(1.0, above=0.0, meaning="step size of the updates (η)")
        order = Choice("oldest", ("oldest", "random"), meaning="which support leaves")

From the fields follow the constructor, the checks and their messages, `repr`, `get_params` and the
pages of reference. A class has the fields of its bases too; `step = default(0.2)` changes no more
than the default of one. Every default is a literal, so that names and defaults can be read from
the source (`registry.declared_defaults`).

A field keeps the value that was given, and gives it as the type that it declares: `Number` as a
float, `Whole` as an int. A default of None makes None a value: `Number[float | None](None)`.
"""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Generic, Self, TypeVar, overload

import numpy as np

from okbench.base.errors import did_you_mean
from okbench.learners.contract import SettingsError

Value = TypeVar("Value")


class Setting(Generic[Value]):
    """A field of a learner's class. `is_later` marks one that a published learner was given later:
    at its default it is left out of the name of a trial, which stays what it was."""

    kind: Any  # of the values, as the constructor annotates it
    name = ""

    def __init__(self, default: Value, *, meaning: str = "", is_later: bool = False) -> None:
        self.default, self.meaning, self.is_later = default, meaning, is_later

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, learner: None, owner: type) -> Self: ...

    @overload
    def __get__(self, learner: Any, owner: type) -> Value: ...

    def __get__(self, learner: Any, owner: type) -> Any:
        return self if learner is None else self.converted(self.given(learner))

    def __set__(self, learner: Any, value: Any) -> None:
        vars(learner)[self.name] = value

    def given(self, learner: Any) -> Any:
        """The value as it was given."""
        return vars(learner).get(self.name, self.default)

    def converted(self, value: Any) -> Any:
        """The value as the type that the field declares, or as it is where it has no such type."""
        return value

    def check(self, learner: Any) -> None:
        """Refuse a value that makes no sense."""
        value = self.given(learner)
        if value is None and self.default is None:
            return
        if advice := self.refusal(value):
            raise SettingsError(f"{learner.name}: {self.name} = {value!r}: {advice}")

    def refusal(self, value: Any) -> str:
        """What is expected instead of this value; empty if it is one of those that are."""
        return ""

    def with_default(self, value: Any) -> Self:
        """The same field with a different default."""
        field = copy(self)
        field.default = value
        return field

    @property
    def annotation(self) -> Any:
        """The type of the values, None among them if it is the default."""
        return self.kind | None if self.default is None else self.kind


class Number(Setting[Value]):
    """A number within bounds, or one of some words."""

    def __init__(
        self,
        default: Value,
        *,
        above: float = -math.inf,
        at_least: float = -math.inf,
        at_most: float = math.inf,
        finite: bool = False,
        words: Collection[str] = (),
        meaning: str = "",
        is_later: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, is_later=is_later)
        self.above, self.at_least, self.at_most, self.finite = above, at_least, at_most, finite
        self.words = tuple(words)
        self.kind = float | str if words else float

    def converted(self, value: Any) -> Any:
        return float(value) if _is_number(value) else value

    def refusal(self, value: Any) -> str:
        if self.words and isinstance(value, str):
            return "" if value in self.words else _choose(value, self.words)
        if not _is_number(value) or value != value:
            return "a number is expected"
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            return "it is beyond the largest number"
        if not value > self.above and self.above != -math.inf:
            return f"it must be above {self.above:g}"
        if not value >= self.at_least:
            return f"it must be {self.at_least:g} or more"
        if not value <= self.at_most:
            return f"it must be {self.at_most:g} or less"
        return "a finite number is expected" if self.finite and math.isinf(value) else ""


class Whole(Setting[Value]):
    """A whole number that is not too small, or one of some words."""

    def __init__(
        self,
        default: Value,
        *,
        at_least: int,
        words: Collection[str] = (),
        meaning: str = "",
        is_later: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, is_later=is_later)
        self.at_least, self.words = at_least, tuple(words)
        self.kind = int | str if words else int

    def converted(self, value: Any) -> Any:
        return int(value) if _is_whole(value) else value

    def refusal(self, value: Any) -> str:
        if self.words and isinstance(value, str):
            return "" if value in self.words else _choose(value, self.words)
        if not _is_whole(value):
            return "a whole number is expected"
        return "" if value >= self.at_least else f"it must be {self.at_least} or more"


class Flag(Setting[bool]):
    """True or false."""

    kind = bool

    def converted(self, value: Any) -> Any:
        return bool(value) if isinstance(value, np.bool_) else value

    def refusal(self, value: Any) -> str:
        return "" if isinstance(value, bool | np.bool_) else "true or false is expected"


class Choice(Setting[Value]):
    """One of some words."""

    kind = str

    def __init__(
        self,
        default: Value,
        choices: Collection[str],
        *,
        meaning: str = "",
        is_later: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, is_later=is_later)
        self.choices = tuple(choices)

    def refusal(self, value: Any) -> str:
        return "" if value in self.choices else _choose(str(value), self.choices)


class Numbers(Setting[Sequence[float]]):
    """A list of at least one number, each finite and above a bound."""

    kind = Sequence[float]

    def __init__(
        self,
        default: Sequence[float],
        *,
        above: float = -math.inf,
        meaning: str = "",
        is_later: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, is_later=is_later)
        self.above = above

    def refusal(self, value: Any) -> str:
        if not _is_list(value):
            return "a list of numbers is expected"
        for place, number in enumerate(value):
            if not _is_number(number) or not math.isfinite(number):
                return f"a finite number is expected at place {place}"
            if not number > self.above:
                return f"each must be above {self.above:g}, also at place {place}"
        return ""


class Words(Setting[Sequence[str]]):
    """A list of at least one of some words."""

    kind = Sequence[str]

    def __init__(
        self,
        default: Sequence[str],
        choices: Collection[str],
        *,
        meaning: str = "",
        is_later: bool = False,
    ) -> None:
        super().__init__(default, meaning=meaning, is_later=is_later)
        self.choices = tuple(choices)

    def refusal(self, value: Any) -> str:
        if not _is_list(value):
            return "a list of words is expected"
        for place, word in enumerate(value):
            if word not in self.choices:
                return _choose(str(word), self.choices, f" at place {place}")
        return ""


def default(value: Any) -> Any:
    """Change the default of a setting that a base class declares, and nothing else of it."""
    return _Default(value)


class _Default:
    def __init__(self, value: Any) -> None:
        self.value = value


class Declared:
    """A class whose settings are fields. A subclass with a constructor of its own keeps it."""

    name: ClassVar[str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, value in list(vars(cls).items()):
            if isinstance(value, _Default):
                inherited = getattr(super(cls, cls), name)
                setattr(cls, name, inherited.with_default(value.value))
        if getattr(cls.__init__, "is_generated", False):
            cls.__init__ = _constructor(fields_of(cls))  # type: ignore[method-assign]

    def __init__(self, **settings: Any) -> None:
        """Every subclass has a constructor that takes its settings by name."""

    __init__.is_generated = True  # type: ignore[attr-defined]

    def check_settings(self) -> None:
        """Refuse settings that make no sense. A subclass adds what concerns several of them."""
        for field in fields_of(type(self)).values():
            field.check(self)


def given(learner: Any, name: str) -> Any:
    """The value of a setting as it was given to the constructor."""
    field = inspect.getattr_static(type(learner), name, None)
    return field.given(learner) if isinstance(field, Setting) else getattr(learner, name)


def fields_of(cls: type) -> dict[str, Setting[Any]]:
    """The fields of a class by name, those of its bases first."""
    names = dict.fromkeys(name for each in reversed(cls.__mro__) for name in vars(each))
    fields = {name: inspect.getattr_static(cls, name) for name in names}
    return {name: field for name, field in fields.items() if isinstance(field, Setting)}


def later_settings(cls: type) -> tuple[str, ...]:
    """The settings that a published learner was given later."""
    return tuple(name for name, field in fields_of(cls).items() if field.is_later)


def meanings_of(cls: type) -> dict[str, str]:
    """What the settings of a class mean, as far as its fields say it."""
    return {name: field.meaning for name, field in fields_of(cls).items() if field.meaning}


def _constructor(fields: Mapping[str, Setting[Any]]) -> Callable[..., None]:
    """A constructor that keeps the settings as they are given, by their names."""

    def construct(self: Any, **settings: Any) -> None:
        for name in settings:
            if name not in fields:
                advice = did_you_mean(name, fields)
                raise TypeError(f"{type(self).__name__} has no setting '{name}'.{advice}")
        for name, field in fields.items():
            vars(self)[name] = settings.get(name, field.default)

    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=field.annotation,
        )
        for name, field in fields.items()
    ]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    construct.__signature__ = inspect.Signature([own, *parameters])  # type: ignore[attr-defined]
    construct.__annotations__ = {one.name: one.annotation for one in parameters}
    construct.is_generated = True  # type: ignore[attr-defined]
    return construct


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray) and len(value) > 0


def _choose(value: str, choices: Sequence[str], where: str = "") -> str:
    return f"choose {' or '.join(choices)}{where}.{did_you_mean(value, choices)}"
