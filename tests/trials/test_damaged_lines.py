"""Whatever byte of a results file is changed: the line is named, or the file means the same."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from trial_material import trial

from okbench.base.errors import StoreError
from okbench.trials.store.files import Store
from okbench.trials.store.lines import header_line, plan_line
from okbench.trials.store.outcome_json import to_bytes
from okbench.trials.store.plans import CellPlan
from okbench.trials.store.read_lines import contents_of
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

COMMITTED = Path(__file__).parents[1] / "reports" / "results_files"
PATH = Path("small.jsonl")


def small_file(folder: Path) -> bytes:
    """A line of every kind, and the last two of outcomes."""
    store = Store(folder / "small.jsonl")
    settings = (("name", "z"), ("step", 0.5), ("widths", (1, 2)))
    with store.writer({"cpu": "one", "cores": 2}, "m1") as writer:
        writer.plan([CellPlan("t", "A", trial(), frozenset(), frozenset({"step"}))])
        for repetition in range(2):
            of = trial(settings=settings, repetition=repetition)
            curve = ((5, 1, None, 0.25), (10, 3, 2, 0.5))
            writer.add(Outcome(of, "failed", 10, 3, 1.0, support=2, curve=curve, reason="é: no"))
    return store.path.read_bytes()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return small_file(tmp_path_factory.mktemp("small"))


def found_in(data: bytes) -> int | None:
    """The number of the line that is found to be damaged."""
    try:
        contents_of(PATH, BytesIO(data))
    except StoreError as error:
        found = re.match(r"small\.jsonl:(\d+): ", str(error))
        return int(found[1]) if found else -1
    return None


def test_every_single_bit_that_flips_is_found_in_its_line(small: bytes) -> None:
    for place in range(len(small)):
        line = small.count(b"\n", 0, place) + 1
        for bit in range(8):
            flipped = bytearray(small)
            flipped[place] ^= 1 << bit
            assert found_in(bytes(flipped)) == line, (place, bit)


@given(st.data())
def test_bytes_that_are_written_over_are_found_in_the_line_of_the_first(
    small: bytes, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(small) - 1))
    over = data.draw(st.binary(min_size=1, max_size=4))
    changed = small[:place] + over + small[place + len(over) :]
    whole, now = contents_of(PATH, BytesIO(small)), found_in(changed)
    if now is None:  # nothing but the end of the file is gone, as after a crash, or white space
        assert is_beginning(contents_of(PATH, BytesIO(changed)), whole)
    else:
        line = small.count(b"\n", 0, place) + 1
        assert line <= now <= line + over.count(b"\n") + 1


def is_beginning(some: Contents, whole: Contents) -> bool:
    return (
        some.measured == whole.measured[: len(some.measured)]
        and some.plans == whole.plans[: len(some.plans)]
        and some.environments.items() <= whole.environments.items()
    )


@given(st.integers(0, 10**6))
@example(0)
def test_a_file_that_ends_early_holds_what_stood_before(small: bytes, length: int) -> None:
    kept = small[: length % len(small)]
    contents = contents_of(PATH, BytesIO(kept))
    assert is_beginning(contents, contents_of(PATH, BytesIO(small)))
    assert contents.end == kept.rfind(b"\n") + 1


def test_a_damaged_header_of_a_baseline_is_found(tmp_path: Path) -> None:
    line = header_line(blessed={"table": "t", "reason": "so", "date": "d", "okbench": "0"})
    for place in range(len(line) - 1):
        flipped = bytearray(line)
        flipped[place] ^= 2
        assert found_in(bytes(flipped)) == 1, place


def test_a_line_without_a_checksum_among_lines_with_one_is_damaged(small: bytes) -> None:
    lines = small.splitlines(keepends=True)
    lines[-1] = lines[-1][: -len(b',"crc":"01234567"}\n')] + b"}\n"
    with pytest.raises(StoreError, match=r"small\.jsonl:5: a damaged line \(it has no checksum"):
        contents_of(PATH, BytesIO(b"".join(lines)))


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_files_of_every_schema_are_read(schema: int) -> None:
    contents = Store(COMMITTED / f"schema{schema}.jsonl").read()
    assert contents.schema == schema
    assert (len(contents.measured), bool(contents.plans)) == (9, schema > 1)
    assert {one.status for one in contents.measured} == {"done"}


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("second", [1, 2, 3])
def test_files_of_any_two_schemas_can_be_put_into_one_by_hand(first: int, second: int) -> None:
    parts = [(COMMITTED / f"schema{schema}.jsonl").read_bytes() for schema in (first, second)]
    contents = contents_of(PATH, BytesIO(b"".join(parts)))
    assert len(contents.measured) == sum(len(contents_of(PATH, BytesIO(p)).measured) for p in parts)


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_what_is_added_to_a_file_of_any_schema_has_checksums(schema: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    before = (COMMITTED / f"schema{schema}.jsonl").read_bytes()
    store.path.write_bytes(before)
    with store.writer({}, "m") as writer:
        writer.add(Outcome(trial(), "done", 10, 3))
    added = store.path.read_bytes().removeprefix(before).splitlines()
    assert ["okbench" in json.loads(line) for line in added] == [True, False, False][-len(added) :]
    assert len(added) == (3 if schema < 3 else 2)
    flipped = store.path.read_bytes().replace(b'"total":3,', b'"total":2,')
    with pytest.raises(StoreError, match="it was changed after it was written"):
        contents_of(PATH, BytesIO(flipped))


def test_lines_taken_from_one_file_and_put_into_another_are_read(small: bytes) -> None:
    old = to_bytes({"okbench": "results", "schema": 2})
    lines = small.splitlines(keepends=True)
    assert len(contents_of(PATH, BytesIO(old + lines[-1] + lines[-2])).measured) == 2
    assert found_in(old + lines[-1].replace(b'"total":3', b'"total":2')) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"\n",
        lambda data: data + b"\r\n \t\n",
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\n\n"),
    ],
    ids=["byte order mark", "blank line", "blank lines", "other line ends", "every second blank"],
)
def test_what_editors_add_changes_nothing(change: object, small: bytes, tmp_path: Path) -> None:
    assert callable(change)
    whole, edited = contents_of(PATH, BytesIO(small)), contents_of(PATH, BytesIO(change(small)))
    assert (edited.measured, edited.plans) == (whole.measured, whole.plans)
    store = Store(tmp_path / "t.jsonl")
    store.path.write_bytes(change(small))
    assert store.blessed() == {}
    with store.writer({}, "m") as writer:
        writer.add(Outcome(trial(repetition=9), "done", 10, 3))
    assert len(store.read().measured) == 3


@pytest.mark.parametrize("schema", ["-3", "0", "1.9", '"2"', "true", "null", "[]"])
def test_a_schema_that_cannot_be_is_refused(schema: str) -> None:
    with pytest.raises(StoreError, match=r"small\.jsonl:1: a damaged line \(schema is "):
        contents_of(PATH, BytesIO(b'{"okbench":"results","schema":%b}\n' % schema.encode()))


def test_a_checksum_written_in_another_form_is_refused(small: bytes) -> None:
    old = to_bytes({"okbench": "results", "schema": 2})
    last = small.splitlines(keepends=True)[-1].replace(b'"crc":', b'"crc": ')
    with pytest.raises(StoreError, match=r"small\.jsonl:2: .*unknown key 'crc'"):
        contents_of(PATH, BytesIO(old + last))


def test_a_plan_that_was_changed_is_found() -> None:
    line = plan_line(CellPlan("t", "A", trial(), frozenset(), frozenset()))
    assert found_in(header_line() + line.replace(b'"label":"A"', b'"label":"B"')) == 2
