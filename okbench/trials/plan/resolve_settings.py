"""The settings a table gives, checked against what a learner's constructor takes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from okbench.base.errors import ConfigError, did_you_mean
from okbench.learners.registry import annotations_of, settings_of
from okbench.learners.settings import later_settings
from okbench.papers.table_types import Setting
from okbench.papers.values import Value, spelled
from okbench.trials.trial_types import Settings

SEED_NAMES = ("seed", "random_state")  # given by the trial unless a table sets them
_PLAIN = (bool, int, float, str, type(None))
_LISTS = (list, tuple, Sequence)
_KIND_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "nothing",
}
_ELEMENT_NAMES = {bool: "truth values", int: "whole numbers", float: "numbers", str: "texts"}


def resolve_settings(cls: type, label: str, given: Mapping[str, Setting], where: str) -> Settings:
    """Every setting a trial runs with, defaults included, sorted by name and of the right type.

    A setting shared by a whole table or dataset is dropped where the constructor does not take it;
    one given for the learner itself must be taken. A default that is neither a plain value nor a
    list of them stays with the class, whose version stands for it. A setting that a published
    learner was given later is left out at its default: the names of stored trials do not have it.
    """
    taken, kinds = settings_of(cls), annotations_of(cls)
    resolved: dict[str, Value | None] = {}
    for name, setting in given.items():
        if name in taken:
            resolved[name] = _typed(setting, name, label, kinds.get(name, Any))
        elif not setting.shared:
            known = ", ".join(taken) or "none"
            raise ConfigError(
                f"{setting.where or where}: {label} has no setting '{name}'."
                f"{did_you_mean(name, taken)} Its settings: {known}"
            )
    for name, parameter in taken.items():
        if name in resolved or name in SEED_NAMES:
            continue
        if parameter.default is inspect.Parameter.empty:
            raise ConfigError(f"{where}: {label} needs the setting '{name}', and nothing gives it")
        default = _fitted_default(parameter.default, kinds.get(name, Any))
        if _keeps_type(default):
            resolved[name] = default
    for name in later_settings(cls):
        if resolved[name] == taken[name].default:
            del resolved[name]
    return tuple(sorted(resolved.items()))


class _Misfit(Exception):
    """The value is not of the kind asked for."""


def _typed(setting: Setting, name: str, label: str, kind: Any) -> Value | None:
    try:
        return _fit(setting.value, kind)
    except _Misfit:
        raise ConfigError(
            f"{setting.where or label}: {label}: {name} is {_described(kind)}, "
            f"not {spelled(setting.value)}"
        ) from None


def _fitted_default(default: Any, kind: Any) -> Any:
    """The default as its annotation has it, or as it is where it is of another type."""
    try:
        return _fit(default, kind)
    except _Misfit:
        return default


def _keeps_type(value: Any) -> bool:
    """Whether a line of JSON keeps the type, as it does not of NumPy's numbers and enumerations."""
    if isinstance(value, tuple):
        return all(type(element) in _PLAIN and element is not None for element in value)
    return type(value) in _PLAIN


def _fit(value: Any, kind: Any) -> Any:
    """The value as that kind: 3 is a float too, 3.0 a whole number, true is neither.

    Of a kind that is not known here (`Any`, a class) every value is taken.
    """
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        return _fit_any(value, get_args(kind))
    if get_origin(kind) is Literal:
        fits = any(type(value) is type(choice) and value == choice for choice in get_args(kind))
        return _if(fits, value)
    if kind in _LISTS or get_origin(kind) in _LISTS:
        return _fit_list(value, kind)
    if kind in (bool, str, type(None)):
        return _if(isinstance(value, kind), value)
    if kind in (int, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return kind(_if(number and (kind is float or whole), value))
    return value


def _fit_list(value: Any, kind: Any) -> Any:
    """A list whose elements are of the kind that the annotation names, as many as it names."""
    kinds = get_args(kind)
    if not isinstance(value, tuple | list) or (_is_fixed(kind) and len(value) != len(kinds)):
        raise _Misfit
    if not _is_fixed(kind):
        kinds = (kinds[:1] or (Any,)) * len(value)
    return tuple(_fit(element, each) for element, each in zip(value, kinds, strict=True))


def _is_fixed(kind: Any) -> bool:
    """Whether a list has as many elements as the annotation names: `tuple[float, str]`."""
    return get_origin(kind) is tuple and get_args(kind)[-1:] != (...,)


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


def _described(kind: Any) -> str:
    """The kind in words, as `width is …` ends."""
    arguments = get_args(kind)
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(_described(option) for option in arguments)
    if kind in _LISTS or get_origin(kind) in _LISTS:
        if _is_fixed(kind):
            return f"a list of {len(arguments)} values"
        element = _ELEMENT_NAMES.get(arguments[0]) if arguments else None
        return f"a list of {element}" if element else "a list"
    return _KIND_NAMES.get(kind, str(kind))
