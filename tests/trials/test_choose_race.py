"""The race for a learner: exact numbers, fair tests, and reasons for whoever does not run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from okbench.base.errors import DataError, OkbenchError
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.user import large_file
from okbench.learners.contract import Problem
from okbench.learners.registry import find
from okbench.papers.additions import AddedLearner, Additions
from okbench.papers.table_types import RowsFile
from okbench.trials.choose import race as race_module
from okbench.trials.choose import runner
from okbench.trials.choose.choosing import Asked, choose
from okbench.trials.choose.entrants import entrants, fitting
from okbench.trials.choose.guarded_runner import Runners
from okbench.trials.choose.paired import LEVEL, blocks_of, level_of, p_of_being_worse
from okbench.trials.choose.race import Race
from okbench.trials.choose.runner import Learned
from okbench.trials.choose.search import Chosen, SettingsSearch, search_rows
from okbench.trials.choose.standings import Course, Mark, Search, Standings
from okbench.trials.plan import rows_in_memory, user_table
from okbench.trials.plan.seeds import draws, row_order, seeded_order


class Silent:
    """Follows a race and keeps what was said."""

    def __init__(self) -> None:
        self.expected: Any = ()
        self.notes: Any = ()

    def read(self, notes: Any) -> None:
        self.notes = notes

    def admitted(self, data: Any, labels: Any, left_out: Any) -> None: ...

    def searched(self, label: str) -> None: ...

    def estimated(self, search: Any, expected: Any, rows: int) -> None:
        self.expected = expected

    def learned(self, label: str, row: int) -> None: ...


def rings(rows: int = 4000, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 3))
    y = np.where((X[:, 0] - 0.5) ** 2 + (X[:, 1] - 0.3) ** 2 < 1.8, 1, -1)
    return Dataset("rings", X, y, "binary", (-1, 1), fingerprint(X, y, (-1, 1)))


def waves(rows: int = 4000) -> Dataset:
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (rows, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    return Dataset("waves", X, y, "regression", (), fingerprint(X, y, ()))


def raced(
    data: Dataset, *learners: str, seconds: float = 1e6, memory: float = math.inf
) -> tuple[dict[str, Course], np.ndarray[Any, Any]]:
    """The courses of learners with width 0.6, without a search."""
    named = [AddedLearner(*_parts(learner)) for learner in learners]
    found = entrants(data, named, Additions(), 0.6, False, False, 0)
    order = row_order(found[0].trial, data)
    chosen = [Chosen(e.label, e.with_settings(e.variants[0]), 1e-6, 0.0, None) for e in found]
    deadline = race_module.time.monotonic() + seconds
    race = Race(chosen, runners_of(data, memory), order, deadline, lambda label, row: None)
    return {course.label: course for course in race.run()[0]}, order


def runners_of(data: Dataset, memory: float = math.inf) -> Runners:
    return Runners(data, lambda name, variant: data, memory)


def _parts(learner: str) -> tuple[str, dict[str, str]]:
    name, _, rest = learner.partition("[")
    return name, dict(part.split("=") for part in rest.rstrip("]").split(",") if part)


@pytest.mark.parametrize("data", [rings(), waves()], ids=["binary", "regression"])
def test_the_cost_after_every_part_is_that_of_learning_row_by_row(data: Dataset) -> None:
    courses, order = raced(data, "FOGD", "RBP[budget=30]", "NOGD")
    for course in courses.values():
        cls = find(course.learner).load()
        trial = entrants(
            data, [AddedLearner(course.learner)], Additions(), 0.6, False, False, 0
        )[0].trial  # fmt: skip
        problem = Problem(data.task, data.n_features, data.classes, len(order))
        plain = cls(**course.settings).begin(problem, draws(trial))
        answers = plain.learn(data.X[order], data.y[order])
        truth = data.y[order]
        costs = (
            np.square(answers - truth) if data.task == "regression" else (answers != truth) * 1.0
        )
        assert course.marks
        for mark in course.marks:
            assert mark.total == pytest.approx(costs[: mark.rows].sum(), rel=1e-12)
            assert mark.seconds > 0.0
        assert course.marks[-1].bytes is not None


def test_a_learner_that_is_behind_is_stopped_and_the_best_sees_all_rows() -> None:
    data = rings(12_000)
    courses, _ = raced(data, "FOGD[step=0.02]", "RBP[width=50]")
    best, behind = courses["FOGD[step=0.02]"], courses["RBP[width=50]"]
    assert best.rows == 12_000
    assert best.ending == "last"
    assert behind.ending == "behind"
    assert behind.rows < 12_000
    assert behind.p is not None
    assert behind.p < LEVEL
    assert behind.marks[-1].total > best.at(behind.rows).total


def test_who_is_behind_at_the_end_is_not_called_equal() -> None:
    courses, _ = raced(rings(1500), "FOGD[step=0.02]", "RBP[width=50]")
    assert courses["RBP[width=50]"].ending == "behind"
    assert courses["RBP[width=50]"].rows == 1500
    found = standings(x=(1, 1.0, 1))
    found = Standings(**{**vars(found), "courses": tuple(courses.values())})
    assert found.winner is courses["FOGD[step=0.02]"]
    assert found.equals == ()


@pytest.mark.parametrize("in_order", [False, True])
def test_a_learner_beats_guessing_where_the_columns_say_something(
    tmp_path: Path, in_order: bool
) -> None:
    data = rings(2000)
    noise = replace(data, y=data.y[np.random.default_rng(1).permutation(2000)])
    named = (AddedLearner("FOGD"), AddedLearner("Constant"))
    for rows, winner in ((data, "FOGD"), (noise, None)):
        write(tmp_path / "rows.csv", rows)
        user_table._read.clear()
        file = RowsFile(tmp_path / "rows.csv", scale="none")
        found, _ = choose(file, Asked(named, seconds=1e6, in_order=in_order), Silent())
        assert (found.winner.label if found.winner else None) == winner
        labels = [guess.label for guess in found.guesses]
        assert labels == ["most frequent class", "class of the row before"][: 1 + in_order]
        (constant,) = (one for one in found.courses if one.label == "Constant")
        assert not constant.beats_guessing
        assert found.guesses[0].at(constant.rows).total == constant.marks[-1].total
        first = found.guesses[0].marks[-1].total
        y = rows.y if in_order else rows.y[seeded_order(0, found.name, "", 0, 2000)]
        y = y[found.search.rows :]
        majority = np.where(np.cumsum(y) >= 0, 1, -1)
        assert first == np.count_nonzero(np.r_[1, majority[:-1]] != y)


def test_equal_learners_are_never_told_apart() -> None:
    courses, _ = raced(rings(6000), "FOGD", "FOGD[width=0.6]")
    assert {course.ending for course in courses.values()} == {"last"}
    assert {course.rows for course in courses.values()} == {6000}


def test_the_paired_test_is_the_one_of_scipy() -> None:
    rng = np.random.default_rng(3)
    costs, best = rng.uniform(size=(2, 20))
    expected = stats.ttest_rel(costs, best, alternative="greater").pvalue
    assert p_of_being_worse(costs, best) == pytest.approx(expected)
    assert p_of_being_worse(best, best) == 1.0
    assert p_of_being_worse(best + 1.0, best) < 1e-6
    assert p_of_being_worse(np.full(3, np.inf), best[:3]) == 1.0


def test_the_levels_of_all_parts_and_learners_sum_to_the_level() -> None:
    total = sum(5 * level_of(part, 5) for part in range(1, 100_000))
    assert total == pytest.approx(LEVEL, rel=1e-4)
    assert total < LEVEL


def test_blocks_are_means_of_all_rows() -> None:
    costs = np.arange(50.0)
    blocks = blocks_of(costs)
    assert len(blocks) == 20
    sizes = np.diff(np.linspace(0, 50, 21).astype(int))
    assert (blocks * sizes).sum() == pytest.approx(costs.sum())


def test_a_part_that_the_clock_ends_counts_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10_000))

    class Ticking:
        @staticmethod
        def monotonic() -> float:
            return float(next(clock))

    monkeypatch.setattr(race_module, "time", Ticking)
    monkeypatch.setattr(runner, "time", Ticking)
    courses, _ = raced(rings(40_000), "FOGD", "FOGD[width=0.5]", seconds=30)
    rows = {course.rows for course in courses.values()}
    assert len(rows) == 1
    assert rows < {2000, 4000, 8000, 16_000, 32_000}


def test_learners_that_cannot_run_are_left_out_with_the_reason() -> None:
    data = rings(30_000)
    named = [AddedLearner(name, more) for name, more in (
        ("OGD", {}), ("FOGD", {}), ("FOGD", {"components": "100000"}), ("Norma", {}),
    )]  # fmt: skip
    found = entrants(data, named, Additions(), 0.6, True, False, 0)
    kept, left_out = fitting(found, data, 1e6, data.n_rows, 20_000)
    assert [entrant.label for entrant in kept] == ["FOGD"]
    reasons = {one.label: one.reason for one in left_out}
    assert "no budget" in reasons["OGD"]
    assert "100000 components × 3 features" in reasons["FOGD[components=100000]"]
    assert "does not do binary" in reasons["Norma"]
    kept, _ = fitting(found, data, math.inf, data.n_rows, 30_000)
    assert {entrant.label for entrant in kept} == {"OGD", "FOGD", "FOGD[components=100000]"}


def test_the_search_finds_the_width_that_is_wrong_by_a_factor() -> None:
    data = rings(4000)
    n = search_rows(data.n_rows)
    found = entrants(data, [AddedLearner("FOGD")], Additions(), 4.0, True, False, 0)
    order = row_order(found[0].trial, data)
    search = SettingsSearch(runners_of(data), order[:n], lambda label: None)
    (chosen,) = search.run(found, math.inf)
    settings = dict(chosen.trial.settings)
    assert settings["width"] < 4.0
    assert search.cost.trials == 25  # five widths times five steps
    (first,) = search.run([replace(found[0], variants=found[0].variants[:1])], math.inf)
    assert chosen.total < first.total


class Answers:
    """Runners of a learner whose answers follow from its width: below 2 one class, later or at
    once, and else the right class for a share of the rows."""

    def __init__(self, data: Dataset) -> None:
        self.data = data

    def runner(self, label: str, trial: Any, order: Any, *more: Any) -> Any:
        self.width, self.order = dict(trial.settings)["width"], order
        return self

    def learn(self, begin: int, end: int, **more: Any) -> Learned:
        truth = self.data.y[self.order[begin:end]]
        answers = np.where(np.arange(len(truth)) % 4 < self.width, truth, -truth)
        if self.width < 2.0:
            answers[int(20 * self.width) :] = -1
        return Learned((answers != truth) * 1.0, 1.0, 1.0, None, False)


@pytest.mark.parametrize(
    ("width", "chosen", "is_constant"), [(1.0, 2.0, False), (0.25, 0.25, True)]
)
def test_settings_with_which_a_learner_answers_one_class_are_not_chosen(
    width: float, chosen: float, is_constant: bool
) -> None:
    """A constant answer costs the fewest mistakes here, 1 row in 5."""
    data = rings(1000)
    data = replace(data, y=np.where(np.arange(1000) % 5, -1, 1))
    (entrant,) = entrants(data, [AddedLearner("Projectron")], Additions(), width, True, False, 0)
    widths = sorted(variant["width"] for variant in entrant.variants)
    assert (widths[-1] < 2.0) == is_constant
    runners: Any = Answers(data)
    (found,) = SettingsSearch(runners, np.arange(200), lambda label: None).run([entrant], math.inf)
    assert dict(found.trial.settings)["width"] == chosen
    assert found.answers_one_class == is_constant


def test_what_is_given_is_never_searched() -> None:
    named = [AddedLearner("FOGD", {"width": "3", "step": "0.1"})]
    (entrant,) = entrants(rings(100), named, Additions(), 1.0, True, False, 0)
    assert entrant.variants == ({},)
    assert dict(entrant.trial.settings)["width"] == 3.0


def standings(**marks: tuple[float, float, int | None]) -> Standings:
    courses = tuple(
        Course(
            name,
            name,
            "m:C",
            {},
            {},
            (Mark(100, total, seconds, held),),
            "last",
            beats_guessing=True,
        )
        for name, (total, seconds, held) in marks.items()
    )
    search = Search(0, 0, 0.0)
    return Standings(
        "d", 100, 2, "binary", (-1, 1), "mistake_rate", "none", "seeded", 0, 100, search, courses,
        (), (), 1.0, 1.0, LEVEL,
    )  # fmt: skip


def test_the_frontier_holds_those_that_no_other_beats_in_everything() -> None:
    found = standings(
        best=(10, 5.0, 500), fast=(20, 1.0, 500), small=(30, 5.0, 10), beaten=(20, 5.0, 500),
        silent=(10, 5.0, None),
    )  # fmt: skip
    assert {course.label for course in found.frontier} == {"best", "fast", "small"}
    assert found.winner is not None
    assert found.winner.label == "best"


def test_learners_are_compared_on_the_rows_that_both_saw() -> None:
    early = Course("early", "e", "m:E", {}, {}, (Mark(100, 20, 1.0, 5),), "behind", p=1e-6)
    late = Course(
        "late", "l", "m:L", {}, {}, (Mark(100, 30, 0.5, 5), Mark(400, 35, 2.0, 5)), "last",
        beats_guessing=True,
    )  # fmt: skip
    found = standings(x=(1, 1.0, 1))
    found = Standings(**{**vars(found), "courses": (early, late), "rows": 400})
    assert found.winner is late
    assert found.best_on(100) == pytest.approx(20.0)
    assert found.frontier == (late, early)


def write(path: Path, data: Dataset, names: str = "abc") -> None:
    lines = [",".join([*names, "y"])]
    lines += [
        ",".join([*map(repr, x.tolist()), str(y)]) for x, y in zip(data.X, data.y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_a_learner_that_raises_leaves_the_others_their_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "breaks_here.py").write_text(
        "class Breaks:\n"
        "    def learn(self, X, y):\n        raise KeyError('no such thing')\n"
        "    def predict(self, X):\n        return None\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("OKBENCH_ALLOW_LEARNERS", "breaks_here")
    write(tmp_path / "rings.csv", rings(400))
    named = (AddedLearner("FOGD"), AddedLearner("breaks_here:Breaks"))
    watch = Silent()
    found, file = choose(RowsFile(tmp_path / "rings.csv"), Asked(named), watch)
    assert [course.label for course in found.started] == ["FOGD"]
    assert [(one.label, "no such thing" in one.reason) for one in found.left_out] == [
        ("Breaks", True)
    ]
    assert [label for label, _ in watch.expected] == ["FOGD"]
    assert file.task == "binary"
    with pytest.raises(OkbenchError, match="no learner finished a part"):
        choose(RowsFile(tmp_path / "rings.csv"), Asked(named[1:]), Silent())


def test_too_few_rows_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "few.csv", rings(10))
    with pytest.raises(DataError, match="10 rows are too few"):
        choose(RowsFile(tmp_path / "few.csv"), Asked(), Silent())


def test_a_file_beyond_the_memory_is_raced_from_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are met in blocks, and cost what they cost in memory."""
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "data"))
    path = tmp_path / "rings.csv"
    write(path, rings(3000))
    named = [AddedLearner("FOGD"), AddedLearner("RBP", {"budget": "30"})]
    asked = Asked(named, seconds=1e6, searched=False)
    monkeypatch.setattr(rows_in_memory, "machine_memory", lambda: 10_000)
    whole, _ = choose(RowsFile(path), asked, Silent())
    monkeypatch.setattr(large_file, "LARGE", 1)
    user_table._read.clear()
    watch = Silent()
    streamed, _ = choose(RowsFile(path), asked, watch)
    assert any("blocks of rows are permuted" in note for note in watch.notes)
    assert any("read in pieces" in note for note in watch.notes)
    met = {one.label: [(mark.rows, mark.total) for mark in one.marks] for one in whole.courses}
    for one in streamed.courses:
        assert [(mark.rows, mark.total) for mark in one.marks] == met.pop(one.label)
        assert one.marks[-1].rows == 3000 - streamed.search.rows
    assert not met


def test_the_draws_are_those_of_the_seed() -> None:
    """So that the same race, run again, gives the same numbers."""
    first, _ = raced(rings(), "RBP", "FOGD")
    again, _ = raced(rings(), "FOGD", "RBP")
    for label, course in first.items():
        assert [m.total for m in course.marks] == [m.total for m in again[label].marks]
