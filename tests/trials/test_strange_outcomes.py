"""What learners and other people's files may say, and how it is stored and printed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trial_material import Linear, load, trial

from okbench.base.errors import StoreError
from okbench.base.plain_text import MESSAGE, escaped, plain
from okbench.base.tracebacks import CHARACTERS
from okbench.trials.run.protocol_loop import Limits, figure_of
from okbench.trials.run.run_trial import attempt
from okbench.trials.store.files import Store
from okbench.trials.store.lines import environment_line, header_line, outcome_line
from okbench.trials.trial_types import Outcome


class Says:
    def __init__(self, support_size: Any) -> None:
        self.support_size = support_size


class Liar(int):
    def __eq__(self, other: object) -> bool:
        raise ValueError("not to be compared")

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    "figure",
    [-5, 10**400, 2**63, 2.5, math.nan, math.inf, "many", None, [], [3], np.zeros(2), Liar(3), 1j],
    ids=lambda value: repr(value)[:12],
)
def test_a_figure_that_is_no_count_is_not_recorded(figure: Any) -> None:
    assert figure_of(Says(figure), "support_size") is None
    assert figure_of(Says(lambda: figure), "support_size") is None


@pytest.mark.parametrize("figure", [0, 3, 2**63 - 1, 3.0, np.int32(3), np.float64(3), np.array(3)])
def test_a_figure_that_is_a_count_is_recorded_as_an_integer(figure: Any) -> None:
    found = figure_of(Says(figure), "support_size")
    assert (found, type(found)) == (int(figure), int)


class Shouts(Linear):
    """Fails with five million characters, among them orders to the terminal."""

    def learn(self, X: Any, y: Any) -> Any:
        raise ValueError("\x1b[2J\rall is well\x9b\u202e" + "a" * 5_000_000 + "\x07 the end")


class Exceeds(Linear):
    support_size, nbytes = -5, 10**400


def test_figures_of_a_learner_that_are_no_counts_do_not_reach_the_file(tmp_path: Path) -> None:
    module = Exceeds.__module__
    of = trial(learner="Linear")
    outcome = attempt(replace(of, learner=f"{module}:Exceeds"), load, Limits())
    assert (outcome.status, outcome.support) == ("done", None)
    assert all(point[2] is None for point in outcome.curve)
    with (store := Store(tmp_path / "t.jsonl")).writer({}, "m") as writer:
        writer.add(outcome)
    assert len(store.outcomes()) == 1


def test_an_endless_message_of_a_learner_is_cut_and_escaped_where_it_is_stored(
    tmp_path: Path,
) -> None:
    of = trial(learner="Linear")
    outcome = attempt(replace(of, learner=f"{Shouts.__module__}:Shouts"), load, Limits())
    with (store := Store(tmp_path / "t.jsonl")).writer({}, "m") as writer:
        printed = writer.add(outcome)
    assert store.path.stat().st_size < 2 * (MESSAGE + CHARACTERS)
    (read,) = store.outcomes().values()
    for one in (printed, read):
        assert r"\u001b[2J\rall is well\u009b\u202eaaa" in one.reason
        assert r"\u0007 the end" in one.reason
        assert len(one.reason) <= MESSAGE
        assert len(one.extra["traceback"]) <= CHARACTERS
        assert one.extra["traceback"].replace("\n", "").isprintable()


def test_messages_of_other_people_s_files_are_cut_and_escaped(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    extra = {"traceback": "\x1b" * 10**5}
    path.write_bytes(
        header_line()
        + outcome_line(Outcome(trial(), "failed", reason="\x1b[31m" * 10**5, extra=extra))
    )
    (read,) = Store(path).outcomes().values()
    assert len(read.reason) <= MESSAGE
    assert "\x1b" not in read.reason + read.extra["traceback"]


@given(st.text(), st.integers(100, 300))
def test_a_plain_text_is_plain_and_stays_as_it_is(text: str, most: int) -> None:
    once = plain(text * 7, most)
    assert plain(once, most) == once
    assert len(once) <= most
    assert escaped(once) == once
    if text.isprintable() and len(text) <= most:
        assert plain(text, most) == text


CURVE = ((5, 1, None, 0.25), (10, 3, 2, 0.5))
WRONG: dict[str, Any] = {
    "rows": (-1, 2**63, 1.5, True, None, "5", []),
    "total": (-1, -0.5, 10**400, "much", [], True),
    "seconds": (-1.0, math.inf, math.nan, 10**400, 1e300, "1"),
    "support": (-5, 10**400, 2.0, "x"),
    "bytes": (-5, 10**400, 2.0, "x"),
    "timed": ([], 1, None, "yes"),
    "reason": (None, 5, []),
    "environment": (None, 5, []),
    "finished": (None, 5),
    "status": ("fine", [], None, 5),
    "extra": ([], None, 5, {"traceback": 5}, {"load": "high"}),
    "curve": (
        *(None, {}, "abcd", [5], [[]], [[1, 2, 3]], [[1, 2, 3, 4], [1, 2, 3]], [[1, 2, 3, 4, 5]]),
        *([[-1, 2, 3, 4]], [[1, -2, 3, 4]], [[1, 2, -3, 4]], [[1, 2, 3, -4]]),
        *([[1, 2, 3, math.inf]], [[True, 2, 3, 4]], [[1, 10**400, 3, 4]], [["NaN", 2, 3, 4]]),
    ),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda value: repr(value)[:20],
)
def test_a_value_of_another_kind_is_refused_with_its_line_and_name(
    name: str, value: Any, tmp_path: Path
) -> None:
    right = Outcome(trial(), "failed", 10, 3, 1.0, support=2, curve=CURVE)
    path = tmp_path / "t.jsonl"
    path.write_bytes(header_line() + outcome_line(right))
    assert Store(path).read().measured == [right]
    path.write_bytes(path.read_bytes() + outcome_line(replace(right, **{name: value})))
    with pytest.raises(StoreError, match=rf"t\.jsonl:3: a damaged line \(.*{name}") as refused:
        Store(path).read()
    assert len(str(refused.value)) < 300 + len(str(path))


def test_totals_that_outgrew_the_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for total in (math.inf, 1e308, None):
        curve = ((5, 1.5, None, 0.25), (10, total, 2, 0.5))
        whole = Outcome(trial(), "diverged", 10, total, 1.0, curve=curve)
        path.write_bytes(header_line() + outcome_line(whole))
        assert Store(path).read().measured == [whole]


def test_half_a_character_is_a_question_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    machine = {"cpu": "a\ud800b\U0001f600"}
    path.write_bytes(header_line() + environment_line("m", machine))
    assert b"\\ud800" in path.read_bytes()
    assert Store(path).environments() == {"m": {"cpu": "a?b\U0001f600"}}


def test_no_outcome_is_added_to_a_baseline(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    before = header_line(blessed={"table": "t", "reason": "so"})
    store.path.write_bytes(before)
    with (
        pytest.raises(StoreError, match=r"a baseline, to which no .*--results.*okbench bless"),
        store.writer({}, "m"),
    ):
        pass
    assert store.path.read_bytes() == before
