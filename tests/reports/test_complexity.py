"""Orders of growth fitted to outcomes made here."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from okbench import datasets
from okbench.learners.registry import versions
from okbench.papers.table_catalogue import find
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    Point,
    Protocol,
    StatedComplexity,
    Table,
)
from okbench.reports.pages import stored_text
from okbench.reports.tables.complexity import Complexity, complexity, fit
from okbench.reports.tables.complexity_text import csv_of, json_of, sheet_of
from okbench.trials.plan.available import registered
from okbench.trials.plan.options import Options
from okbench.trials.run.run_table import run
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome, Trial

VALUES = (10, 20, 40, 80, 160)


def table(learners: tuple[str, ...] = ("RBP",)) -> Table:
    columns = tuple(
        LearnerColumn(f"{line} budget={value}", line, point=Point(line, "budget", value))
        for line in learners
        for value in VALUES
    )
    return Table(
        name="ours/orders",
        title="Orders",
        paper="",
        protocol=Protocol("single-pass", "mistake_rate", runs=2),
        datasets=(DatasetRow("rows"),),
        learners=columns,
        settings={},
        kind="complexity",
        stated={
            line: StatedComplexity("Removal", ("O(B)", "O(B^2)"), {"budget": 1}, {"budget": 2})
            for line in learners
        },
    )


def outcome(label: str, run: int, seconds: float, held: int, **more: Any) -> Outcome:
    """A trial whose first half is slow, whatever its size; then `seconds` for 100 rows."""
    trial = Trial("rows", "", "f", label, 1, (), "single-pass", "mistake_rate", run)
    curve = ((50, 5, 1, 99.0), (100, 9, 1, 100.0), (150, 9, 1, 100.0 + seconds / 2),
             (200, 9, 1, 100.0 + seconds))  # fmt: skip
    fields = {"status": "done", "rows": 200, "curve": curve, "bytes": held, **more}
    return Outcome(trial, fields.pop("status"), **fields)


def measured(page: Table, *found: Outcome) -> Complexity:
    expected = {
        ("rows", column.label): [
            Trial("rows", "", "f", column.label, 1, (), "single-pass", "mistake_rate", run).id
            for run in range(2)
        ]
        for column in page.learners
    }
    return complexity(
        page, {one.trial.id: one for one in found}, expected, ("TVM",), ("a machine",)
    )


def grown() -> list[Outcome]:
    """Linear in the budget from 40 on, and flat before; bytes are quadratic."""
    return [
        outcome(f"RBP budget={value}", run, 1e-3 * max(value, 40), value**2)
        for value in VALUES
        for run in range(2)
    ]


def test_an_exponent_is_the_slope_between_logarithms() -> None:
    values = [2.0, 4.0, 8.0, 16.0]
    exact = fit(values, [3 * value**1.5 for value in values])
    assert exact is not None
    assert (exact.exponent, exact.low, exact.high) == pytest.approx((1.5, 1.5, 1.5), abs=1e-9)


def test_the_interval_is_that_of_least_squares() -> None:
    """Checked against scipy.stats, which gives the slope's standard error."""
    from math import log

    from scipy.stats import linregress, t

    values, costs = [1.0, 2.0, 4.0, 8.0, 16.0], [1.0, 2.5, 3.5, 9.0, 15.0]
    theirs = linregress([log(v) for v in values], [log(c) for c in costs])
    ours = fit(values, costs)
    assert ours is not None
    assert ours.exponent == pytest.approx(theirs.slope)
    assert ours.high - ours.exponent == pytest.approx(theirs.stderr * t.ppf(0.975, 3))


def test_too_little_to_fit_is_no_fit() -> None:
    assert fit([2.0, 4.0], [1.0, 2.0]) is None
    assert fit([2.0, 2.0, 4.0], [1.0, 2.0, 3.0]) is None


def test_the_quickest_trial_of_a_value_counts() -> None:
    slow = [outcome(f"RBP budget={value}", 0, 1e-3 * value, 1) for value in VALUES]
    late = [outcome(f"RBP budget={value}", 1, 9.0, 1) for value in VALUES[:4]]
    (growth,) = measured(table(), *slow, *late).growths
    assert growth.time["budget"].exponent == pytest.approx(1.0)


def test_only_the_second_half_of_the_rows_and_the_larger_half_of_the_values_count() -> None:
    (growth,) = measured(table(), *grown()).growths
    assert growth.time["budget"].exponent == pytest.approx(1.0)
    assert growth.space["budget"].exponent == pytest.approx(2.0)
    assert growth.time["budget"].values == 3


def test_trials_that_did_not_end_are_not_measured() -> None:
    found = measured(table(), outcome("RBP budget=10", 0, 1.0, 100, status="timeout"))
    assert found.measured == ()
    assert found.growths[0].time == {}
    assert sheet_of(found).groups[0][0][3].text == "budget: not measured"


def test_stated_and_fitted_stand_beside_each_other() -> None:
    sheet = sheet_of(measured(table(), *grown()))
    assert [entry.text for entry in sheet.groups[0][0]] == [
        "RBP", "Removal", "O(B)", "budget^1.00 (1.00 to 1.00)",
        "O(B^2)", "budget^2.00 (2.00 to 2.00)",
    ]  # fmt: skip
    assert "Not here: TVM." in sheet.notes
    assert "Machine: a machine." in sheet.notes
    assert "Values of budget: 10 to 160." in sheet.notes


def test_measurements_are_given_unrounded() -> None:
    found = measured(table(), *grown())
    rows = list(csv.DictReader(io.StringIO(csv_of(found))))
    assert len(rows) == 10
    assert float(rows[-1]["seconds_a_row"]) == pytest.approx(0.16 / 100)
    assert json.loads(json_of(found))["growths"][0]["space"]["budget"]["values"] == 3


def test_learners_that_do_not_exist_are_listed_apart() -> None:
    page, absent = registered(table(("RBP", "Nobody's")), versions())
    assert absent == ("Nobody's",)
    assert {column.line for column in page.learners} == {"RBP"}


def test_the_order_of_a_real_learner_is_measured_through_run_and_store(tmp_path: Path) -> None:
    page = find("lsokl/table1")
    few = replace(
        page,
        protocol=replace(page.protocol, runs=2),
        datasets=(DatasetRow("checkerboard", "rows=600"),),
        settings={("checkerboard", label): given for (_, label), given in page.settings.items()},
        learners=tuple(
            c for c in page.learners if c.line == "RBP" and c.point and c.point.value <= 400
        ),
    )
    store = Store.of(tmp_path, page.name)
    run(few, datasets.load, datasets.missing, store, Options(timing=True), lambda tally: None)
    outcomes = store.outcomes().values()
    assert len(outcomes) == 2 * len(few.learners) == 10
    assert {(one.timed, one.status) for one in outcomes} == {(True, "done")}
    text = stored_text(few, tmp_path, Options(), "terminal", "utf-8", versions())
    assert re.search(r"^RBP +Removal +O\(B\) +budget\^-?\d", text, re.MULTILINE)
