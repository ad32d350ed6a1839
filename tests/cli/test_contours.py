"""A figure of contours, and the device of a table, from the outside."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench

FIGURE = """\
title: Small
kind: contours
protocol: {kind: kernel-surface, metric: kernel_value, runs: 1}
datasets: {checkerboard: }
learners:
  isolation: {learner: IK-OGD, partitionings: 20, psi: 16}
  Laplacian: {learner: LaplacianOGD, psi: 16}
"""
TABLE = """\
title: Small
protocol: {kind: single-pass, metric: accuracy, runs: 1}
datasets: {checkerboard: }
learners:
  near: {learner: IK-OGD, map: nearest, partitionings: 5, psi: 4}
  trees: {learner: IK-OGD, map: iforest, partitionings: 5, psi: 4}
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    (tmp_path / "small.yaml").write_text(FIGURE, encoding="utf-8")
    return "small.yaml"


def test_they_are_run_reported_plotted_and_put_on_a_page(okbench: Okbench, small: str) -> None:
    ran = okbench("run", small, "--jobs", "1", "--format", "csv")
    assert ran.code == 0, ran.err
    assert okbench("report", small, "--format", "csv").out == ran.out
    rows = list(csv.DictReader(io.StringIO(ran.out)))
    laplacian = {
        float(row["x"]): float(row["mean"]) for row in rows if row["learner"] != "isolation"
    }
    middle = max(laplacian, key=lambda x: laplacian[x])
    assert laplacian[middle] == 1.0
    for x, value in laplacian.items():  # psi^(-‖x - z‖₁ / d) along one of two columns
        assert value == pytest.approx(16 ** (-abs(x - middle) / 2), abs=2e-5)
    drawn = okbench("plot", small).out.split()
    assert [Path(name).suffix for name in drawn] == [".pdf", ".svg", ".png", ".csv"]
    assert Path(drawn[3]).read_text(encoding="utf-8") == ran.out
    assert okbench("site", small).code == 0


def test_the_surface_is_kept_with_its_outcome(okbench: Okbench, small: str) -> None:
    okbench("run", small, "--jobs", "1")
    lines = Path("runs/small.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [json.loads(line).get("outcome", {}).get("extra", {}) for line in lines]
    surfaces = [extra["surface"] for extra in kept if "surface" in extra]
    assert len(surfaces) == 2
    for surface in surfaces:
        assert max(map(max, surface["values"])) == 1.0
        assert min(map(min, surface["values"])) >= 0.0
        assert len(surface["values"]) == len(surface["y"])


def test_a_learner_without_a_kernel_to_draw_is_refused(okbench: Okbench, small: str) -> None:
    Path(small).write_text(FIGURE.replace("LaplacianOGD", "IK-SVM"), encoding="utf-8")
    said = okbench("run", small, "--dry-run")
    assert said.code == 2
    assert "small.yaml:7: IK-SVM has no kernel to draw" in said.err


def test_the_device_of_nearest_points_stands_under_the_table(okbench: Okbench) -> None:
    Path("table.yaml").write_text(TABLE, encoding="utf-8")
    said = okbench("run", "table.yaml", "--jobs", "1")
    assert said.code == 0, said.err
    assert "Device of near: numpy " in said.out
    assert "Device of trees" not in said.out


def test_a_psi_beyond_the_rows_is_cut_and_said(okbench: Okbench) -> None:
    text = TABLE.replace("map: iforest, partitionings: 5, psi: 4", "psi: 64, initial: 10")
    Path("table.yaml").write_text(text, encoding="utf-8")
    said = okbench("run", "table.yaml", "--jobs", "1")
    assert "trees: psi = 64 was cut to the 10 rows of the map." in said.out
    assert "near: psi" not in said.out
