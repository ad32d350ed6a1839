"""Which learners there are, known without importing any of them.

A learner announces itself by decorating its class. The decorators are read from the source as text,
so that a listing imports neither NumPy nor Numba; a class is imported only when it is asked for. A
learner of an installed package arrives through the entry-point group `okbench.learners`.

A user-defined learner is named `module:Class`. Importing a module runs it, and the name may come
from a file that somebody else wrote. Therefore it is imported only if the environment variable
OKBENCH_ALLOW_LEARNERS allows it. `allow` adds to this variable, and the processes of a run inherit
it; the command line allows the learners that are named on it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from okbench.base.errors import ConfigError, UsageError, did_you_mean

Class = TypeVar("Class", bound=type)
ENTRY_POINTS = "okbench.learners"
ALL_TASKS = ("binary", "multiclass", "regression")
_NAME = r"[^\W\d]\w*"
_USER_DEFINED = re.compile(rf"{_NAME}(\.{_NAME})*(:{_NAME})?")
ALLOWED = "OKBENCH_ALLOW_LEARNERS"  # `module` or `module:Class`, separated by commas


class NotAllowed(ConfigError):
    """Raised for user-defined learners that a file names and that nobody allowed."""

    def __init__(self, learners: Iterable[str], where: str = "") -> None:
        self.learners_refused = tuple(dict.fromkeys(learners))
        named = ", ".join(f"'{learner}'" for learner in self.learners_refused)
        options = " ".join(f"--allow-learner {learner}" for learner in self.learners_refused)
        super().__init__(
            f"{where}{': ' if where else ''}to use the user-defined learner {named}, okbench must "
            f"run the code of its module. If you trust that code, add {options}"
        )


def allow(*learners: str) -> None:
    """Allow user-defined learners to be imported, here and in the processes that are started from
    here: `module:Class`, or `module` for all classes of a module."""
    for name in learners:
        if not _USER_DEFINED.fullmatch(name):
            raise UsageError(f"'{name}' is not the name of a module, nor module:Class")
    os.environ[ALLOWED] = ",".join(sorted(_given() | set(learners)))


def is_user_defined(name: str) -> bool:
    """Whether a name is that of a class in a module, `module:Class`."""
    return ":" in name and bool(_USER_DEFINED.fullmatch(name))


def is_allowed(name: str) -> bool:
    """Whether a learner may be imported; those that have a name are installed."""
    module, is_user_defined, _ = name.partition(":")
    if not is_user_defined:
        return True
    if not _USER_DEFINED.fullmatch(name):
        raise UsageError(f"learner '{name}': a user-defined learner is named module:Class")
    return not _given().isdisjoint((name, module))


def _given() -> set[str]:
    words = os.environ.get(ALLOWED, "").split(",")
    return {word.strip() for word in words if word.strip()}


@dataclass(frozen=True)
class Entry:
    """What is known of a learner before its class is imported."""

    name: str
    target: str  # module:Class
    paper: str = ""
    version: int = 1
    tasks: tuple[str, ...] = ALL_TASKS
    summary: str = ""

    def load(self) -> type:
        """Import the class, which must be allowed if it is user-defined."""
        if not is_allowed(self.name):
            raise NotAllowed([self.name])
        module_name, _, attribute = self.target.partition(":")
        try:
            module = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:  # a user's module may raise anything
            kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
            absent = isinstance(error, ModuleNotFoundError) and error.name == module_name
            searched = ", neither in this folder nor installed" if absent else ""
            raise UsageError(f"learner '{self.target}': {kind}{error}{searched}") from error
        found = getattr(module, attribute, None)
        if found is None:
            hint = did_you_mean(attribute, vars(module))
            raise UsageError(f"learner '{self.target}': no '{attribute}' in {module_name}.{hint}")
        if not isinstance(found, type):
            raise UsageError(f"learner '{self.target}' is not a class")
        return found

    def loaded(self) -> Entry:
        """The entry with what the class says of itself, which is imported for that."""
        cls = self.load()
        return replace(
            self,
            paper=getattr(cls, "paper", self.paper),
            version=getattr(cls, "version", self.version),
            tasks=tuple(getattr(cls, "tasks", self.tasks)),
            summary=self.summary or (inspect.getdoc(cls) or "").partition("\n")[0],
        )


def learner(
    name: str, *, paper: str, version: int, tasks: tuple[str, ...] = ALL_TASKS
) -> Callable[[Class], Class]:
    """Announce a learner. All arguments must be literals; raise `version` when outcomes change."""

    def announce(cls: Class) -> Class:
        cls.name, cls.paper, cls.version, cls.tasks = name, paper, version, tasks  # type: ignore[attr-defined]
        cls.__doc__ = _with_settings(cls)
        return cls

    return announce


def _with_settings(cls: type) -> str:
    """The documentation of a class, and what its settings mean."""
    from okbench.learners.settings import meanings_of  # reports import this module

    lines = [f"    {each}: {words}" for each, words in meanings_of(cls).items()]
    text = inspect.cleandoc(cls.__doc__ or "")
    return "\n".join([text, "", "Settings:", *lines]) if lines else text


@cache
def catalogue() -> Mapping[str, Entry]:
    """Every learner by name: ours first, then those of installed packages."""
    found: dict[str, Entry] = {}
    for entry in [*_announced_here(), *_announced_by_packages()]:
        if entry.name in found:
            both = f"{found[entry.name].target} and {entry.target}"
            raise UsageError(f"two learners are named '{entry.name}': {both}")
        found[entry.name] = entry
    return found


def find(name: str) -> Entry:
    """The learner of that name, in upper or lower case, or a user-defined `module:Class`, of which
    nothing more is known before `load`."""
    if ":" in name:
        return Entry(name, name)
    for entry in catalogue().values():
        if entry.name.casefold() == name.casefold():
            return entry
    raise UsageError(
        f"no learner '{name}'.{did_you_mean(name, catalogue())}  (okbench list learners)"
    )


def is_ours(entry: Entry) -> bool:
    """Whether a learner is one of okbench's own."""
    return entry.target.startswith(f"{__package__}.")


