"""Option values that know their names: completed by the shell, corrected when misspelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

import click
from click.shell_completion import CompletionItem

from okbench.base.quantities import SIZES, TIMES, amount


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
    """Several names, separated by commas; the room they are for refuses those it does not know."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        names = tuple(part.strip() for part in value.split(",") if part.strip())
        if not names:
            self.fail("name one or more, separated by commas", param, ctx)
        return names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        items = super().shell_complete(ctx, param, last)
        return [CompletionItem(f"{before}{comma}{item.value}") for item in items]


def _endings() -> Iterable[str]:
    from okbench.trials.trial_types import Status

    return get_args(Status)


def _tables() -> Iterable[str]:
    from okbench.papers.table_catalogue import names

    return dict.fromkeys(name for card in names() for name in (card.name, card.short) if name)


def _datasets() -> Iterable[str]:
    from okbench.datasets.catalogue.dataset_catalogue import names

    return names()


def _learners() -> Iterable[str]:
    from okbench.learners.registry import catalogue

    return catalogue()


TABLE = Name("table", _tables)
SOURCES = Name("name", lambda: [*_datasets(), *_tables()])
DATASETS = Names("names", _datasets)
LEARNER = Name("learner", _learners)
LEARNERS = Names("names", _learners)
ENDINGS = Names("endings", _endings)
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


class Quantity(click.ParamType[float]):
    """A number with a unit, such as 2G or 30m."""

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
        return found


COUNTS = Counts()
SIZE = Quantity("size", SIZES, "512M or 2G")
TIME = Quantity("time", TIMES, "90s, 30m or 2h")
