"""okbench reproduces the tables of five papers on large-scale online kernel learning.

    from okbench import FOGD                   # a learner, as a class
    okbench.load_results("runs")               # stored outcomes, as a pandas DataFrame

`dir(okbench)` lists the public names. Each of them is imported only when it is asked for, so that
`import okbench` loads neither NumPy nor pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from okbench.learners.registry import Entry
    from okbench.reports.tables.export import load_results as load_results

from okbench.base.version import __version__ as __version__


def __getattr__(name: str) -> Any:
    if name == "load_results":
        from okbench.reports.tables.export import load_results

        return load_results
    found = None if name.startswith("__") else _learners().get(name)
    if found is None:
        raise AttributeError(f"module 'okbench' has no attribute '{name}'")
    return found.load()


def __dir__() -> list[str]:
    return sorted([*_learners(), "load_results", "__version__"])


def _learners() -> dict[str, Entry]:
    """Every learner of the registry by the name of its class."""
    from okbench.learners.registry import catalogue

    entries = reversed([*catalogue().values()])  # ours come first, and keep their names
    return {entry.target.partition(":")[2]: entry for entry in entries}
