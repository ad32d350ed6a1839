"""No server makes a fetch go on without end, fill the disk, or end in a traceback."""

from __future__ import annotations

import json
from typing import Any

import pytest

from okbench.base.errors import ConfigError, FetchError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.fetch import download, obtain, places
from tests.datasets.fetch_world import QUICK, ROWS, World, sha256

RIGHT = sha256(ROWS)
OTHER = ROWS.replace(b"0.5", b"0.7")


def fetched_bytes(world: World) -> bytes:
    path = world.fetch().path
    assert path is not None
    return path.read_bytes()


@pytest.mark.parametrize("content", [OTHER, OTHER + b"1 1:1\n", OTHER[:-600]])
@pytest.mark.parametrize("tag", ['"two"', ""])
def test_a_server_that_continues_another_version_is_asked_from_the_start(
    world: World, content: bytes, tag: str
) -> None:
    world.describe()
    page = world.serve(ROWS, "cut:700", "status:503")
    world.fetch()
    assert world.parts == ["rows.txt.part"]
    page.content, page.etag, page.moods = content, tag, ["any-version", "honest"]
    assert fetched_bytes(world) == content
    assert "Range" not in world.server.asked["/rows"][-1]


def test_a_mark_is_written_before_bytes_of_a_new_version(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between the two leaves no old bytes under the new version's mark."""
    world.describe()
    page = world.serve(ROWS, "cut:700", "status:503")
    world.fetch()
    page.content, page.etag, page.moods = OTHER, '"two"', ["honest"]
    with monkeypatch.context() as patch:
        patch.setattr(download, "_append", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            world.fetch()
    page.moods = ["any-version"]
    assert fetched_bytes(world) == OTHER


def _interrupt(*_: Any) -> int:
    raise KeyboardInterrupt


def test_a_server_that_cuts_bodies_and_refuses_ranges_is_given_up(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "refused-range:5000")
    result = world.fetch()
    assert result.state == "failed"
    assert "tries" in result.message
    assert len(world.server.asked["/rows"]) <= 2 * QUICK.tries


def test_a_server_that_gives_a_little_more_each_time_is_given_up(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, *(f"refused-range:{5000 + 400 * n}" for n in range(50)))
    patience = download.Patience(connect=2, silence=0.3, tries=3, tries_in_all=12, pause=0.001)
    result = world.fetch(patience=patience)
    assert "(12 tries)" in result.message
    assert len(world.server.asked["/rows"]) == 12


@pytest.mark.parametrize("mood", ["drip", "drip-head"])
def test_a_server_that_sends_byte_by_byte_is_left_and_asked_again(world: World, mood: str) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, mood, "honest")
    assert world.fetch().state == "fetched"
    world.serve(ROWS, mood)
    (world.data / "rows" / "rows.txt").unlink()
    result = world.fetch()
    assert result.state == "failed"
    assert "arrived for 0 s (3 tries)" in result.message


@pytest.mark.parametrize("mood", ["continue", "drip-head"])
def test_the_connection_of_an_answer_that_was_left_is_closed(world: World, mood: str) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, mood)
    assert world.fetch().state == "failed"
    for _ in range(QUICK.tries):
        assert world.server.left.acquire(timeout=30)


def test_a_body_of_unknown_length_leaves_room_on_the_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([download.RESERVE + 5, download.RESERVE - 1])
    monkeypatch.setattr(download, "_LOOK_AT_DISK", 100_000)
    monkeypatch.setattr(download, "_free", lambda _: next(free))
    world.describe()
    world.serve(ROWS, "longer")
    message = world.fetch().message
    assert "does not say how long the file is" in message
    assert f"{download.RESERVE - 1:,} are free" in message
    assert (world.held, world.parts) == ([], [])


