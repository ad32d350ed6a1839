"""BPA-S: slots whose costs differ by rounding are equal, and the first of them is replaced."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.online.passive_aggressive import cheapest

PRICE = 1.0


def replaced(coefficients, kernel, score, target):
    """The slot that a row of a wrong or small score takes, with one column of scores."""
    kernel, size = np.atleast_2d(kernel), len(kernel)
    change = target * min(PRICE, 1.0 - target * score)
    return cheapest(
        np.atleast_2d(coefficients), size, kernel, np.array([[score]]), 0, target, change, 0, -1,
        PRICE, np.zeros((5, size)),
    )  # fmt: skip


@pytest.mark.parametrize("target", [-1.0, 1.0])
@pytest.mark.parametrize("place", range(1, 6))
def test_a_slot_that_is_cheaper_by_rounding_alone_does_not_win(place, target):
    coefficients = np.full(6, 0.4)
    for moved in (-4e-16, 0.0, 4e-16):
        kernel = np.full(6, 0.37)
        kernel[place] += moved
        assert replaced(coefficients, kernel, 0.2, target) == 0


@pytest.mark.parametrize("place", range(1, 6))
def test_a_slot_that_is_cheaper_by_more_wins(place):
    coefficients = np.full(6, 0.4)
    coefficients[place] -= 1e-9
    assert replaced(coefficients, np.full(6, 0.37), 0.2, 1.0) == place


def test_costs_that_are_no_numbers_end_the_search():
    assert replaced(np.full(3, np.nan), np.full(3, 0.5), 0.2, 1.0) in range(3)
