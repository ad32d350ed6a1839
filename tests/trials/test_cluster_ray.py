"""Runs on a real Ray cluster of nodes with their own data folders, on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest
from cluster_material import load, measured, trial

from okbench.base.errors import OkbenchError, UsageError
from okbench.trials.cluster import versions
from okbench.trials.cluster.head import run_on_cluster
from okbench.trials.plan.options import ClusterOptions, Options
from okbench.trials.run.batch import Batch
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.trial_types import Trial
from tests.shared import needed

BOUND = 120  # seconds that a busy machine may take for anything

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:Tip. In future versions of Ray, Ray will no longer override:FutureWarning"
    ),
]


@dataclass
class Nodes:
    """A cluster with one node, and how to add others."""

    cluster: Any
    folder: Path

    def add(self, name: str) -> Any:
        data = {"OKBENCH_DATA": str(self.folder / name)}
        return self.cluster.add_node(num_cpus=1, env_vars=data, object_store_memory=80 << 20)

    def batches(self, trials: list[Trial], **more: Any) -> Any:
        asked = {name: more.pop(name) for name in ("versions",) if name in more}
        where = ClusterOptions(self.cluster.address, **asked)
        return closing(run_on_cluster(trials, load, Options(backend="ray", cluster=where, **more)))


@contextmanager
def one_node() -> Iterator[Nodes]:
    make_cluster = needed("ray.cluster_utils", "runs on Ray").Cluster
    # the names of Ray's sockets are too long in the folders of pytest
    with TemporaryDirectory(prefix="ok") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")  # a token would be written to the home folder
        patch.setenv("OKBENCH_DATA", str(Path(folder) / "first"))
        patch.setenv("RAY_TMPDIR", folder)  # Ray writes its address into a folder below, if any
        (Path(folder) / "ray").mkdir()
        first = {
            "num_cpus": 1,
            "include_dashboard": False,
            "temp_dir": folder,
            "object_store_memory": 80 << 20,
        }
        cluster = make_cluster(initialize_head=True, head_node_args=first)
        try:
            yield Nodes(cluster, Path(folder))
        finally:
            cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with one_node() as found:
        yield found


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + BOUND
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_node_with_an_empty_cache_gets_rows_and_learners_and_gives_the_same_outcomes(
    nodes: Nodes,
) -> None:
    good = [trial(name, repetition=r) for name in ("Linear", "Drawn") for r in (0, 1)]
    bad = [trial("Dies"), trial("Endless")]
    with nodes.batches([*good, *bad], time_limit=1.0, timing=True) as batches:
        found: list[Batch] = list(batches)
    outcomes = {o.trial.id: o for batch in found for o in batch.outcomes}
    assert sum(len(batch.outcomes) for batch in found) == len(outcomes) == len(good) + len(bad)
    for one in good:
        assert measured(outcomes[one.id]) == measured(attempt(one, load, Limits()))
    assert [outcomes[one.id].status for one in bad] == ["failed", "timeout"]
    assert all(o.timed for o in outcomes.values())
    said = [notice for batch in found for notice in batch.notices]
    assert sum("rows of blobs are sent to" in line for line in said) == 1
    assert len([p for p in (nodes.folder / "first/.arrays/sent").iterdir() if p.is_dir()]) == 1


def test_trials_of_a_killed_node_run_again_and_are_counted_once(nodes: Nodes) -> None:
    slow = [trial("Sleeps", repetition=r, settings=(("seconds", 0.001),)) for r in range(10)]
    killed = nodes.add("killed")
    with (
        nodes.batches([trial()], timing=True) as batches,
        pytest.raises(UsageError, match="2 nodes on"),
    ):
        list(batches)
    found: list[Batch] = []
    with nodes.batches(slow) as batches:
        while len({o.extra["worker"] for batch in found for o in batch.outcomes}) < 2:
            found.append(next(batches))
        nodes.cluster.remove_node(killed, allow_graceful=False)
        found += batches
    outcomes = [outcome for batch in found for outcome in batch.outcomes]
    assert sorted(o.trial.id for o in outcomes) == sorted(one.id for one in slow)
    assert {o.status for o in outcomes} == {"done"}


def test_a_run_whose_own_node_dies_ends_and_blames_no_trial() -> None:
    slow = [trial("Sleeps", repetition=r) for r in range(20)]
    found: list[Batch] = []
    with one_node() as nodes, nodes.batches(slow) as batches:
        while not any(batch.outcomes for batch in found):
            found.append(next(batches))
        (raylet,) = nodes.cluster.head_node.all_processes["raylet"]
        raylet.process.kill()
        with pytest.raises(OkbenchError, match=r"does not answer .* has died.* run again to go on"):
            found += iter(batches)
    assert {o.status for batch in found for o in batch.outcomes} == {"done"}


def test_leaving_early_ends_the_trial_that_runs(nodes: Nodes) -> None:
    with nodes.batches([trial(), trial("Sleeps", settings=(("seconds", 60.0),))]) as batches:
        while not next(batches).outcomes:
            pass
        wait_for(lambda: bool(running()))
    wait_for(lambda: not running())


def running() -> list[psutil.Process]:
    """Processes of trials that come from Ray's, which come from this process."""
    found = psutil.Process().children(recursive=True)
    return [each for each in found if _is_of_a_trial(each)]


def _is_of_a_trial(process: psutil.Process) -> bool:
    try:
        return "popen_loky" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def test_a_node_with_other_versions_is_refused(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {**versions.versions_here([]), "numpy": "1.0"}
    monkeypatch.setattr(versions, "_programs", lambda: wanted)
    with (
        pytest.raises(OkbenchError, match=r"numpy .* instead of 1\.0"),
        nodes.batches([trial()]) as batches,
    ):
        list(batches)
