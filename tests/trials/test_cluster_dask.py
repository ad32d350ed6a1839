"""Runs on a real Dask cluster: a scheduler and workers, each a process with its own data folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from cluster_material import load, measured, trial
from trial_material import table

from okbench.base.errors import OkbenchError, UsageError
from okbench.papers.table_types import Range, Search, Setting
from okbench.trials.cluster import versions
from okbench.trials.cluster.head import run_on_cluster
from okbench.trials.plan.options import ClusterOptions, Options
from okbench.trials.run.batch import Batch
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_table import Tally, run
from okbench.trials.run.run_trial import attempt
from okbench.trials.search.tuning import Tuning, tune
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Trial
from tests.shared import needed

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
BOUND = 120  # seconds that a busy machine may take for anything


@dataclass
class Scheduler:
    """A scheduler, and how to start workers for it."""

    folder: Path
    address: str
    client: Any

    @contextmanager
    def worker(self, name: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker that is ready, with an empty data folder; it has gone after the block."""
        command = ["worker", self.address, "--name", name, "--nthreads", "1", "--no-dashboard"]
        data = {"OKBENCH_DATA": str(self.folder / f"data-{name}")}
        process = start(self.folder, [*command, "--host", "127.0.0.1", *options], data)
        try:
            wait_for(lambda: name in self.names())
            yield process
        finally:
            process.terminate()
            process.wait(BOUND)
            wait_for(lambda: name not in self.names())

    def names(self) -> set[str]:
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return {worker["name"] for worker in workers}

    def options(self, **more: Any) -> Options:
        asked = {
            name: more.pop(name)
            for name in ("versions", "rows", "jobs", "wait_workers")
            if name in more
        }
        return Options(backend="dask", cluster=ClusterOptions(self.address, **asked), **more)

    def batches(self, trials: list[Trial], **more: Any) -> Any:
        return closing(run_on_cluster(trials, load, self.options(**more)))


def start(folder: Path, command: list[str], more: dict[str, str]) -> subprocess.Popen[bytes]:
    log = (folder / "log.txt").open("ab")
    with log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *command], stdout=log, stderr=log, cwd=folder,
            env={**os.environ, "TMPDIR": str(folder), **more}, start_new_session=True,
        )  # fmt: skip


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def started(folder: Path, port: str = "0") -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A scheduler and its address."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    command = ["scheduler", "--host", "127.0.0.1", "--port", port, "--dashboard-address", ":0"]
    process = start(folder, [*command, "--scheduler-file", str(file)], {})
    try:
        wait_for(lambda: file.is_file() and file.read_text().endswith("}"))
        yield process, json.loads(file.read_text())["address"]
    finally:
        process.terminate()
        process.wait(BOUND)


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    client = needed("distributed", "runs on Dask").Client
    folder = tmp_path_factory.mktemp("dask")
    with (
        started(folder) as (_, address),
        client(address, set_as_default=False) as connected,
    ):
        yield Scheduler(folder, address, connected)


def test_a_worker_with_an_empty_cache_gets_rows_and_learners_and_gives_the_same_outcomes(
    scheduler: Scheduler,
) -> None:
    good = [trial(name, rows, repetition=r) for name in ("Linear", "Drawn")
            for rows in ("blobs", "sparse") for r in (0, 1)]  # fmt: skip
    bad = [trial("Dies"), trial("Endless"), trial("Raises")]
    found: list[Batch] = []
    with (
        scheduler.worker("empty"),
        scheduler.batches([*good, *bad], time_limit=1.0) as batches,
    ):
        found = list(batches)
    outcomes = {o.trial.id: o for batch in found for o in batch.outcomes}
    assert sum(len(batch.outcomes) for batch in found) == len(outcomes) == len(good) + len(bad)
    for one in good:
        assert measured(outcomes[one.id]) == measured(attempt(one, load, Limits()))
    assert [outcomes[one.id].status for one in bad] == ["failed", "timeout", "failed"]
    assert outcomes[bad[0].id].reason.endswith(": worker died (exit 7), 4 times")
    assert "its process was ended" in outcomes[bad[1].id].reason

    environments = {
        hash_: record for batch in found for hash_, record in batch.environments.items()
    }
    assert {o.environment for o in outcomes.values()} == environments.keys()
    assert all(record["packages"]["okbench"] for record in environments.values())
    assert {o.extra["worker"] for o in outcomes.values()} == {"empty"}
    assert sum(batch.workers["empty"] for batch in found if batch.workers) == len(outcomes)

    said = [notice for batch in found for notice in batch.notices]
    assert sum("rows of blobs are sent to" in line for line in said) == 1
    assert sum("rows of sparse are sent to" in line for line in said) == 1
    assert any("dashboard http://" in line for line in said)
    sent = scheduler.folder / "data-empty/.arrays/sent"
    assert len([path for path in sent.iterdir() if path.is_dir()]) == 2


