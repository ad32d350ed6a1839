"""The settings a table gives, held against what a learner's constructor takes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from okbench.base.errors import ConfigError, did_you_mean
from okbench.learners.registry import settings_of
from okbench.papers.table_types import Setting, Value
from okbench.trials.trial_types import Settings

SEED_NAMES = ("seed", "random_state")  # given by the trial unless a table sets them
_PLAIN = (bool, int, float, str, type(None))
_SPOKEN = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "nothing",
}


def resolve_settings(cls: type, label: str, given: Mapping[str, Setting], where: str) -> Settings:
    """Every setting a trial runs with, defaults included, sorted by name and of the right type.

    A setting shared by a whole table or dataset is dropped where the constructor does not take it;
    one said of the learner itself must be taken. A default that is no plain value stays with the
    class, whose version stands for it.
    """
    taken, kinds = settings_of(cls), _kinds_of(cls)
    settled: dict[str, Value | None] = {}
    for name, setting in given.items():
        if name in taken:
            settled[name] = _typed(setting, name, label, kinds.get(name, Any))
        elif not setting.shared:
            known = ", ".join(taken) or "none"
            raise ConfigError(
                f"{setting.where or where}: {label} has no setting '{name}'."
                f"{did_you_mean(name, taken)} Its settings: {known}"
            )
    for name, parameter in taken.items():
        if name in settled or name in SEED_NAMES:
            continue
        if parameter.default is inspect.Parameter.empty:
            raise ConfigError(f"{where}: {label} needs the setting '{name}', and nothing gives it")
        default = _fitted(parameter.default, kinds.get(name, Any), parameter.default)
        if type(default) in _PLAIN:  # of NumPy's numbers and enumerations a line keeps no type
            settled[name] = default
    return tuple(sorted(settled.items()))


def _kinds_of(cls: type) -> Mapping[str, Any]:
    """The constructor's annotations; a stranger's that cannot be resolved bind nobody."""
    try:
        return get_type_hints(inspect.getattr_static(cls, "__init__"), include_extras=False)
    except Exception:  # annotations are evaluated, and may raise anything
        return {}


class _Misfit(Exception):
    """The value is not of the kind asked for."""


def _typed(setting: Setting, name: str, label: str, kind: Any) -> Value | None:
    try:
        return _fit(setting.value, kind)
    except _Misfit:
        raise ConfigError(
            f"{setting.where or label}: {label}: {name} is {_spoken(kind)}, not {setting.value!r}"
        ) from None


def _fitted(value: Value | None, kind: Any, otherwise: Value | None) -> Value | None:
    try:
        return _fit(value, kind)
    except _Misfit:
        return otherwise


def _fit(value: Value | None, kind: Any) -> Value | None:
    """The value as that kind: 3 is a float too, 3.0 a whole number, true is neither."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        return _fit_any(value, get_args(kind))
    if get_origin(kind) is Literal:
        fits = any(type(value) is type(choice) and value == choice for choice in get_args(kind))
        return _if(fits, value)
    if kind in (bool, str, type(None)):
        return _if(isinstance(value, kind), value)
    if kind in (int, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return kind(_if(number and (kind is float or whole), value))
    return value


def _fit_any(value: Value | None, kinds: tuple[Any, ...]) -> Value | None:
    exact = [kind for kind in kinds if type(value) is kind]
    for kind in (*exact, *kinds):
        try:
            return _fit(value, kind)
        except _Misfit:
            continue
    raise _Misfit


def _if(fits: bool, value: Value | None) -> Value | None:
    if not fits:
        raise _Misfit
    return value


def _spoken(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_spoken(option) for option in get_args(kind))
    return _SPOKEN.get(kind, str(kind))
