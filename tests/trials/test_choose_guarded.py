"""In a race, learners that are not okbench's own are guarded as in a run: what they do wrong ends
them alone, and nothing of them is left."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from trial_material import SLEEP

from okbench.papers.additions import AddedLearner, Additions
from okbench.papers.table_types import RowsFile
from okbench.trials.choose import search
from okbench.trials.choose.choosing import Asked, choose
from okbench.trials.choose.entrants import entrants
from okbench.trials.choose.guarded_runner import Runners
from okbench.trials.choose.race import Race
from okbench.trials.choose.runner import Learned, Runner
from okbench.trials.choose.search import Chosen
from okbench.trials.choose.standings import Standings
from tests.trials.test_choose_race import Silent, rings, write


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RowsFile:
    """400 rows: 100 for the search, 300 for the race, all of them in its first part."""
    monkeypatch.setenv("OKBENCH_ALLOW_LEARNERS", "trial_material")
    monkeypatch.setattr(search, "WARM_UP_SECONDS", {True: 1.0, False: 1.0})
    write(tmp_path / "rings.csv", rings(400))
    return RowsFile(tmp_path / "rings.csv")


def race(rows: RowsFile, *learners: str, seconds: float = 1e6) -> Standings:
    """A race of FOGD and learners of `trial_material`, each with the row at which it goes wrong."""
    strange = [
        AddedLearner(f"trial_material:{name}", {"at": at} if at else {})
        for name, _, at in (learner.partition(" ") for learner in learners)
    ]
    asked = Asked((AddedLearner("FOGD"), *strange), memory=100e6, seconds=seconds, searched=False)
    return choose(rows, asked, Silent())[0]


def test_what_learners_do_wrong_ends_them_alone(rows: RowsFile) -> None:
    found = race(
        rows, "EndlessInBegin", "Endless 50", "Stubborn 150", "GrabsBySteps 150", "IsKilled 150",
        "Breeds 150", seconds=15.0,
    )  # fmt: skip
    reasons = {one.label: one.reason for one in found.left_out}
    assert set(reasons) == {"EndlessInBegin", "Endless[at=50]"}
    assert "before the first row: " in reasons["EndlessInBegin"]
    assert "in rows 0 to 99: " in reasons["Endless[at=50]"]
    courses = {course.label.partition("[")[0]: course for course in found.courses}
    endings = {label: course.ending for label, course in courses.items() if not course.marks}
    assert endings == {"Stubborn": "time", "GrabsBySteps": "memory", "IsKilled": "failed"}
    for reason in (*reasons.values(), courses["Stubborn"].reason):
        assert reason.endswith("s and no return; its process was ended")
    assert "MB held, the limit is 100 MB" in courses["GrabsBySteps"].reason
    assert "worker died (exit 137" in courses["IsKilled"].reason
    assert courses["Breeds"].rows == 300

    (alone,) = race(rows).courses
    assert [(mark.rows, mark.total) for mark in courses["FOGD"].marks] == [
        (mark.rows, mark.total) for mark in alone.marks
    ]
    assert SLEEP not in [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]


def test_learners_that_may_not_return_have_the_last_turn_in_a_part() -> None:
    """So that one which takes the rest of the time costs the others no part."""
    turns: list[str] = []

    class Noted(Runner):
        def learn(self, *given: Any, **more: Any) -> Learned:
            turns.append("guarded" if self.is_guarded else "ours")
            return super().learn(*given, **more)

    class Guarded(Noted):
        is_guarded = True

    class NotedRunners(Runners):
        def runner(self, label: str, trial: Any, order: Any, *more: Any, **watch: Any) -> Any:
            return (Guarded if trial.learner == "Perceptron" else Noted)(trial, data, order)

    data = rings(1500)
    named = [AddedLearner("Perceptron"), AddedLearner("FOGD")]
    found = entrants(data, named, Additions(), 0.6, False, False, 0)
    chosen = [
        Chosen(one.label, one.trial, rate, 0.0, None)
        for one, rate in zip(found, (1e-9, 1e-3), strict=True)
    ]
    runners = NotedRunners(data, lambda name, variant: data)
    Race(chosen, runners, np.arange(1500), math.inf, lambda label, row: None).run()
    assert turns == ["ours", "guarded"]


def test_a_guarded_learner_costs_what_it_costs_here(rows: RowsFile) -> None:
    from trial_material import Linear

    from okbench.trials.plan.seeds import seeded_order
    from okbench.trials.plan.user_table import read_once

    data = read_once(rows).dataset
    order = seeded_order(0, data.name, "", 0, data.n_rows)[100:]
    (course,) = (one for one in race(rows, "Linear").courses if one.label == "Linear")
    wrong = Linear().learn(data.X[order], data.y[order]) != data.y[order]
    assert course.marks[-1].total == np.count_nonzero(wrong)
    assert course.marks[-1].bytes is None
