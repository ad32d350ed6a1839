from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trial_material
from trial_material import load, table, trial

from okbench.base.errors import ConfigError, DataError, UsageError
from okbench.learners.contract import Draws, Problem, begun
from okbench.learners.isolation.descent import IKOGD
from okbench.protocols.metrics import default_metric
from okbench.trials.plan.planning import plan
from okbench.trials.plan.seeds import draws, row_order, seed_number
from okbench.trials.run import block_sizes
from okbench.trials.run.block_sizes import fixed, growing, sizes, ticks
from okbench.trials.run.protocol_loop import Limits, walk
from okbench.trials.run.run_trial import attempt
from okbench.trials.trial_types import Outcome, Trial


def run(what: Trial, **limits: Any) -> Outcome:
    return attempt(what, load, Limits(**limits))


def test_a_single_pass_counts_the_mistakes_made_before_learning() -> None:
    rows, what = load("blobs"), trial("Linear", settings=(("step", 0.5),))
    order = row_order(what, rows)
    by_hand = trial_material.Linear(0.5).learn(rows.X[order], rows.y[order])
    outcome = run(what)
    assert outcome.status == "done"
    assert outcome.rows == 600
    assert outcome.total == np.count_nonzero(by_hand != rows.y[order])
    assert isinstance(outcome.total, int)


def test_regression_sums_the_squared_errors_made_before_learning() -> None:
    rows, what = load("line"), trial("Squares", "line", metric="rmse")
    order = row_order(what, rows)
    by_hand = trial_material.Squares().learn(rows.X[order], rows.y[order])
    outcome = run(what)
    assert outcome.total == pytest.approx(float(((by_hand - rows.y[order]) ** 2).sum()), rel=1e-12)


def test_a_curve_has_a_point_every_fifteenth_of_the_rows_and_one_at_the_end() -> None:
    outcome = run(trial("Drawn", "blobs:607"))
    apart = 40  # 607 / 15 = 40.47
    assert [point[0] for point in outcome.curve] == [*range(apart, 601, apart), 607]
    assert outcome.curve[-1][1] == outcome.total
    assert outcome.curve[-1][2] == outcome.support == 10
    seconds = [point[3] for point in outcome.curve]
    assert seconds == sorted(seconds)  # type: ignore[type-var]


def test_the_points_of_a_curve_follow_the_task_rounded_half_up() -> None:
    assert ticks(1000, "binary").step == 67
    assert ticks(4435, "multiclass").step == 444  # 443.5
    assert ticks(506, "regression").step == 25
    assert ticks(3, "binary").step == 1


@pytest.mark.parametrize("first", [1, 7, 100, 4096])
@pytest.mark.parametrize(
    ("learner", "dataset"), [("Linear", "blobs"), ("Squares", "line"), ("Linear", "sparse")]
)
def test_how_rows_are_cut_does_not_show(
    learner: str, dataset: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = trial(learner, dataset, metric=default_metric(load(dataset).task).name)
    usual = run(what)
    monkeypatch.setattr(block_sizes, "sizes", lambda: sizes(first, first))
    cut = run(what)
    assert cut.total == usual.total
    assert [point[:2] for point in cut.curve] == [point[:2] for point in usual.curve]


def test_blocks_meet_every_row_once_and_stop_at_every_tick() -> None:
    stops = ticks(1000, "binary")
    spans = list(growing(50, 1050, stops, sizes()))
    assert spans[0][0] == 50
    assert spans[-1][1] == 1050
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))
    assert {50 + tick for tick in stops} <= {end for _, end in spans}
    assert list(fixed(0, 25, 10)) == [(0, 10), (10, 20), (20, 25)]


def test_blocks_double_from_256_to_4096_rows_and_are_cut_at_stops() -> None:
    assert list(itertools.islice(sizes(), 7)) == [256, 512, 1024, 2048, 4096, 4096, 4096]
    spans = list(growing(0, 14_000, range(3000, 14_001, 3000), sizes()))
    assert [end for _, end in spans] == [256, 768, 1792, 3000, 6000, 9000, 12_000, 14_000]


