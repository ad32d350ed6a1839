"""Results files as no okbench writes them: every command either works or ends in one message."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from okbench.base.errors import StoreError
from okbench.trials.store.outcome_json import setting_of, to_bytes
from okbench.trials.store.read_lines import contents_of
from okbench.trials.trial_types import Trial
from tests.cli.conftest import Okbench

FILES = Path(__file__).parents[1] / "reports" / "results_files"
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2, 10**400, 0.5, 1e308, "", "Infinity", "NaN", "x\x1b[2J\ud800"),
    *([], [1], [[1, 2]], [[10, "NaN", None, 0.5]], {}, {"name": 5}, {"a": {"b": []}}),
)
COMMANDS = (
    ("report", "tiny.yaml"),
    ("report", "tiny.yaml", "--format", "json"),
    ("check", "tiny.jsonl", "runs/tiny.jsonl"),
    ("check", "runs/tiny.jsonl", "tiny.jsonl"),
    ("compare", "tiny.jsonl", "runs/tiny.jsonl"),
    ("compare", "tiny.yaml"),
    ("export", "runs", "-o", "all.csv"),
    ("export", "runs", "-o", "all.parquet"),
    ("export", "runs", "-o", "points.parquet", "--curves"),
    ("show", "0"),
    ("merge", "runs", "tiny.jsonl", "--into", "merged"),
    ("site", "--to", "pages"),
)
LINES = [json.loads(line) for line in (FILES / "schema2.jsonl").read_bytes().splitlines()]
KINDS = ("okbench", "environment", "plan", "outcome")


def changed_records() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """One value of the first line of each kind replaced by each other value, left out, or put into
    a list; the ids of trials fit."""
    header = {**LINES[0], "blessed": {"table": "tiny", "reason": "so", "date": "d", "okbench": "0"}}
    lines = [header, *LINES[1:]]
    for kind in KINDS:
        number = next(n for n, line in enumerate(lines) if kind in line)
        for place in places(lines[number]):
            for label, value in (*((repr(v), v) for v in VALUES), ("nested", ...), ("gone", ...)):
                changed = deepcopy(lines)
                put(changed[number], place, value, label)
                with suppress(Exception):
                    give_id(changed[number]["outcome"])
                yield f"{'.'.join(map(str, place))} {label}", changed


def places(record: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value; of a list, to its first element."""
    if isinstance(record, dict):
        for key, value in record.items():
            yield (*above, key)
            yield from places(value, (*above, key))
    elif isinstance(record, list) and record:
        yield (*above, 0)
        yield from places(record[0], (*above, 0))


def put(record: Any, place: tuple[Any, ...], value: Any, label: str) -> None:
    *way, last = place
    for key in way:
        record = record[key]
    if label == "gone":
        del record[last]
    else:
        record[last] = [record[last]] if label == "nested" else value


def give_id(outcome: dict[str, Any]) -> None:
    settings = {name: setting_of(value) for name, value in outcome["trial"]["settings"].items()}
    outcome["id"] = Trial(**{**outcome["trial"], "settings": tuple(settings.items())}).id


def changed_bytes(count: int) -> Iterator[tuple[str, bytes]]:
    """Bytes written over, cut out and doubled, in files with and without checksums."""
    draw = random.Random(5)
    for number in range(count):
        data = bytearray((FILES / f"schema{draw.choice((1, 2, 3))}.jsonl").read_bytes())
        for _ in range(draw.choice((1, 1, 2, 8))):
            place = draw.randrange(len(data))
            length = draw.choice((1, 1, 2, 5, 200))
            part = bytes(data[place : place + length])
            data[place : place + length] = draw.choice(
                (
                    b"",
                    part * 2,
                    draw.randbytes(length),
                    draw.choice((b"9", b'"', b"[", b"null", b"-")),
                )
            )
        yield f"bytes {number}", bytes(data)


def readable(data: bytes) -> bool:
    """Whether a file can be read; otherwise one StoreError says which line of it cannot."""
    try:
        contents_of(Path("tiny.jsonl"), BytesIO(data))
    except StoreError as error:
        message = str(error)
        assert re.match(r"tiny\.jsonl:\d+: ", message), message
        assert len(message) < 400, message
        assert message.isprintable(), message
        return False
    return True


def all_variants() -> Iterator[tuple[str, bytes]]:
    for name, lines in changed_records():
        yield name, b"".join(map(to_bytes, lines))
    yield from changed_bytes(300)


def check_commands(okbench: Okbench, name: str, data: bytes) -> None:
    for path in (Path("runs/tiny.jsonl"), Path("results/tiny.jsonl")):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    for command in COMMANDS:
        printed = okbench(*command)
        assert printed.code in range(5), (name, command, printed)
        assert "\x1b" not in printed.out + printed.err, (name, command)


@pytest.fixture
def world(okbench: Okbench) -> Okbench:
    """A folder with the table of the committed files, and one of these."""
    shutil.copy(FILES / "tiny.yaml", "tiny.yaml")
    shutil.copy(FILES / "schema3.jsonl", "tiny.jsonl")
    return okbench


def test_a_changed_file_is_read_or_refused_by_line_and_every_command_ends(world: Okbench) -> None:
    accepted = [(name, data) for name, data in all_variants() if readable(data)]
    for name, data in random.Random(7).sample(accepted, 5):
        check_commands(world, name, data)
