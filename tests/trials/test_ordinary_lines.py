"""A line in the usual form is read as the JSON parser and its checks read it, or left to them."""

from __future__ import annotations

import json
import re
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
from okbench.trials.store.ordinary_lines import ordinary_outcome
from okbench.trials.store.outcome_json import decode, outcome_of, outcome_record, to_bytes
from okbench.trials.store.read_lines import contents_of
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Outcome

_SECONDS = st.none() | st.floats(0, 1e15)
_COUNT = st.none() | st.integers(0, 10**18 - 1)
_POINT = st.tuples(st.integers(0, 10**6), st.floats(0, 1e9) | st.integers(0, 9), _COUNT, _SECONDS)
_OUTCOMES = st.builds(
    Outcome,
    trial=st.just(trial(repetition=3)),
    status=st.sampled_from(["done", "timeout", "memory", "diverged", "failed", "interrupted"]),
    rows=st.integers(0, 10**18 - 1),
    total=_COUNT | st.floats(0, 1e15),
    seconds=_SECONDS,
    cpu_seconds=_SECONDS,
    train_seconds=_SECONDS,
    support=_COUNT,
    bytes=_COUNT,
    curve=st.lists(_POINT, max_size=2).map(tuple),
    timed=st.booleans(),
    environment=st.sampled_from(["", "782451194928"]),
    finished=st.sampled_from(["", "2026-11-18T22:29:49+00:00"]),
    extra=st.sampled_from(
        [{}, {"load": 1.16}, {"device": "é"}, {"classes": [[-1, 9, 2]], "load": 0.0}]
    ),
)
_WORDS = ["null", "0", "-1", "00", "1.", "1e5", "1E-2", "1e-2", "9" * 19, "9" * 30, "-0.0", "0.5",
          "NaN", "true", '""', '"Infinity"', '"\\u00e9"', "[]", "[[]]", "[[1,2,3,0.5]]",
          "[[1,2,3,null]]", "[[1,2],[3]]", "{}", '{"load":1}', '{"load":"x"}', '{},"timed":true',
          '{},"trial":{}', '{}},"extra":{"load":{}', "é", " 1", ""]  # fmt: skip


def by_parser(outcome: Outcome) -> Outcome:
    return outcome_of(json.loads(to_bytes(outcome_record(outcome))))


def rest_of(line: bytes) -> bytes:
    taken, rest = TrialsOfLines().taken_from(line.rstrip())
    assert taken is not None
    return rest


@given(_OUTCOMES)
def test_an_outcome_is_the_one_that_the_parser_finds(outcome: Outcome) -> None:
    found = ordinary_outcome(outcome.trial, rest_of(outcome_line(outcome)))
    assert found == outcome
    assert repr(found) == repr(by_parser(outcome)) == repr(outcome)


@pytest.mark.parametrize(
    "change",
    [{"reason": "no"}, {"finished": "é"}, {"environment": 'a"b'}, {"total": float("inf")},
     {"rows": 10**18}, {"seconds": 2}, {"seconds": 1e17}, {"extra": {"device": "a\\b"}}],
)  # fmt: skip
def test_a_line_of_another_form_is_left_to_the_parser(change: dict[str, Any]) -> None:
    outcome = replace(Outcome(trial(), "done", 10, 3, 0.5), **change)
    line = outcome_line(outcome)
    assert ordinary_outcome(outcome.trial, rest_of(line)) is None
    read = contents_of(Path("results.jsonl"), BytesIO(header_line() + line)).measured
    assert [repr(one) for one in read] == [repr(outcome)]


@given(
    name=st.sampled_from(
        ["rows", "total", "seconds", "cpu_seconds", "support", "bytes", "curve", "timed",
         "environment", "finished", "extra", "status", "reason"]
    ),
    word=st.sampled_from(_WORDS) | st.text(alphabet='0123456789.e-+"{}[],:nul', max_size=8),
)  # fmt: skip
def test_no_line_is_taken_that_the_parser_refuses_or_reads_otherwise(name: str, word: str) -> None:
    of = trial()
    rest = rest_of(outcome_line(Outcome(of, "done", 10, 3, 0.5, 0.25, extra={"load": 0.5})))
    old = re.compile(rf'"{name}":(\[\]|\{{[^}}]*\}}|"[^"]*"|[^,}}]*)'.encode())
    changed, count = old.subn(lambda _: f'"{name}":{word}'.encode(), rest)
    assert count == 1
    found = ordinary_outcome(of, changed)
    if found is not None:
        record = decode(changed.decode())
        assert record.keys() == {"outcome", "crc"}
        assert repr(found) == repr(outcome_of(record["outcome"], of))


def test_numbers_that_are_met_again_are_one_object() -> None:
    line = outcome_line(Outcome(trial(), "done", 54321, 4321, 0.5, bytes=123456, finished="2026"))
    first, second = (ordinary_outcome(trial(), rest_of(line)) for _ in range(2))
    assert first is not None
    assert second is not None
    for name in ("rows", "total", "bytes", "finished"):
        assert getattr(first, name) is getattr(second, name)


def test_an_ordinary_line_without_a_checksum_is_refused_where_lines_have_one() -> None:
    line = to_bytes({"outcome": outcome_record(Outcome(trial(), "done", 10, 3, 0.5))})
    with pytest.raises(StoreError, match=r":2: .*it has no checksum"):
        contents_of(Path("results.jsonl"), BytesIO(header_line() + line))
    old = to_bytes({"okbench": "results", "schema": 2})
    assert len(contents_of(Path("results.jsonl"), BytesIO(old + line)).measured) == 1
    with pytest.raises(StoreError, match=":1: not a file of okbench results"):
        contents_of(Path("results.jsonl"), BytesIO(line))
