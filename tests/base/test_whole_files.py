"""A name stands for the old content or the new one, whatever goes wrong."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from okbench.base.errors import StoreError
from okbench.base.whole_files import copy_whole, move_into_place, replacing, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_in_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert names(path.parent) == ["file"]


def test_a_copy_is_whole_or_not_there(tmp_path: Path) -> None:
    path, source = tmp_path / "a" / "copy", tmp_path / "source"
    source.write_bytes(bytes(range(256)) * 9000)  # more than one piece
    copy_whole(source, path)
    assert path.read_bytes() == source.read_bytes()
    with pytest.raises(StoreError, match="copy: cannot be written"):
        copy_whole(tmp_path / "absent", path)
    assert path.read_bytes() == source.read_bytes()
    assert names(path.parent) == ["copy"]


def test_a_block_that_raises_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as file:
            file.write(b"half of the ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_nothing_is_seen_under_the_name_before_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("call", ["fsync", "open"])
def test_a_full_disk_leaves_the_old_content_and_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(*((os, "fsync", full) if call == "fsync" else (Path, "open", full)))
        with pytest.raises(StoreError, match="file: cannot be written: No space left"):
            write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_bytes_are_on_the_disk_before_they_get_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        calls.append("folder" if Path(f"/proc/self/fd/{descriptor}").is_dir() else "file")
        sync(descriptor)

    def replaced(self: Path, target: Path) -> Path:
        calls.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_whole(tmp_path / "file", b"new")
    assert calls == ["file", "replace", "folder"]


def test_the_umask_decides_who_may_read(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", bytearray()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.extend(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(timeout=30)
    assert bytes(read) == b"through"
    assert pipe.is_fifo()


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        write_whole(tmp_path, b"new")


def test_a_finished_file_takes_its_name(tmp_path: Path) -> None:
    (tmp_path / "part").write_bytes(b"new")
    move_into_place(tmp_path / "part", tmp_path / "file")
    assert names(tmp_path) == ["file"]


def test_many_writers_of_one_name_leave_one_whole_file(tmp_path: Path) -> None:
    path, contents = tmp_path / "file", [bytes([n]) * 200_000 for n in range(8)]
    threads = [threading.Thread(target=write_whole, args=(path, data)) for data in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["file"]
