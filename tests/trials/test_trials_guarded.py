"""Limits that hold from outside, and what is left of learners that misbehave: nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from trial_material import SLEEP, load, trial

from okbench.base.errors import OkbenchError
from okbench.base.worker_processes import Worker
from okbench.trials.plan.options import Options
from okbench.trials.run import guarded
from okbench.trials.run.execute import execute
from okbench.trials.run.guarded import run_guarded
from okbench.trials.run.protocol_loop import Limits, walk
from okbench.trials.run.run_trial import attempt
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial
from tests.shared import mostly_slow

HERE = Path(__file__).parent
MEGABYTE = 1_000_000
BOUND = 100  # seconds, in which a run must come to its end however busy the machine is


@pytest.fixture(autouse=True)
def nothing_survives() -> Iterator[None]:
    """Whatever a learner starts has ended with its trial."""
    yield
    left = sleepers()
    for process in left:
        process.kill()
    assert not left


def sleepers() -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline() == SLEEP and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def run(
    results: Path, *learners: str, kind: str = "single-pass", **options: Any
) -> dict[str, Outcome]:
    """What came of a run of its own, by learner; it has to end by itself."""
    output = go(results, *learners, kind=kind, **options)
    assert int(output) == len(learners)
    found = Store(results / "t.jsonl").outcomes().values()
    return {outcome.trial.learner.partition(":")[2]: outcome for outcome in found}


def go(results: Path, *learners: str, kind: str = "single-pass", **options: Any) -> str:
    script = [sys.executable, str(HERE / "guarded_script.py"), str(results)]
    running = subprocess.run(
        [*script, json.dumps(options), kind, *learners],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parents[1])])},
        timeout=BOUND,
        check=False,
    )
    assert running.returncode == 0, running.stderr
    return running.stdout


def unguarded(learner: str) -> Outcome:
    return attempt(trial(learner), load, Limits())


@pytest.mark.slow
def test_a_run_goes_on_after_learners_that_never_return_and_does_not_try_them_again(
    tmp_path: Path,
) -> None:
    learners = ("Endless", "EndlessAtOnce", "EndlessInBegin", "Stubborn", "Linear")
    found = run(tmp_path, *learners, jobs=2, time_limit=1.0)
    done = found.pop("Linear")
    assert done.status == "done"
    assert {outcome.status for outcome in found.values()} == {"timeout"}
    assert go(tmp_path, *learners, jobs=2, time_limit=1.0).strip() == "0"

    plain = unguarded("Linear")
    assert (done.rows, done.total) == (plain.rows, plain.total)
    assert [point[:3] for point in done.curve] == [point[:3] for point in plain.curve]
    for name in ("Endless", "Stubborn"):
        outcome = found[name]
        whole = walk(trial(name), load("blobs"), Harmless())
        assert (outcome.rows, outcome.curve[-1][0]) == (400, 400)
        assert outcome.total == whole.curve[9][1]
        assert [p[:3] for p in outcome.curve] == [p[:3] for p in whole.curve[:10]]
        assert outcome.seconds is not None
        assert outcome.seconds >= 2.0
        assert "from row 400 on: " in outcome.reason
        assert "no return, the limit is 1 s; its process was ended" in outcome.reason
    assert (found["EndlessAtOnce"].rows, found["EndlessAtOnce"].curve) == (0, ())


class Harmless:
    """What `Endless` would answer."""

    def learn(self, X: Any, y: Any) -> Any:
        return np.ones(len(y), dtype=int)

    predict = learn


@pytest.mark.parametrize(
    "options",
    mostly_slow(
        [{"timing": True}, {"backend": "threads"}, {"backend": "processes"}],
        [{"backend": "processes"}],
    ),
)
def test_no_way_to_run_lets_a_learner_go_on_for_ever(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    found = run(tmp_path, "Endless", "Threaded", time_limit=0.5, **options)
    assert {name: o.status for name, o in found.items()} == {
        "Endless": "timeout",
        "Threaded": "done",
    }
    assert {o.timed for o in found.values()} == {"timing" in options}


def test_a_fit_that_never_returns_keeps_what_it_has_marked(tmp_path: Path) -> None:
    found = run(tmp_path, "EndlessFit", kind="train-test", time_limit=0.5)["EndlessFit"]
    assert found.status == "timeout"
    assert [point[:2] for point in found.curve] == [(100, 7.0)]


@pytest.mark.skipif(sys.platform != "linux", reason="the test measures memory as Linux counts it")
@pytest.mark.parametrize("timing", mostly_slow([False, True], [False]))
def test_a_memory_limit_holds_within_one_call(tmp_path: Path, timing: bool) -> None:
    found = run(
        tmp_path, "Grabs", "GrabsBySteps", "Linear", memory_limit=300 * MEGABYTE, timing=timing
    )
    assert {name: o.status for name, o in found.items()} == {
        "Grabs": "memory",
        "GrabsBySteps": "memory",
        "Linear": "done",
    }
    for name in ("Grabs", "GrabsBySteps"):
        assert (found[name].rows, len(found[name].curve)) == (400, 10)
    held = found["GrabsBySteps"].bytes
    assert held is not None
    assert 300 * MEGABYTE <= held < 2000 * MEGABYTE
    assert "MB held, the limit is 300 MB; its process was ended" in found["GrabsBySteps"].reason


@pytest.mark.skipif(sys.platform != "linux", reason="the test measures memory as Linux counts it")
@pytest.mark.slow
def test_a_figure_of_nothing_is_not_believed_against_what_the_process_holds(tmp_path: Path) -> None:
    found = run(tmp_path, "HoldsInSilence", memory_limit=150 * MEGABYTE)["HoldsInSilence"]
    assert (found.status, found.rows) == ("memory", 440)
    assert found.bytes is not None
    assert found.bytes >= 190 * MEGABYTE
    found = run(tmp_path / "free", "HoldsInSilence")["HoldsInSilence"]
    assert found.status == "done"
    assert found.bytes is not None
    assert found.bytes >= 190 * MEGABYTE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_what_a_learner_starts_ends_with_its_trial(tmp_path: Path) -> None:
    found = run(
        tmp_path, "Breeds", "BreedsAndDies", "BreedsEndlessly", "Forks", jobs=2, time_limit=1.0
    )
    assert {name: o.status for name, o in found.items()} == {
        "Breeds": "done",
        "BreedsAndDies": "failed",
        "BreedsEndlessly": "timeout",
        "Forks": "done",
    }


@pytest.mark.parametrize("timing", mostly_slow([False, True], [False]))
def test_a_learner_that_interrupts_or_ends_its_process_costs_its_own_trial(
    tmp_path: Path, timing: bool
) -> None:
    found = run(tmp_path, "Interrupts", "IsKilled", "Dies", "Linear", timing=timing)
    assert "in rows 400 to 439: learn: KeyboardInterrupt (" in found["Interrupts"].reason
    assert (found["Interrupts"].status, found["Interrupts"].rows) == ("failed", 400)
    assert found["Dies"].reason.endswith(": worker died (exit 7)")
    assert found["IsKilled"].reason.endswith(
        ": worker died (exit 137; 137 means the system killed it, most often for lack of memory)"
    )
    assert found["Linear"].status == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no limit of open files")
@pytest.mark.parametrize("timing", [False, True])
def test_what_a_learner_leaves_in_its_process_ends_with_its_trial(
    timing: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """And the trials of okbench's own learners share one process."""
    started: list[Any] = []
    monkeypatch.setattr(
        guarded, "Worker", lambda *given: started.append(Worker(*given)) or started[-1]
    )
    trials = [one for r in range(2) for one in (trial("LeavesNoFile", repetition=r), rbp(r))]
    options = Options(jobs=1, backend="processes", timing=timing)
    with closing(execute(trials, load, options)) as coming:
        found = {outcome.trial: outcome for outcome in coming}
    assert {
        each.learner: found[each].reason for each in trials if found[each].status != "done"
    } == {}
    assert [found[rbp(r)].total for r in range(2)] == [
        attempt(rbp(r), load, Limits()).total for r in range(2)
    ]
    assert len(started) == 3
    assert capfd.readouterr().err == ""


