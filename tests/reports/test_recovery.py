"""Rows to recover after a change, on curves made by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from outcome_material import outcome, trial

from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Shown, Table
from okbench.protocols.metrics import WINDOW
from okbench.reports.figures.draw import images
from okbench.reports.figures.figure_data import convergence, picture
from okbench.reports.tables.recovery import recoveries
from okbench.reports.tables.render import render
from okbench.reports.tables.report import report
from okbench.trials.trial_types import Outcome

ROWS, CHANGES = 4000, [[1000, 1000], [2500, 2700]]
POINTS = range(100, ROWS + 1, 100)


def table(margin: float = 1.5, metric: str = "windowed_error") -> Table:
    return Table(
        "made/changing",
        "A stream that changes",
        "",
        Protocol("single-pass", metric, 1, "file"),
        (DatasetRow("rows"),),
        (LearnerColumn("quick", "A"), LearnerColumn("slow", "B"), LearnerColumn("poor", "C")),
        {},
        shown=Shown(margin=margin),
    )


def run(learner: str, errors: dict[int, float], repetition: int = 0, **more: Any) -> Outcome:
    """A trial whose windowed error steps to a value at each of these rows."""

    def error(rows: int) -> float:
        return errors[max(at for at in errors if at <= rows)]

    curve = tuple((rows, error(rows) * min(rows, WINDOW), 1, 0.1) for rows in POINTS)
    beside = {"prequential_error": 0.25 * ROWS, "fading_error": 50.0}
    fields = {"curve": curve, "rows": ROWS, "extra": {"changes": CHANGES, "beside": beside}}
    return outcome(
        curve[-1][1],
        trial(learner, repetition=repetition, metric="windowed_error", order="file"),
        **{**fields, **more},
    )


# The best at the ends of the concepts behind the changes: 0.1 at row 2,500 and 0.2 at row 4,000.
QUICK = {0: 0.1, 1100: 0.5, 1600: 0.15, 1800: 0.1, 2600: 0.6, 3400: 0.3, 3600: 0.2}
SLOW = {0: 0.1, 1100: 0.5, 2300: 0.14, 2600: 0.31}
POOR = {0: 0.5}


def measured(
    *trials: tuple[str, Outcome],
) -> tuple[dict[str, Outcome], dict[tuple[str, str], list[str]]]:
    expected: dict[tuple[str, str], list[str]] = {}
    for label, one in trials:
        expected.setdefault(("rows", label), []).append(one.trial.id)
    return {one.trial.id: one for _, one in trials}, expected


THREE = measured(("quick", run("A", QUICK)), ("slow", run("B", SLOW)), ("poor", run("C", POOR)))


def test_rows_are_counted_from_the_change_to_the_first_point_within_the_margin() -> None:
    found = recoveries(table(), *THREE)
    quick, slow, poor = (found["rows", label] for label in ("quick", "slow", "poor"))
    assert (quick.rows, quick.recovered, quick.changes) == ((600 + 900) / 2, 2, 2)
    assert (slow.rows, slow.recovered) == ((1300 + 1500) / 2, 1)  # no recovery: to the next change
    assert (poor.rows, poor.recovered) == ((1500 + 1500) / 2, 0)


def test_a_narrower_margin_takes_longer() -> None:
    quick = recoveries(table(1.0), *THREE)["rows", "quick"]
    assert (quick.rows, quick.recovered) == ((800 + 1100) / 2, 2)


def test_a_window_with_rows_from_before_the_change_is_not_looked_at() -> None:
    """Until 500 rows after the change the error is still partly that of the concept before."""
    found = recoveries(table(), *measured(("quick", run("A", {0: 0.1}))))
    gradual = 200 + WINDOW
    assert found["rows", "quick"].rows == (WINDOW + gradual) / 2


def test_means_are_over_trials_and_levels_over_their_means() -> None:
    found = recoveries(
        table(), *measured(("quick", run("A", {0: 0.1})), ("quick", run("A", {0: 0.3}, 1)))
    )
    # the level is 0.2 and the margin 0.3, which both trials have as soon as they may
    assert (found["rows", "quick"].recovered, found["rows", "quick"].changes) == (4, 4)
    above = recoveries(
        table(1.2), *measured(("quick", run("A", {0: 0.1})), ("quick", run("A", {0: 0.3}, 1)))
    )
    assert (above["rows", "quick"].recovered, above["rows", "quick"].changes) == (2, 4)


def test_other_errors_are_means_of_what_trials_wrote_down() -> None:
    others = recoveries(table(), *THREE)["rows", "quick"].others
    assert others["prequential_error"] == 0.25
    assert others["fading_error"] == pytest.approx(50.0 / WINDOW, rel=1e-3)


@pytest.mark.parametrize(
    "lacking", [{"curve": ()}, {"extra": {}}, {"status": "failed"}], ids=["curve", "changes", "end"]
)
def test_without_curve_changes_or_end_there_is_nothing_to_say(lacking: dict[str, Any]) -> None:
    assert recoveries(table(), *measured(("quick", run("A", QUICK, **lacking)))) == {}


def test_a_table_without_a_margin_says_nothing_of_recovery() -> None:
    assert recoveries(table(0.0), *THREE) == {}
    outcomes, expected = THREE
    assert "recover" not in render(report(table(0.0), outcomes, expected), "terminal")


def test_the_report_has_a_sheet_of_rows_to_recover_and_of_each_other_error() -> None:
    outcomes, expected = THREE
    printed = report(table(), outcomes, expected)
    text = render(printed, "terminal")
    assert "(error over the last 500 rows; time)" in text
    assert "error with fading factor 0.998)" in text
    rows = text[text.index("rows to recover") :].splitlines()
    assert [line.split() for line in rows if line.startswith(("quick", "slow", "poor"))] == [
        ["quick", "*", "750", "(2/2)"],
        ["slow", "1,400", "(1/2)"],
        ["poor", "1,500", "(0/2)"],
    ]
    record = json.loads(render(printed, "json"))["recoveries"]
    assert record[0]["rows"] == 750.0
    assert record[0]["others"]["prequential_error"] == 0.25


def test_a_figure_marks_the_changes_and_has_the_same_bytes_again() -> None:
    outcomes, expected = THREE
    drawn = picture(convergence(table()), outcomes, expected, ["rows"])
    (panel,) = drawn.panels
    assert panel.changes == ((1000, 1000), (2500, 2700))
    assert "grey: while a gradual change lasts" in " ".join(drawn.notes)
    assert images(drawn) == images(drawn)
    still = picture(
        convergence(table()),
        {id_: run(one.trial.learner, QUICK, extra={}) for id_, one in outcomes.items()},
        expected,
        ["rows"],
    )
    assert not still.panels[0].changes
    assert images(still)["svg"] != images(drawn)["svg"]


def test_a_figure_of_some_learners_has_a_legend_of_these_alone() -> None:
    outcomes, expected = THREE
    some = {key: ids for key, ids in expected.items() if key[1] != "slow"}
    assert picture(convergence(table()), outcomes, some, ["rows"]).labels == ("quick", "poor")
