"""What outcomes on test rows hold besides their total, and what repetitions have of their own."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trial_material import load, trial

from okbench.protocols.contract import BATCH, ONLINE, RowCounts
from okbench.protocols.metrics import ACCURACY
from okbench.protocols.train_test import TRAIN_TEST
from okbench.trials.plan.seeds import draws, row_order
from okbench.trials.run.account import Account, Begun, Finished, Marked, Trained
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.store.outcome_json import outcome_of, outcome_record, to_bytes
from okbench.trials.trial_types import Outcome


def outcome_on_test_rows() -> Outcome:
    return attempt(
        trial("Linear", "split", protocol="train-test", metric="accuracy"), load, Limits()
    )


def as_stored(outcome: Outcome) -> Any:
    return json.loads(to_bytes(outcome_record(outcome)))


def test_rows_and_mistakes_are_counted_class_by_class() -> None:
    outcome, dataset = outcome_on_test_rows(), load("split")
    truth = dataset.y[400:]
    counts = {label: (rows, wrong) for label, rows, wrong in outcome.extra["classes"]}
    assert {label: rows for label, (rows, _) in counts.items()} == {
        label: int((truth == label).sum()) for label in (-1, 1)
    }
    assert sum(wrong for _, wrong in counts.values()) == outcome.total
    again = outcome_of(as_stored(outcome))
    assert again.extra["classes"] == outcome.extra["classes"]


def test_a_stream_without_test_rows_counts_no_classes() -> None:
    assert "classes" not in attempt(trial("Linear"), load, Limits()).extra


@pytest.mark.parametrize(
    "classes",
    [[[1, 2]], [[1, 2, 3]], [[1, -1, -2]], [[1, 2.5, 0]], ["abc"], [None], [[1, True, 0]]],
)
def test_damaged_counts_of_classes_are_refused(classes: Any) -> None:
    record = as_stored(outcome_on_test_rows())
    record["extra"]["classes"] = classes
    with pytest.raises(ValueError, match="classes"):
        outcome_of(record)


def timed_out(role: Any, *reports: Any, seconds: float) -> dict[str, Any]:
    """What is kept of a trial on 400 training rows that a limit ended after so many seconds."""
    account = Account(ACCURACY)
    training, testing = TRAIN_TEST.stages(role, RowCounts(600, 400), 0)
    account.take(Begun(training, ()))
    for report in reports:
        account.take(Begun(testing, ()) if report == "test" else report)
    account.seconds = seconds
    one = trial("Linear", "split", protocol="train-test", metric="accuracy")
    return account.outcome(one, "timeout", None, "", {}).extra


def test_a_fit_that_a_limit_ends_says_what_all_of_it_would_take() -> None:
    marked = Marked(100, 7.0, None, 10.0)
    assert timed_out(BATCH, marked, seconds=25.0) == {"expected_seconds": 40.0}
    assert timed_out(BATCH, marked, seconds=55.0) == {"expected_seconds": 55.0}
    assert timed_out(BATCH, seconds=25.0) == {}  # nothing was marked
    done = Finished(200, np.zeros(200), None, 10.0, 10.0)
    assert timed_out(ONLINE, done, seconds=10.0) == {"expected_seconds": 20.0}
    late = (marked, Finished(400, None, None, 30.0, 30.0), Trained(30.0), "test")
    assert timed_out(BATCH, *late, seconds=50.0) == {}  # it was the test that took too long


def test_repetitions_share_the_split_and_have_their_own_order_and_draws() -> None:
    dataset = load("split")
    trials = [
        replace(trial("Drawn", "split", protocol="train-test", metric="accuracy"), repetition=r)
        for r in range(3)
    ]
    orders = [row_order(one, dataset) for one in trials]
    assert all(order[400:].tolist() == list(range(400, 600)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3
    drawn = {tuple(draws(one).stream("batches").permutation(9).tolist()) for one in trials}
    assert len(drawn) == 3