def test_a_slow_learner_meets_the_blocks_that_a_quick_one_meets() -> None:
    met: dict[str, list[int]] = {}
    for name, pause in (("quick", 0.0), ("slow", 0.05)):

        class Notes(trial_material.Linear):
            def learn(self, X: Any, y: Any, name: str = name, pause: float = pause) -> Any:
                met.setdefault(name, []).append(len(y))
                time.sleep(pause)
                return np.ones(len(y))

        walk(trial("Linear", "blobs:9000"), load("blobs", "9000"), Notes())
    assert met["slow"] == met["quick"]
    assert met["quick"][:4] == [256, 344, 600, 600]


def test_train_test_scores_the_test_rows_alone() -> None:
    rows, what = load("split"), trial("Linear", "split", protocol="train-test", metric="accuracy")
    order = row_order(what, rows)
    learner = trial_material.Linear()
    online = learner.learn(rows.X[order[:400]], rows.y[order[:400]])
    mistakes = np.count_nonzero(learner.predict(rows.X[400:]) != rows.y[400:])
    outcome = run(what)
    assert (outcome.rows, outcome.total) == (200, mistakes)
    assert outcome.curve[-1][:2] == (400, np.count_nonzero(online != rows.y[order[:400]]))
    assert 0 < (outcome.train_seconds or 0) < (outcome.seconds or 0)


def test_train_test_shuffles_the_training_rows_and_no_others() -> None:
    order = row_order(trial("Linear", "split", protocol="train-test"), load("split"))
    assert sorted(order[:400]) == list(range(400))
    assert list(order[:400]) != list(range(400))
    assert list(order[400:]) == list(range(400, 600))


class Fitted:
    """Least squares over all rows at once; does `then` with the clock first."""

    def __init__(self, then: Any = lambda clock: None) -> None:
        self.then = then
        self.calls: list[int] = []

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        self.calls.append(len(y))
        self.then(clock)
        self.w = np.linalg.lstsq(X, y, rcond=None)[0]

    def predict(self, X: Any) -> Any:
        return np.where(X @ self.w >= 0, 1, -1)


def fitted(then: Any = lambda clock: None, **limits: Any) -> tuple[Fitted, Outcome]:
    what = trial("Linear", "split:9000", protocol="train-test", metric="accuracy")
    learner = Fitted(then)
    return learner, walk(what, load("split", "9000"), learner, Limits(**limits))


def test_a_batch_learner_is_given_all_training_rows_in_one_call() -> None:
    rows = load("split", "9000")
    w = np.linalg.lstsq(rows.X[:6000], rows.y[:6000], rcond=None)[0]
    mistakes = np.count_nonzero(np.where(rows.X[6000:] @ w >= 0, 1, -1) != rows.y[6000:])
    learner, outcome = fitted()
    assert learner.calls == [6000]
    assert (outcome.status, outcome.rows, outcome.total) == ("done", 3000, mistakes)
    assert [point[:2] for point in outcome.curve] == [(6000, None)]
    assert 0 < (outcome.train_seconds or 0) < (outcome.seconds or 0)


def test_the_marks_of_a_batch_learner_are_its_curve() -> None:
    def then(clock: Any) -> None:
        clock.mark(10)
        clock.mark(rows_seen=2000, total=7)

    _, outcome = fitted(then)
    assert [point[:2] for point in outcome.curve] == [(10, None), (2000, 7.0), (6000, None)]
    seconds = [point[3] for point in outcome.curve]
    assert seconds == sorted(seconds)  # type: ignore[type-var]


