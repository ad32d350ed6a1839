from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    PrintedCell,
    Protocol,
    Range,
    Search,
    Searched,
    Setting,
    Shown,
    Table,
)
from okbench.reports.tables.cells import Cell, cells
from okbench.reports.tables.report import report
from okbench.trials.trial_types import Outcome, Status, Trial


def table(metric: str = "mistake_rate", **more: object) -> Table:
    given: dict[str, Any] = {
        "protocol": Protocol("single-pass", metric, runs=3),
        "learners": (LearnerColumn("A", "A"), LearnerColumn("B", "B")),
        "settings": {},
        **more,
    }
    return Table("ours/table1", "Ours", "", datasets=(DatasetRow("rows"),), **given)


def outcome(
    repetition: int,
    total: float | None,
    *,
    status: Status = "done",
    rows: int = 200,
    seconds: float | None = 1.0,
    timed: bool = False,
    environment: str = "e1",
) -> Outcome:
    trial = Trial("rows", "", "f", "A", 1, (), "single-pass", "mistake_rate", repetition=repetition)
    return Outcome(
        trial, status, rows, total, seconds, timed=timed, environment=environment
    )  # fmt: skip


def measured(*found: Outcome, metric: str = "mistake_rate", ids: int = 3):  # type: ignore[no-untyped-def]
    stored = {str(one.trial.repetition): one for one in found}
    return cells(table(metric), stored, {("rows", "A"): [str(r) for r in range(ids)]})[0]


def test_a_mistake_rate_is_mistakes_in_a_hundred_rows() -> None:
    cell = measured(outcome(0, 20), outcome(1, 30), outcome(2, 25))
    assert cell.values == (10.0, 15.0, 12.5)
    assert (cell.n, cell.expected, cell.mean) == (3, 3, 12.5)
    assert cell.std == 2.5  # normalised by n - 1
    assert cell.complete
    assert cell.shortfall == ""


@pytest.mark.parametrize(
    ("metric", "value"),
    [("accuracy", 90.0), ("mean_squared_loss", 0.1), ("rmse", math.sqrt(0.1))],
)
def test_the_other_metrics_have_their_own_value(metric: str, value: float) -> None:
    assert measured(outcome(0, 20), metric=metric).values == (value,)


def test_the_trials_of_the_paper_may_be_others_than_ours() -> None:
    columns = (
        LearnerColumn("A", "A"),
        LearnerColumn("B", "B", runs=1),
        LearnerColumn("C", "C", runs=1),
    )
    protocol = Protocol("single-pass", "mistake_rate", runs=5)
    ours = table(learners=columns, protocol=protocol, random=frozenset({"A", "C"}))
    of_paper = replace(ours, protocol=replace(protocol, printed_runs=1))
    assert [(cell.expected, cell.runs) for cell in cells(ours, {}, {})] == [(5, 5), (1, 1), (1, 1)]
    found = cells(of_paper, {}, {})
    assert [(cell.expected, cell.runs) for cell in found] == [(5, 1), (1, 1), (1, 1)]
    # C is run once although its trials would differ
    assert [cell.once for cell in found] == [False, True, False]
    assert not any(cell.once for cell in cells(replace(ours, random=None), {}, {}))


def test_one_trial_has_no_deviation() -> None:
    assert measured(outcome(0, 20), ids=1).std is None


def test_trials_that_did_not_end_well_are_counted_and_not_averaged() -> None:
    cell = measured(
        outcome(0, 20), outcome(1, 190, status="timeout"), outcome(2, None, status="failed")
    )
    assert cell.values == (10.0,)
    assert cell.statuses == {"timeout": 1, "failed": 1}
    assert cell.shortfall == "1/3, failed 1, timeout 1"
    assert not cell.complete


def test_a_cell_of_which_every_trial_outran_the_tables_limit_says_so() -> None:
    page = table()
    page = replace(page, protocol=replace(page.protocol, time_limit=7200.0))
    late = [outcome(r, 5, status="timeout", seconds=7200.0 + r) for r in range(3)]

    def shortfall(*found: Outcome) -> str:
        stored = {str(one.trial.repetition): one for one in found}
        return cells(page, stored, {("rows", "A"): ["0", "1", "2"]})[0].shortfall

    assert shortfall(*late) == "over 2 h"
    assert shortfall(*late[:2]) == "timeout 2"
    assert shortfall(outcome(0, 20), *late[1:]) == "1/3, timeout 2"
    asked = replace(late[0], seconds=60.0)  # ended earlier, by a limit of a run's own
    assert shortfall(asked, *late[1:]) == "timeout 3"