def find_named(name: str) -> Entry:
    """The learner that a person names, and so allows."""
    if ":" in name:
        allow(name)
    return find(name)


def versions() -> Mapping[str, int | None]:
    """The version of every learner by name, None for those of installed packages: they announce no
    more than a name, and their version is known only after importing them.
    """
    return {entry.name: entry.version if is_ours(entry) else None for entry in catalogue().values()}


def _announced_here() -> list[Entry]:
    """Entries from the decorators in the sources of this package and of those within it, in the
    order of their files' names."""
    folder = Path(__file__).parent
    sources = sorted(folder.rglob("*.py"), key=lambda source: (source.stem, source))
    return [
        entry
        for source in sources
        if source.name != Path(__file__).name
        for entry in _announced_in(source, _module_of(source, folder))
    ]


def _module_of(source: Path, folder: Path) -> str:
    return ".".join([str(__package__), *source.relative_to(folder).with_suffix("").parts])


def _announced_in(source: Path, module: str) -> list[Entry]:
    text = source.read_text(encoding="utf-8")
    if "@learner(" not in text:
        return []
    return [
        Entry(
            name=ast.literal_eval(call.args[0]),
            target=f"{module}:{node.name}",
            summary=(ast.get_docstring(node) or "").partition("\n")[0],
            **{word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg},
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and getattr(call.func, "id", None) == "learner"
    ]


def _announced_by_packages() -> list[Entry]:
    return [Entry(point.name, point.value) for point in entry_points(group=ENTRY_POINTS)]


def settings_of(cls: type) -> Mapping[str, inspect.Parameter]:
    """The settings a learner's constructor takes, with their defaults and types."""
    try:
        parameters: dict[str, Any] = dict(inspect.signature(cls).parameters)
    except ValueError:  # a class such as `class L(dict)` has none to inspect
        return {}
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


_FIELDS = ("Number", "Whole", "Flag", "Choice", "Numbers", "Words", "default")


@cache
def declared_defaults(target: str) -> Mapping[str, Any]:
    """The settings of one of okbench's own learners with their defaults, read from the source of
    the class and of its bases (`okbench.learners.settings`); nothing is imported."""
    module, _, name = target.partition(":")
    source = Path(__file__).parents[2].joinpath(*module.split(".")).with_suffix(".py")
    tree = ast.parse(source.read_text(encoding="utf-8"))
    places = {
        alias.asname or alias.name: f"{one.module}:{alias.name}"
        for one in tree.body
        if isinstance(one, ast.ImportFrom)
        for alias in one.names
    }
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    defaults: dict[str, Any] = {}
    for base in reversed([ast.unparse(one) for one in classes[name].bases]):
        place = f"{module}:{base}" if base in classes else places.get(base, "")
        if place.startswith("okbench.learners."):
            defaults |= declared_defaults(place)
    for one in classes[name].body:
        if isinstance(one, ast.Assign):
            setting = ast.unparse(one.targets[0])
            defaults.pop(setting, None)  # where it is a constant of this class
            if isinstance(one.value, ast.Call) and _function_of(one.value) in _FIELDS:
                defaults[setting] = ast.literal_eval(one.value.args[0])
    return defaults


def _function_of(call: ast.Call) -> str:
    """The name of the function, without the types in brackets behind it."""
    return ast.unparse(call.func).partition("[")[0]


def annotations_of(cls: type) -> Mapping[str, Any]:
    """The types of the settings, as the constructor annotates them; none where Python cannot
    evaluate the annotations."""
    try:
        return get_type_hints(inspect.getattr_static(cls, "__init__"), include_extras=False)
    except Exception:  # annotations are evaluated, and may raise anything
        return {}


def constructed(cls: type, settings: Mapping[str, Any]) -> Any:
    """A learner with these settings. A list of values is kept as a tuple; a constructor that asks
    for a `list` gets one."""
    listed = {name for name, value in settings.items() if isinstance(value, tuple)}
    kinds = annotations_of(cls) if listed else {}
    listed = {name for name in listed if _takes_list(kinds.get(name))}
    return cls(**{n: list(value) if n in listed else value for n, value in settings.items()})


def _takes_list(kind: Any) -> bool:
    options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return any(list in (option, get_origin(option)) for option in options)