@pytest.mark.parametrize(
    ("source", "file", "most"),
    [
        ({"bytes": len(ROWS)}, {}, len(ROWS)),
        ({}, {"content_bytes": len(ROWS)}, 2 * len(ROWS) + (1 << 20)),
        ({}, {"rows": 4000}, 17 << 20),
        ({}, {"rows": 90_000}, 90_000 * 3 * 100 + (1 << 20)),
    ],
)
def test_a_body_of_unknown_length_ends_where_its_entry_says(
    world: World, source: dict[str, int], file: dict[str, int], most: int
) -> None:
    world.describe(**{"from": {"url": world.server.url("/rows"), **source}, **file})
    world.serve(ROWS, "longer")
    assert f"more than the {most:,} bytes" in world.fetch().message
    assert (world.held, world.parts) == ([], [])
    world.serve(ROWS, "unannounced")
    assert world.fetch().state == "fetched"


def test_what_is_taken_of_a_file_of_unknown_length_is_more_than_any_file_has() -> None:
    entries = map(dataset_catalogue.spec, dataset_catalogue.dataset_names())
    files = [(entry, file) for entry in entries for file in entry.files.values()]
    sizes = {file.name: (obtain.likely_most(entry, file), file) for entry, file in files}
    known = [(most, file.content_bytes) for most, file in sizes.values() if file.content_bytes]
    assert len(known) > 40
    assert min(most / size for most, size in known) > 3
    assert (sizes["german.numer"][0], sizes["url_combined"][0]) == (16 << 20, 16 << 30)


@pytest.mark.parametrize("length", ["9" * 5000, "-5", "1e3", "12, 13", "\u0661"])
def test_a_length_that_is_no_size_is_a_message_or_no_matter(world: World, length: str) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, f"length:{length}" if length.isascii() else "honest")
    result = world.fetch()
    assert result.state in ("fetched", "failed")
    assert result.ok or world.server.url("/rows") in result.message


@pytest.mark.parametrize("target", ["http://[::1", "http://[::1]:x/", "//[", "https://[v1.\xff/"])
def test_a_redirect_to_no_address_is_a_message(world: World, target: str) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, f"redirect:{target}")
    result = world.fetch()
    assert result.state == "failed"
    assert "redirected to" in result.message


@pytest.mark.parametrize("address", ["http://[::1", "https://host:port/x", "https:///x"])
def test_an_entry_with_an_address_that_is_none_is_refused(world: World, address: str) -> None:
    world.describe(**{"from": address})
    with pytest.raises(ConfigError, match="no address"):
        dataset_catalogue.spec("rows")


def manifests() -> dict[str, bytes]:
    return {
        "deep": b"[" * 100_000,
        "deep entries": b'{"files":' + b'{"a":' * 100_000,
        "a long number": b'{"files": {"a": {"sha256": ' + b"9" * 5000 + b"}}}",
        "too long": b'{"files": {}, "padding": "' + b"x" * places.MOST_MANIFEST + b'"}',
        "a list": b"[]",
        "no text": b"\xff\xfe{",
    }


@pytest.mark.parametrize("kind", manifests())
def test_a_manifest_that_is_none_is_a_message(world: World, kind: str) -> None:
    world.describe()
    bundle = world.data.parent / "bundle"
    bundle.mkdir()
    (bundle / "manifest.json").write_bytes(manifests()[kind])
    with pytest.raises(FetchError, match=r"manifest\.json"):
        world.fetch(mirror=bundle)
    world.serve(manifests()[kind], path="/mirror/manifest.json")
    with pytest.raises(FetchError, match=r"manifest\.json"):
        world.fetch(mirror=world.server.url("/mirror"))


@pytest.mark.parametrize("mood", ["longer", "drip", "drip-head"])
def test_a_manifest_without_end_is_left(
    world: World, mood: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "MOST_MANIFEST", 100_000)
    world.describe()
    world.serve(json.dumps({"files": {"x" * 2000: {}}}).encode(), mood, path="/m/manifest.json")
    with pytest.raises(FetchError, match=r"not reached|longer than"):
        world.fetch(mirror=world.server.url("/m"))
