from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from trial_material import trial

from okbench.base.errors import StoreError
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import outcome_record, to_bytes, without_curve
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

MEASURED = Outcome(
    trial(settings=(("text", ',"curve":[[1]]'),)), "done", 10, 3, 1.0, curve=((5, 1, None, 0.5),)
)


def test_a_line_without_its_curve_is_the_same_outcome_otherwise(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    with store.writer({"cpu": "one"}, "m1") as writer:
        written = writer.add(replace(MEASURED, extra={"curve": [[1, 2]]}))
    (read,) = store.read(curves=False).measured
    assert read == replace(written, curve=())


def test_a_line_without_points_is_left_as_it_is() -> None:
    line = to_bytes({"outcome": outcome_record(replace(MEASURED, curve=()))})
    assert without_curve(line) == line


def test_a_line_cut_inside_its_curve_is_told_as_damaged(tmp_path: Path) -> None:
    line = to_bytes({"outcome": outcome_record(MEASURED)})
    path = tmp_path / "t.jsonl"
    header = to_bytes({"okbench": "results", "schema": 1})
    path.write_bytes(header + line[: line.index(b"]]")] + b"\n")
    with pytest.raises(StoreError, match=r"t\.jsonl:2: a damaged line"):
        Store(path).read(curves=False)


def test_a_trial_done_twice_alike_is_not_disputed() -> None:
    again = replace(MEASURED, seconds=2.0, timed=True)
    assert Contents([MEASURED, again]).disputed() == {}


def test_a_trial_with_two_scores_is_disputed() -> None:
    other = replace(MEASURED, total=4)
    failed = replace(MEASURED, status="failed", total=None)
    found = Contents([MEASURED, failed, other]).disputed()
    assert found == {MEASURED.trial.id: (MEASURED, other)}


def test_the_timed_and_the_untimed_outcome_both_stand() -> None:
    timed = replace(MEASURED, timed=True)
    assert list(Contents([MEASURED, timed, MEASURED]).each()) == [MEASURED, timed]
