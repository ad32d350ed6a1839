"""Whether a worker computes with the same programs as the machine where the run was started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from okbench.base.version import __version__
from okbench.trials.cluster.sources import digest_of, is_installed, module_files, user_modules

Versions = Mapping[str, str]
_LEARNER, _INSTALLED = "learner module ", "installed learner module "


def versions_here(learners: Iterable[str]) -> Versions:
    """What a worker must have as well: okbench, by its version and a hash of its sources, NumPy,
    and the sources of user-defined learners."""
    found = dict(_programs())
    for module in user_modules(learners):
        kind = _INSTALLED if is_installed(module) else _LEARNER
        found[f"{kind}{module}"] = digest_of(module_files(module).items())
    return found


def differences(wanted: Versions) -> list[str]:
    """How this process differs: `numpy 2.3.1 instead of 2.4.0`. A learner's module that is sent
    need not be here; where another module has its name, that is a difference."""
    found = []
    for name, there in wanted.items():
        module = name.rpartition(" ")[2]
        if name.startswith((_LEARNER, _INSTALLED)):
            files = module_files(module)
            if not files and name.startswith(_LEARNER):
                continue
            here = digest_of(files.items()) if files else "none"
        else:
            here = _programs().get(name, "none")
        if here != there:
            found.append(f"{name} {here} instead of {there}")
    return found


@cache
def _programs() -> Versions:
    folder = Path(__file__).parents[2]
    sources = (
        (path.relative_to(folder).as_posix(), path.read_bytes()) for path in folder.rglob("*.py")
    )
    return {"okbench": f"{__version__} ({digest_of(sources)})", "numpy": version("numpy")}
