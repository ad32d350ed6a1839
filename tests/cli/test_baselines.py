"""The baselines of the project where nothing was run: in a clone, in a wheel, and in drawings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from okbench.trials.store.files import Store
from tests.cli.conftest import Okbench

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
BASELINES = sorted(path.relative_to(RESULTS) for path in RESULTS.rglob("*.jsonl"))
GERMAN = ("report", "table5", "--datasets", "german")


def test_a_report_without_outcomes_prints_the_baseline_and_names_it(okbench: Okbench) -> None:
    printed = okbench(*GERMAN)
    assert printed.code == 0
    assert "no outcomes of lsokl/table5 in runs" in printed.err
    assert str(RESULTS) in printed.err
    asked = okbench(*GERMAN, "--results", str(RESULTS))
    assert (printed.out, asked.err) == (asked.out, "")
    perceptron = next(line for line in printed.out.splitlines() if "Perceptron" in line)
    assert "35.2 ± 0.9" in perceptron  # the paper's number
    assert "35.22 ± 0.90" in perceptron
    assert "as printed" in perceptron


def test_compare_and_site_without_outcomes_show_the_baseline_and_name_it(okbench: Okbench) -> None:
    compared = okbench("compare", "lsokl/table9", "--against", "FOGD")
    assert f"the baselines of the project, in {RESULTS}" in compared.err
    asked = okbench("compare", "lsokl/table9", "--against", "FOGD", "--results", str(RESULTS))
    assert (compared.code, asked.out, asked.err) == (0, compared.out, "")
    made = okbench("site", "demo")
    assert f"the baselines of the project, in {RESULTS}" in made.err
    assert made.out.startswith(f"{Path('site/index.html')}: demo ")


def test_a_layout_of_a_figure_is_refused(okbench: Okbench) -> None:
    refused = okbench("report", "lsokl/figure1", "--layout", "paper")
    assert refused.code == 2
    assert "--layout goes with a table of scores, and lsokl/figure1 is none" in refused.err


def test_outcomes_in_runs_take_the_place_of_the_baseline(okbench: Okbench, tmp_path: Path) -> None:
    cell = ("demo", "--datasets", "breast-cancer", "--learners", "Perceptron")
    okbench("run", *cell, "--trials", "2", "--timing")
    printed = okbench("report", *cell, "--trials", "2", "--format", "json")
    assert printed.err == ""
    (shown,) = json.loads(printed.out)["cells"]
    assert (shown["timed"], shown["n"]) == (True, 2)
    (blessed,) = json.loads(printed.out)["blessed"]
    assert (blessed["timed"], blessed["values"]) == (False, shown["values"])


def test_a_table_without_a_baseline_says_how_to_run_it(okbench: Okbench, tiny: str) -> None:
    for words in (("report", tiny), ("compare", tiny), ("site", tiny)):
        printed = okbench(*words)
        assert (printed.code, printed.out) == (2, "")
    for words in (("report", tiny), ("compare", tiny)):
        assert "(okbench run tiny.yaml)" in okbench(*words).err


@pytest.mark.parametrize("name", BASELINES, ids=str)
def test_every_curve_of_a_baseline_ends_in_its_outcome(name: Path) -> None:
    for one in Store(RESULTS / name).read().measured:
        if one.curve and one.trial.protocol == "single-pass":
            rows, total = one.curve[-1][:2]
            assert (rows, total) == (one.rows, pytest.approx(one.total, rel=1e-9, abs=0))


@pytest.mark.parametrize("name", ["demo.jsonl", "lsokl/table5.jsonl"])
def test_every_trial_of_a_convergence_baseline_has_its_curve(name: str) -> None:
    assert all(one.curve for one in Store(RESULTS / name).read().measured)


def test_a_figure_is_drawn_from_a_baseline_alone(
    okbench: Okbench, tmp_path: Path, tiny: str
) -> None:
    cell = ("--datasets", "breast-cancer", "--trials", "2")
    for quantity in ("metric", "seconds"):
        (tmp_path / f"{quantity}.yaml").write_text(
            f"title: Convergence\nkind: curves\nof: tiny\ndraw: {{quantities: [{quantity}]}}\n",
            encoding="utf-8",
        )

    def drawn(quantity: str, results: str, to: str) -> str:
        words = ("--results", results, "--to", to, *cell)
        printed = okbench("plot", f"{quantity}.yaml", *words)
        assert printed.code == 0, printed.err
        return next((tmp_path / to).rglob("*.csv")).read_text(encoding="utf-8")

    okbench("run", tiny, *cell, "--timing")
    okbench("bless", tiny, *cell, "--reason", "timed", "--into", "kept")
    shutil.copytree("runs", "there")
    assert drawn("metric", "kept", "one") == drawn("metric", "there", "two")
    assert len(drawn("seconds", "kept", "three").splitlines()) > 20


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel of this checkout installs."""
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as file:
        file.extractall(folder / "site")
    return folder / "site"


def test_a_wheel_carries_every_baseline_without_curves(site: Path) -> None:
    shipped = site / "okbench/_shipped/results"
    assert sorted(p.relative_to(shipped) for p in shipped.rglob("*.*")) == BASELINES
    for name in BASELINES:
        theirs, ours = Store(shipped / name).read(), Store(RESULTS / name).read(curves=False)
        theirs.end = ours.end
        assert theirs == ours


def test_an_installed_wheel_reports_where_there_is_nothing(
    site: Path, tmp_path: Path, okbench: Okbench
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "okbench", *GERMAN],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(site), "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
    )
    assert str(site / "okbench/_shipped/results") in done.stderr
    assert done.stdout == okbench(*GERMAN).out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("figure", "dataset"), [("figure1", "dna"), ("figure5", "housing")])
def test_figures_of_the_paper_are_drawn_from_the_baselines(
    okbench: Okbench, tmp_path: Path, figure: str, dataset: str
) -> None:
    """With nothing in runs/, into runs/: the folder of the baselines is left alone."""
    printed = okbench("plot", f"lsokl/{figure}", "--datasets", dataset)
    assert printed.code == 0, printed.err
    assert "baselines of the project" in printed.err
    lines = (tmp_path / f"runs/lsokl/{figure}.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) > 50
    assert all(f",{dataset}," in line for line in lines[1:])
