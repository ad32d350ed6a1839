"""Trials on streams that change: their curves, and what they write down besides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trial_material
from trial_material import trial

from okbench.datasets.dataset_types import Dataset
from okbench.protocols.metrics import FADING, METRICS, WINDOW
from okbench.trials.run.block_sizes import MOST_POINTS, spaced
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.store.field_types import check_outcome
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import outcome_record
from okbench.trials.trial_types import Outcome

CHANGES = ((700, 700), (1400, 1500))


def load(name: str, variant: str = "") -> Dataset:
    """The usual rows in their order, as a stream that changes; 2,030 of them."""
    rows = trial_material.load(name, "2030")
    return replace(rows, changes=CHANGES, fingerprint=trial_material.load(name).fingerprint)


def run(name: str = "blobs", learner: str = "Linear", metric: str = "windowed_error") -> Outcome:
    settings = (("step", 0.5),) if learner == "Linear" else ()
    what = trial(learner, name, metric=metric, settings=settings)
    return attempt(replace(what, order="file"), load, Limits())


@pytest.mark.parametrize(("name", "learner"), [("blobs", "Linear"), ("line", "Squares")])
def test_every_point_of_a_curve_is_the_error_of_its_window(name: str, learner: str) -> None:
    rows, outcome = load(name), run(name, learner)
    made = trial_material.Linear(0.5) if learner == "Linear" else trial_material.Squares()
    answers = made.learn(rows.X, rows.y)
    costs = (answers - rows.y) ** 2 if name == "line" else (answers != rows.y) * 1.0
    assert [point[0] for point in outcome.curve] == [*range(100, 2001, 100), 2030]
    metric = METRICS["windowed_error"]
    for after, total, _, _ in outcome.curve:
        assert after is not None
        recent = costs[max(0, int(after) - WINDOW) : int(after)]
        assert metric.value(total, int(after)) == pytest.approx(recent.mean(), rel=1e-12)
    assert outcome.total == outcome.curve[-1][1]
    weights = FADING ** np.arange(len(costs))[::-1]
    assert outcome.extra["beside"] == {
        "prequential_error": pytest.approx(costs.sum(), rel=1e-12),
        "fading_error": pytest.approx((costs * weights).sum(), rel=1e-12),
    }
    assert outcome.extra["changes"] == [[700, 700], [1400, 1500]]


def test_a_metric_that_does_not_forget_knows_of_no_change() -> None:
    extra = run(metric="mistake_rate").extra
    assert "changes" not in extra
    assert "beside" not in extra


def test_trials_of_totals_that_differ_are_different_trials() -> None:
    plain, windowed, fading = (
        trial(metric=name) for name in ("mistake_rate", "windowed_error", "fading_error")
    )
    assert len({plain.id, windowed.id, fading.id}) == 3
    assert plain.id == trial(metric="prequential_error").id == trial(metric="accuracy").id


def test_long_streams_have_points_further_apart() -> None:
    assert spaced(1000, 100) == range(100, 1001, 100)
    assert spaced(50, 100) == range(100, 51, 100)
    for count in (100_000, 100_001, 12_345_678):
        points = spaced(count, 100)
        assert len(points) <= MOST_POINTS
        assert points.step % 100 == 0
        assert count - points[-1] < points.step


def test_what_is_written_down_is_read_again(tmp_path: Path) -> None:
    outcome = run()
    store = Store.of(tmp_path, "made/changing")
    with store.writer({}, "e1") as writer:
        writer.add(outcome)
    (found,) = store.read().standing().values()
    assert found.extra["changes"] == outcome.extra["changes"]
    assert found.extra["beside"] == outcome.extra["beside"]
    assert found.curve == outcome.curve


@pytest.mark.parametrize(
    "extra",
    [
        {"changes": [5]},
        {"changes": [[5]]},
        {"changes": [[5, 4]]},
        {"changes": [[5, 9], [7, 8]]},
        {"changes": [[-1, 4]]},
        {"changes": [[1.5, 4]]},
        {"changes": "soon"},
        {"beside": {"unheard_of": 1.0}},
        {"beside": {"fading_error": "much"}},
        {"beside": {"fading_error": -1.0}},
        {"beside": [1.0]},
    ],
)
def test_damaged_notes_of_a_trial_are_refused(extra: dict[str, object]) -> None:
    record = json.loads(json.dumps(outcome_record(replace(run(), extra={}))))
    check_outcome(record)
    with pytest.raises(ValueError, match="extra"):
        check_outcome({**record, "extra": extra})
