"""The table of streams that change: what it holds, and how a margin is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from okbench.base.errors import ConfigError
from okbench.learners.registry import catalogue
from okbench.protocols.contract import MAP, ONLINE
from tests.shipped_tables import find

TABLE = """\
title: A stream that changes
protocol: {kind: single-pass, metric: METRIC, runs: 1, orders: file}
datasets:
  abrupt-classes:
learners:
  OGD:
report: {margin: MARGIN}
"""


def test_every_online_learner_is_in_the_drift_table() -> None:
    here = {column.learner for column in find("drift").learners}
    online = {name for name, entry in catalogue().items() if ONLINE.is_filled_by(entry.load())}
    assert here == {name for name in online if not MAP.is_filled_by(catalogue()[name].load())}


def test_a_cell_is_left_out_only_where_a_learner_does_not_do_the_task() -> None:
    table = find("drift")
    for row in table.datasets:
        task = "binary" if row.name.endswith("-classes") else "regression"
        for column in table.learners:
            does = task in catalogue()[column.learner].tasks
            assert does != ((row.name, column.label) in table.left_out)


def test_the_margin_is_read() -> None:
    assert find("drift").shown.margin == 1.5
    assert find("demo").shown.margin == 0.0


@pytest.mark.parametrize(
    ("metric", "margin", "message"),
    [
        ("windowed_error", "0.9", "a factor of 1 or more is expected"),
        ("windowed_error", ".nan", "margin"),
        ("windowed_error", "wide", "a number is expected"),
        ("mistake_rate", "1.5", "a margin goes with metric: windowed_error"),
        ("fading_error", "1.5", "a margin goes with metric: windowed_error"),
    ],
)
def test_a_margin_that_means_nothing_is_refused_with_its_place(
    tmp_path: Path, metric: str, margin: str, message: str
) -> None:
    path = tmp_path / "changing.yaml"
    path.write_text(TABLE.replace("METRIC", metric).replace("MARGIN", margin), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"changing.yaml:7") as refused:
        find(str(path))
    assert message in str(refused.value)
