"""Settings said of a whole table or dataset that none of its learners takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from trial_material import load, table

from okbench.base.errors import ConfigError
from okbench.papers.table_types import LearnerColumn, Setting, Table
from okbench.trials.plan.planning import plan


def page(name: str, **said: bool) -> Table:
    """Two learners, of which only the second has a budget and a width."""
    setting = Setting(7, where="tables.yaml:4", shared=True, **said)
    cells = {("blobs", label): {name: setting} for label in ("A", "B")}
    return replace(table({"A": "Linear", "B": "Drawn"}), settings=cells)


def test_a_shared_setting_that_one_learner_takes_is_fine() -> None:
    assert plan(page("budget"), load)


def test_a_shared_setting_that_no_learner_takes_is_refused_with_its_place() -> None:
    with pytest.raises(
        ConfigError,
        match=r"tables.yaml:4: no learner of made/small has a setting 'bugdet'. "
        r"Did you mean 'budget'\? Their settings: budget, step, width",
    ):
        plan(page("bugdet"), load)


def test_a_name_that_settings_are_reckoned_from_is_fine() -> None:
    assert plan(page("rho", referred=True), load)


def test_a_learner_that_is_not_here_may_be_the_one_that_takes_it() -> None:
    whole = page("clip")
    unknown = replace(whole, learners=(*whole.learners, LearnerColumn("C", "Nobody's")))
    cells = [(row, column) for row in whole.datasets for column in whole.learners]
    assert plan(unknown, load, cells=cells)
    assert plan(replace(whole, learners=whole.learners[:1]), load)
