"""The lines of a results file as they are written, each with a checksum at its end, by which a
damaged line is found.

    {"outcome":{…},"crc":"3f2a90c1"}

It is the CRC-32 of the bytes of the line before `,"crc"`, so every line stays JSON by itself, and
lines can be put into another file. Files of schema 1 and 2 have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.store.plans import CellPlan, plan_record
from okbench.trials.trial_types import Outcome

SCHEMA = 3
_KEY = b',"crc":"'
_LENGTH = len(_KEY) + 8 + len(b'"}')


def header_line(**more: Any) -> bytes:
    """The first line of a file, with what a baseline says more."""
    return _sealed({"okbench": "results", "schema": SCHEMA, **more})


def environment_line(hash_: str, environment: Mapping[str, Any]) -> bytes:
    """A machine and its versions."""
    return _sealed({"environment": environment, "hash": hash_})


def plan_line(plan: CellPlan) -> bytes:
    """What a run planned for a cell."""
    return _sealed({"plan": plan_record(plan)})


def outcome_line(outcome: Outcome) -> bytes:
    """What came of a trial."""
    return _sealed({"outcome": outcome_record(outcome)})


def is_intact(line: bytes) -> bool | None:
    """Whether a line, without its newline, has the checksum that it states; None if it states
    none."""
    end = line[-_LENGTH:]
    if not (end.startswith(_KEY) and end.endswith(b'"}')):
        return None
    return end[len(_KEY) : -2] == b"%08x" % crc32(line[:-_LENGTH])


def _sealed(record: Mapping[str, Any]) -> bytes:
    line = to_bytes(record)[: -len(b"}\n")]
    return b'%b%b%08x"}\n' % (line, _KEY, crc32(line))
