"""Each I/O call of what writes results fails in turn: the file is the old or the new one, the
message says which, and the next attempt succeeds.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from outcome_material import MACHINE, outcome, results_file, trial
from small_table import all_measured, small_table

from okbench.base.errors import StoreError
from okbench.reports.guard.bless import bless
from okbench.reports.guard.merge import merge
from okbench.trials.plan.options import Options
from okbench.trials.store.files import Store
from tests.io_faults import KINDS, Fault, Kind, each_call_failing

TABLE = small_table()
OLD, NEW = ([outcome(5, trial(repetition=n), environment="e") for n in part]
            for part in (range(2), range(2, 4)))  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("torn", [b"", b'{"outcome":{"id'], ids=["whole", "cut short"])
@pytest.mark.parametrize("stands", [True, False], ids=["a file", "no file"])
def test_a_run_keeps_what_it_wrote(stands: bool, torn: bytes, kind: Kind, tmp_path: Path) -> None:
    path = tmp_path / "into" / "t.jsonl"
    store, old = Store(path), OLD if stands else []
    failed = set()
    for fault in each_call_failing(tmp_path, kind):
        path.unlink(missing_ok=True)
        if stands:
            results_file(path, OLD)
            path.write_bytes(path.read_bytes() + torn)
        written = []
        with fault, store.writer(MACHINE, "e") as writer:
            for one in NEW:
                written.append(writer.add(one))
        failed.add(fault.call.partition(" ")[0])
        kept = list(store.read().measured)
        # a disk that takes nothing back either may keep the line that was not confirmed
        assert kept == [*old, *written] or (
            kept == [*old, *NEW[: len(written) + 1]] and kind.lasting
        ), str(fault)
        if fault.error is not None:
            check_message(fault, path)
            assert ("is kept" in str(fault.error)) or "Nothing was changed" in str(fault.error)
            assert len(written) < len(NEW), str(fault)
        with store.writer(MACHINE, "e") as writer:
            for one in NEW[len(kept) - len(old) :]:
                writer.add(one)
        assert list(store.read().measured) == [*old, *NEW], str(fault)
    assert {"open", "write", "fsync"} <= failed
    assert ("truncate" in failed) == bool(stands and torn)


def check_message(fault: Fault, path: Path) -> None:
    assert isinstance(fault.error, StoreError), str(fault)
    assert str(path) in str(fault.error), str(fault)
    assert "To go on:" in str(fault.error), str(fault)


def test_a_writer_goes_on_after_a_disk_was_full_for_a_while(tmp_path: Path) -> None:
    store = Store(tmp_path / "t.jsonl")
    with store.writer(MACHINE, "e") as writer:
        for kind in KINDS:
            for fault in each_call_failing(tmp_path, kind):
                before = store.read().measured
                with fault:
                    writer.add(NEW[0])
                kept = store.read().measured
                assert kept == before if fault.error else kept == [*before, NEW[0]], str(fault)
    assert not store.read().torn


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("name", ["merge", "bless"])
def test_a_file_is_replaced_whole(name: str, kind: Kind, tmp_path: Path) -> None:
    into, path = tmp_path / "into", tmp_path / "into" / f"{TABLE.name}.jsonl"
    results_file(tmp_path / "more" / f"{TABLE.name}.jsonl", NEW)
    results_file(tmp_path / "measured" / f"{TABLE.name}.jsonl", all_measured(TABLE))
    header = {"table": TABLE.name, "reason": "before"} if name == "bless" else None

    def work() -> None:
        if name == "merge":
            merge([tmp_path / "more"], into)
        else:
            bless(TABLE, tmp_path / "measured", into, "now", Options())

    results_file(path, OLD, header)
    work()
    new, failed = path.read_bytes(), set()
    for fault in each_call_failing(into, kind):
        old = results_file(path, OLD, header).read_bytes()
        with fault:
            work()
        failed.add(fault.call.partition(" ")[0])
        assert path.read_bytes() in (old, new), str(fault)
        if fault.error is not None:
            check_message(fault, path)
            is_new = path.read_bytes() == new
            assert ("The new results are in place" in str(fault.error)) == is_new, str(fault)
            assert os.strerror(kind.code) in str(fault.error)
        work()
        assert path.read_bytes() == new
    assert {"open", "write", "fsync", "replace"} <= failed
