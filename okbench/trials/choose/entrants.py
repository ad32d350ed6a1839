"""Who may run in a race: the learners that do the task and fit into the memory, and the settings
that are tried of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find, settings_of
from okbench.papers.additions import AddedLearner, Additions
from okbench.papers.table_types import Setting
from okbench.papers.values import Value
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.trials.choose.standings import LeftOut
from okbench.trials.plan.options import Options
from okbench.trials.plan.own_definition import columns_of, search_values
from okbench.trials.plan.planning import version_of
from okbench.trials.plan.resolve_settings import resolve_settings
from okbench.trials.plan.rows_in_memory import beyond_memory
from okbench.trials.run.memory_needs import MOST_DRAWN, Need, needs
from okbench.trials.trial_types import Trial

UNBOUNDED_ROWS = 20_000  # beyond which learners without a budget are left out


@dataclass(frozen=True)
class Entrant:
    """A learner with the settings that are tried of it; the first are those without a search."""

    label: str
    trial: Trial
    variants: tuple[Mapping[str, Value], ...]

    def with_settings(self, variant: Mapping[str, Value]) -> Trial:
        """The trial with some settings changed."""
        settings = {**dict(self.trial.settings), **variant}
        return replace(self.trial, settings=tuple(sorted(settings.items())))


def entrants(
    data: Dataset,
    named: Sequence[AddedLearner] | None,
    added: Additions,
    width: float,
    searched: bool,
    in_order: bool,
    seed: int,
) -> list[Entrant]:
    """The learners that are named, or all that do the task."""
    columns = columns_of(named, added, data.task)
    return [
        _entrant(data, label, column, width, searched, in_order, seed)
        for label, column in columns.items()
    ]


def fitting(
    found: Sequence[Entrant], data: Dataset, memory: float, rows: int, unbounded: int
) -> tuple[list[Entrant], list[LeftOut]]:
    """The entrants that can run on so many rows, those with the smallest models first, and the
    others with their reasons."""
    kept: list[tuple[int, Entrant]] = []
    left_out = []
    for entrant in found:
        (need,) = needs([entrant.trial], lambda name, variant: data, Options())
        reason = _unfit(entrant, data, need, memory, rows, unbounded)
        if reason:
            left_out.append(LeftOut(entrant.label, reason))
        else:
            kept.append((need.model or need.growth, entrant))
    return [entrant for _, entrant in sorted(kept, key=lambda pair: pair[0])], left_out


def _unfit(
    entrant: Entrant, data: Dataset, need: Need, memory: float, rows: int, unbounded: int
) -> str:
    """Why a learner cannot run; nothing if it can."""
    cls = find(entrant.trial.learner).load()
    if data.task not in getattr(cls, "tasks", (data.task,)):
        return f"it does not do {data.task}"
    if SINGLE_PASS.role_of(cls) is None:
        return f"it {SINGLE_PASS.lack}"
    if need.model is not None and need.model >= memory:
        return (
            f"its model takes {spoken_bytes(need.model)} = {need.terms}, and the limit is"
            f" {spoken_bytes(memory)}"
        )
    if need.drawn > MOST_DRAWN:
        return f"it draws {need.drawn:,} random numbers before the first row = {need.drawn_terms}"
    if need.growth and rows > unbounded:
        return (
            "there is no budget, so that the time grows with the square of the rows and the memory"
            f" up to {spoken_bytes(need.growth)}; --unbounded-rows runs such a learner on more than"
            f" {unbounded:,} rows"
        )
    return ""


def _entrant(
    data: Dataset, label: str, column: Mapping[str, Any], width: float, searched: bool,
    in_order: bool, seed: int,
) -> Entrant:  # fmt: skip
    entry = find(column.get("learner", label))
    cls = entry.load()
    given = {name: value for name, value in column.items() if name != "learner"}
    is_open = {name for name, value in given.items() if isinstance(value, Mapping)}
    values = {n: v["value"] if isinstance(v, Mapping) else v for n, v in given.items()}
    if "width" in settings_of(cls) and "width" not in values:
        values["width"] = width
        is_open.add("width")
    settings = {name: Setting(value, where=label) for name, value in values.items()}
    trial = Trial(
        dataset=data.name,
        variant="",
        fingerprint=data.fingerprint,
        learner=entry.name,
        learner_version=version_of(entry, cls),
        settings=resolve_settings(cls, label, settings, "the command line"),
        protocol=SINGLE_PASS.name,
        metric=default_metric(data.task).name,
        repetition=0,
        order="file" if in_order else "block-shuffled" if beyond_memory(data) else "seeded",
        seed=seed,
    )
    first = {name: values[name] for name in sorted(is_open)}
    grid = search_values(width)
    tried = _combinations({name: grid[name] for name in first}) if searched else iter(())
    others = [variant for variant in tried if variant != first]
    return Entrant(label, trial, (first, *others))


def _combinations(values: Mapping[str, Sequence[Value]]) -> Iterator[Mapping[str, Value]]:
    if values:
        for chosen in product(*values.values()):
            yield dict(zip(values, chosen, strict=True))
