"""Only plain names become paths, and nothing from elsewhere reaches a terminal unshown."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from okbench.base.errors import ConfigError, StoreError, UsageError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.catalogue.specs import is_plain_name
from okbench.datasets.data_folder import path_of, record_of
from okbench.datasets.user.user_entry import add_user_dataset
from tests.datasets.fetch_world import ROWS, World

BAD = (
    *("../x", "/x", "..", ".", ".okbench", "a/b", "a\\b", "a\0b", "", " a", "a ", "a.", "-a"),
    *("a\nb", "\x1b[2J", "x" * 121, "a:b", "~", "a*"),
)


@pytest.mark.parametrize("name", BAD)
def test_names_that_are_no_plain_names(name: str) -> None:
    assert not is_plain_name(name)


@pytest.mark.parametrize("name", ["a", "a9a", "tom's hardware", "a.t", "données", "x" * 120, "_"])
def test_plain_names(name: str) -> None:
    assert is_plain_name(name)


def test_every_shipped_name_is_plain() -> None:
    for name in dataset_catalogue.dataset_names():
        entry = dataset_catalogue.spec(name)
        names = [
            name,
            *(text for file in entry.files.values() for text in (file.name, file.folder)),
        ]
        assert [each for each in names if not is_plain_name(each)] == []


def described(world: World, **changed: object) -> None:
    file = {"name": "rows.txt", "from": world.server.url("/rows"), **changed}
    entry = {"task": "binary", "reader": "libsvm", "files": {"all": file}}
    world.data.mkdir(exist_ok=True)
    name = changed.pop("dataset", "rows")
    file.pop("dataset", None)
    text = json.dumps({"datasets": {name: entry}})
    (world.data / "user-datasets.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("key", ["dataset", "folder", "name"])
@pytest.mark.parametrize("name", ["../../out", "..", ".okbench", "a\\b", "\x1b[2J", "x" * 200])
def test_an_entry_whose_names_lead_elsewhere_is_refused(world: World, key: str, name: str) -> None:
    described(world, **{key: name})
    with pytest.raises(ConfigError, match=r"user-datasets\.yaml:1"):
        dataset_catalogue.dataset_names()


@pytest.mark.parametrize("name", ["../out", "a/b", "", "x" * 200])
def test_rows_are_not_added_under_a_name_that_leads_elsewhere(world: World, name: str) -> None:
    path = world.data.parent / "rows.txt"
    path.write_bytes(ROWS)
    with pytest.raises(UsageError, match="is no name"):
        add_user_dataset(path, name)
    assert not dataset_catalogue.user_datasets().exists()


def test_rows_of_ones_own_may_lie_under_any_name(world: World) -> None:
    path = world.data.parent / "rows #1 [new].txt"
    path.write_bytes(ROWS)
    add_user_dataset(path, "mine")
    assert path_of(dataset_catalogue.spec("mine").files["all"]) == path


@pytest.mark.parametrize(
    "changed",
    [{"held_as": "../../victim"}, {"held_as": "/etc/passwd"}, {"bytes": "9"}, {"verified": 5}],
)
def test_a_record_that_leads_elsewhere_is_no_record(
    world: World, changed: dict[str, object]
) -> None:
    victim = world.data.parent / "victim"
    victim.write_bytes(b"kept")
    world.describe()
    world.serve(ROWS)
    world.fetch()
    path = world.data / "rows" / ".okbench" / "rows.txt.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(record | changed), encoding="utf-8")
    with pytest.raises(StoreError, match="not a record of a download"):
        record_of(dataset_catalogue.spec("rows").files["all"])
    assert world.fetch().state == "failed"
    assert victim.read_bytes() == b"kept"


def test_what_a_server_or_an_archive_says_moves_no_cursor(world: World, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as archive:
        archive.writestr("\x1b[2Jother", ROWS)
    world.serve((tmp_path / "box.zip").read_bytes(), path="/box")
    world.describe(**{"from": {"url": world.server.url("/box"), "member": "rows"}})
    assert "it holds ?[2Jother" in world.fetch().message
    world.describe()
    world.serve(b"", "body:<html>\x1b]0;title\x07 closed")
    assert "?]0;title? closed" in world.fetch().message
