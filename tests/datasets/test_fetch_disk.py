"""Archives, full and closed disks, interruptions, and two processes at once."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from okbench.datasets.fetch import download, obtain
from okbench.datasets.fetch.fetching import Progress
from tests.datasets.fetch_world import ROWS, World, sha256

RIGHT = sha256(ROWS)


def zipped(**members: bytes) -> bytes:
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return box.getvalue()


def taped(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    box = io.BytesIO()
    with tarfile.open(fileobj=box, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return box.getvalue()


def in_archive(world: World, member: str, path: str = "/box", **source: Any) -> dict[str, Any]:
    return {"from": {"url": world.server.url(path), "member": member, **source}}


def test_two_files_of_one_archive_take_one_download(world: World) -> None:
    test = b"1 1:1\n"
    world.serve(zipped(train=ROWS, test=test), path="/box")
    world.describe_all(
        {
            "train": {"name": "train", "content_sha256": RIGHT, **in_archive(world, "train")},
            "test": {"name": "test", "content_sha256": sha256(test), **in_archive(world, "test")},
        }
    )
    assert [result.checked for result in world.fetch_all()] == ["checksum", "checksum"]
    assert len(world.server.asked["/box"]) == 1
    assert world.parts == []


def test_a_right_archive_vouches_for_its_members(world: World) -> None:
    box = zipped(rows=ROWS)
    world.serve(box, path="/box")
    world.describe(**in_archive(world, "rows", sha256=sha256(box)))
    assert world.fetch().checked == "checksum"


def test_a_wrong_archive_is_refused_with_both_hashes(world: World) -> None:
    world.serve(zipped(rows=ROWS), path="/box")
    world.describe(**in_archive(world, "rows", sha256=sha256(b"another archive")))
    result = world.fetch()
    assert sha256(b"another archive") in result.message
    assert result.state == "failed"
    assert world.parts == []


def test_an_archive_packed_anew_is_fine_when_the_member_is_right(world: World) -> None:
    world.serve(zipped(rows=ROWS), path="/box")
    world.describe(content_sha256=RIGHT, **in_archive(world, "rows", sha256=sha256(b"older")))
    assert world.fetch().checked == "checksum"


def test_an_archive_cut_on_the_way_is_continued(world: World) -> None:
    box = zipped(rows=ROWS)
    world.serve(box, "cut:300", "honest", path="/box")
    world.describe(**in_archive(world, "rows", sha256=sha256(box)))
    assert world.fetch().checked == "checksum"
    assert world.server.asked["/box"][1]["Range"] == "bytes=300-"


def test_a_member_that_is_not_there_is_reported_with_those_that_are(world: World) -> None:
    world.serve(zipped(alpha=ROWS), path="/box")
    world.describe(**in_archive(world, "rows"))
    assert "no member 'rows' in the archive (it holds alpha)" in world.fetch().message


def test_a_member_that_climbs_out_lands_under_the_files_own_name(world: World) -> None:
    world.serve(zipped(**{"../../../rows": ROWS}), path="/box")
    world.describe(content_sha256=RIGHT, **in_archive(world, "rows"))
    assert world.fetch().state == "fetched"
    assert world.held == ["rows.txt"]
    assert not (world.data.parent / "rows").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_a_member_that_is_a_link_is_refused(world: World, kind: bytes) -> None:
    info = tarfile.TarInfo("rows")
    info.type, info.linkname = kind, "/etc/passwd"
    world.serve(taped((info, b"")), path="/box")
    world.describe(**in_archive(world, "rows"))
    assert "is a link or a folder" in world.fetch().message
    assert world.held == []


def test_a_member_of_a_tar_is_found(world: World) -> None:
    other = tarfile.TarInfo("data/README")
    world.serve(taped((other, b"read me"), (tarfile.TarInfo("data/rows"), ROWS)), path="/box")
    world.describe(content_sha256=RIGHT, **in_archive(world, "data/rows"))
    assert world.fetch().checked == "checksum"


def test_a_zip_bomb_is_not_unpacked(world: World) -> None:
    world.serve(zipped(rows=b"0" * 50_000_000), path="/box")
    world.describe(content_sha256=RIGHT, content_bytes=len(ROWS), **in_archive(world, "rows"))
    assert "unpacks to more than" in world.fetch().message
    assert world.held == []


def test_a_compressed_bomb_is_not_unpacked(world: World) -> None:
    import bz2

    world.serve(bz2.compress(b"0" * 50_000_000))
    world.describe(content_sha256=RIGHT, content_bytes=len(ROWS))
    assert "unpacks to more than" in world.fetch().message


@pytest.mark.parametrize("packer", ["gzip", "bz2", "lzma", "zipped"])
def test_a_damaged_compressed_file_is_reported(world: World, packer: str) -> None:
    if packer == "zipped":
        packed = bytearray(zipped(rows=ROWS))
        world.describe(**in_archive(world, "rows", path="/rows"))
    else:
        packed = bytearray(__import__(packer).compress(ROWS))
        world.describe()
    packed[len(packed) // 3] ^= 255
    world.serve(bytes(packed))
    assert "damaged, it cannot be unpacked" in world.fetch().message
    assert world.held == []


def test_a_disk_that_fills_half_way_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = download._append

    def half_way(raw: Any, order: download.DownloadRequest, start: int, total: int | None) -> int:
        whole(raw, order, start, total)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(order.part))

    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    monkeypatch.setattr(download, "_append", half_way)
    result = world.fetch()
    assert "the disk is full" in result.message
    assert "OKBENCH_DATA" in result.message
    assert (world.held, world.parts) == ([], [])
    world.describe(**{"from": {"url": world.server.url("/box.zip"), "member": "rows.txt"}})
    world.serve(ROWS, path="/box.zip")
    assert "the disk is full" in world.fetch().message
    assert (world.held, world.parts) == ([], [])


def test_what_others_may_read_is_left_to_the_umask(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    before = os.umask(0o022)
    try:
        world.fetch(to=world.data / "bundle")
    finally:
        os.umask(before)
    for written in ("rows/.okbench/rows.txt.json", "bundle/manifest.json"):
        assert (world.data / written).stat().st_mode & 0o777 == 0o644


def test_a_bundle_that_cannot_be_written_is_reported_by_its_own_name(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    (world.data / "file").touch()
    result = world.fetch(to=world.data / "file" / "bundle")
    assert result.state == "failed"
    assert "bundle cannot be written" in result.message
    assert "--to" in result.message


def test_a_file_too_large_for_the_disk_is_not_begun(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    usage = type("Usage", (), {"free": 100})
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: usage)
    assert "100 are free" in world.fetch().message
    assert world.parts == []


@pytest.mark.parametrize("reason", [errno.EROFS, errno.EACCES])
def test_a_folder_that_may_not_be_written_is_reported(
    world: World, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def closed(self: Path, *_: Any, **__: Any) -> None:
        raise OSError(reason, os.strerror(reason), str(self))

    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    monkeypatch.setattr(Path, "mkdir", closed)
    result = world.fetch()
    assert "may not be written" in result.message
    assert "OKBENCH_DATA" in result.message


def test_files_that_are_here_need_no_writable_folder(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    world.fetch()

    def closed(self: Path, *_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "mkdir", closed)
    assert world.fetch().state == "here"


@pytest.mark.parametrize("byte", [1, 4096, len(ROWS) - 1])
def test_ctrl_c_leaves_no_half_file_and_the_next_fetch_goes_on(world: World, byte: int) -> None:
    def break_off(report: Progress) -> None:
        if report.done >= byte:
            raise KeyboardInterrupt

    world.describe(content_sha256=RIGHT)
    page = world.serve(ROWS, f"stall:{byte}")
    with pytest.raises(KeyboardInterrupt):
        world.fetch(progress=break_off)
    assert world.held == []
    page.moods = ["honest"]
    assert world.fetch().checked == "checksum"
    assert world.server.asked["/rows"][-1]["Range"] == f"bytes={byte}-"


def test_ctrl_c_stops_the_other_downloads_too(world: World) -> None:
    def break_off(report: Progress) -> None:
        raise KeyboardInterrupt

    world.describe_all(
        {f"f{n}": {"name": f"f{n}", "from": world.server.url(f"/f{n}")} for n in range(6)}
    )
    for number in range(6):
        world.serve(ROWS, path=f"/f{number}")
    with pytest.raises(KeyboardInterrupt):
        world.fetch_all(progress=break_off, jobs=2)
    time.sleep(0.05)
    assert len(world.server.asked) <= 2


def test_one_failing_file_does_not_stop_the_others(world: World) -> None:
    world.describe_all(
        {f"f{n}": {"name": f"f{n}", "from": world.server.url(f"/f{n}")} for n in range(3)}
    )
    world.serve(ROWS, path="/f0")
    world.serve(ROWS, path="/f2")
    states = {result.file: result.state for result in world.fetch_all()}
    assert states == {"f0": "fetched", "f1": "failed", "f2": "fetched"}


def test_a_damaged_record_is_reported_and_stops_no_other_file(world: World) -> None:
    world.describe_all(
        {f"f{n}": {"name": f"f{n}", "from": world.server.url(f"/f{n}")} for n in range(2)}
    )
    world.serve(ROWS, path="/f0")
    world.serve(ROWS, path="/f1")
    record = world.data / "rows" / ".okbench" / "f0.json"
    record.parent.mkdir(parents=True)
    record.write_text("{", encoding="utf-8")
    first, second = world.fetch_all()
    assert (first.state, second.state) == ("failed", "fetched")
    assert "f0.json: not a record of a download; delete it" in first.message


def test_two_threads_fetching_one_set_both_succeed(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "stall:100", "honest")
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(world.fetch())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result.state for result in results) == ["fetched", "here"]


def test_two_processes_fetching_one_set_both_succeed(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "cut:100", "honest")
    command = "from okbench.datasets.fetch.fetching import fetch; print(fetch(['rows'])[0].state)"
    processes = [
        subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    printed = sorted(process.communicate(timeout=60)[0].strip() for process in processes)
    assert printed == ["fetched", "here"]
    assert world.held == ["rows.txt"]


def test_a_killed_process_leaves_nothing_that_counts_as_a_file(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    page = world.serve(ROWS, "stall:5000")
    command = "from okbench.datasets.fetch.fetching import fetch; fetch(['rows'])"
    process = subprocess.Popen([sys.executable, "-c", command])
    part = world.data / "rows" / ".okbench" / "rows.txt.part"
    end = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size == 5000) and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert world.held == []
    page.moods = ["honest"]
    assert world.fetch().checked == "checksum"


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_on_the_command_ends_it_though_the_server_is_silent(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "stall:5000")
    command = "from okbench.datasets.fetch.fetching import fetch; fetch(['rows'])"
    process = subprocess.Popen([sys.executable, "-c", command], stderr=subprocess.PIPE, text=True)
    part = world.data / "rows" / ".okbench" / "rows.txt.part"
    end = time.monotonic() + 30
    while not (part.exists() and part.stat().st_size == 5000) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate(timeout=30)  # a read would be given up after 60 s
    assert process.returncode != 0
    assert "KeyboardInterrupt" in printed
    assert (world.held, world.parts) == ([], ["rows.txt.part"])


def test_a_large_file_is_copied_in_pieces(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obtain, "_COPY_BYTES", 1000)
    world.describe(content_sha256=RIGHT)
    mirror = world.data.parent / "mirror" / "rows"
    mirror.mkdir(parents=True)
    (mirror / "rows.txt").write_bytes(ROWS)
    assert world.fetch(mirror=mirror).checked == "checksum"
