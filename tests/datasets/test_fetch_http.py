"""Downloads from a server that stalls, cuts, redirects, errs or gives wrong bytes."""

from __future__ import annotations

import random

import pytest

from okbench.datasets.fetch.fetching import Progress
from tests.datasets.fetch_world import ROWS, World, sha256

RIGHT = sha256(ROWS)


def test_a_file_gets_its_name_only_when_its_hash_is_right(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    result = world.fetch()
    assert (result.state, result.checked, result.bytes) == ("fetched", "checksum", len(ROWS))
    assert result.path is not None
    assert result.path.read_bytes() == ROWS
    assert world.held == ["rows.txt"]


def test_a_second_fetch_asks_the_server_nothing(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    world.fetch()
    assert world.fetch().state == "here"
    assert len(world.server.asked["/rows"]) == 1


@pytest.mark.parametrize("seed", range(10))
def test_a_download_cut_at_a_random_byte_continues_to_the_same_hash(
    world: World, seed: int
) -> None:
    cut = random.Random(seed).randrange(1, len(ROWS))
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, f"cut:{cut}", "honest")
    assert world.fetch().checked == "checksum"
    first, second = world.server.asked["/rows"]
    assert "Range" not in first
    assert second["Range"] == f"bytes={cut}-"


def test_a_download_goes_on_where_an_earlier_command_ended(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    page = world.serve(ROWS, "cut:1000", "status:503")
    assert world.fetch().state == "failed"
    assert world.parts == ["rows.txt.part"]
    page.moods = ["honest"]
    assert world.fetch().state == "fetched"
    assert world.server.asked["/rows"][-1]["Range"] == "bytes=1000-"
    assert world.parts == []


def test_a_stalled_server_is_left_and_asked_again(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "stall:500", "honest")
    assert world.fetch().state == "fetched"
    assert world.server.asked["/rows"][1]["Range"] == "bytes=500-"


def test_a_server_that_cannot_continue_sends_the_whole_file(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "cut:700", "no-range")
    assert world.fetch().checked == "checksum"


def test_a_file_that_changed_between_two_answers_is_not_glued_together(world: World) -> None:
    changed = ROWS.replace(b"0.5", b"0.7")
    world.describe()
    page = world.serve(ROWS, "cut:700", "status:503")
    world.fetch()
    page.content, page.etag, page.moods = changed, '"two"', ["honest"]
    result = world.fetch()
    assert result.path is not None
    assert result.path.read_bytes() == changed


def test_without_version_or_checksum_nothing_is_continued(world: World) -> None:
    world.describe()
    world.serve(ROWS, "unversioned-cut:700", "honest")
    result = world.fetch()
    assert result.path is not None
    assert result.path.read_bytes() == ROWS
    assert "Range" not in world.server.asked["/rows"][-1]


def test_a_part_of_another_address_is_not_continued(world: World) -> None:
    world.describe(content_sha256=RIGHT, **{"from": world.server.url("/old")})
    world.serve(ROWS, "cut:700", "status:503", path="/old")
    world.fetch()
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    assert world.fetch().checked == "checksum"
    assert "Range" not in world.server.asked["/rows"][0]


def test_an_answer_that_continues_elsewhere_is_not_glued_on(world: World) -> None:
    world.describe()
    world.serve(ROWS, "cut:700", "shifted-range", "honest")
    result = world.fetch()
    assert result.path is not None
    assert result.path.read_bytes() == ROWS


def test_a_cut_that_the_http_library_does_not_notice_is_noticed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from urllib3 import HTTPResponse
    from urllib3.exceptions import ProtocolError

    strict = HTTPResponse.read1

    def lenient(self: HTTPResponse, *args: int, **options: bool) -> bytes:
        try:
            return strict(self, *args, **options)
        except ProtocolError:
            return b""

    monkeypatch.setattr(HTTPResponse, "read1", lenient)
    world.describe()
    world.serve(ROWS, "cut:700", "honest")
    result = world.fetch()
    assert result.path is not None
    assert result.path.read_bytes() == ROWS


def test_a_false_continuation_is_noticed_and_fetched_from_the_start(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "cut:900", "false-range", "honest")
    assert world.fetch().checked == "checksum"
    assert "Range" not in world.server.asked["/rows"][-1]


def test_503_is_tried_again(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "status:503", "status:503", "honest")
    assert world.fetch().state == "fetched"


def test_503_for_ever_ends_with_the_address_and_the_number_of_tries(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "status:503")
    result = world.fetch()
    assert result.state == "failed"
    assert world.server.url("/rows") in result.message
    assert "503 (3 tries)" in result.message
    assert world.held == []


def test_404_is_not_tried_again_but_the_next_address_is(world: World) -> None:
    world.describe(
        content_sha256=RIGHT, **{"from": [world.server.url("/gone"), world.server.url("/rows")]}
    )
    world.serve(ROWS)
    assert world.fetch().source == world.server.url("/rows")
    assert len(world.server.asked["/gone"]) == 1


def test_404_everywhere_is_reported(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    result = world.fetch()
    assert "404 Not Found" in result.message


@pytest.mark.parametrize("status", [401, 403, 451])
def test_a_refusal_is_reported_as_it_is(world: World, status: int) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, f"status:{status}")
    assert f"answered {status}" in world.fetch().message
    assert len(world.server.asked["/rows"]) == 1


def test_a_body_shorter_than_promised_never_gets_the_name(world: World) -> None:
    world.describe()
    world.serve(ROWS, "cut:5")
    world.server.pages["/rows"].moods = ["cut:5", "status:503"]
    result = world.fetch()
    assert result.state == "failed"
    assert world.held == []


def test_a_body_cut_without_a_word_is_found_by_its_hash(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS, "silent-cut:5000")
    result = world.fetch()
    assert result.state == "failed"
    assert world.held == ["rows.txt.wrong"]


def test_a_web_page_with_status_200_is_refused(world: World) -> None:
    world.describe()
    world.serve(b"", "body:<!DOCTYPE html><title>Under maintenance</title>")
    result = world.fetch()
    assert "a web page arrived instead of the file" in result.message
    assert "Under maintenance" in result.message
    assert world.held == []


def test_an_empty_body_is_refused(world: World) -> None:
    world.describe()
    world.serve(b"")
    assert "an empty file arrived" in world.fetch().message


def test_wrong_bytes_are_kept_aside_with_both_hashes_and_what_to_do(world: World) -> None:
    wrong = ROWS.replace(b"0.5", b"0.6")
    world.describe(content_sha256=RIGHT)
    world.serve(wrong)
    result = world.fetch()
    for part in (RIGHT, sha256(wrong), "likely:", "okbench fetch rows", "rows.txt.wrong"):
        assert part in result.message
    assert world.held == ["rows.txt.wrong"]
    assert (world.data / "rows" / "rows.txt.wrong").read_bytes() == wrong


def test_a_size_that_cannot_be_right_is_refused_before_the_download(world: World) -> None:
    world.describe(**{"from": {"url": world.server.url("/rows"), "bytes": 12}})
    world.serve(ROWS)
    assert "12 were expected" in world.fetch().message
    assert world.parts == []


def test_a_body_without_end_is_cut_off(world: World) -> None:
    world.describe(content_sha256=RIGHT, content_bytes=len(ROWS))
    world.serve(ROWS, "longer")
    assert "more than the" in world.fetch().message
    assert world.parts == []


def test_a_redirect_on_the_same_host_is_followed(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(b"", f"redirect:{world.server.url('/there')}")
    world.serve(ROWS, path="/there")
    assert world.fetch().state == "fetched"


def test_a_redirect_to_an_unknown_host_is_not_followed(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(b"", f"redirect:http://localhost:{world.server.port}/there")
    world.serve(ROWS, path="/there")
    assert "unknown host localhost" in world.fetch().message
    assert "/there" not in world.server.asked


def test_a_redirect_to_a_listed_host_is_followed_and_reported(world: World) -> None:
    listed = f"http://localhost:{world.server.port}/there"
    world.describe(content_sha256=RIGHT, **{"from": [world.server.url("/rows"), listed]})
    world.serve(b"", f"redirect:{listed}")
    world.serve(ROWS, path="/there")
    reports: list[Progress] = []
    result = world.fetch(progress=reports.append)
    assert result.source == world.server.url("/rows")
    assert "redirected to localhost" in [report.message for report in reports]


def test_a_redirect_without_end_is_left(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(b"", f"redirect:{world.server.url('/rows')}")
    assert "redirected more than" in world.fetch().message


def test_a_redirect_to_another_scheme_is_not_followed(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(b"", "redirect:file:///etc/passwd")
    assert "not https; not followed" in world.fetch().message


def test_plain_http_without_a_checksum_is_not_trusted(world: World) -> None:
    world.describe(**{"from": "http://data.invalid/rows"})
    assert "neither https nor a known checksum" in world.fetch().message


def test_a_server_that_is_not_there_is_reported_after_the_tries(world: World) -> None:
    world.describe(content_sha256=RIGHT, **{"from": "http://127.0.0.1:9/rows"})
    assert "the connection failed" in world.fetch().message


def test_progress_ends_at_the_size_of_the_file(world: World) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    reports: list[Progress] = []
    world.fetch(progress=reports.append)
    assert (reports[-1].done, reports[-1].total) == (len(ROWS), len(ROWS))
    assert {(report.dataset, report.file) for report in reports} == {("rows", "rows.txt")}
