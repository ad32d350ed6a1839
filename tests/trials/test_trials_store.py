from __future__ import annotations

import errno
import json
import math
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from trial_material import trial

from okbench.base.errors import StoreError
from okbench.base.plain_text import plain
from okbench.trials.store.files import Store
from okbench.trials.store.lines import header_line, outcome_line
from okbench.trials.store.outcome_json import outcome_of, outcome_record, to_bytes
from okbench.trials.trial_types import Outcome, Status

MACHINE = {"cpu": "one", "cores": 2}
HEADER = header_line()


OLD = b'{"okbench":"results","schema":2}\n'


def outcome(repetition: int = 0, status: Status = "done", **changes: Any) -> Outcome:
    given = {"rows": 600, "total": 12, "seconds": 0.5, "curve": ((600, 12, None, 0.5),)}
    return Outcome(trial(repetition=repetition), status, **{**given, **changes})


def filled(folder: Path, *outcomes: Outcome) -> Store:
    store = Store.of(folder, "lsokl/table5")
    with store.writer(MACHINE, "m1") as writer:
        for one in outcomes:
            writer.add(one)
    return store


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    written = [outcome(0), outcome(1, "timeout", reason="3 s — the limit is 2 s")]
    store = filled(tmp_path, *written)
    assert store.path == tmp_path / "lsokl" / "table5.jsonl"
    assert store.outcomes() == {one.trial.id: replace(one, environment="m1") for one in written}
    assert store.environments() == {"m1": MACHINE}


def test_a_file_that_is_not_there_has_no_outcomes(tmp_path: Path) -> None:
    assert Store(tmp_path / "none.jsonl").outcomes() == {}
    assert not (tmp_path / "none.jsonl").exists()


def test_an_environment_is_written_once(tmp_path: Path) -> None:
    filled(tmp_path, outcome(0), outcome(1))
    store = filled(tmp_path, outcome(2))
    with store.writer({"cpu": "two"}, "m2") as writer:
        writer.add(outcome(3))
    lines = [json.loads(line) for line in store.path.read_text(encoding="utf-8").splitlines()]
    assert [next(iter(line)) for line in lines] == [
        "okbench",
        *("environment", "outcome", "outcome", "outcome"),
        *("environment", "outcome"),
    ]


NUMBERS = st.floats() | st.integers(-(2**53), 2**53)
TOTALS = st.floats(min_value=0.0) | st.just(math.nan) | st.integers(0, 2**53)
PLAIN = st.booleans() | NUMBERS | st.text(max_size=5)
SETTINGS = st.dictionaries(
    st.text(min_size=1, max_size=5),
    st.none() | PLAIN | st.lists(PLAIN, max_size=4).map(tuple),
    max_size=4,
)


@given(SETTINGS, TOTALS, st.text(max_size=20))
@example({"a": (8, 8.0, True, "8", math.inf, "Infinity", "\\NaN"), "b": (), "c": ("",)}, 1.0, "")
@example({"a": "NaN", "b": "\\NaN", "c": math.nan, "d": "\\", "e": "-Infinity"}, 1.0, "")
def test_any_outcome_survives_strict_json(
    settings: dict[str, Any], total: float, reason: str
) -> None:
    what = replace(trial(), settings=tuple(sorted(settings.items())))
    before = Outcome(what, "done", total=total, reason=reason, curve=((1, total, 2, 0.5),))
    line = to_bytes(outcome_record(before))

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    after = outcome_of(json.loads(line, parse_constant=refuse))
    assert line.count(b"\n") == 1
    assert after.trial.id == what.id
    assert repr(after) == repr(replace(before, reason=plain(reason)))


def test_the_later_line_of_a_trial_stands(tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(total=12), outcome(total=11))
    assert [one.total for one in store.outcomes().values()] == [11]


@pytest.mark.parametrize(
    ("endings", "stands"),
    [
        (["done", "failed"], "done"),
        (["done", "interrupted"], "done"),
        (["done", "timeout"], "done"),
        (["failed", "done"], "done"),
        (["failed", "timeout"], "timeout"),
        (["timeout", "interrupted"], "timeout"),
        (["interrupted", "failed"], "failed"),
    ],
)
def test_a_worse_ending_never_hides_a_better_one(
    endings: list[Status], stands: Status, tmp_path: Path
) -> None:
    store = filled(tmp_path, *(outcome(status=status) for status in endings))
    assert [one.status for one in store.outcomes().values()] == [stands]


def test_timed_and_untimed_outcomes_are_kept_apart(tmp_path: Path) -> None:
    store = filled(
        tmp_path,
        outcome(0, seconds=1.0, timed=True),
        outcome(0, seconds=2.0),
        outcome(1, seconds=3.0),
        outcome(1, "failed", timed=True),
    )
    shown = list(store.outcomes().values())
    assert {one.trial.repetition: one.seconds for one in shown} == {0: 1.0, 1: 3.0}
    assert [one.status for one in store.outcomes(timed=True).values()] == ["failed", "done"]
    assert [one.seconds for one in store.outcomes(timed=False).values()] == [2.0, 3.0]


