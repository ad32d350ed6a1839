"""What the head makes of a cluster whose workers die, lie, leave or fall silent. The cluster is one
that does as it is told, with a clock of its own."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cluster_material import load
from trial_material import table

from okbench.base.errors import OkbenchError
from okbench.trials.cluster import head, worker_watch
from okbench.trials.cluster.contract import Ended, Place
from okbench.trials.cluster.dask import DaskCluster
from okbench.trials.cluster.ray import RayCluster
from okbench.trials.cluster.tasks import Ran
from okbench.trials.plan.options import ClusterOptions, Options
from okbench.trials.run import run_table
from okbench.trials.run.run_table import Tally
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

RUNS = 6
Reply = dict[str, Any]  # the fields of an end besides its ticket


def outcome(trial: Trial) -> Outcome:
    return Outcome(trial, "done", rows=600, total=float(trial.repetition))


def ran(place: str, trial: Trial) -> Reply:
    return {"answer": Ran(place, outcome(trial), {"cpu": place})}


@dataclass
class Fake:
    """A cluster of these workers, one task at a time. `reply` says how a task ends on a worker, on
    "" if there is none; `turn` is called whenever the head waits."""

    workers: list[str]
    reply: Callable[[str, Trial], Reply | None] = ran
    turn: Callable[[Fake], None] = lambda fake: None
    engine = "Fake"
    dashboard = ""
    exposed: str = ""
    silent: float = 0.0
    seconds: float = 0.0
    tasks: list[tuple[str, Trial, frozenset[str]]] = field(default_factory=list)
    submitted: Counter[int] = field(default_factory=Counter)  # by repetition

    def places(self) -> Sequence[Place]:
        return [Place(f"id-{name}", name, "host", 1, self.silent) for name in self.workers]

    def shared(self) -> str:
        return ""

    def submit(
        self,
        ticket: str,
        call: Callable[..., Any],
        *given: Any,
        at: str = "",
        shunned: Collection[str] = (),
    ) -> None:
        self.tasks.append((ticket, given[-1], frozenset(shunned)))
        self.submitted[given[-1].repetition] += 1

    def ended(self, seconds: float) -> list[Ended]:
        self.seconds += seconds
        assert self.seconds < 5000, "the run goes on for ever"
        self.turn(self)
        ends, waiting = [], []
        for turn, (ticket, trial, shunned) in enumerate(self.tasks):
            ids = [f"id-{name}" for name in self.workers if f"id-{name}" not in shunned]
            reply = self.reply(ids[turn % len(ids)] if ids else "", trial)
            if reply is None:
                waiting.append((ticket, trial, shunned))
            else:
                ends.append(Ended(ticket, **reply))
        self.tasks = waiting
        return ends

    def close(self) -> None:
        self.tasks.clear()


@dataclass
class Run:
    """A run of six trials on such a cluster, in a results file of its own."""

    store: Store
    patch: pytest.MonkeyPatch
    notices: list[str] = field(default_factory=list)

    def on(self, fake: Fake, **asked: Any) -> Tally:
        clock = SimpleNamespace(monotonic=lambda: fake.seconds, strftime=time.strftime)
        self.patch.setattr(worker_watch, "time", clock)
        self.patch.setattr(head, "connect", lambda options: fake)
        options = Options(backend="dask", cluster=ClusterOptions("there", **asked))
        page = table({"A": "Linear"}, runs=RUNS)
        return run_table.run(page, load, lambda *a: None, self.store, options, self.take)

    def take(self, tally: Tally) -> None:
        self.notices = list(tally.notices)

    @property
    def totals(self) -> dict[int, float | None]:
        """By the repetition of the trials that are done."""
        found = self.store.outcomes().values()
        return {one.trial.repetition: one.total for one in found if one.status == "done"}


EVERY = {r: float(r) for r in range(RUNS)}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return Run(Store(tmp_path / "t.jsonl"), monkeypatch)


def test_a_worker_that_answers_for_a_different_trial_gets_no_more(run: Run) -> None:
    first: list[Trial] = []

    def reply(place: str, trial: Trial) -> Reply:
        if place == "id-bad":
            first.append(trial)
            return ran(place, first[0])
        return ran(place, trial)

    tally = run.on(Fake(["good", "bad"], reply))
    assert run.totals == EVERY
    assert len(run.store.read().measured) == RUNS
    assert tally.workers == {"good": RUNS - 1, "bad": 1}  # its first answer was right
    (said,) = [one for one in run.notices if "gets no trials" in one]
    assert re.search(r"worker bad .*Linear × blobs r=\d+ and answered for a different trial", said)


def test_a_run_that_lacks_outcomes_does_not_end_well(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_but_the_last(trials: Sequence[Trial], *_: Any) -> Any:
        yield from (outcome(trial) for trial in trials[:-1])

    monkeypatch.setattr(run_table, "execute", all_but_the_last)
    page = table({"A": "Linear"}, runs=RUNS)
    with pytest.raises(OkbenchError, match=r"1 of 6 trials have no outcome.*Linear × blobs r=5"):
        run_table.run(page, load, lambda *a: None, run.store, Options(), run.take)
    assert len(run.totals) == RUNS - 1


LOST = {"lost": "its workers died"}


def died(place: str, trial: Trial) -> Reply:
    failed = replace(outcome(trial), status="failed", reason="worker died (exit 137)")
    return {"answer": Ran(place, failed, {"cpu": place}, died=True)}


@pytest.mark.parametrize(
    ("how", "losses", "ending"),
    [
        ("worker", 3, "done"),
        ("worker", 4, "its workers died, 4 times"),
        ("process", 3, "done"),
        ("process", 4, "worker died (exit 137), 4 times"),
        ("dropped", 9, "done"),
    ],
)
def test_a_trial_is_failed_once_it_was_lost_four_times(
    how: str, losses: int, ending: str, run: Run
) -> None:
    left = losses

    def reply(place: str, trial: Trial) -> Reply:
        nonlocal left
        if trial.repetition != 2 or not left:
            return ran(place, trial)
        left -= 1
        return {"worker": LOST, "process": died(place, trial), "dropped": {}}[how]

    fake = Fake(["a", "b"], reply)
    run.on(fake)
    (found,) = [one for one in run.store.outcomes().values() if one.trial.repetition == 2]
    assert found.status == ("done" if ending == "done" else "failed")
    assert found.reason.endswith("" if ending == "done" else ending)
    again = losses if ending == "done" else losses - 1
    assert fake.submitted == Counter({**dict.fromkeys(range(RUNS), 1), 2: again + 1})


def test_what_a_cluster_without_workers_loses_is_not_failed(run: Run) -> None:
    def come_back(fake: Fake) -> None:
        fake.workers = ["late"] if fake.seconds > 20 else []

    fake = Fake([], lambda place, trial: ran(place, trial) if place else LOST, come_back)
    run.on(fake)
    assert max(fake.submitted.values()) > 4
    assert run.totals == EVERY


def test_a_run_whose_workers_have_left_ends_and_goes_on_later(run: Run) -> None:
    def reply(place: str, trial: Trial) -> Reply | None:
        return ran(place, trial) if place and trial.repetition < 2 else None

    def leave(fake: Fake) -> None:
        fake.workers = [] if fake.seconds > 5 else fake.workers

    with pytest.raises(OkbenchError, match=r"Fake at there has had no worker for 2 min \(--wait-"):
        run.on(fake := Fake(["a"], reply, leave), wait_workers=120.0)
    assert 120 < fake.seconds < 130
    assert run.totals == {0: 0.0, 1: 1.0}
    assert "workers have left: a" in run.notices
    (said,) = [one for one in run.notices if "waiting since" in one]
    assert re.fullmatch(r"no worker is left; waiting since \d\d:\d\d:\d\d, at most 2 min", said)
    assert run.on(Fake(["b"])).workers == {"b": RUNS - 2}
    assert run.totals == EVERY


def test_the_first_worker_is_waited_for_as_long(run: Run) -> None:
    with pytest.raises(OkbenchError, match="has had no worker for 10 min"):
        run.on(Fake([], lambda place, trial: None))
    assert run.notices[1].startswith("there is no worker yet; waiting since ")
    assert run.store.outcomes() == {}


def test_a_worker_that_falls_silent_is_named_once(run: Run) -> None:
    def fall_silent(fake: Fake) -> None:
        fake.silent = max(0.0, fake.seconds - 5)

    def reply(place: str, trial: Trial) -> Reply | None:
        return ran(place, trial) if fake.seconds > 100 else None

    fake = Fake(["stopped"], reply, fall_silent)
    run.on(fake)
    (said,) = [one for one in run.notices if "sign of life" in one]
    assert "for 60 s from workers: stopped; their trials wait until Fake gives" in said


@pytest.mark.parametrize("exposed", ["tcp://10.0.0.1:8786", ""])
def test_one_line_says_that_a_cluster_is_open_to_a_network(exposed: str, run: Run) -> None:
    run.on(Fake(["a"], exposed=exposed))
    lines = [one for one in run.notices if "SECURITY.md" in one]
    assert [line.startswith(f"{exposed} is on a network") for line in lines] == [True] * bool(
        exposed
    )


@pytest.mark.parametrize(
    ("address", "is_exposed"),
    [("tcp://10.0.0.1:8786", True), ("tls://10.0.0.1:8786", False), ("tcp://[::1]:8786", False)],
)
def test_dask_is_open_to_a_network_unless_its_address_is_local_or_encrypted(
    address: str, is_exposed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = SimpleNamespace(dashboard_link="")
    monkeypatch.setattr("distributed.Client", lambda *_, **more: client)
    assert DaskCluster(address).exposed == (address if is_exposed else "")


@pytest.mark.parametrize(
    ("found", "tls", "exposed"),
    [("10.0.0.1:6379", "", "10.0.0.1:6379"), ("10.0.0.1:6379", "1", ""), ("127.0.0.1:1", "", "")],
)
def test_ray_is_open_to_a_network_unless_the_address_that_it_finds_is_local_or_encrypted(
    found: str, tls: str, exposed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = SimpleNamespace(gcs_address=found, dashboard_url="")
    ray = SimpleNamespace(is_initialized=lambda: True, get_runtime_context=lambda: context)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_USE_TLS", tls)
    assert RayCluster("auto").exposed == exposed
