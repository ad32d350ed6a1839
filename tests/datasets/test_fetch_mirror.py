"""Mirrors, offline bundles, files put in place by hand, and sets nobody can fetch unattended."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from okbench.base.errors import FetchError, UsageError
from okbench.base.locks import try_lock
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.data_folder import path_of, record_of, status
from okbench.datasets.fetch import fetching
from okbench.datasets.fetch.fetching import Progress, by_hand_steps, fetch, verify
from tests.datasets.fetch_world import ROWS, World, sha256
from tests.shared import SHARED

RIGHT = sha256(ROWS)


def mirror_with(world: World, name: str, content: bytes) -> Path:
    folder = world.data.parent / "mirror"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows/rows.txt", ROWS),
        ("rows/rows.txt.bz2", bz2.compress(ROWS)),
        ("rows/rows.txt.gz", gzip.compress(ROWS)),
        ("rows/rows.txt.xz", lzma.compress(ROWS)),
        ("rows.txt", ROWS),
    ],
)
def test_a_mirror_may_hold_the_file_plain_or_compressed(
    world: World, name: str, content: bytes
) -> None:
    world.describe(content_sha256=RIGHT)
    result = world.fetch(mirror=mirror_with(world, name, content))
    assert result.checked == "checksum"
    assert result.path is not None
    assert result.path.read_bytes() == content
    assert result.path.name == Path(name).name


def test_the_environment_can_name_the_mirror(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.describe(content_sha256=RIGHT)
    monkeypatch.setenv("OKBENCH_MIRROR", str(mirror_with(world, "rows/rows.txt", ROWS)))
    assert world.fetch().state == "fetched"


def test_a_mirror_may_be_an_address(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(bz2.compress(ROWS), path="/m/rows/rows.txt.bz2")
    assert world.fetch(mirror=world.server.url("/m")).checked == "checksum"
    assert "/rows" not in world.server.asked


def test_with_a_mirror_nothing_is_asked_of_the_official_address(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    result = world.fetch(mirror=mirror_with(world, "other", b""))
    assert result.state == "missing"
    assert "not in the mirror" in result.message
    assert not world.server.asked


def test_a_mirror_that_is_not_there_is_reported(world: World) -> None:
    world.describe()
    with pytest.raises(FetchError, match="no such folder"):
        world.fetch(mirror=world.data / "nowhere")


def test_a_mirrors_file_with_another_hash_is_refused(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    result = world.fetch(mirror=mirror_with(world, "rows/rows.txt", b"1 1:1\n"))
    assert RIGHT in result.message
    assert world.held == ["rows.txt.wrong"]


def test_a_copy_with_the_same_values_is_taken_and_reported_as_one(world: World) -> None:
    copy = ROWS.replace(b"\n", b"\r\n")
    world.describe(content_sha256=RIGHT, copies=[sha256(copy)])
    assert world.fetch(mirror=mirror_with(world, "rows/rows.txt", copy)).checked == "copy"


def test_the_official_file_may_differ_from_a_known_copy(world: World) -> None:
    world.describe(copies=[sha256(b"1 1:1\n")])
    world.serve(ROWS)
    assert world.fetch().checked == "recorded"


def test_a_mirrors_file_may_not_differ_from_a_known_copy(world: World) -> None:
    world.describe(copies=[sha256(b"1 1:1\n")])
    result = world.fetch(mirror=mirror_with(world, "rows/rows.txt", ROWS))
    assert result.state == "failed"


def test_bytes_without_a_known_hash_are_recorded_and_held_to_ever_after(world: World) -> None:
    world.describe()
    page = world.serve(ROWS)
    first = world.fetch()
    assert (first.checked, first.path) == ("recorded", world.data / "rows" / "rows.txt")
    assert first.path is not None
    first.path.unlink()
    page.content = ROWS + b"1 1:2\n"
    second = world.fetch()
    assert second.state == "failed"
    assert RIGHT in second.message
    assert "recorded" in second.message


def test_recorded_bytes_may_come_back_compressed(world: World) -> None:
    world.describe()
    page = world.serve(ROWS)
    first = world.fetch()
    assert first.path is not None
    first.path.unlink()
    page.content = gzip.compress(ROWS)
    assert world.fetch().checked == "recorded"
    assert world.held == ["rows.txt.gz"]


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_a_hash_of_the_compressed_file_is_enough(world: World, kind: str) -> None:
    import hashlib

    packed = bz2.compress(ROWS)
    address = world.server.url("/rows.txt.bz2")
    world.describe(**{"from": {"url": address, kind: hashlib.new(kind, packed).hexdigest()}})
    page = world.serve(packed, path="/rows.txt.bz2")
    assert world.fetch().checked == "checksum"
    (world.data / "rows" / "rows.txt.bz2").unlink()
    page.content = bz2.compress(ROWS + b"1 1:1\n")
    assert world.fetch().state == "failed"


def test_a_file_put_in_place_by_hand_is_checked_and_taken(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    (world.data / "rows").mkdir()
    (world.data / "rows" / "rows.txt").write_bytes(ROWS)
    file = dataset_catalogue.spec("rows").files["all"]
    assert path_of(file) is None
    assert world.fetch().state == "here"
    assert path_of(file) is not None
    assert not world.server.asked


def test_a_wrong_file_put_in_place_by_hand_makes_way_for_the_right_one(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    (world.data / "rows").mkdir()
    (world.data / "rows" / "rows.txt").write_bytes(b"1 1:1\n")
    assert world.fetch().state == "fetched"
    assert world.held == ["rows.txt", "rows.txt.wrong"]


def test_a_bundle_serves_as_a_mirror_and_its_manifest_is_checked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.describe()
    world.serve(bz2.compress(ROWS))
    bundle = world.data.parent / "bundle"
    result = world.fetch(to=bundle)
    assert result.path == bundle / "rows" / "rows.txt.bz2"
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["files"]["rows/rows.txt.bz2"]["content_sha256"] == RIGHT

    other = world.data.parent / "other"
    other.mkdir()
    (world.data / "user-datasets.yaml").rename(other / "user-datasets.yaml")
    monkeypatch.setenv("OKBENCH_DATA", str(other))
    assert fetch(["rows"], mirror=bundle)[0].state == "fetched"


def test_a_bundle_damaged_on_the_way_is_noticed(world: World) -> None:
    world.describe()
    world.serve(ROWS)
    bundle = world.data.parent / "bundle"
    first = world.fetch(to=bundle)
    assert first.path is not None
    first.path.write_bytes(ROWS[:-1] + b" ")
    (world.data / "rows" / "rows.txt").unlink()
    (world.data / "rows" / ".okbench" / "rows.txt.json").unlink()
    result = world.fetch(mirror=bundle)
    assert "the bundle's manifest" in result.message
    assert result.state == "failed"


def test_making_a_bundle_twice_copies_once(world: World) -> None:
    world.describe()
    world.serve(ROWS)
    bundle = world.data.parent / "bundle"
    first = world.fetch(to=bundle)
    assert first.path is not None
    written = first.path.stat().st_mtime_ns
    assert world.fetch(to=bundle).path == first.path
    assert first.path.stat().st_mtime_ns == written


def test_a_set_that_needs_a_login_lists_the_steps(world: World) -> None:
    world.describe_all(
        {"all": {"name": "rows.txt", "from": world.server.url("/rows")}},
        by_hand=["log in", "download rows.txt"],
    )
    world.serve(ROWS)
    result = world.fetch()
    assert result.state == "by hand"
    assert "1. log in" in result.message
    assert not world.server.asked
    assert by_hand_steps("rows") == ("log in", "download rows.txt")


def test_a_set_that_needs_a_login_is_taken_from_a_folder(world: World) -> None:
    world.describe_all(
        {"all": {"name": "rows.txt", "from": world.server.url("/rows")}}, by_hand=["log in"]
    )
    assert world.fetch(mirror=mirror_with(world, "rows.txt", ROWS)).state == "fetched"


def test_verify_finds_a_changed_file_and_puts_it_aside(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    result = world.fetch()
    assert result.path is not None
    assert verify(["rows"])[0].state == "here"
    result.path.write_bytes(ROWS[:-2] + b"6\n")
    (again,) = verify(["rows"])
    assert again.state == "failed"
    assert RIGHT in again.message
    assert world.held == ["rows.txt.wrong"]


def test_verify_waits_for_another_process_that_fetches_the_file(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    world.fetch()
    (path,) = (world.data / ".okbench").glob("*.lock")
    said: list[str] = []
    with path.open("ab") as lock:
        assert try_lock(lock.fileno())

        def end_the_other(progress: Progress) -> None:
            said.append(progress.message)
            lock.close()

        assert verify(["rows"], progress=end_the_other)[0].state == "here"
    assert said[0] == "another process is fetching it; waiting"


def test_verify_needs_no_writable_folder(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    path = world.fetch().path
    assert path is not None
    monkeypatch.setattr(Path, "replace", closed)
    monkeypatch.setattr(fetching, "locked", closed)
    assert verify(["rows"])[0].state == "here"
    path.write_bytes(ROWS[::-1])
    (changed,) = verify(["rows"])
    assert "no longer the file that was checked" in changed.message
    assert f"kept as {path}\n" in changed.message


def test_status_shows_what_is_here_and_since_when(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    entry = dataset_catalogue.spec("rows")
    assert not status(entry).complete
    world.fetch()
    held, record = status(entry), record_of(entry.files["all"])
    assert record is not None
    assert (held.complete, held.bytes, held.verified) == (True, len(ROWS), record.verified)


def test_a_file_that_shrank_counts_as_gone(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    result = world.fetch()
    assert result.path is not None
    result.path.write_bytes(ROWS[:10])
    assert path_of(dataset_catalogue.spec("rows").files["all"]) is None
    assert world.fetch().state == "fetched"


@pytest.mark.slow
@pytest.mark.shared("the mirror's 25 sets")
def test_every_set_of_the_shared_mirror_is_fetched_and_checked(world: World) -> None:
    results = fetch(dataset_catalogue.dataset_names(), mirror=SHARED / "data")
    paths = [path for path in (SHARED / "data").rglob("*") if path.is_file()]
    held = {path.name for path in paths if path.parent.name != "li-train"}
    taken = {result.path.name for result in results if result.path}
    unused = {"README.md", "manifest.yaml", "sources.yaml", "shuttle.trn.Z", "shuttle.tst"} | {
        f"{name}Data.mat" for name in ("Air", "Device", "Energy", "Har", "Movement")
    }
    assert held - taken == unused
    assert [result for result in results if result.state == "failed"] == []
    assert {result.checked for result in results if result.ok} == {"checksum", "copy"}


def test_a_mirror_that_cannot_be_read_is_reported(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.describe()
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(FetchError, match=r"manifest\.json is damaged"):
        world.fetch(mirror=tmp_path)
    with pytest.raises(UsageError, match="no such home folder"):
        world.fetch(mirror="~nobody-of-that-name/x")

    def closed(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", closed)
    with pytest.raises(FetchError, match=r"cannot be read \(Permission denied\)"):
        world.fetch(mirror=tmp_path)


def test_a_users_own_file_is_not_bundled_and_theirs_to_copy(world: World, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_bytes(ROWS)
    world.describe(path=str(tmp_path / "mine.txt"))
    result = world.fetch(to=tmp_path / "bundle")
    assert (result.state, result.message) == ("by hand", "your own file; copy it yourself")