def rbp(repetition: int) -> Trial:
    return replace(trial(repetition=repetition), learner="RBP")


@pytest.mark.parametrize(("rows", "status"), [("rows_once", "done"), ("rows_never", "failed")])
def test_a_trial_that_fails_before_its_learner_is_made_runs_again_in_a_new_process(
    rows: str, status: str
) -> None:
    trials = [rbp(r) for r in range(3)]
    with closing(run_guarded([[t] for t in trials], globals()[rows], Limits(), jobs=1)) as coming:
        assert [(outcome.trial, outcome.status) for outcome in coming] == [
            (each, status) for each in trials
        ]


_loads: list[str] = []


def rows_once(name: str, variant: str) -> Any:
    """Rows that a process has for one trial only."""
    _loads.append(name)
    return load(name, variant) if len(_loads) == 1 else rows_never(name, variant)


def rows_never(name: str, variant: str) -> Any:
    raise OSError(24, "Too many open files")


@pytest.mark.skipif(sys.platform != "linux", reason="the system counts no reserved stacks")
def test_a_thread_that_the_memory_limit_refuses_is_explained(tmp_path: Path) -> None:
    found = run(tmp_path, "StartsThreads", memory_limit=150 * MEGABYTE)["StartsThreads"]
    assert found.status == "failed"
    assert "RuntimeError: can't start new thread (threading.py" in found.reason
    assert "counts the whole stack that is reserved for each thread" in found.reason
    assert "(RLIMIT_DATA): start fewer threads" in found.reason


def test_a_worker_that_ends_between_two_trials_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarded, "_serve", leaves_after_one)
    trials = [trial("Linear", repetition=r) for r in range(3)]
    with closing(run_guarded([[each] for each in trials], load, Limits(), jobs=1)) as coming:
        assert {o.trial.id: o.status for o in coming} == {t.id: "done" for t in trials}


def leaves_after_one(connection: Any, load: Any, modules: str) -> None:
    (one,), limits, warm_up = connection.recv()
    connection.send("taken")
    connection.send(attempt(one, load, limits, connection.send, warm_up))


def test_workers_that_cannot_start_end_the_run_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guarded, "_serve", leaves_at_once)
    with (
        pytest.raises(OkbenchError, match=r"no worker process could be started: .*\(exit 3\)"),
        closing(execute([trial()], load, Options())) as coming,
    ):
        list(coming)


def leaves_at_once(connection: Any, load: Any, modules: str) -> None:
    os._exit(3)
