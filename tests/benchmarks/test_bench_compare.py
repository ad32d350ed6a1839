"""Two commits timed in turns: how seconds become ratios, and what is asked of each commit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.compare import turns
from benchmarks.compare.ratios import Ratio
from benchmarks.compare.report import Compared
from benchmarks.compare.rows import Rows, rows_for
from benchmarks.compare.sides import Trouble, commit_of, started
from benchmarks.compare.turns import Pair
from benchmarks.compare.worker import matrix

MADE = Rows("made", "binary", "made.npz", 1000)


class MadeUp:
    """A commit in which a row takes so many seconds, and that writes down when it is asked."""

    def __init__(self, name: str, log: list[str], row: float, *lacks: str) -> None:
        self.name, self.log, self.row, self.lacks = name, log, row, lacks
        self.hello: dict[str, Any] = {"learners": {}, "versions": {}}

    def ask(self, **request: Any) -> dict[str, Any]:
        self.log.append(self.name)
        if request["learner"] in self.lacks:
            return {"failed": f"UsageError: no learner '{request['learner']}'"}
        seconds = self.row * request["n_rows"] * request["times"]
        return {"seconds": seconds, "digest": request["learner"]}


def test_nine_ratios_have_the_second_and_the_eighth_as_their_interval() -> None:
    ratios = [0.1, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 9.0]
    assert Ratio.of(ratios[::-1]) == Ratio(1.0, 0.8, 1.2)
    assert Ratio.of(ratios[:6]) == Ratio(0.925, 0.1, 1.05)


def test_a_learner_counts_once_in_the_mean_however_many_rows_it_learned() -> None:
    def pair(name: str, rows: str, speed: float) -> Pair:
        return Pair(name, rows, (speed,) * 6, (1.0,) * 6)

    found = Compared([pair("A", "dense", 4.0), pair("A", "sparse", 1.0), pair("B", "dense", 0.5)])
    means = {name: ratio.median for name, ratio in found.means().items()}
    assert means == pytest.approx({"all": 1.0, "dense": 2**0.5, "sparse": 1.0})


def test_the_commits_take_turns_and_go_first_by_turns() -> None:
    log: list[str] = []
    base, head = MadeUp("base", log, 2e-4), MadeUp("head", log, 1e-4)
    found = turns.learner("A", MADE, base, head, 6)
    assert found.speeds == pytest.approx([2.0] * 6)
    assert log[-12:] == ["base", "head", "head", "base"] * 3


@pytest.mark.parametrize(
    ("row", "n_rows", "times"), [(1.0, 256, 1), (1e-4, 512, 1), (1e-6, 1000, 50)]
)
def test_so_many_rows_are_learned_that_the_clock_can_tell(
    row: float, n_rows: int, times: int
) -> None:
    found = turns.learner("A", MADE, MadeUp("base", [], row), MadeUp("head", [], row), 6)
    assert (found.n_rows, found.times) == (n_rows, times)


def test_a_learner_that_one_commit_lacks_is_listed() -> None:
    found = Compared()
    for rows in ("dense", "sparse"):
        with found.noting("New", rows):
            found.pairs.append(
                turns.learner("New", MADE, MadeUp("base", [], 1, "New"), MadeUp("head", [], 1), 6)
            )
    assert found.record()["pairs"] == []
    assert found.table() == (
        "not compared: New: base: UsageError: no learner 'New' (rows: dense, sparse)"
    )


def test_okbench_answers_and_two_processes_of_it_predict_the_same(tmp_path: Path) -> None:
    found = Compared()
    with started(sys.executable) as base, started(sys.executable) as head:
        tasks = base.hello["learners"]
        for name in ("FOGD", "IsolationMap", "LIBSVM"):  # an online learner, a map, a batch learner
            rows = rows_for("digits-even", tasks[name], tmp_path)
            assert rows is not None
            few = Rows(rows.name, rows.task, rows.path, 300)
            found.pairs.append(turns.learner(name, few, base, head, 6))
        assert "Traceback" not in str(base.ask(learner="FOGD"))  # a wrong request is answered too
    assert all(pair.same and min(pair.base + pair.head) > 0 for pair in found.pairs)
    assert "other predictions" not in found.table()


def test_rows_have_the_form_of_their_name_and_a_task_of_the_learner(tmp_path: Path) -> None:
    assert rows_for("friedman1", ["binary"], tmp_path) is None
    sparse = rows_for("sparse", ["regression"], tmp_path)
    assert sparse is not None
    X, y = matrix(sparse.path)
    assert (sparse.task, X.format, X.shape[0]) == ("regression", "csr", sparse.n_rows)
    assert len(np.unique(y)) == len(y)


def test_a_command_is_timed_if_it_succeeds() -> None:
    found, here = Compared(), Path(sys.executable)
    for words in ("list learners", "show nothing-of-that-name"):
        with found.noting(words):
            found.pairs.append(turns.command(words, here, here, 6))
    assert [pair.name for pair in found.pairs] == ["list learners"]
    assert "show nothing-of-that-name: base: exit 2" in found.table()


def test_a_name_that_git_does_not_know_is_refused() -> None:
    with pytest.raises(Trouble, match="no commit nowhere"):
        commit_of("nowhere")
