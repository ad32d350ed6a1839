"""Which types and ranges the values of a results file have: everything that other modules rely on
is checked here, once, where a line is read. A ValueError says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from types import NoneType
from typing import Any, get_args

from okbench.papers.table_types import Orders
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.store.facts import FACTS, is_fact
from okbench.trials.trial_types import Outcome, Status, Trial

_GREATEST = 2**63 - 1  # what other programs can hold in a whole number
_DEEPEST = 20  # lists in lists that a setting may be made of
_SHOWN = 60  # characters of a wrong value in a message

_Types = Mapping[str, tuple[type, ...]]
_TEXT, _NUMBER = (str, NoneType), (int, float, NoneType)
_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
    NoneType: "null",
}
_TRIAL: _Types = {
    **dict.fromkeys(("dataset", "variant", "fingerprint", "learner"), (str,)),
    **dict.fromkeys(("protocol", "metric", "order"), (str,)),
    **dict.fromkeys(("learner_version", "repetition", "block", "seed"), (int,)),
    "protocol_version": (int,),
    "tolerance": (int, float),
    "settings": (dict,),
}
_OUTCOME: _Types = {
    **dict.fromkeys(("id", "status", "reason", "environment", "finished"), (str,)),
    **dict.fromkeys(("total", "seconds", "cpu_seconds", "train_seconds"), _NUMBER),
    **dict.fromkeys(("support", "bytes"), (int, NoneType)),
    "rows": (int,),
    "timed": (bool,),
    "trial": (dict,),
    "curve": (list,),
    "extra": (dict,),
}
_ENVIRONMENT: _Types = {
    **dict.fromkeys(("cpu", "os", "arch", "python", "openblas_coretype"), _TEXT),
    **dict.fromkeys(("cores", "memory_gb"), (int, NoneType)),
    **dict.fromkeys(("packages", "blas"), (dict,)),
}
_BLAS: _Types = {
    **dict.fromkeys(("name", "version", "core"), _TEXT),
    "threads": (int, NoneType),
}
_BLESSED: _Types = dict.fromkeys(("table", "reason", "date", "okbench"), (str,))
_EXTRA: _Types = {
    "load": (int, float),
    "traceback": (str,),
    "expected_seconds": (int, float),
    "classes": (list,),
    "device": (str,),
    "remark": (str,),
    "warm_up": (str,),
    "surface": (dict,),
    "map_seconds": (int, float),
    "changes": (list,),
    "beside": (dict,),
}
_CHOICES = {
    "protocol": frozenset(PROTOCOLS),
    "metric": frozenset(METRICS),
    "order": frozenset(get_args(Orders)),
    "status": frozenset(get_args(Status)),
}
_TRIAL_NEEDS = frozenset(field.name for field in fields(Trial) if field.default is MISSING)
# those with a default as well that every version wrote
_OUTCOME_NEEDS = frozenset(_OUTCOME) - {field.name for field in fields(Outcome)} | {
    *("trial", "status", "rows", "total", "seconds", "cpu_seconds", "train_seconds"),
    *("support", "bytes", "curve"),
}
_PLAIN = frozenset({NoneType, bool, int, float, str})
_POINT: tuple[tuple[str, frozenset[type]], ...] = (  # of a curve
    ("rows", frozenset({int})),
    ("total", frozenset({int, float, NoneType})),
    ("support", frozenset({int, NoneType})),
    ("seconds", frozenset({int, float, NoneType})),
)
_accepted: set[tuple[object, ...]] = set()  # keys and types of trials and outcomes met before


def check_trial(record: Mapping[str, Any]) -> None:
    """Refuse the record of a trial that is not as trials are written."""
    _check_shape(record, _TRIAL, _TRIAL_NEEDS)
    for name in ("protocol", "metric", "order"):
        if record.get(name, "seeded") not in _CHOICES[name]:
            raise ValueError(f"unknown {name} {shown(record[name])}")
    for name in ("repetition", "block", "seed"):
        if record.get(name, 0) < 0:
            raise ValueError(f"{name} is {shown(record[name])}, which is below 0")
    for name, value in record["settings"].items():
        if type(value) not in _PLAIN:
            _check_list(name, value, _DEEPEST)


def check_outcome(record: Mapping[str, Any]) -> None:
    """Refuse the record of an outcome that is not as outcomes are written, its trial excepted."""
    _check_shape(record, _OUTCOME, _OUTCOME_NEEDS)
    if record["status"] not in _CHOICES["status"]:
        raise ValueError(f"unknown status {shown(record['status'])}")
    for name in ("rows", "support", "bytes"):
        _check_count(name, record[name])
    for name in ("seconds", "cpu_seconds", "train_seconds"):
        seconds = record[name]
        if seconds is not None and not 0 <= seconds <= _GREATEST:
            raise ValueError(f"{name} is {shown(seconds)}, which is no time")
    _check_total("total", record["total"])
    if record.get("extra"):  # most outcomes have nothing there
        check_extra(record["extra"])


def check_extra(extra: Mapping[str, Any]) -> None:
    """Refuse what an outcome says besides if it is not as it is written."""
    _check_types(extra, _EXTRA, "extra: ")
    _check_classes(extra.get("classes", []))
    for name in FACTS:
        if name in extra and not is_fact(name, extra[name]):
            raise ValueError(f"extra: {name} is not as learners state it")
    _check_changes(extra.get("changes", []))
    for name, total in extra.get("beside", {}).items():
        if name not in METRICS or type(total) not in (int, float):
            raise ValueError(f"extra: beside has {shown(name)}: {shown(total)}, not a total")
        _check_total(f"extra: {name}", total)


def _check_classes(classes: Sequence[Any]) -> None:
    """Refuse what is counted class by class unless it is [class, rows, mistakes] each."""
    for one in classes:
        counts = one[1:] if type(one) is list and len(one) == 3 else []
        whole = [count for count in counts if type(count) is int]
        if len(whole) < 2 or not 0 <= whole[1] <= whole[0]:
            raise ValueError(f"extra: classes has {shown(one)}, not [class, rows, mistakes]")


def _check_changes(changes: Sequence[Any]) -> None:
    """Refuse the changes of a stream unless they are [first row, first row after it], in order."""
    latest = 0
    for one in changes:
        rows = one if type(one) is list and len(one) == 2 else []
        if [type(row) for row in rows] != [int, int] or not latest <= rows[0] <= rows[1]:
            raise ValueError(f"extra: changes has {shown(one)}, not rows in ascending order")
        latest = rows[1]


def check_curve(curve: Sequence[Sequence[Any]]) -> None:
    """Refuse a curve unless its points are (rows, total, support, seconds)."""
    try:
        columns = list(zip(*curve, strict=True))
    except (TypeError, ValueError):  # no points, or of different lengths
        columns = []
    if len(columns) != len(_POINT):
        raise ValueError("curve has points that are not [rows, total, support, seconds]")
    for (name, types), values in zip(_POINT, columns, strict=True):
        met = set(map(type, values))
        if not met <= types:
            wrong = next(value for value in values if type(value) not in types)
            raise ValueError(_wrong(f"curve: {name}", wrong, tuple(types)))
        if NoneType in met:
            values = tuple(value for value in values if value is not None)
        if values and not (min(values) >= 0 and max(values) <= _GREATEST):
            _check_each(name, values)


def _check_each(name: str, values: Sequence[float]) -> None:
    """Refuse the values of a curve that are out of bounds; a total may be any sum of costs."""
    for value in values:
        if name == "total":
            _check_total("curve: total", value)
        elif not 0 <= value <= _GREATEST:
            raise ValueError(f"curve: {name} is {shown(value)}, which is out of bounds")


def check_environment(record: Any) -> None:
    """Refuse the record of a machine whose known fields are of another type."""
    _check_mapping("environment", record)
    _check_types(record, _ENVIRONMENT, "environment: ")
    for name in ("cores", "memory_gb"):
        _check_count(name, record.get(name))
    for name, version in record.get("packages", {}).items():
        if type(version) not in _TEXT:
            raise ValueError(_wrong(f"packages: {name}", version, _TEXT))
    _check_types(record.get("blas", {}), _BLAS, "blas: ")


def check_blessed(record: Any) -> None:
    """Refuse what a header says of a baseline unless it is a mapping of texts."""
    _check_mapping("blessed", record)
    _check_types(record, _BLESSED, "blessed: ")


def check_text(name: str, value: Any) -> str:
    """The value, which must be a text."""
    if type(value) is not str:
        raise ValueError(_wrong(name, value, (str,)))
    return value


def shown(value: Any) -> str:
    """A wrong value as a message has it: its beginning, on one line."""
    text = ascii(value) if type(value) is not int or abs(value) <= _GREATEST else "a huge number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _check_shape(record: Mapping[str, Any], types: _Types, needed: frozenset[str]) -> None:
    """Keys and types; what was accepted once is not looked at again."""
    shape = (*record, *map(type, record.values()))
    if shape in _accepted:
        return
    if missing := needed - record.keys():
        raise ValueError(f"no '{min(missing)}'")
    if unknown := record.keys() - types.keys():
        raise ValueError(f"unknown key {shown(min(unknown))}")
    _check_types(record, types)
    _accepted.add(shape)


def _check_types(record: Mapping[str, Any], types: _Types, within: str = "") -> None:
    for name, value in record.items():
        if name in types and type(value) not in types[name]:
            raise ValueError(_wrong(f"{within}{name}", value, types[name]))


def _check_mapping(name: str, value: Any) -> None:
    if type(value) is not dict:
        raise ValueError(_wrong(name, value, (dict,)))


def _check_list(name: str, value: Any, deepest: int) -> None:
    if type(value) is not list or not deepest:
        raise ValueError(f"the setting {shown(name)} is {shown(value)}, which no setting can be")
    for element in value:
        if type(element) not in _PLAIN:
            _check_list(name, element, deepest - 1)


def _check_count(name: str, count: int | None) -> None:
    if count is not None and not 0 <= count <= _GREATEST:
        raise ValueError(f"{name} is {shown(count)}, which is no count of 64 bits")


def _check_total(name: str, total: float | None) -> None:
    """A sum of costs, which may have outgrown the numbers."""
    if total is None:
        return
    if total < 0 or (type(total) is int and total > _GREATEST):
        raise ValueError(f"{name} is {shown(total)}, which is no sum of costs")


def _wrong(name: str, value: Any, types: tuple[type, ...]) -> str:
    wanted = " or ".join(_WORDS[kind] for kind in types if kind is not int or float not in types)
    return f"{ascii(name)[1:-1]} is {shown(value)}, which is not {wanted}"