def test_trials_of_a_killed_worker_run_again_and_a_late_worker_takes_part(
    scheduler: Scheduler,
) -> None:
    slow = [trial("Sleeps", repetition=r, settings=(("seconds", 0.001),)) for r in range(12)]
    found: list[Batch] = []
    with (
        scheduler.worker("stays"),
        scheduler.worker("killed", "--no-nanny") as killed,
        scheduler.batches(slow) as batches,
    ):
        while not any(batch.outcomes for batch in found):
            found.append(next(batches))
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        with scheduler.worker("late"):
            found += batches
    outcomes = [outcome for batch in found for outcome in batch.outcomes]
    assert sorted(o.trial.id for o in outcomes) == sorted(one.id for one in slow)
    assert {o.status for o in outcomes} == {"done"}
    assert {"stays", "late"} <= {o.extra["worker"] for o in outcomes}
    assert any("workers have left: killed" in n for batch in found for n in batch.notices)


TABLE = """\
title: A tiny table
protocol: {kind: single-pass, metric: mistake_rate, runs: 8}
learners:
  A: {learner: "trial_material:Sleeps", seconds: 2e-4}
datasets:
  spirals: {}
"""


def test_a_head_that_is_killed_goes_on_where_it_was(scheduler: Scheduler, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text(TABLE, encoding="utf-8")
    command = [sys.executable, "-m", "okbench", "run", "t.yaml", "--backend", "dask",
               "--scheduler", scheduler.address]  # fmt: skip
    given: dict[str, Any] = {
        "cwd": tmp_path,
        "env": {**os.environ, "PYTHONPATH": str(HERE), "OKBENCH_DATA": str(tmp_path / "data")},
        "stderr": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
    }
    (results,) = [tmp_path / "runs/t.jsonl"]
    with scheduler.worker("both"):
        with subprocess.Popen(command, **given) as head:
            wait_for(lambda: results.is_file() and b'"outcome"' in results.read_bytes())
            head.kill()
        wait_for(lambda: not any(scheduler.client.processing().values()))
        kept = Store(results).outcomes()
        assert 0 < len(kept) < 8
        done = subprocess.run(command, **given, check=False, timeout=BOUND)
    assert done.returncode == 0, done.stderr
    assert f"trials by worker: both {8 - len(kept)}\n" in done.stderr
    assert "1 trials at a time on 1 workers: both on 127.0.0.1" in done.stderr
    contents = Store(results).read()
    assert len(contents.measured) == len(contents.standing()) == 8
    assert {o.status for o in contents.measured} == {"done"}


def test_a_search_on_a_cluster_chooses_what_one_on_this_machine_chooses(
    scheduler: Scheduler, tmp_path: Path
) -> None:
    step = Setting(0.01, "inferred", "not known", "here:1")
    search = Search((Range("step", (0.01, 0.1, 50.0)),), subset=0.5, at_least=100, runs=2)
    page = replace(
        table({"LMS": "Squares"}, ("line",)),
        settings={("line", "LMS"): {"step": step}},
        search=search,
    )

    def go(name: str, options: Options) -> tuple[Tuning, dict[str, Any]]:
        store = Store(tmp_path / name)
        tuning = tune(page, load, lambda *a: None, store, options, lambda tally: None)
        return tuning, {id_: measured(one) for id_, one in store.outcomes().items()}

    with scheduler.worker("searches"):
        there, found = go("there.jsonl", scheduler.options())
        assert there.tally.workers == {"searches": 6}
        again, _ = go("there.jsonl", scheduler.options())
        assert again.tally.total == 0
    here, wanted = go("here.jsonl", Options())
    assert found == wanted
    assert len(found) == 6
    tried = [[(one.values, one.cost) for one in each.choices[0].tries] for each in (there, here)]
    assert tried[0] == tried[1]
    assert there.choices[0].values == here.choices[0].values == {"step": 0.1}


def test_workers_with_other_versions_are_refused_or_recorded(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wanted = {**versions.versions_here([]), "numpy": "1.0"}
    monkeypatch.setattr(versions, "_programs", lambda: wanted)
    page, store = table({"A": "Linear"}, runs=1), Store(tmp_path / "t.jsonl")

    def go(**more: Any) -> Tally:
        options = scheduler.options(**more)
        return run(page, load, lambda *a: None, store, options, lambda tally: None)

    with scheduler.worker("other"):
        with pytest.raises(OkbenchError, match=r"other: numpy .* instead of 1\.0"):
            go()
        assert store.outcomes() == {}
        assert go(versions="record").workers == {"other": 1}
    ((outcome,), environments) = store.outcomes().values(), store.environments()
    assert "instead of 1.0" in outcome.extra["differs"][0]
    assert environments[outcome.environment]["packages"]["numpy"] != "1.0"


def test_timing_needs_a_worker_that_is_alone_on_its_machine(scheduler: Scheduler) -> None:
    with scheduler.worker("one"):
        with scheduler.batches([trial()], timing=True) as batches:
            assert [o.timed for batch in batches for o in batch.outcomes] == [True]
        with (
            scheduler.worker("two"),
            scheduler.batches([trial()], timing=True) as batches,
            pytest.raises(UsageError, match="2 workers on"),
        ):
            list(batches)


def test_an_address_where_no_scheduler_is_ends_the_run_with_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed("distributed", "runs on Dask")
    monkeypatch.setattr("okbench.trials.cluster.dask._CONNECT_SECONDS", 1)
    options = Options(backend="dask", cluster=ClusterOptions("tcp://127.0.0.1:9"))
    with (
        pytest.raises(OkbenchError, match=r"Dask at tcp://127\.0\.0\.1:9 does not answer"),
        closing(run_on_cluster([trial()], load, options)) as batches,
    ):
        list(batches)


@pytest.mark.parametrize(
    ("comes_back", "said"),
    [(False, r"does not answer \(the connection is closed\)"), (True, "has had no worker for 1 s")],
)
def test_a_scheduler_that_is_lost_with_its_workers_ends_the_run(
    comes_back: bool, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okbench.trials.cluster.dask._CONNECT_SECONDS", 20 if comes_back else 2)
    slow = [trial("Sleeps", repetition=r) for r in range(100)]
    client_of = needed("distributed", "runs on Dask").Client
    with started(tmp_path) as (process, address):
        with client_of(address, set_as_default=False) as client:
            here = Scheduler(tmp_path, address, client)
            command = ["worker", address, "--name", "w", "--nthreads", "1", "--no-nanny"]
            worker = start(tmp_path, command, {"OKBENCH_DATA": str(tmp_path / "data")})
            wait_for(lambda: "w" in here.names())
        with ExitStack() as second, here.batches(slow, wait_workers=1.0) as batches:
            while not next(batches).outcomes:
                pass
            process.kill()
            process.wait()
            worker.kill()
            worker.wait()
            if comes_back:
                second.enter_context(started(tmp_path, address.rpartition(":")[2]))
            with pytest.raises(OkbenchError, match=said):
                list(batches)


def test_a_worker_that_is_stopped_is_named_and_goes_on_later(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("okbench.trials.cluster.worker_watch._SILENT_SECONDS", 3.0)
    slow = [trial("Sleeps", repetition=r, settings=(("seconds", 0.001),)) for r in range(8)]
    found: list[Batch] = []
    with scheduler.worker("stopped", "--no-nanny") as stopped, scheduler.batches(slow) as batches:
        while not any(batch.outcomes for batch in found):
            found.append(next(batches))
        os.kill(stopped.pid, signal.SIGSTOP)
        try:
            while not found[-1].notices:
                found.append(next(batches))
        finally:
            os.kill(stopped.pid, signal.SIGCONT)
        assert found[-1].notices[0].startswith("no sign of life for 3 s from workers: stopped; ")
        found += batches
    outcomes = [outcome for batch in found for outcome in batch.outcomes]
    assert [o.status for o in outcomes] == ["done"] * len(slow)
