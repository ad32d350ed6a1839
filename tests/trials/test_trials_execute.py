from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
import trial_material
from trial_material import load, table, trial

from okbench.base.errors import UsageError
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.execute import execute
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial
from tests.shared import mostly_slow

HERE = Path(__file__).parent


def outcomes(trials: Iterable[Trial], **options: Any) -> dict[str, Outcome]:
    with closing(execute(trials, load, Options(**options))) as coming:
        return {outcome.trial.id: outcome for outcome in coming}


def measured(found: Iterable[Outcome]) -> dict[str, tuple[Any, ...]]:
    """What must not depend on how trials were run."""
    return {
        o.trial.id: (o.status, o.rows, o.total, o.support, [point[:3] for point in o.curve])
        for o in found
    }


def workers() -> list[psutil.Process]:
    return [
        child for child in psutil.Process().children() if "popen_loky" in " ".join(child.cmdline())
    ]


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The learners of the tests run as those of okbench do: in threads if they are compiled, and in
    a process that is kept."""
    for module in ("execute", "guarded"):
        monkeypatch.setattr(f"okbench.trials.run.{module}.is_ours", lambda entry: True)


def mixed() -> list[Trial]:
    learners = {"A": "Linear", "B": "CompiledDrawn", "C": "Seeded", "D": "Threaded"}
    return plan(table(learners, ("blobs", "bumps"), runs=2), load)


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("quick", mostly_slow([True, False], [True]))
def test_the_outcome_depends_neither_on_jobs_nor_backend_nor_order(quick: bool) -> None:
    trials = mixed()
    alone = measured(outcomes(trials).values())
    assert len(alone) == 16
    assert {ending for ending, *_ in alone.values()} == {"done"}
    options: tuple[dict[str, Any], ...] = ({}, {"backend": "threads"}) if quick else (
        {"backend": "processes"}, {"time_limit": 600.0}, {"memory_limit": 1e12}
    )  # fmt: skip
    for more in options:
        assert measured(outcomes(trials[::-1], jobs=2, **more).values()) == alone, more


@pytest.mark.usefixtures("trusted")
def test_compiled_learners_run_here_and_others_in_worker_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial_material.Drawn, "begin", lambda *a: 1 / 0)
    found = outcomes([trial("CompiledDrawn"), trial("Drawn")], jobs=2)
    endings = {o.trial.learner: o.status for o in found.values()}
    assert endings == {
        "trial_material:CompiledDrawn": "failed",
        "trial_material:Drawn": "done",
    }


def test_timing_runs_one_trial_at_a_time_here_with_learners_alternating() -> None:
    found = outcomes(reversed(mixed()), jobs=2, timing=True)
    assert all(o.timed for o in found.values())
    order = [(o.trial.repetition, o.trial.dataset) for o in found.values()]
    assert order == sorted(order)
    learners = [o.trial.learner for o in found.values()]
    assert all(len(set(learners[at : at + 4])) == 4 for at in range(0, 16, 4))
    assert measured(found.values()) == measured(outcomes(mixed()).values())


def test_a_learner_that_goes_wrong_costs_its_own_trial() -> None:
    found = outcomes([trial("Raises"), trial("TooShort"), trial("Linear")], jobs=2)
    assert sorted(o.status for o in found.values()) == ["done", "failed", "failed"]


@pytest.mark.parametrize("learner", mostly_slow(["Exits", "ExitsInThreads"], ["Exits"]))
@pytest.mark.parametrize("timing", mostly_slow([False, True], [False]))
def test_a_learner_that_exits_costs_its_own_trial(learner: str, timing: bool) -> None:
    found = outcomes([trial(learner), trial("Linear")], jobs=2, timing=timing)
    reason = found[trial(learner).id].reason
    assert sorted(o.status for o in found.values()) == ["done", "failed"]
    assert "in rows 400 to 439: learn: SystemExit: 0 (trial_material.py, line " in reason


def test_a_learner_that_forks_and_comes_back_twice_runs_once() -> None:
    found = outcomes([trial("Forks"), trial("Linear")], jobs=2)
    assert [o.status for o in found.values()] == ["done", "done"]
    left = [child for worker in workers() for child in worker.children()]
    assert all(child.status() == psutil.STATUS_ZOMBIE for child in left)


@pytest.mark.usefixtures("trusted")
def test_a_limit_moves_compiled_learners_to_worker_processes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial_material.Drawn, "begin", lambda *a: 1 / 0)
    for limit in ({"time_limit": 600.0}, {"memory_limit": 1e12}):
        for timing in (False, True):
            found = outcomes([trial("CompiledDrawn")], timing=timing, **limit)
            assert [o.status for o in found.values()] == ["done"]


@pytest.mark.parametrize("jobs", mostly_slow([1, 2], [2]))
def test_a_learner_that_ends_its_process_costs_its_own_trial(jobs: int) -> None:
    trials = [trial("Linear", repetition=r) for r in range(6)]
    trials.insert(3, trial("Dies"))
    found = outcomes(trials, jobs=jobs)
    dead = found.pop(trials[3].id)
    assert dead.status == "failed"
    assert dead.reason.endswith("Dies × blobs r=0: worker died (exit 7)")
    assert found.keys() == {t.id for t in trials if t != trials[3]}
    assert {o.status for o in found.values()} == {"done"}


@pytest.mark.usefixtures("trusted")
def test_a_worker_killed_by_the_system_costs_its_trial_with_the_reason() -> None:
    trials = [trial("Sleeps", repetition=r) for r in range(3)]
    with closing(execute(trials, load, Options(jobs=1))) as coming:
        assert next(coming).status == "done"
        killer = threading.Timer(0.3, lambda: [worker.kill() for worker in workers()])
        killer.start()  # the next trial takes over a second
        rest = list(coming)
        killer.join()
    assert sorted(o.status for o in rest) == ["done", "failed"]
    reason = next(o.reason for o in rest if o.status == "failed")
    assert reason.endswith(
        ": worker died (exit 137; 137 means the system killed it, most often for lack of memory)"
    )


def test_leaving_early_leaves_no_worker_behind() -> None:
    trials = [trial("Sleeps", repetition=r) for r in range(6)]
    with closing(execute(trials, load, Options(jobs=2))) as coming:
        next(coming)
    assert not workers()


def _pool_threads() -> set[int]:
    """The threads of joblib's pools; other tests leave threads of other kinds."""
    return {one.native_id or 0 for one in threading.enumerate() if "(worker)" in one.name}


