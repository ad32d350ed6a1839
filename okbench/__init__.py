"""okbench reproduces the tables of five papers on large-scale online kernel learning.

`from okbench import FOGD` gives a learner as a class; every learner of the registry can be imported
so, and is loaded only then.
"""

from __future__ import annotations

from typing import Any

from okbench.base.version import __version__ as __version__


def __getattr__(name: str) -> Any:
    from okbench.learners.registry import catalogue

    for entry in catalogue().values():
        if entry.target.endswith(f":{name}"):
            return entry.load()
    raise AttributeError(f"module 'okbench' has no attribute '{name}'")
