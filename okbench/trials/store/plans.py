"""What a run planned: which trials each cell of a table is made of, as a line of a results file.

    {"plan":{"table":"lsokl/table5","label":"RBP","trial":{"dataset":"german",…},
             "given":["budget","width"],"takes":["budget","epsilon","step","width"]}}

`trial` is a trial of the cell without its repetition, so the id of every repetition follows from
it. `takes` names all settings that the learner's constructor takes, `given` those of them that the
table's YAML gave; their values, as the learner took them, are among the settings of the trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from okbench.trials.store.field_types import check_text, shown
from okbench.trials.store.outcome_json import trial_of, trial_record
from okbench.trials.trial_types import Trial

_KEYS = frozenset({"table", "label", "trial", "given", "takes"})


@dataclass(frozen=True)
class CellPlan:
    """The plan of one cell. `trial` is the trial of repetition 0; the others differ in that alone.

    `table` is the table under whose name the outcomes are stored, `label` the column's.
    """

    table: str
    label: str
    trial: Trial
    given: frozenset[str]
    takes: frozenset[str]

    @cached_property
    def slot(self) -> tuple[object, ...]:
        """A cell as the YAML gives it, for one root seed. Plans of one slot differ in what the YAML
        does not say: the learner's version and defaults, and the rows."""
        trial = self.trial
        given = tuple((name, repr(value)) for name, value in trial.settings if name in self.given)
        rest = trial.protocol, trial.metric, trial.order, trial.block, trial.tolerance, trial.seed
        return self.table, self.label, trial.dataset, trial.variant, given, *rest


def plan_record(plan: CellPlan) -> dict[str, Any]:
    """The plan as plain values."""
    trial = trial_record(plan.trial)
    del trial["repetition"]
    names = {"given": sorted(plan.given), "takes": sorted(plan.takes)}
    return {"table": plan.table, "label": plan.label, "trial": trial, **names}


def plan_of(record: Mapping[str, Any]) -> CellPlan:
    """The plan behind a record; ValueError, KeyError or TypeError says what is wrong with it."""
    unknown = set(record) - _KEYS
    if unknown:
        raise ValueError(f"unknown key {shown(min(unknown))}")
    table, label = (check_text(name, record[name]) for name in ("table", "label"))
    trial = trial_of({**record["trial"], "repetition": 0})
    _ = trial.id  # texts that cannot be encoded are refused here, where the line is known
    given, takes = (_names(record, key) for key in ("given", "takes"))
    stored = {name for name, _ in trial.settings}
    if not given <= takes & stored:
        raise ValueError(f"no value of the given setting {shown(min(given - (takes & stored)))}")
    return CellPlan(table, label, trial, given, takes)


def _names(record: Mapping[str, Any], key: str) -> frozenset[str]:
    names = record[key]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} is no list of names")
    return frozenset(names)
