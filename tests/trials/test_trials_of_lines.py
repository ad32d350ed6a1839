"""Trials that are read together with those of their cell are the same as those read one by one."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trial_material import trial

from okbench.base.errors import StoreError
from okbench.trials.store.lines import header_line, outcome_line
from okbench.trials.store.outcome_json import outcome_of, outcome_record, to_bytes
from okbench.trials.store.read_lines import contents_of
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Outcome, Trial

PATH = Path("results.jsonl")
_VALUES = st.one_of(
    st.integers(0, 9), st.floats(allow_nan=True), st.text(max_size=6), st.booleans(), st.none()
)
_SETTINGS = st.dictionaries(
    st.one_of(st.sampled_from(["width", "repetition", "status", "trial"]), st.text(max_size=4)),
    _VALUES,
    max_size=3,
)


def outcome(of: Trial, **more: Any) -> Outcome:
    return Outcome(of, "done", **{"rows": 10, "total": 3, "seconds": 0.5, **more})


def read(*outcomes: Outcome, trials: TrialsOfLines | None = None) -> list[Outcome]:
    lines = b"".join([header_line(), *map(outcome_line, outcomes)])
    return contents_of(PATH, BytesIO(lines), trials=trials).measured


@given(settings=_SETTINGS, repetitions=st.lists(st.integers(0, 2**40), min_size=1, max_size=4))
def test_lines_of_a_cell_are_read_as_each_alone(
    settings: dict[str, Any], repetitions: list[int]
) -> None:
    first = trial(settings=tuple(sorted(settings.items())))
    written = [outcome(replace(first, repetition=number)) for number in repetitions]
    alone = [outcome_of(json.loads(to_bytes(outcome_record(one)))) for one in written]
    again = read(*written)
    assert list(map(repr, again)) == list(map(repr, alone)) == list(map(repr, written))
    assert [one.trial.id for one in again] == [one.trial.id for one in written]


def test_the_common_part_of_a_cell_is_taken_out_of_its_lines() -> None:
    trials = TrialsOfLines()
    for number in (0, 1, 12):
        one = trial(repetition=number)
        taken, rest = trials.taken_from(outcome_line(outcome(one)))
        assert taken == one
        assert b"trial" not in rest
        assert b"mistake_rate" not in rest
        assert "id" not in json.loads(rest)["outcome"]


@pytest.mark.parametrize("digits", [b"01", b"-1", b"1.0", b"true"])
def test_a_repetition_that_is_not_written_so_is_checked_with_its_line(digits: bytes) -> None:
    line = outcome_line(outcome(trial(repetition=7)))
    assert line.count(b'"repetition":7') == 1
    line = line.replace(b'"repetition":7', b'"repetition":' + digits)
    assert TrialsOfLines().taken_from(line) == (None, line)


def test_an_id_that_is_not_that_of_the_trial_is_refused() -> None:
    first, second = outcome(trial(repetition=0)), outcome(trial(repetition=1))
    record = to_bytes({"outcome": {**outcome_record(second), "id": first.trial.id}})
    old = to_bytes({"okbench": "results", "schema": 1})
    lines = old + to_bytes({"outcome": outcome_record(first)}) + record
    with pytest.raises(StoreError, match=r":3: .*the id '[0-9a-f]{16}' is not that of its trial"):
        contents_of(PATH, BytesIO(lines))


def test_a_line_with_a_second_trial_is_refused() -> None:
    first, second = outcome_record(outcome(trial())), outcome_record(outcome(trial(repetition=1)))
    text = to_bytes({"outcome": first})
    twice = text.replace(b'"extra":{}', b'"extra":{},"trial":%b' % to_bytes(second["trial"])[:-1])
    assert twice != text
    old = to_bytes({"okbench": "results", "schema": 1})
    with pytest.raises(StoreError, match=":2: "):
        contents_of(PATH, BytesIO(old + twice))


def test_files_that_are_compared_share_their_trials() -> None:
    shared = TrialsOfLines(shared=True)
    written = [outcome(trial(repetition=number)) for number in range(3)]
    first, second = read(*written, trials=shared), read(*written, trials=shared)
    assert first == second
    assert all(one.trial is two.trial for one, two in zip(first, second, strict=True))
    apart = read(*written)
    assert all(one.trial is not two.trial for one, two in zip(first, apart, strict=True))


def test_a_file_shares_the_trials_that_a_run_has_planned() -> None:
    planned = [trial(repetition=number) for number in range(2)]
    written = [outcome(replace(one)) for one in [*planned, trial(repetition=2)]]
    found = read(*written, trials=TrialsOfLines.sharing(planned))
    assert found == written
    assert all(one.trial is plan for one, plan in zip(found, planned, strict=False))


def test_settings_that_are_equal_as_numbers_are_not_shared() -> None:
    whole, broken = (trial(settings=(("step", value),)) for value in (1, 1.0))
    found = read(outcome(broken), outcome(whole), trials=TrialsOfLines.sharing([whole]))
    assert [repr(one.trial) for one in found] == [repr(broken), repr(whole)]
    assert [one.trial.id for one in found] == [broken.id, whole.id]


@given(settings=_SETTINGS, number=st.integers(0, 2**70))
def test_a_repeated_trial_is_the_trial_with_another_repetition(
    settings: dict[str, Any], number: int
) -> None:
    first = trial(settings=tuple(sorted(settings.items())))
    again, made = first.repeated(number), replace(first, repetition=number)
    assert repr(again) == repr(made)
    assert (again.id, again.spelled) == (made.id, made.spelled)
    assert again.family == made.family == first.family
    assert hash(again.family) == hash(made.family)


def test_families_differ_where_anything_but_the_repetition_does() -> None:
    first = trial()
    for change in (
        {"seed": 1},
        {"learner_version": 9},
        {"dataset": "other"},
        {"settings": (("width", 3),)},
    ):
        assert replace(first, **change).family != first.family
