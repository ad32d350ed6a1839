"""The arithmetic behind docs/scale.md, and that the page has what the script prints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.cost_of_papers import (
    Cost,
    Measured,
    Work,
    _rounded,
    extrapolated,
    growth,
    nearest,
    page,
    powers_of,
    tables_of_papers,
)
from tests.docs.quotes import ROOT

WORK = Work("FOGD", "small", "binary", 1000, 1000, 10, {"components": 400})


def test_a_learner_with_a_bound_grows_in_proportion_to_rows_and_components() -> None:
    larger = replace(WORK, rows=3000, settings={"components": 800})
    assert growth(larger, WORK, {"components": 1}) == pytest.approx(6.0)


@pytest.mark.parametrize("learner", ["OGD", "LIBSVM"])
def test_what_compares_all_rows_grows_with_their_square(learner: str) -> None:
    small = replace(WORK, learner=learner)
    assert growth(replace(small, rows=3000, train=3000), small, {}) == pytest.approx(9.0)
    assert growth(replace(small, train=500), small, {}) == pytest.approx(0.5)


def test_values_count_with_the_power_asked_for() -> None:
    wider = replace(WORK, values=40)
    assert growth(wider, WORK, {}, 0.5) == pytest.approx(2.0)


def test_settings_that_are_no_numbers_or_not_given_change_nothing() -> None:
    named = replace(WORK, settings={"components": "many"})
    assert growth(named, WORK, {"components": 1, "budget": 2}) == 1.0


def test_the_powers_are_those_that_the_paper_states() -> None:
    assert powers_of("Projectron") == {"budget": 2}
    assert powers_of("NOGD") == {"rank": 1, "budget": 1}
    assert powers_of("BKM")["particles"] == 1


def test_the_nearest_work_is_that_of_the_dataset_then_the_task_then_the_shape() -> None:
    far = Measured(replace(WORK, rows=10**6), 50.0)
    near = Measured(replace(WORK, dataset="other", rows=1100), 1.0)
    nearer = Measured(replace(WORK, dataset="third", rows=1000, task="regression"), 7.0)
    assert nearest(WORK, [near, far]) is far
    asked = replace(WORK, dataset="new")
    assert nearest(asked, [nearer, far, near]) is near
    assert nearest(asked, []) is None
    assert extrapolated(asked, [], {}) is None
    assert extrapolated(asked, [nearer, near], {}) == pytest.approx(1000 / 1100)


def test_hours_are_those_of_all_trials() -> None:
    assert Cost("t", "l", WORK, 20, 360.0, "measured").hours == 2.0
    assert Cost("t", "l", WORK, 20, None, "unknown").hours == 0.0


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.001, "<0.01"), (0.0123, "0.012"), (1.26, "1.3"), (987, "990"), (12345, "12,000")],
)
def test_two_digits_are_printed(number: float, text: str) -> None:
    assert _rounded(number) == text


def test_the_page_has_what_the_script_prints() -> None:
    printed = page(tables_of_papers(), ROOT / "results")
    written = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    for part in printed.split("\n\n"):
        assert part in written, "run python -m benchmarks.cost_of_papers and put it into the page"
