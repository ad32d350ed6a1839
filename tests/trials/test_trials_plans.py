"""The plan of a run in its results file: written first, read back, added to files without one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trial_material import Linear, load, table, trial

from okbench.base.errors import StoreError
from okbench.papers.table_types import Table, Value
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.run_table import run
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import to_bytes
from okbench.trials.store.plans import CellPlan, plan_of, plan_record

pytestmark = pytest.mark.usefixtures("in_threads")
OLD = b'{"okbench":"results","schema":1}\n'


def page(step: float | None = None, width: float = 1.5) -> Table:
    settings: dict[tuple[str, str], Mapping[str, Value]] = {("blobs", "B"): {"width": width}}
    if step is not None:
        settings["blobs", "A"] = {"step": step}
    return table({"A": "Linear", "B": "Drawn"}, settings=settings)


def ran(store: Store, of: Table, **options: Any) -> list[dict[str, Any]]:
    """The lines of the file after a run."""
    run(of, load, lambda name, variant: None, store, Options(**options), lambda tally: None)
    return [json.loads(line) for line in store.path.read_bytes().splitlines()]


def kinds(lines: list[dict[str, Any]]) -> list[str]:
    return [next(iter(line)) for line in lines]


def test_every_cell_s_plan_stands_before_the_first_outcome(tmp_path: Path) -> None:
    lines = ran(Store(tmp_path / "t.jsonl"), page(step=0.25))
    assert kinds(lines) == ["okbench", "plan", "plan", "environment", *["outcome"] * 4]
    first, second = (line["plan"] for line in lines[1:3])
    assert (first["table"], first["label"], first["given"]) == ("made/small", "A", ["step"])
    assert (second["given"], second["takes"]) == (["width"], ["budget", "width"])
    assert "repetition" not in first["trial"]


def test_the_ids_of_all_trials_follow_from_the_plans(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(store, page())
    derived = {
        replace(one.trial, repetition=repetition).id
        for one in store.read().plans
        for repetition in range(2)
    }
    assert derived == {one.id for one in plan(page(), load)} == store.outcomes().keys()


def test_a_run_says_nothing_twice(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(store, page())
    for width, plans in ((1.5, 2), (2.5, 3), (1.5, 3), (math.nan, 4), (math.nan, 4)):
        assert kinds(ran(store, page(width=width))).count("plan") == plans


def test_of_plans_that_the_yaml_cannot_tell_apart_the_last_run_stands_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "t.jsonl")
    for version, plans in ((3, 2), (4, 3), (4, 3), (3, 4)):
        monkeypatch.setattr(Linear, "version", version)
        assert kinds(ran(store, page())).count("plan") == plans
        (cell,) = [one for one in store.read().plans if one.label == "A"][-1:]
        assert cell.trial.learner_version == version
    distinct = store.read().distinct_plans()
    assert [(one.label, one.trial.learner_version) for one in distinct] == [
        ("B", 1),
        ("A", 4),
        ("A", 3),
    ]


def test_a_file_without_plans_keeps_its_lines_and_gets_a_header_and_plans(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(store, page())
    _, _, _, *measured = store.path.read_bytes().splitlines(keepends=True)
    before = OLD + b"".join(measured)
    store.path.write_bytes(before)
    lines = ran(store, page())  # nothing is left to run, and the plan is written all the same
    assert store.path.read_bytes().startswith(before)
    assert kinds(lines[6:]) == ["okbench", "plan", "plan"]
    assert (lines[6]["schema"], store.read().schema) == (3, 3)
    assert len(ran(store, page())) == len(lines)


def test_seeds_have_plans_of_their_own(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(store, page())
    ran(store, page(), seed=3)
    assert [one.trial.seed for one in store.read().plans] == [0, 0, 3, 3]


def test_single_repetitions_are_of_the_same_plan(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    ran(store, page(), repetitions=(1,))
    assert {one.trial.repetition for one in store.read().plans} == {0}
    assert kinds(ran(store, page())).count("plan") == 2


VALUES = st.none() | st.booleans() | st.floats() | st.integers(-9, 9) | st.text(max_size=4)


@given(st.dictionaries(st.text(min_size=1, max_size=4), VALUES, max_size=4), st.integers(0, 4))
def test_any_plan_survives_strict_json(settings: dict[str, Any], count: int) -> None:
    names = frozenset(sorted(settings)[:count])
    what = replace(trial(), settings=tuple(sorted(settings.items())), tolerance=math.pi)
    before = CellPlan("lsokl/table5", "A", what, names, frozenset(settings) | {"seed"})
    after = plan_of(json.loads(to_bytes({"plan": plan_record(before)}))["plan"])
    assert after.trial.id == what.id
    assert (after.given, after.takes, after.slot) == (before.given, before.takes, before.slot)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ({"given": ["step"]}, "no value of the given setting 'step'"),
        ({"given": "step"}, "given is no list of names"),
        ({"takes": [1]}, "takes is no list of names"),
        ({"more": 1}, "unknown key 'more'"),
        ({"trial": {"dataset": "blobs"}}, "no 'fingerprint'"),
    ],
)
def test_a_damaged_plan_is_refused_with_its_line(
    damage: dict[str, Any], told: str, tmp_path: Path
) -> None:
    record = plan_record(CellPlan("t", "A", trial(), frozenset(), frozenset({"step"})))
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        to_bytes({"okbench": "results", "schema": 2}) + to_bytes({"plan": {**record, **damage}})
    )
    with pytest.raises(StoreError, match=rf"t\.jsonl:2: a damaged line \(.*{told}"):
        Store(path).read()