@pytest.mark.usefixtures("trusted")
def test_leaving_early_stops_threads_at_their_next_block() -> None:
    others = _pool_threads()
    slow = [trial("SleepsInThreads", repetition=r, settings=(("seconds", 0.01),)) for r in range(6)]
    with closing(execute([trial("Threaded"), *slow], load, Options(jobs=2))) as coming:
        assert next(coming).trial.learner.endswith("Threaded")
        assert _pool_threads() - others
    deadline = time.monotonic() + 30
    while _pool_threads() - others and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _pool_threads() - others


def test_a_backend_that_is_not_there_is_refused() -> None:
    known = "no backend 'cloud'.* threads, processes, dask, ray"
    with pytest.raises(UsageError, match=known):
        outcomes([trial()], backend="cloud", jobs=2)


def test_an_interrupted_run_goes_on_cell_for_cell(tmp_path: Path) -> None:
    trials = mixed()
    whole = measured(outcomes(trials).values())
    store = Store(tmp_path / "t.jsonl")
    with store.writer({}, "m") as writer, closing(execute(trials, load, Options())) as coming:
        for _ in range(5):
            writer.add(next(coming))
    left = [t for t in trials if t.id not in store.outcomes()]
    assert len(left) == 11
    with store.writer({}, "m") as writer, closing(execute(left, load, Options(jobs=2))) as coming:
        for outcome in coming:
            writer.add(outcome)
    assert measured(store.outcomes().values()) == whole


def start(results: Path, learner: str, jobs: int, runs: int, seconds: float) -> Any:
    (temporary := results / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, str(HERE / "run_script.py"), str(results), learner]
    return subprocess.Popen(
        [*command, str(jobs), str(runs), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE), "TMPDIR": str(temporary)},
        start_new_session=True,
    )


def family(process: Any) -> list[psutil.Process]:
    return [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]


def all_gone(processes: list[psutil.Process], seconds: float = 20) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return all(one.status() == psutil.STATUS_ZOMBIE for one in alive)


def lines_of(process: Any, count: int) -> Iterator[str]:
    for _ in range(count):
        yield process.stdout.readline()


STOPS = [
    (signal.SIGINT, -signal.SIGINT, "Sleeps"),
    (signal.SIGTERM, 143, "Sleeps"),
    (signal.SIGINT, -signal.SIGINT, "SleepsInThreads"),
    (signal.SIGTERM, 143, "SleepsInThreads"),
    (signal.SIGKILL, -signal.SIGKILL, "Sleeps"),
]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stop", mostly_slow(STOPS, STOPS[:1]))
def test_a_run_that_is_stopped_leaves_no_process_and_a_store_that_goes_on(
    stop: tuple[signal.Signals, int, str], tmp_path: Path
) -> None:
    number, code, learner = stop
    running = start(tmp_path, learner, jobs=2, runs=4, seconds=0.001)
    printed = list(lines_of(running, 2))
    assert all(line.endswith("done\n") for line in printed), running.stderr.read()
    processes = family(running)
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)
    running.communicate(timeout=30)
    assert running.returncode == code
    assert all_gone(processes)

    store = Store.of(tmp_path, "made/small")
    kept = store.outcomes()
    assert {line.split()[0] for line in printed} <= kept.keys()
    assert len(kept) < 8
    assert {outcome.status for outcome in kept.values()} == {"done"}

    again = start(tmp_path, learner, jobs=2, runs=4, seconds=0.001)
    output, errors = again.communicate(timeout=60)
    assert again.returncode == 0, errors
    assert len(output.splitlines()) == 8 - len(kept)
    assert len(store.outcomes()) == 8
    assert {outcome.status for outcome in store.outcomes().values()} == {"done"}
