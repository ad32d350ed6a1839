"""What a run takes to a cluster: rows, modules, versions. No engine is needed here."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cluster_material import load, measured, trial
from trial_material import table

from okbench.base.errors import DataError, UsageError
from okbench.base.locks import try_lock
from okbench.base.whole_files import make_folder
from okbench.cli import options as command_line
from okbench.datasets import load as load_dataset
from okbench.datasets.data_folder import data_folder
from okbench.datasets.dataset_types import fingerprint
from okbench.trials.cluster import rows, tasks
from okbench.trials.cluster.contract import Here, connect
from okbench.trials.cluster.head import terms_of
from okbench.trials.cluster.rows import RowsOfRun
from okbench.trials.cluster.sources import Sources, sources_of
from okbench.trials.cluster.tasks import Kept, Lacks, Ran, Refused, run_trial
from okbench.trials.cluster.versions import differences, versions_here
from okbench.trials.plan.options import ClusterOptions, Options
from okbench.trials.run.environment import hash_of
from okbench.trials.run.estimate import dry_run
from okbench.trials.run.protocol_loop import Limits, never
from okbench.trials.run.run_trial import attempt
from okbench.trials.search.subsample import Subsample
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome
from tests.shared import SHARED

HERE = Here("w", never)


@pytest.fixture(autouse=True)
def _empty_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))


def send(name: str, variant: str = "", flip: bool = False) -> str:
    """Send rows to this data folder, perhaps with one bit of the values changed on the way."""
    dataset = load(name, variant)
    key = rows.key_of(dataset)
    for file, at, content in rows.pieces(dataset):
        if flip and at and file in ("X.npy", "values.npy"):
            content = bytes([content[0] ^ 1]) + content[1:]
        assert isinstance(tasks.take_piece(HERE, key, "d1", file, at, content), Kept)
    rows.keep(key, "d1", rows.about(dataset))
    return key


@pytest.mark.parametrize("name", ["blobs", "sparse", "words", "three", "line", "split", "ordered"])
def test_rows_that_were_sent_are_those_of_the_head(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "PIECE", 1000)
    there, key = load(name), send(name)
    assert rows.lacks(name, "", key, fetching=False) == ""
    here = RowsOfRun((((name, ""), key),))(name)
    for field in ("name", "task", "classes", "fingerprint", "n_train"):
        assert getattr(here, field) == getattr(there, field)
    assert rows.key_of(here) == key
    dense = [one.X if isinstance(one.X, np.ndarray) else one.X.toarray() for one in (here, there)]
    assert np.array_equal(*dense)
    assert np.array_equal(here.y, there.y)
    assert (here.orders is None) == (there.orders is None)
    assert there.orders is None or np.array_equal(here.orders, there.orders)
    assert not list((data_folder() / ".arrays/sent").glob("*.part"))


@pytest.mark.parametrize("name", ["blobs", "sparse"])
def test_rows_that_arrive_damaged_are_refused_and_not_kept(name: str) -> None:
    with pytest.raises(DataError, match="rows arrived damaged"):
        send(name, flip=True)
    key = rows.key_of(load(name))
    assert rows.sent_rows(name, key) is None
    send(name)
    assert rows.sent_rows(name, key) is not None


def test_rows_that_are_damaged_after_they_were_sent_are_asked_for_again() -> None:
    one = trial(dataset="sparse")
    terms, key = terms_of([one], load, Options()), send("sparse")
    labels = data_folder() / ".arrays/sent" / key / "labels.npy"
    content = labels.read_bytes()
    labels.write_bytes(content[:128] + content[128:][::-1])
    reply = run_trial(HERE, terms, one)
    assert isinstance(reply, Lacks)
    assert "labels.npy: bytes 0 to" in reply.reason
    send("sparse")
    reply = run_trial(HERE, terms, one)
    assert isinstance(reply, Ran)
    assert measured(reply.outcome) == measured(attempt(one, load, Limits()))


def test_the_key_of_a_part_of_rows_is_that_of_its_values() -> None:
    part = Subsample(load, 0.5, 10, seed=1)("sparse")
    alone = replace(part, fingerprint=fingerprint(part.X, part.y, part.classes))
    assert rows.key_of(part) == rows.key_of(alone)
    assert rows.key_of(part) != rows.key_of(Subsample(load, 0.5, 10, seed=2)("sparse"))
    assert re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{8}", rows.key_of(part))


def test_the_key_of_rows_covers_what_the_fingerprint_does_not() -> None:
    split, whole = load("split"), replace(load("split"), n_train=None)
    assert split.fingerprint == whole.fingerprint
    assert rows.key_of(split) != rows.key_of(whole)
    ordered = load("ordered")
    assert ordered.orders is not None
    other = replace(ordered, orders=ordered.orders[::-1])
    assert rows.key_of(ordered) != rows.key_of(other)


def test_rows_that_a_worker_can_load_itself_are_not_asked_for() -> None:
    key = rows.key_of(load_dataset("spirals"))
    assert rows.lacks("spirals", "", key, fetching=False) == ""
    assert RowsOfRun(((("spirals", ""), key),))("spirals") is load_dataset("spirals")
    assert "others" in rows.lacks("spirals", "", "0123456789abcdef-00000000", fetching=False)
    assert "fetch" in rows.lacks("german", "", key, fetching=False)


def test_rows_that_cannot_be_fetched_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "mirror")
    monkeypatch.setenv("OKBENCH_MIRROR", str(tmp_path / "mirror"))
    assert rows.lacks("german", "", "0-0", fetching=True)


@pytest.mark.shared("rows that a worker fetches")
def test_a_worker_fetches_rows_and_compares_them_with_those_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OKBENCH_MIRROR", str(SHARED / "data"))
    assert "the rows here are others" in rows.lacks("german", "", "0-0", fetching=True)
    key = rows.key_of(load_dataset("german"))
    assert rows.lacks("german", "", key, fetching=False) == ""


def test_a_task_names_the_folder_that_lacks_its_rows() -> None:
    one = trial()
    terms = terms_of([one], load, Options())
    reply = run_trial(HERE, terms, one)
    assert isinstance(reply, Lacks)
    assert reply.folder.endswith(str(data_folder()))


def test_rows_that_cannot_be_kept_refuse_the_worker() -> None:
    make_folder(data_folder())
    (data_folder() / ".arrays").write_text("a file", encoding="utf-8")
    reply = tasks.take_piece(HERE, "k", "d", "X.npy", 0, b"x")
    assert isinstance(reply, Refused)
    assert "rows cannot be kept" in reply.reason


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "modules"
    (folder / "shipped_package").mkdir(parents=True)
    (folder / "shipped_package/__init__.py").write_text("", encoding="utf-8")
    (folder / "shipped_package/inner.py").write_text("class L: ...\n", encoding="utf-8")
    (folder / "shipped_learner.py").write_text(
        "import json\nimport numpy\nfrom shipped_helper import factor\nclass Mine: ...\n",
        encoding="utf-8",
    )
    (folder / "shipped_helper.py").write_text("factor = 2\n", encoding="utf-8")
    (folder / "unrelated.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    return folder


def test_a_module_is_sent_with_what_it_imports_from_its_folder(modules: Path) -> None:
    found = sources_of(["shipped_learner:Mine", "shipped_learner:Other", "OGD"])
    assert [name for name, _ in found.files] == ["shipped_helper.py", "shipped_learner.py"]
    found = sources_of(["shipped_package.inner:L"])
    names = [name for name, _ in found.files]
    assert names == ["shipped_package/__init__.py", "shipped_package/inner.py"]
    folder = Path(found.folder())
    assert (folder / "shipped_package/inner.py").read_text() == "class L: ...\n"
    assert sources_of(["OGD"]) == Sources()


def test_the_modules_of_a_process_that_was_killed_are_removed(
    modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    script = (
        "import os, sys; from okbench.trials.cluster.sources import Sources\n"
        "print(Sources((('a.py', sys.argv[1].encode()),)).folder(), flush=True)\n"
        "input(); os._exit(9)"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", script, word],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for word in ("killed", "runs")
    ]
    killed, runs = started
    folders = [Path(str(each.stdout and each.stdout.readline()).strip()) for each in started]
    killed.communicate("\n")
    assert [folder.is_dir() for folder in folders] == [True, True]
    with (folders[0] / ".lock").open("r+b") as lock:  # the system may free it a moment later
        while not try_lock(lock.fileno()):
            time.sleep(0.01)
    mine = Path(sources_of(["shipped_learner:Mine"]).folder())
    assert [folder.is_dir() for folder in (*folders, mine)] == [False, True, True]
    runs.communicate("\n")


def test_modules_that_are_too_large_are_not_sent(modules: Path) -> None:
    (modules / "shipped_helper.py").write_text("#" + "x" * 1_000_000, encoding="utf-8")
    with pytest.raises(UsageError, match="Install them there as a package"):
        sources_of(["shipped_learner:Mine"])


def test_another_source_of_the_learner_on_the_worker_is_a_difference(modules: Path) -> None:
    wanted = versions_here(["shipped_learner:Mine"])
    assert differences(wanted) == []
    (modules / "shipped_learner.py").write_text("class Mine: x = 1\n", encoding="utf-8")
    (found,) = differences(wanted)
    assert found.startswith("learner module shipped_learner ")
    (modules / "shipped_learner.py").unlink()  # it is sent
    assert differences(wanted) == []
    assert differences({**wanted, "numpy": "1.0"})[0].endswith("instead of 1.0")
    assert differences({**wanted, "installed learner module nowhere": "0"}) == [
        "installed learner module nowhere none instead of 0"
    ]


def test_outcomes_that_arrive_together_are_forced_to_the_disk_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, there = Store(tmp_path / "t.jsonl"), {"cpu": "another"}
    hash_ = hash_of(there)
    forced: list[int] = []
    outcomes = [
        Outcome(trial(repetition=0), "done", total=1),
        Outcome(trial(repetition=1), "done", total=2, environment=hash_),
        Outcome(trial(repetition=2), "done", total=3, environment=hash_),
    ]
    with store.writer({"cpu": "here"}, "h") as writer:
        monkeypatch.setattr("os.fsync", forced.append)
        writer.add_all(outcomes, {hash_: there})
        assert len(forced) == 1
        writer.add_all([])
        assert len(forced) == 1
    contents = store.read()
    assert contents.environments == {"h": {"cpu": "here"}, hash_: there}
    assert [one.environment for one in contents.measured] == ["h", hash_, hash_]


def test_a_dry_run_says_what_would_be_submitted_and_connects_to_nothing(tmp_path: Path) -> None:
    page, store = table({"A": "Linear"}, ("blobs",), runs=5), Store(tmp_path / "t.jsonl")
    options = Options(backend="dask", time_limit=90.0, cluster=ClusterOptions(jobs=4))
    lines = dry_run(page, load, lambda *a: None, store, options).submitted
    assert lines[0].startswith("5 tasks for dask at an address that is not given yet")
    assert lines[0].endswith("4 at a time")
    text = "\n".join(lines)
    for part in ("limits of each: 2 min", "demanded: numpy ", "trial_material.py", "rows: blobs "):
        assert part in text
    assert dry_run(page, load, lambda *a: None, store, Options()).submitted == ()


def test_an_engine_needs_its_address_and_its_own_options() -> None:
    with pytest.raises(UsageError, match="--scheduler tcp://"):
        connect(Options(backend="dask"))
    with pytest.raises(UsageError, match="--address HOST:6379"):
        connect(Options(backend="ray"))
    with pytest.raises(UsageError, match="--scheduler belongs to --backend dask"):
        command_line.cluster_options("ray", None, "tcp://x:1", None, None, None, None)
    with pytest.raises(UsageError, match="--rows belongs to --backend dask or --backend ray"):
        command_line.cluster_options("", None, None, None, "send", None, None)
    asked = command_line.cluster_options("ray", 3, None, "auto", None, "record", 90.0)
    assert asked == ClusterOptions("auto", "send", "record", 3, 90.0)


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_a_missing_engine_names_the_extra(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed" if engine == "dask" else "ray", None)
    with pytest.raises(UsageError, match=rf"pip install 'okbench\[{engine}\]'"):
        connect(Options(backend=engine, cluster=ClusterOptions("x:1")))