@pytest.mark.parametrize("rows", [0, 10, 6001])
def test_a_mark_that_goes_back_or_beyond_the_rows_costs_the_trial(rows: int) -> None:
    def then(clock: Any) -> None:
        clock.mark(10)
        clock.mark(rows)

    _, outcome = fitted(then)
    assert outcome.status == "failed"
    assert f"mark({rows}): the rows of a point are more than" in outcome.reason
    assert [point[0] for point in outcome.curve] == [10]


def test_a_batch_learner_sees_its_limits_while_it_is_fitted() -> None:
    seen: list[Any] = []
    fitted(lambda clock: seen.append((clock.time_left(), clock.should_stop())))
    assert seen == [(math.inf, False)]
    _, outcome = fitted(lambda clock: seen.append((clock.time_left(), clock.should_stop())),
                        seconds=1e-9)  # fmt: skip
    assert seen[1] == (0.0, True)
    assert (outcome.status, outcome.rows, outcome.total) == ("timeout", 0, None)
    _, outcome = fitted(lambda clock: seen.append(clock.should_stop()), stopped=lambda: True)
    assert seen[2] is True
    assert outcome.status == "interrupted"


def test_a_batch_learner_cannot_be_run_in_a_single_pass() -> None:
    with pytest.raises(UsageError, match="Linear does not learn block by block: kind: single-pass"):
        walk(trial(), load("blobs"), Fitted())
    batch = replace(table({"A": "Linear"}).learners[0], learner=f"{__name__}:Fitted")
    named = r"^tables.yaml:3: .*:Fitted does not learn block by.*; kind: train-test takes it$"
    with pytest.raises(ConfigError, match=named):
        plan(replace(table({"A": "Linear"}), learners=(batch,)), load)


def test_a_block_stream_predicts_each_block_before_learning_it() -> None:
    rows, what = load("blobs"), trial(protocol="block-stream", block=70)
    order, learner, mistakes = row_order(what, rows), trial_material.Linear(), 0
    for at in range(0, 600, 70):
        block = order[at : at + 70]
        mistakes += np.count_nonzero(learner.predict(rows.X[block]) != rows.y[block])
        learner.learn(rows.X[block], rows.y[block])
    outcome = run(what)
    assert outcome.total == mistakes
    assert outcome.rows == 600
    assert [point[0] for point in outcome.curve] == list(range(40, 601, 40))


def test_the_initial_part_of_a_block_stream_is_learned_and_not_scored() -> None:
    assert run(trial("Linear", "split", protocol="block-stream", block=50)).rows == 200


def test_a_learner_with_fit_is_given_the_initial_part_of_a_block_stream_at_once() -> None:
    """Its map is made of these rows, and the blocks are predicted, then learned, with that map."""
    what = replace(trial("Linear", "split", protocol="block-stream", block=50), learner="IK-OGD")
    rows = load("split")
    order, mistakes = row_order(what, rows), 0
    learner = begun(IKOGD, {}, Problem("binary", 4, (-1, 1), 600), Draws(3))
    walked = begun(IKOGD, {}, Problem("binary", 4, (-1, 1), 600), Draws(3))
    learner.fit(rows.X[order[:400]], rows.y[order[:400]])
    for at in range(400, 600, 50):
        block = order[at : at + 50]
        mistakes += np.count_nonzero(learner.predict(rows.X[block]) != rows.y[block])
        learner.learn(rows.X[block], rows.y[block])
    outcome = walk(what, rows, walked)
    assert (outcome.status, outcome.total, outcome.rows) == ("done", mistakes, 200)


def test_rows_and_labels_of_the_dataset_are_out_of_a_learners_reach() -> None:
    rows = load("blobs")
    before = rows.X.copy(), rows.y.copy()
    outcome = run(trial("Writes"))
    assert outcome.total == np.count_nonzero(rows.y != 1)
    assert np.array_equal(rows.X, before[0])
    assert np.array_equal(rows.y, before[1])


def test_text_labels_are_scored() -> None:
    outcome = run(trial("Drawn", "words"))
    assert outcome.total == run(trial("Drawn", "words")).total
    assert 0 < (outcome.total or 0) < 600


