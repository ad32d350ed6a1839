"""Columns that are put beside those of a table: `--with`, `--set`, and `extends:` in a file.

    FOGD                a learner
    FOGD[width=2]       a learner with other settings, in a column of that name
    mine:Mine           a user-defined learner, in a column named Mine
    FOGD.width=2        one setting of a learner

The numbers that a paper prints belong to its own columns, so that an added one is never judged by
them. A column that is added of a learner of the table starts from that learner's settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.table_types import LearnerColumn, Setting
from okbench.papers.values import parse_value

_LEARNER = re.compile(r"([^\[\]]+?)\s*(?:\[(.*)\])?")
_SETTING = re.compile(r"(.+)\.([^.=\s]+)\s*=\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class AddedLearner:
    """A learner to add, by its label in the table or its own name, and the settings it has."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)  # values as written

    @property
    def class_name(self) -> str:
        """The name without the module."""
        return self.name.rpartition(":")[2]

    @property
    def label(self) -> str:
        """The label of its column."""
        return self.class_name + bracketed(self.settings)


@dataclass(frozen=True)
class Additions:
    """What a user adds to a table: learners, and settings by the name of their learner."""

    learners: tuple[AddedLearner, ...] = ()
    settings: tuple[tuple[str, str, str], ...] = ()  # learner, setting, value as written

    def __bool__(self) -> bool:
        return bool(self.learners or self.settings)


def read_additions(learners: Iterable[str], settings: Iterable[str]) -> Additions:
    """What `--with` and `--set` mean."""
    return Additions(tuple(map(read_added, learners)), tuple(map(read_setting, settings)))


def read_added(text: str) -> AddedLearner:
    """`FOGD`, `mine:Mine` or `FOGD[width=2, step=0.1]`."""
    found = _LEARNER.fullmatch(text.strip())
    if not found:
        raise UsageError(f"'{text}' is not a learner; write FOGD, mine:Mine or FOGD[width=2]")
    settings = {}
    for part in split_outside_brackets(found[2] or ""):
        name, equals, value = part.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise UsageError(f"'{text}': '{part}' is not a setting; write FOGD[width=2, step=0.1]")
        if name.strip() in settings:
            raise UsageError(f"'{text}': '{name.strip()}' is given twice")
        parse_value(value)
        settings[name.strip()] = value.strip()
    return AddedLearner(found[1], settings)


def read_setting(text: str) -> tuple[str, str, str]:
    """`FOGD.width=2` as the learner, the setting and the value."""
    found = _SETTING.fullmatch(text.strip())
    if not found:
        raise UsageError(f"'{text}' is not a setting of a learner; write FOGD.width=2")
    parse_value(found[3])
    return found[1].strip(), found[2], found[3].strip()


def split_outside_brackets(text: str) -> list[str]:
    """The parts between commas, of which those in brackets do not count."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def whole_names(names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The names of a list that was split at its commas. Several in a row that spell a known name,
    which has commas itself, become this name, with settings in brackets or without; the longest
    counts."""
    labels = {_at_commas(name): name for name in known if "," in name}
    found, rest = [], list(names)
    while rest:
        name, count = rest[0], 1
        for end in range(2, len(rest) + 1):
            last, bracket, settings = rest[end - 1].partition("[")
            whole = labels.get(_at_commas(",".join(rest[:end])))
            bare = labels.get(_at_commas(",".join([*rest[: end - 1], last])))
            if whole or bare:
                name, count = whole or f"{bare}{bracket}{settings}", end
        found.append(name)
        del rest[:count]
    return found


def _at_commas(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.casefold().split(",") if part.strip())


def bracketed(settings: Mapping[str, str]) -> str:
    """The settings as a label ends with them, nothing where there are none."""
    listed = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"[{listed}]" if listed else ""


def layer_of(settings: Mapping[str, str], where: str) -> dict[str, Setting]:
    """Settings from the command line, as a table's file would give them."""
    return {name: Setting(parse_value(value), where=where) for name, value in settings.items()}


def column_named(name: str, columns: Mapping[str, LearnerColumn]) -> str | None:
    """The label of the column that a name means: its label, in any case, or else its learner."""
    asked = name.casefold()
    labels = [label for label in columns if label.casefold() == asked]
    learners = [
        label
        for label, column in columns.items()
        if (column.learner == name if ":" in name else column.learner.casefold() == asked)
    ]
    return next(iter([*labels, *learners]), None)


def with_settings(added: Additions, columns: Mapping[str, LearnerColumn]) -> list[AddedLearner]:
    """The learners to add. Settings of a learner that is added are its own; those of a learner of
    the table make another column beside it."""
    texts = [one.name + bracketed(one.settings) for one in added.learners]
    asked = dict(zip(texts, added.learners, strict=True))
    learners = [asked.get(text) or read_added(text) for text in whole_names(texts, columns)]
    found = list(learners)
    changed: dict[str, dict[str, str]] = {}
    for name, setting, value in added.settings:
        meant = [
            place
            for place, one in enumerate(learners)
            if name.casefold() in (one.name.casefold(), one.class_name.casefold())
        ]
        for place in meant:
            before = found[place]
            found[place] = AddedLearner(before.name, {**before.settings, setting: value})
        if meant:
            continue
        label = column_named(name, columns)
        if label is None:
            known = [*columns, *(one.class_name for one in learners)]
            raise UsageError(
                f"--set {name}.{setting}: the table has no learner '{name}'."
                f"{did_you_mean(name, known)} It has {', '.join(known)}"
            )
        changed.setdefault(label, {})[setting] = value
    return [*found, *(AddedLearner(label, given) for label, given in changed.items())]