@pytest.mark.parametrize("cut", [1, 10, 200])
def test_a_line_cut_short_is_ignored_by_readers_and_dropped_by_the_next_writer(
    cut: int, tmp_path: Path
) -> None:
    store = filled(tmp_path, outcome(0), outcome(1))
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-cut])
    assert [one.trial.repetition for one in store.outcomes().values()] == [0]
    assert store.path.read_bytes() == whole[:-cut]
    with store.writer(MACHINE, "m1") as writer:
        assert "the last line was cut short" in writer.recovered
        writer.add(outcome(1))
    assert store.path.read_bytes() == whole


@pytest.mark.parametrize("length", [0, 1, 20, len(HEADER) - 1])
def test_a_header_cut_short_is_written_again(length: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    store.path.write_bytes(HEADER[:length])
    assert store.outcomes() == {}
    with store.writer(MACHINE, "m1") as writer:
        assert bool(writer.recovered) == (length > 0)
        writer.add(outcome())
    assert store.path.read_bytes().startswith(HEADER)
    assert len(store.outcomes()) == 1


STRANGERS = {
    "no json": b"name,mistakes\nOGD,12\n",
    "other json": b'{"some": "thing"}\n',
    "a list": b"[1, 2]\n",
    "other okbench": b'{"okbench": "cache", "schema": 1}\n',
    "no schema": b'{"okbench": "results"}\n',
    "no newline": b"hello",
    "bytes": b"\x80\x81\n\x00",
    "blank line": b"\n",
}


@pytest.mark.parametrize("what", STRANGERS)
def test_a_file_that_is_not_ours_is_refused_and_untouched(what: str, tmp_path: Path) -> None:
    store = Store(tmp_path / "mine.jsonl")
    store.path.write_bytes(STRANGERS[what])
    with pytest.raises(StoreError, match=r"mine.jsonl:1: not a file of okbench results"):
        store.outcomes()
    with (
        pytest.raises(StoreError, match="not a file of okbench results"),
        store.writer(MACHINE, "m1"),
    ):
        pass
    assert store.path.read_bytes() == STRANGERS[what]


def test_a_newer_schema_is_refused_and_untouched(tmp_path: Path) -> None:
    store = Store(tmp_path / "new.jsonl")
    newer = b'{"okbench":"results","schema":4}\n{"something":"else"}\n'
    store.path.write_bytes(newer)
    with (
        pytest.raises(StoreError, match=r"written by a newer okbench \(schema 4; .* Upgrade"),
        store.writer(MACHINE, "m1"),
    ):
        pass
    assert store.path.read_bytes() == newer


DAMAGE = {
    "no json": b"}{",
    "nul": b"\x00\x00",
    "no bytes of text": b"\xff\xfe",
    "a number": b"5",
    "unknown key": b'{"outcome":{"colour":1}}',
    "nothing known": b"{}",
    "nested without end": b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_line_in_the_middle_is_named_and_the_file_untouched(
    damage: str, tmp_path: Path
) -> None:
    store = filled(tmp_path, outcome(0), outcome(1))
    lines = store.path.read_bytes().splitlines()
    lines[2] = DAMAGE[damage]
    broken = b"\n".join(lines) + b"\n"
    store.path.write_bytes(broken)
    with (
        pytest.raises(StoreError, match=r"table5.jsonl:3: a damaged line \(.*nothing was changed"),
        store.writer(MACHINE, "m1"),
    ):
        pass
    assert store.path.read_bytes() == broken


def test_an_outcome_changed_by_hand_is_noticed(tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(0))
    whole = store.path.read_bytes()
    store.path.write_bytes(whole.replace(b'"seed":0', b'"seed":1'))
    with pytest.raises(StoreError, match=r"jsonl:3: .*it was changed after it was written"):
        store.outcomes()
    changed = outcome_line(outcome(0)).replace(b'"seed":0', b'"seed":1')
    store.path.write_bytes(OLD + changed[: -len(b',"crc":"01234567"}\n')] + b"}\n")
    with pytest.raises(StoreError, match=r"jsonl:2: .*is not that of its trial"):
        store.outcomes()


@pytest.mark.parametrize("figure", ["rows", "total", "seconds", "bytes"])
def test_a_figure_that_is_no_number_is_a_damaged_line(figure: str, tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(0))
    wrong = outcome(1, **{figure: "12"})
    store.path.write_bytes(store.path.read_bytes() + outcome_line(wrong))
    with pytest.raises(StoreError, match=rf"jsonl:4: .*{figure} is '12', which is not a"):
        store.outcomes()


def test_an_outcome_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(0))
    before = store.path.read_bytes()
    with pytest.raises(StoreError, match="not written: rows is -1"):
        filled(tmp_path, outcome(1, rows=-1))
    assert store.path.read_bytes() == before


def test_two_files_put_into_one_are_read(tmp_path: Path) -> None:
    first, second = filled(tmp_path / "a", outcome(0)), filled(tmp_path / "b", outcome(1))
    first.path.write_bytes(first.path.read_bytes() + second.path.read_bytes())
    assert len(first.outcomes()) == 2


def test_a_folder_where_nothing_can_be_locked_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: Any, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match="cannot lock the results: No locks available"):
        filled(tmp_path, outcome(0))


