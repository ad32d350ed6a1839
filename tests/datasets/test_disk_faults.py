"""Whatever call on the disk fails: the old state or the new, a message, and the next run works."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from okbench.base.errors import OkbenchError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.datasets.data_folder import path_of
from okbench.datasets.fetch.fetching import FetchResult, verify
from okbench.datasets.prepare.loading import load_afresh
from okbench.datasets.user.user_entry import add_user_dataset
from tests.datasets.fetch_world import ROWS, World, sha256
from tests.io_faults import FULL_DISK, KINDS, Fault, Kind, each_call_failing
from tests.shared import mostly_slow

RIGHT = sha256(ROWS)
FEW = b"1 1:2 2:4\n-1 1:1\n1 3:5\n-1 2:1\n"
every_kind = pytest.mark.parametrize("kind", mostly_slow(KINDS, [FULL_DISK]), ids=str)


def put_back(folder: Path, saved: Path) -> None:
    """Make a folder what it was when it was saved."""
    shutil.rmtree(folder, ignore_errors=True)
    if saved.exists():
        shutil.copytree(saved, folder)


def says_what_failed(message: str, kind: Kind) -> bool:
    return os.strerror(kind.code) in message or "the disk is full" in message


def check_fetch(world: World, fault: Fault, kind: Kind, result: FetchResult | None) -> None:
    """The file is not there, or is whole and recorded; a failure says why."""
    held = world.data / "rows" / "rows.txt"
    assert not held.exists() or held.read_bytes() == ROWS, str(fault)
    if result is None:
        assert isinstance(fault.error, OkbenchError), f"{fault}: {fault.error!r}"
        assert says_what_failed(str(fault.error), kind), f"{fault}: {fault.error}"
    elif result.state == "failed":
        assert says_what_failed(result.message, kind), f"{fault}: {result.message}"
    else:
        assert result.ok, f"{fault}: {result}"
        assert held.read_bytes() == ROWS, str(fault)


@every_kind
@pytest.mark.parametrize("hashed", [True, False])
def test_fetching_a_file(world: World, kind: Kind, hashed: bool) -> None:
    world.describe(**({"content_sha256": RIGHT} if hashed else {}))
    world.serve(ROWS)
    calls = []
    for fault in each_call_failing(world.data, kind):
        shutil.rmtree(world.data / "rows", ignore_errors=True)
        shutil.rmtree(world.data / ".okbench", ignore_errors=True)
        result = None
        with fault:
            result = world.fetch()
        calls.append(fault.call)
        check_fetch(world, fault, kind, result)
        again = world.fetch()
        assert again.ok, f"{fault}: {again.message}"
        assert world.held[0] == "rows.txt", str(fault)
    assert {call.partition(" ")[0] for call in calls} >= {"open", "write", "fsync", "replace"}


@every_kind
def test_continuing_a_download(world: World, kind: Kind) -> None:
    world.describe()
    page = world.serve(ROWS, "cut:20000", "status:503")
    world.fetch()
    saved = world.data.parent / "saved"
    shutil.copytree(world.data / "rows", saved)
    page.moods = ["honest"]
    for fault in each_call_failing(world.data, kind):
        put_back(world.data / "rows", saved)
        result = None
        with fault:
            result = world.fetch()
        check_fetch(world, fault, kind, result)
        again = world.fetch()
        assert again.ok, f"{fault}: {again.message}"


@every_kind
def test_fetching_out_of_an_archive(world: World, kind: Kind, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "box.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows", ROWS)
    world.serve((tmp_path / "box.zip").read_bytes(), path="/box")
    world.describe(**{"from": {"url": world.server.url("/box"), "member": "rows"}})
    for fault in each_call_failing(world.data, kind):
        shutil.rmtree(world.data / "rows", ignore_errors=True)
        shutil.rmtree(world.data / ".okbench", ignore_errors=True)
        result = None
        with fault:
            result = world.fetch()
        check_fetch(world, fault, kind, result)
        again = world.fetch()
        assert again.ok, f"{fault}: {again.message}"


@every_kind
def test_making_a_bundle(world: World, kind: Kind, tmp_path: Path) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    world.fetch()
    bundle = tmp_path / "bundle"
    for fault in each_call_failing(bundle, kind):
        shutil.rmtree(bundle, ignore_errors=True)
        with fault:
            result = world.fetch(to=bundle)
        assert result.ok or says_what_failed(result.message, kind), f"{fault}: {result.message}"
        copy = bundle / "rows" / "rows.txt"
        assert not copy.exists() or copy.read_bytes() == ROWS, str(fault)
        assert world.fetch(to=bundle).ok, str(fault)
        assert world.fetch(mirror=bundle).ok, str(fault)


@every_kind
def test_verifying(world: World, kind: Kind) -> None:
    world.describe(content_sha256=RIGHT)
    world.serve(ROWS)
    world.fetch()
    for fault in each_call_failing(world.data, kind):
        with fault:
            verify(["rows"])
        assert path_of(dataset_catalogue.spec("rows").files["all"]) is not None, str(fault)
        assert verify(["rows"])[0].ok, str(fault)


@every_kind
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_preparing_rows(world: World, kind: Kind, layout: str) -> None:
    source = world.data.parent / "mine.txt"
    source.write_bytes(FEW if layout == "dense" else FEW + b"1 90:1\n" * 3)
    world.describe_all({"all": {"name": "rows.txt", "path": str(source)}}, features=90)
    entry = dataset_catalogue.spec("rows")
    sound = load_afresh(entry)
    calls = []
    for fault in each_call_failing(world.data, kind):
        shutil.rmtree(world.data / ".arrays", ignore_errors=True)
        found = None
        with fault:
            found = load_afresh(entry)
        calls.append(fault.call)
        if found is None:
            assert isinstance(fault.error, OkbenchError), f"{fault}: {fault.error!r}"
            assert says_what_failed(str(fault.error), kind), f"{fault}: {fault.error}"
        again = load_afresh(entry)
        for each in (again, found or again):
            assert each.fingerprint == sound.fingerprint, str(fault)
            assert np.array_equal(dense(each.X), dense(sound.X)), str(fault)
        left = [path.name for path in (world.data / ".arrays" / "rows").iterdir()]
        assert [name for name in left if name.endswith(".tmp")] == [], str(fault)
    assert {call.partition(" ")[0] for call in calls} >= {"open", "write", "fsync", "replace"}


def dense(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()


@every_kind
def test_mapping_rows_that_are_prepared(world: World, kind: Kind) -> None:
    source = world.data.parent / "mine.txt"
    source.write_bytes(FEW)
    world.describe_all({"all": {"name": "rows.txt", "path": str(source)}}, features=3)
    entry = dataset_catalogue.spec("rows")
    sound = load_afresh(entry)
    for fault in each_call_failing(world.data, kind):
        with fault:
            assert load_afresh(entry).fingerprint == sound.fingerprint
        assert load_afresh(entry).fingerprint == sound.fingerprint, str(fault)


@every_kind
@pytest.mark.parametrize("before", [True, False])
def test_adding_rows_of_ones_own(world: World, kind: Kind, before: bool) -> None:
    source = world.data.parent / "mine.txt"
    source.write_bytes(FEW)
    world.data.mkdir(exist_ok=True)
    file = dataset_catalogue.user_datasets()
    old = b"datasets:\n  older: {task: binary, files: {all: {name: a, path: /a, reader: csv}}}\n"
    for fault in each_call_failing(world.data, kind):
        file.unlink(missing_ok=True)
        if before:
            file.write_bytes(old)
        with fault:
            add_user_dataset(source, "mine")
        content = file.read_bytes() if file.exists() else b""
        new = b'"mine"' in content
        assert content.startswith(old if before else b"datasets:\n" if new else b""), str(fault)
        if fault.error is None:
            assert new, str(fault)
        else:
            assert isinstance(fault.error, OkbenchError), f"{fault}: {fault.error!r}"
            assert says_what_failed(str(fault.error), kind), f"{fault}: {fault.error}"
        if not new:
            add_user_dataset(source, "mine")
        assert dataset_catalogue.spec("mine").features == 3


def test_what_has_its_name_was_forced_to_the_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every array of a folder, then the folder, before it is renamed; then the folder above."""
    source = world.data.parent / "mine.txt"
    source.write_bytes(FEW)
    world.describe_all({"all": {"name": "rows.txt", "path": str(source)}}, features=3)
    events: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        events.append(f"fsync {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        fsync(descriptor)

    def replaced(old: Any, new: Any) -> None:
        events.append(f"replace {Path(new).name}")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    load_afresh(dataset_catalogue.spec("rows"))
    folder = next(path for path in (world.data / ".arrays" / "rows").iterdir() if path.is_dir())
    renamed = events.index(f"replace {folder.name}")
    written = [f"fsync {path.name}" for path in folder.glob("*.npy")]
    assert set(written) <= set(events[:renamed])
    assert events[renamed - 1].startswith(f"fsync {folder.name}.")
    assert events[renamed + 1] == "fsync rows"