class Answers:
    """A learner that answers every row with the same object."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def learn(self, X: Any, y: Any) -> list[object]:
        return [self.answer] * len(y)

    predict = learn


@pytest.mark.parametrize("answer", [None, object(), Fraction(1), b"1", 1j])
def test_an_answer_that_is_no_plain_value_fails_its_trial_with_the_reason(answer: object) -> None:
    outcome = walk(trial(), load("blobs"), Answers(answer))
    assert (outcome.status, outcome.total) == ("failed", None)
    assert "in rows 0 to" in outcome.reason
    assert "learn returned predictions" in outcome.reason


def test_an_order_depends_on_rows_and_repetition_and_a_learners_draws_on_the_learner_too() -> None:
    rows = load("blobs")
    base = trial("Linear")
    order = row_order(base, rows)
    assert np.array_equal(order, row_order(trial("Drawn"), rows))
    for other in (trial(repetition=1), trial(seed=1), trial(variant="x"), trial(dataset="bumps")):
        assert not np.array_equal(order, row_order(other, rows))
    axes = [base, trial("Drawn"), trial(repetition=1), trial(seed=1), trial(dataset="bumps")]
    assert len({draws(one).normals(1, 1)[0, 0] for one in axes}) == len(axes)
    assert len({seed_number(one) for one in axes}) == len(axes)


def test_orders_and_draws_never_change_between_releases() -> None:
    assert list(row_order(trial(), load("blobs"))[:4]) == [38, 19, 6, 419]
    assert seed_number(trial()) == 1313754648


def test_published_orders_are_followed() -> None:
    rows = load("ordered")
    what = trial("Linear", "ordered", order="published", repetition=1)
    assert rows.orders is not None
    assert np.array_equal(row_order(what, rows), rows.orders[1])


def test_a_published_order_that_misses_a_row_is_refused() -> None:
    rows = load("ordered")
    assert rows.orders is not None
    broken = rows.orders.copy()
    broken[0, 0] = broken[0, 1]
    what = trial("Linear", "ordered", order="published")
    with pytest.raises(DataError, match="does not name each of the 600 rows once"):
        row_order(what, type(rows)(**{**vars(rows), "orders": broken}))


def test_a_stranger_that_takes_a_seed_gets_one_of_its_own() -> None:
    first, again, next_ = (run(trial("Seeded", repetition=r)).total for r in (0, 0, 1))
    assert first == again != next_


@pytest.mark.parametrize(
    ("learner", "status", "said"),
    [
        ("Raises", "failed", "rows 400 to 439: learn: ZeroDivisionError: the budget is spent"),
        ("TooShort", "failed", "rows 400 to 439: learn returned predictions of shape (39,) for 40"),
        ("Complex", "failed", "predictions of type complex128 where labels like int64 are"),
        ("Ragged", "failed", "learn returned no array of predictions"),
        ("NotANumber", "diverged", "at row 410 of 600: prediction nan is no usable number"),
        ("Says", "diverged", "at row 410 of 600: the norm is infinite"),
        ("OutOfMemory", "memory", "out of memory no room for 8 PB"),
    ],
)
def test_a_learner_that_goes_wrong_ends_its_trial_with_a_reason_and_the_curve_so_far(
    learner: str, status: str, said: str
) -> None:
    outcome = run(trial(learner, settings=(("at", 410),)))
    assert outcome.status == status
    assert outcome.reason.startswith(f"trial_material:{learner} × blobs r=0, ")
    assert said in outcome.reason
    assert [point[0] for point in outcome.curve][:10] == list(range(40, 401, 40))
    assert 400 <= outcome.rows <= 410


def test_steps_too_large_are_told_as_diverged_without_a_warning() -> None:
    outcome = run(trial("Squares", "line", settings=(("step", 50.0),), metric="rmse"))
    assert outcome.status == "diverged"
    assert "is no usable number" in outcome.reason


def test_a_constructor_that_refuses_costs_its_trial() -> None:
    outcome = run(trial("Refuses"))
    assert outcome.status == "failed"
    assert "before the first row: ValueError: budget is 1 or more" in outcome.reason


def test_rows_that_changed_since_the_plan_are_not_run() -> None:
    outcome = run(trial(fingerprint="other"))
    assert outcome.status == "failed"
    assert "plan it again" in outcome.reason


def test_a_time_limit_keeps_the_curve_so_far() -> None:
    outcome = run(trial("Sleeps", settings=(("seconds", 0.001),)), seconds=0.25)
    assert outcome.status == "timeout"
    assert "the limit is 0.25 s" in outcome.reason
    assert 240 <= outcome.rows < 600
    assert outcome.curve[-1][0] == outcome.rows
    assert outcome.total == outcome.curve[-1][1]


def test_a_memory_limit_keeps_the_curve_so_far() -> None:
    outcome = run(trial("Hoards"), bytes=300e6)
    assert (outcome.status, outcome.rows) == ("memory", 320)
    assert "320 MB held, the limit is 300 MB" in outcome.reason
    assert outcome.bytes == 320_000_000
    assert len(outcome.curve) == 8


def test_a_learner_that_does_not_tell_its_size_is_held_to_the_growth_of_the_process() -> None:
    outcome = run(trial("Swells"), bytes=20e6)
    assert outcome.status == "memory"
    assert outcome.rows < 600
    assert outcome.curve[-1][2] is None


def test_a_trial_that_reaches_its_last_row_is_done_whatever_the_limit() -> None:
    assert run(trial("Sleeps", "blobs:1"), seconds=1e-9).status == "done"


def test_a_trial_told_to_stop_is_interrupted_between_blocks() -> None:
    answers = iter([False, False, True])
    rows, what = load("blobs"), trial()
    outcome = walk(what, rows, trial_material.Linear(), Limits(stopped=lambda: next(answers)))
    assert (outcome.status, outcome.rows) == ("interrupted", 120)


def test_compiling_is_done_before_the_clock_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def learn(self: Any, X: Any, y: Any) -> Any:
        seen.append(len(y))
        return np.ones(len(y), dtype=int)

    monkeypatch.setattr(trial_material.Sleeps, "learn", learn)
    monkeypatch.setattr("okbench.trials.run.run_trial._warm", set())
    run(trial("Sleeps"))
    assert sum(seen) == 300 + 600
    run(trial("Sleeps"))
    assert sum(seen) == 300 + 600 + 600


@pytest.mark.parametrize(
    "words",
    [
        "NOGD blobs single-pass budget=350",  # fills up after more rows than the warm-up has
        "LaplacianNOGD split:900 train-test budget=350",
        "IK-OGD sparse single-pass initial=400",
        "RKS split:900 train-test",  # shared by two trials
    ],
)
def test_nothing_is_compiled_on_the_clock_whatever_the_limit(words: str) -> None:
    """Loading what was compiled in a process before takes up to some seconds, too."""
    script = Path(__file__).parent / "compile_script.py"
    found = subprocess.run(
        [sys.executable, str(script), *words.split()], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == ["timeout", "done"]


def test_an_outcome_says_that_its_warm_up_was_cut_or_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("okbench.trials.run.run_trial._warm", set())
    monkeypatch.setattr("okbench.trials.run.run_trial.PLAIN_WARM_UP_SECONDS", 0.01)
    what = trial("Sleeps", settings=(("seconds", 1e-4),))
    assert run(what).extra["warm_up"] == "cut"
    assert "warm_up" not in run(what).extra  # the trial before was a whole one
    assert "warm_up" not in run(replace(what, learner="RBP", settings=())).extra
    assert attempt(what, load, Limits(), warm_up=False).extra["warm_up"] == "skipped"
