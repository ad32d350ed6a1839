"""The settings of a cell: what each part of a table's file gives, which of these counts, and what
the arithmetic among them comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from okbench.base.config_nodes import Node
from okbench.base.errors import ConfigError, did_you_mean
from okbench.papers.expressions import evaluate, is_expression, names_in
from okbench.papers.provenance import SOURCES, Source, read_source
from okbench.papers.table_types import Setting
from okbench.papers.values import Value, read_value, spelled

Layer = Mapping[str, Setting]
_LONGEST_CHAIN = 100  # settings that are computed one from the other


def read_layer(items: Iterable[tuple[str, Node]], shared: bool = False) -> dict[str, Setting]:
    """Settings by name, as written: a value, or {value: …, found: where}."""
    return {name: replace(_read(node), shared=shared) for name, node in items}


def resolve(layers: Iterable[Layer], rows: int | None) -> dict[str, Setting]:
    """The settings of one cell: a later layer overrules an earlier one, then expressions are
    evaluated with the cell's own values. `rows` in an expression is the dataset's size.
    """
    settings = {name: setting for layer in layers for name, setting in layer.items()}
    cell = _Cell(settings, rows)
    values = {name: cell.value(name) for name in settings}
    referred = {
        other
        for setting in settings.values()
        if (expression := _expression(setting))
        for other in names_in(expression)
    }
    return {
        name: replace(
            found,
            value=values[name],
            referred=name in referred,
            expression=_expression(found),
        )
        for name, found in settings.items()
    }


def resolve_with(settings: Layer, others: Layer, rows: int | None) -> dict[str, Setting]:
    """The resolved settings of a cell with others in their place, and what follows from those."""
    written = {
        name: replace(setting, value=setting.expression or setting.value)
        for name, setting in settings.items()
    }
    return resolve([written, others], rows)


def _read(node: Node) -> Setting:
    source: Source = "printed"
    reason, value = "", node
    if node.kind == "mapping":
        fields = node.fields({"value", *SOURCES}, required=["value"])
        value = fields["value"]
        source, reason = read_source(fields)
    return Setting(read_value(value), source, reason, node.where)


def _expression(setting: Setting) -> str:
    """The arithmetic a setting is written as, or nothing."""
    value = setting.value
    return value if isinstance(value, str) and is_expression(value) else ""


class _Cell:
    """Evaluates the expressions of one cell."""

    def __init__(self, settings: Layer, rows: int | None) -> None:
        self._settings = settings
        self._rows = rows
        self._asked: list[str] = []  # settings being evaluated: asking again is a circle

    def value(self, name: str) -> Value:
        setting = self._settings[name]
        expression = _expression(setting)
        if not expression:
            return setting.value
        if name in self._asked:
            circle = " → ".join([*self._asked, name])
            raise ConfigError(f"{setting.where}: {circle} goes round in a circle")
        if len(self._asked) == _LONGEST_CHAIN:
            message = "too many settings are computed one from the other"
            raise ConfigError(f"{setting.where}: {message}")
        self._asked.append(name)
        try:
            for other in names_in(expression):
                self._check_known(other, setting)
            return evaluate(expression, lambda other: self._number(other, setting))
        except ValueError as error:
            raise ConfigError(f"{setting.where}: {error}") from error
        finally:
            self._asked.pop()

    def _check_known(self, name: str, asking: Setting) -> None:
        if name == "rows" and "rows" not in self._settings:
            if self._rows is None:
                raise ConfigError(f"{asking.where}: the dataset does not give its 'rows'; add them")
        elif name not in self._settings:
            hint = did_you_mean(name, [*self._settings, "rows"])
            raise ConfigError(f"{asking.where}: no setting '{name}' to compute with.{hint}")

    def _number(self, name: str, asking: Setting) -> float:
        if name not in self._settings and self._rows is not None:
            return float(self._rows)
        value = self.value(name)
        if isinstance(value, bool | str | tuple):
            raise ConfigError(f"{asking.where}: '{name}' is {spelled(value)}, not a number")
        return float(value)
