"""Types of option values: names that the shell completes, lists, and amounts with a unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, get_args

import click
from click.shell_completion import CompletionItem

from okbench.base.errors import UsageError, did_you_mean
from okbench.base.quantities import SIZES, TIMES, amount

Kind = Literal["dataset", "table", "learner"]


class Name(click.ParamType[Any]):
    """A name from a list that is only read when it is needed."""

    def __init__(self, name: str, known: Callable[[], Iterable[str]]) -> None:
        self.name = name
        self._known = known

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        folded = incomplete.casefold()
        return [CompletionItem(n) for n in self._known() if n.casefold().startswith(folded)]


class Names(Name):
    """Several names, separated by commas; the command refuses those that do not exist."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(part.strip() for part in value.split(",") if part.strip())
        if not names:
            self.fail("write one or more names, separated by commas", param, ctx)
        return names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        items = super().shell_complete(ctx, param, last)
        return [CompletionItem(f"{before}{comma}{item.value}") for item in items]


class LearnerNames(Names):
    """Names of learners, with settings in brackets: FOGD[width=2]. A user-defined one is allowed by
    being named here."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        from okbench.learners.registry import allow, is_user_defined
        from okbench.papers.additions import split_outside_brackets

        if isinstance(value, tuple):
            return value
        names = tuple(split_outside_brackets(value))
        if not names:
            self.fail("write one or more names, separated by commas", param, ctx)
        allow(*filter(is_user_defined, (part.partition("[")[0].strip() for part in names)))
        return names


class LearnerSetting(click.ParamType[str]):
    """A setting of a learner, FOGD.width=2; a user-defined learner is allowed by being named."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from okbench.learners.registry import allow, is_user_defined
        from okbench.papers.additions import read_setting

        allow(*filter(is_user_defined, [read_setting(value)[0].partition("[")[0]]))
        return str(value)


def _statuses() -> Iterable[str]:
    from okbench.trials.trial_types import Status

    return get_args(Status)


def _tables() -> Iterable[str]:
    from okbench.papers.table_catalogue import names, own_tables

    cards = [name for card in names() for name in (card.name, card.short) if name]
    return dict.fromkeys([*cards, *own_tables()])


def _datasets() -> Iterable[str]:
    from okbench.datasets.catalogue.dataset_catalogue import dataset_names

    return dataset_names()


def _learners() -> Iterable[str]:
    from okbench.learners.registry import catalogue

    return catalogue()


_KNOWN: dict[Kind, Callable[[], Iterable[str]]] = {
    "dataset": _datasets,
    "table": _tables,
    "learner": _learners,
}


def kind_of(name: str) -> Kind | None:
    """What a name stands for; None if it is the name of nothing."""
    from okbench.datasets.catalogue.dataset_catalogue import is_known

    if is_known(name):
        return "dataset"
    asked, tables = name.casefold(), [known.casefold() for known in _tables()]
    last_parts = [known.rpartition("/")[2] for known in tables]
    if name.endswith((".yaml", ".yml")) or asked in [*tables, *last_parts]:
        return "table"
    return "learner" if ":" in name or asked in map(str.casefold, _learners()) else None


def unknown_name(name: str, kinds: Sequence[Kind], more: str = "") -> UsageError:
    """The error of a name that is none of these kinds, with the closest name that is."""
    known = [name for kind in kinds for name in _KNOWN[kind]()]
    words = [*kinds, *([more] if more else [])]
    named = f"{', '.join(words[:-1])} or {words[-1]}"
    return UsageError(f"'{name}' is no {named}.{did_you_mean(name, known)}  (okbench list)")


TABLE = Name("table", _tables)
SOURCES = Name("name", lambda: [*_datasets(), *_tables()])
ANYTHING = Name("name", lambda: [*_datasets(), *_tables(), *_learners()])
DATASETS = Names("names", _datasets)
LEARNER = Name("learner", _learners)
LEARNERS = LearnerNames("names", _learners)
ADDED = LearnerNames("learners", _learners)
SETTINGS = LearnerSetting()
STATUSES = Names("statuses", _statuses)
WORDS = Names("names", lambda: ())


class Counts(click.ParamType[tuple[int, ...]]):
    """Whole numbers, separated by commas."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(int(part) for part in value.split(","))
        except ValueError:
            self.fail(f"'{value}' is no list of whole numbers; write 0 or 0,7,19", param, ctx)


class Buckets(click.ParamType[int]):
    """A number of columns to hash to, 2^18 or 262144."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from okbench.papers.rows_file import read_buckets

        try:
            return value if isinstance(value, int) else read_buckets(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Quantity(click.ParamType[float]):
    """A number with a unit, such as 2G or 30m. A number alone is refused: its unit is unclear."""

    def __init__(self, name: str, units: dict[str, int], example: str) -> None:
        self.name = name
        self._units = units
        self._example = example

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        found = amount(value, self._units)
        if found is None:
            self.fail(f"'{value}' is not a {self.name}; write {self._example}", param, ctx)
        if value.strip()[-1].lower() not in self._units:
            self.fail(f"'{value}' has no unit; write {self._example}", param, ctx)
        return found


BUCKETS = Buckets()
COUNTS = Counts()
SIZE = Quantity("size", SIZES, "512M or 2G")
TIME = Quantity("time", TIMES, "90s, 30m or 2h")
