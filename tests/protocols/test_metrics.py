"""Metrics against plain arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.protocols.contract import Named, UnknownName
from okbench.protocols.costs import BadAnswer
from okbench.protocols.metrics import METRICS, default_metric
from okbench.trials.run.curve_totals import totals_of


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mistake_rate", 25.0),
        ("accuracy", 75.0),
        ("mean_squared_loss", 0.25),
        ("rmse", 0.5),
        ("exceedance", 25.0),
    ],
)
def test_a_total_becomes_the_value_that_tables_show(name: str, value: float) -> None:
    metric = METRICS[name]
    assert metric.value(2, 8) == value
    assert metric.value(None, 8) is None
    assert metric.value(0, 0) is None
    assert metric.value(math.nan, 8) is None
    assert metric.value(1e160, 1) is None
    assert metric.best([3.0, 1.0, 2.0]) == (3.0 if name == "accuracy" else 1.0)


def test_each_task_has_one_default_metric() -> None:
    for task, name in (
        ("binary", "mistake_rate"),
        ("multiclass", "mistake_rate"),
        ("regression", "rmse"),
    ):
        defaults = [m.name for m in METRICS.values() if m.is_default and task in m.tasks]
        assert defaults == [default_metric(task).name] == [name]


def test_a_name_that_no_metric_has_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no metric 'rsme'\. Did you mean 'rmse'.* exceedance"):
        METRICS["rsme"]
    assert isinstance(METRICS, Named)


def test_labels_are_compared_as_they_are() -> None:
    cost = METRICS["mistake_rate"].costs(["a", "b", "b"], np.array(["a", "a", "b"]), 0.0)
    assert cost.rows.tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(BadAnswer, match="type int64 where labels like <U1"):
        METRICS["mistake_rate"].costs([1, 2], np.array(["a", "b"]), 0.0)


def test_a_target_costs_the_square_of_its_error_and_a_gap_is_counted_at_the_tolerance() -> None:
    squares = METRICS["rmse"].costs([1.0, 2.0, math.inf], np.array([0.0, 4.0, 1.0]), 0.0)
    assert squares.rows.tolist() == [1.0, 4.0, math.inf]
    assert squares.diverged_at == 2
    gaps = METRICS["exceedance"].costs([0.1, 0.3, 0.2], np.zeros(3), 0.2)
    assert gaps.rows.tolist() == [0.0, 1.0, 1.0]


_BLOCKS = st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), min_size=1, max_size=9)


@given(_BLOCKS, st.integers(0, 39))
def test_totals_of_rounded_costs_do_not_depend_on_the_blocks(
    blocks: list[list[float]], back: int
) -> None:
    costs = np.array([cost for block in blocks for cost in block])
    totals = totals_of(METRICS["rmse"], len(costs))
    for block in blocks:
        totals.add(np.array(block))
    rows = len(costs) - min(back, len(blocks[-1]))
    assert totals.after(rows) == float(costs[:rows].sum())


@given(st.lists(st.lists(st.booleans(), max_size=40), min_size=1, max_size=9))
def test_totals_of_mistakes_are_exact_at_every_row_of_every_block(blocks: list[list[bool]]) -> None:
    totals, seen = totals_of(METRICS["accuracy"], 0), 0
    met: list[bool] = []
    for block in blocks:
        totals.add(np.array(block, dtype=np.float64))
        met += block
        for rows in range(seen, len(met) + 1):
            total = totals.after(rows)
            assert total == sum(met[:rows])
            assert type(total) is int
        seen = len(met)


@given(st.floats(1e-9, 1e9))
def test_losses_are_given_to_five_digits_and_at_most_five_places_unless_small(
    value: float,
) -> None:
    places = METRICS["mean_squared_loss"].decimals(value)
    assert places >= 0
    unit = Fraction(10) ** -places
    digits = math.floor(Fraction(value) / unit)
    if value >= 1e-3:
        assert places <= 5
        assert digits < 10**5 or places == 0
    else:
        assert 10**3 <= digits <= 10**4