@pytest.mark.parametrize("total", [math.inf, math.nan, 1.7e308, 1e200])
def test_a_sum_that_outgrew_the_numbers_counts_as_diverged(total: float) -> None:
    cell = measured(outcome(0, total), ids=1)
    assert (cell.values, cell.statuses) == ((), {"diverged": 1})


def test_outcomes_that_no_cell_expects_are_not_averaged_in() -> None:
    stored = {"0": outcome(0, 20), "of another version": outcome(1, 200)}
    done = report(table(), stored, {("rows", "A"): ["0", "1", "2"]})
    assert done.cells["rows", "A"].values == (10.0,)
    assert done.others == 1


def test_a_cell_without_outcomes_is_missing_and_never_zero() -> None:
    cell = cells(table(), {}, {})[1]
    assert (cell.mean, cell.seconds, cell.n, cell.expected) == (None, None, 0, 3)
    assert cell.shortfall == "missing"


def test_a_cell_the_paper_leaves_out_is_not_called_missing() -> None:
    assert cells(table(left_out=frozenset({("rows", "B")})), {}, {})[1].shortfall == "not run"


def test_seconds_measured_alone_are_preferred() -> None:
    cell = measured(
        outcome(0, 1, seconds=9.0),
        outcome(1, 1, seconds=2.0, timed=True, environment="e2"),
        outcome(2, 1, seconds=4.0, timed=True, environment="e2"),
    )
    assert (cell.seconds, cell.timed, cell.environments) == (3.0, True, ("e2",))
    assert cell.n == 3


def test_seconds_of_different_machines_are_never_averaged() -> None:
    cell = measured(
        outcome(0, 1, seconds=2.0),
        outcome(1, 1, seconds=4.0),
        outcome(2, 1, seconds=90.0, environment="e2"),
    )
    assert (cell.seconds, cell.environments, cell.n) == (3.0, ("e1",), 3)


def test_the_cells_of_a_table_have_the_seconds_of_the_same_machine_where_they_can() -> None:
    stored = {"0": outcome(0, 1, seconds=2.0), "1": outcome(1, 1, seconds=9.0, environment="e2")}
    stored |= {str(r): outcome(r, 1, seconds=7.0) for r in (2, 3)}
    expected = {("rows", "A"): ["0", "1"], ("rows", "B"): ["1", "2", "3"]}
    first, second = cells(table(), stored, expected)
    assert (first.seconds, first.environments) == (2.0, ("e1",))
    assert (second.seconds, second.environments) == (7.0, ("e1",))


def test_seconds_are_of_done_trials_alone() -> None:
    cell = measured(outcome(0, 1, seconds=2.0), outcome(1, 1, status="timeout", seconds=60.0))
    assert (cell.seconds, cell.timed) == (2.0, False)


def test_the_difference_is_ours_minus_the_paper_s() -> None:
    printed = {("rows", "A"): PrintedCell("rows", "A", mean=11.0)}
    first, second = cells(table(printed=printed), {"0": outcome(0, 20)}, {("rows", "A"): ["0"]})
    assert first.difference == -1.0
    assert second.difference is None


def test_machines_are_those_behind_the_seconds() -> None:
    stored = {"0": outcome(0, 1), "1": outcome(1, 1, environment="e9")}
    expected = {("rows", "A"): ["0"], ("rows", "B"): ["1"]}
    assert report(table(), stored, expected, {"e1": "one"}).machines == ("not recorded", "one")


def searched(found: Mapping[tuple[str, str], Searched], **more: Any) -> Cell:
    """A cell of a table that shows totals and searches the step of A, and of nobody else."""
    ranges = (Range("step", (0.1, 1.0), only=("A",)), Range("decay", (1, 2), searched=False))
    given = {"step": Setting(0.1, "default", "a guess"), "decay": Setting(1), **more}
    made = table(
        search=Search(ranges, 1.0, 1, 1),
        settings={("rows", label): given for label in ("A", "B")},
        shown=Shown("search + training"),
        searched=found,
    )
    assert not cells(made, {}, {})[1].awaits_search  # B
    return cells(made, {"0": outcome(0, 20)}, {("rows", "A"): ["0"]})[0]


def test_a_total_awaits_the_search_of_a_setting_that_nobody_gives() -> None:
    assert searched({}).awaits_search
    assert not searched({}, step=Setting(0.1)).awaits_search
    assert not searched({("rows", "A"): Searched(60.0)}).awaits_search
    assert not measured(outcome(0, 20)).awaits_search
