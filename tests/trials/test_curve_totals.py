"""Totals of costs that are not kept one by one: as exact as fractions, wherever blocks end."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.protocols.metrics import METRICS
from okbench.trials.run import curve_totals
from okbench.trials.run.curve_totals import MOST_KEPT, totals_of

_COSTS = st.lists(st.floats(0, 1e300) | st.floats(0, 5e-324) | st.floats(0, 1), max_size=40)


@pytest.fixture(autouse=True)
def _keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_totals, "MOST_KEPT", 3)


@given(costs=_COSTS, cuts=st.lists(st.integers(0, 40), max_size=4), asked=st.integers(0, 40))
def test_a_total_is_the_nearest_number_to_the_true_sum(
    costs: list[float], cuts: list[int], asked: int
) -> None:
    held = curve_totals._Exact()
    ends = sorted({min(cut, len(costs)) for cut in cuts} | {0, len(costs)})
    begin = 0
    for end in ends:
        block = np.array(costs[begin:end])
        held.add(block)
        rows = begin + min(asked, len(block))
        assert held.after(rows) == float(sum(map(Fraction, costs[:rows])))
        begin = end


def test_a_sum_that_outgrows_the_numbers_is_infinite() -> None:
    for costs in ([1.7e308, 1.7e308], [1.0, math.inf], [math.inf, 1.0]):
        held = curve_totals._Exact()
        for cost in costs:
            held.add(np.array([cost]))
        assert held.after(2) == math.inf
    held.add(np.array([math.nan]))
    assert math.isnan(held.after(3))


def test_what_is_held_does_not_grow_with_the_rows() -> None:
    held = totals_of(METRICS["rmse"], 10)
    for _ in range(100):
        held.add(np.full(1_000, 0.1))
    assert held.after(100_000) == float(100_000 * Fraction(0.1))
    assert sum(getattr(each, "size", 0) for each in vars(held).values()) == 1_000
    assert vars(totals_of(METRICS["rmse"], 3))["_costs"].size == 3
    assert MOST_KEPT > 5_929_413  # the largest set of regression that a paper has