def test_a_second_writer_is_told_to_wait(tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(0))
    with (
        store.writer(MACHINE, "m1"),
        pytest.raises(StoreError, match="another okbench run is writing here"),
        Store(store.path).writer(MACHINE, "m1"),
    ):
        pass
    with store.writer(MACHINE, "m1") as writer:
        writer.add(outcome(1))


def test_a_full_disk_is_told_and_leaves_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = filled(tmp_path, outcome(0))
    before = store.path.read_bytes()

    def full(file: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with store.writer(MACHINE, "m1") as writer:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match=r"No space left.*before is kept.*free some space"):
            writer.add(outcome(1))
        assert store.path.read_bytes() == before
        monkeypatch.undo()
        writer.add(outcome(1))
    assert len(store.outcomes()) == 2


def test_a_line_that_fits_only_in_part_is_taken_back(tmp_path: Path) -> None:
    store = filled(tmp_path, outcome(0))
    before = store.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
        with (
            pytest.raises(StoreError, match="cannot write the results: File too large"),
            store.writer(MACHINE, "m1") as writer,
        ):
            writer.add(outcome(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert store.path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "open", refuse)
    with (
        pytest.raises(StoreError, match=r"cannot open .*Read-only file system.*--results"),
        Store(tmp_path / "t.jsonl").writer(MACHINE, "m1"),
    ):
        pass


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "lsokl").write_text("in the way", encoding="utf-8")
    with (
        pytest.raises(StoreError, match="cannot open the results"),
        Store.of(tmp_path, "lsokl/table5").writer(MACHINE, "m1"),
    ):
        pass


def test_a_folder_or_device_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/dev/full")):
        with pytest.raises(StoreError, match="not a file"):
            Store(place).outcomes()
        with pytest.raises(StoreError, match="not a file"), Store(place).writer(MACHINE, "m1"):
            pass


def test_the_lock_is_on_a_file_beside_the_results(tmp_path: Path) -> None:
    store = Store(tmp_path / "into" / "t.jsonl")
    with store.locked():
        assert not store.path.exists()
        assert [one.name for one in store.path.parent.iterdir()] == ["t.jsonl.lock"]
        with pytest.raises(StoreError, match="another okbench run is writing here"), store.locked():
            pass
    with store.locked():
        pass


def test_a_file_has_one_lock_by_all_its_names(tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "there" / "t.jsonl")
    with (
        Store(tmp_path / "link.jsonl").locked(),
        pytest.raises(StoreError, match="another okbench run"),
        Store(tmp_path / "there" / "t.jsonl").locked(),
    ):
        pass


@pytest.mark.parametrize("how", ["replaced", "removed", "added to", "cut"])
def test_what_another_program_does_to_the_file_meanwhile_is_noticed_and_left_alone(
    how: str, tmp_path: Path
) -> None:
    store = filled(tmp_path, outcome(0), outcome(1))
    whole = store.path.read_bytes()
    with store.writer(MACHINE, "m1") as writer:
        if how in ("replaced", "removed"):
            store.path.unlink()
        if how == "replaced":
            store.path.write_bytes(whole)
        if how == "added to":
            store.path.write_bytes(whole + outcome_line(outcome(3)))
        if how == "cut":
            os.truncate(store.path, 10)
        before = store.path.read_bytes() if store.path.exists() else None
        with pytest.raises(StoreError, match="replaced, removed or changed the results while"):
            writer.add(outcome(2))
    assert (store.path.read_bytes() if store.path.exists() else None) == before


def test_a_new_file_s_name_is_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("okbench.trials.store.files.sync_folder", synced.append)
    filled(tmp_path, outcome(0))
    assert tmp_path / "lsokl" in synced


KILLED = """
import os, sys
from pathlib import Path
from okbench.base.whole_files import replacing
ours, others = map(Path, sys.argv[1:])
with replacing(ours) as one, replacing(others) as other:
    one.write(b"half of the ne")
    os._exit(9)
"""


def test_what_a_killed_process_was_writing_is_removed_and_nothing_else(
    tmp_path: Path,
) -> None:
    ours, others = tmp_path / "ours.jsonl", tmp_path / "others.jsonl"
    subprocess.run([sys.executable, "-c", KILLED, ours, others], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    with Store(ours).locked():
        (left,) = (path for path in tmp_path.iterdir() if path.suffix == ".tmp")
    with Store(others).locked():
        assert not left.exists()
