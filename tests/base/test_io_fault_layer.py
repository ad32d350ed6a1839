"""The layer that makes each I/O call fail in turn, by itself."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from okbench.base import whole_files
from okbench.base.errors import StoreError
from okbench.base.whole_files import write_whole
from tests.io_faults import BAD_SECTOR, FULL_DISK, KINDS, Fault, Kind, each_call_failing


def test_each_call_of_a_write_fails_once(tmp_path: Path) -> None:
    path, failed = tmp_path / "file", []
    for fault in each_call_failing(tmp_path, BAD_SECTOR):
        path.unlink(missing_ok=True)
        with fault, path.open("w+", encoding="utf-8") as file:
            file.write("some text")
            file.flush()
            os.fsync(file.fileno())
            file.truncate(4)
            path.replace(tmp_path / "other")
        failed.append(fault.call)
    assert failed == [
        *("open file", "write file", "fsync file", "truncate file", "replace file", "")
    ]


def test_a_write_that_fails_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for fault in each_call_failing(tmp_path, Kind(errno.ENOSPC, lasting=True)):
        path.unlink(missing_ok=True)
        with fault, path.open("wb", buffering=0) as file:
            file.write(b"12345678")
        if fault.call == "write file":
            assert path.read_bytes() == b"1234"
            assert isinstance(fault.error, OSError)
            assert fault.error.errno == errno.ENOSPC


def test_other_folders_and_other_errors_are_left_alone(tmp_path: Path) -> None:
    calls = []
    for fault in each_call_failing(tmp_path / "watched", FULL_DISK):
        with fault:
            (tmp_path / "elsewhere").write_bytes(b"x")
        calls.append(fault.call)
    assert calls == [""]
    with pytest.raises(ZeroDivisionError), Fault(tmp_path, FULL_DISK, 1):
        raise ZeroDivisionError


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_whole_file_is_the_old_or_the_new_one_whatever_call_fails(
    tmp_path: Path, kind: Kind
) -> None:
    path = tmp_path / "folder" / "file"
    failed = []
    for fault in each_call_failing(tmp_path, kind):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"old")
        with fault:
            write_whole(path, b"new")
        failed.append(fault.call.partition(" ")[0])
        assert path.read_bytes() in (b"old", b"new"), str(fault)
        if fault.error is None:
            assert path.read_bytes() == b"new", str(fault)
        else:
            assert isinstance(fault.error, StoreError), str(fault)
            assert os.strerror(kind.code) in str(fault.error), str(fault)
            assert str(path) in str(fault.error), str(fault)
        write_whole(path, b"new")
        assert path.read_bytes() == b"new"
    assert {"open", "write", "fsync", "replace"} <= set(failed)


def test_a_folder_that_cannot_be_forced_to_the_disk_is_an_error(tmp_path: Path) -> None:
    calls = []
    for fault in each_call_failing(tmp_path, BAD_SECTOR):
        with fault:
            write_whole(tmp_path / "file", b"new")
        calls.append((fault.call, fault.error is None))
    assert calls[-3:-1] == [(f"open {tmp_path.name}", False), (f"fsync {tmp_path.name}", False)]


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"new"


def test_new_folders_are_forced_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(whole_files, "sync_folder", synced.append)
    write_whole(tmp_path / "a" / "b" / "file", b"new")
    assert set(synced) == {tmp_path, tmp_path / "a", tmp_path / "a" / "b"}
