"""A figure of kernels and their bound, from the outside."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench

FIGURE = """\
title: Small
kind: sweep
draw: {quantities: [metric], bound: lemma-1}
sweep: {name: components, values: [10, 40]}
protocol: {kind: approximation, metric: exceedance, runs: 2}
settings: {width: 2}
datasets: {breast-cancer: }
learners:
  near: {learner: RRF, tolerance: 0.1}
  far: {learner: FOGD, tolerance: 0.4}
"""
AS_A_TABLE = ("kind", "draw", "sweep")


@pytest.fixture
def small(tmp_path: Path) -> str:
    (tmp_path / "small.yaml").write_text(FIGURE, encoding="utf-8")
    return "small.yaml"


def test_it_is_run_reported_plotted_and_put_on_a_page(okbench: Okbench, small: str) -> None:
    assert "8 trials, 0 done" in okbench("run", small, "--dry-run").out
    ran = okbench("run", small, "--jobs", "2", "--format", "csv")
    assert ran.code == 0, ran.err
    assert "8 trials, 8 done" in okbench("run", small, "--dry-run").out
    assert okbench("report", small, "--format", "csv").out == ran.out
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    assert {row["n"] for row in rows} == {"2"}
    assert 0 < float(rows[0]["mean"]) <= float(rows[0]["bound"]) == 100.0
    drawn = okbench("plot", small).out.split()
    assert [Path(name).suffix for name in drawn] == [".pdf", ".svg", ".png", ".csv"]
    assert Path(drawn[3]).read_text(encoding="utf-8") == ran.out
    assert okbench("site", small).code == 0
    assert 'class="bound"' in Path("site/tables/small.html").read_text(encoding="utf-8")


def test_an_outcome_is_shown_with_its_tolerance(okbench: Okbench, small: str) -> None:
    okbench("run", small, "--jobs", "1", "--trials", "1")
    okbench("export", "runs", "--output", "flat.csv")
    with Path("flat.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["learner"], row["tolerance"]) for row in rows} == {("RRF", "0.1"), ("FOGD", "0.4")}
    shown = okbench("show", rows[0]["id"]).out
    assert f"approximation:{rows[0]['tolerance']}/1 | {rows[0]['learner']}/" in shown


def test_kernels_can_be_a_table_too(okbench: Okbench, small: str) -> None:
    lines = FIGURE.splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(AS_A_TABLE))
    Path(small).write_text(text, encoding="utf-8")
    said = okbench("run", small, "--jobs", "1")
    assert said.code == 0, said.err
    assert said.out.startswith("small: Small (pairs ε or further off in %; time)")


def test_a_learner_without_such_a_kernel_is_refused_with_its_line(
    okbench: Okbench, small: str
) -> None:
    Path(small).write_text(FIGURE.replace("learner: FOGD", "learner: DualSGD"), encoding="utf-8")
    said = okbench("run", small, "--dry-run")
    assert said.code == 2
    assert "small.yaml:10: DualSGD has no approximate kernel to measure" in said.err
    assert "Traceback" not in said.err
