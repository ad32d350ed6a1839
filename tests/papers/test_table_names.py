"""A table's name never leads out of a folder, wherever the name comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.base.errors import UsageError
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_names import checked_name, file_of
from okbench.reports.guard.merge import merge
from okbench.reports.results_paths import results_files, table_of
from okbench.reports.site.table_page import page_of, raw_of
from okbench.trials.store.files import Store

HOSTILE: list[Any] = [
    "..", ".", "", "/", "/etc/cron.d/x", "../x", "../../x", "a/../x", "a/..", "a//b", "a/", "./a",
    "a\\..\\x", "..\\x", "C:x", "C:/x", "c:\\x", "a\0b", "a\nb", "x" * 300, "é" * 150, 5, None, [],
    {"table": "x"}, True,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:30])
def test_a_name_that_leads_elsewhere_is_refused_with_the_place_and_the_value(name: Any) -> None:
    with pytest.raises(UsageError) as refused:
        checked_name(name, "theirs.jsonl:1: blessed.table")
    assert str(refused.value).startswith(f"theirs.jsonl:1: blessed.table: {repr(name)[:60]}")
    assert len(str(refused.value)) < 300
    for made in (
        lambda: Store.of(Path("runs"), name),
        lambda: file_of(Path("runs"), name, ".tuned.yaml"),
        lambda: page_of(name),
        lambda: raw_of(name),
    ):
        with pytest.raises(UsageError):
            made()


@given(st.text())
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    folder = Path("/some/where/deep")
    try:
        path = file_of(folder, name, ".jsonl")
    except UsageError:
        return
    assert Path(*path.parts[: len(folder.parts)]) == folder
    assert ".." not in path.parts
    assert len(path.parts) > len(folder.parts)


@pytest.mark.parametrize("name", ["demo", "lsokl/table5", "own/my rows (2).csv", "a..b", "é/_x-1"])
def test_names_of_tables_and_of_files_of_rows_are_names(name: str) -> None:
    assert checked_name(name) == name
    assert file_of(Path("runs"), name, ".jsonl") == Path(f"runs/{name}.jsonl")


def test_every_shipped_table_has_a_name() -> None:
    assert all(checked_name(card.name) for card in names())


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name)[:30])
def test_merge_writes_nowhere_else_than_it_is_asked_to(name: Any, tmp_path: Path) -> None:
    theirs, into = tmp_path / "theirs.jsonl", tmp_path / "deep/into"
    header = {"okbench": "results", "schema": 2, "blessed": {"table": name, "reason": "r"}}
    theirs.write_text(json.dumps(header) + "\n", encoding="utf-8")
    into.mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    if name is None:
        assert table_of(theirs) == "theirs"
        return
    with pytest.raises(UsageError, match=r"theirs\.jsonl:1: blessed\.table: "):
        merge([theirs], into)
    with pytest.raises(UsageError, match="cannot be the name of a table"):
        results_files(theirs)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_file_of_a_table_is_named_like_a_table(tmp_path: Path) -> None:
    path = tmp_path / "..yaml"
    path.write_text("title: t\n", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be the name of a table"):
        find(str(path))
