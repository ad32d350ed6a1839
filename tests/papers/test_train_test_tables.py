"""The tables and figures that train and test, against their papers: table 3 of Lu et al. (2016),
and Nguyen et al. (2018), the Bayesian kernel machine."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from okbench.base.config_nodes import read_yaml
from okbench.datasets.catalogue import dataset_catalogue
from okbench.learners.registry import catalogue, settings_of
from okbench.papers.table_types import Range
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.options import Options
from okbench.trials.search.tuning import cells_to_tune
from tests.shared import SHARED
from tests.shipped_tables import find

TABLES = ("lsokl/table3", "bkm/table2")
FIGURES = tuple(f"bkm/figure{number}" for number in range(1, 6))
ALL = (*TABLES, *FIGURES)
HOUR = 3600


@pytest.fixture(scope="module")
def pages() -> dict[str, Any]:
    """The transcribed tables and figures by their id; the printed words of cells as they stand."""
    found: dict[str, Any] = {}
    for paper in ("lsokl", "bkm"):
        parts = dict(read_yaml(SHARED / "papers" / f"{paper}.yaml").items())
        for part in ("tables", "figures"):
            for page in parts[part].elements():
                fields = dict(page.items())
                found[fields["id"].text()] = fields
    return found


def canonical(page: Any) -> dict[str, str]:
    """The name that okbench has for each dataset of a page."""
    return {one["name"]: one.get("canonical") or one["name"] for one in page["datasets"].plain()}


def words_of(printed: dict[str, Any]) -> str:
    """The time as it is printed: a total, with its parts behind it where the paper adds them."""
    parts = printed["time_parts"].scalar() if "time_parts" in printed and (
        printed["time_parts"].kind == "scalar"
    ) else None  # fmt: skip
    time = printed["time"].text()
    return f"{time} {parts}" if parts else time


@pytest.mark.shared("printed cells of the tables that train and test")
@pytest.mark.parametrize(("name", "unit"), [("lsokl/table3", 1), ("bkm/table2", HOUR)])
def test_printed_cells_are_those_of_the_paper(name: str, unit: int, pages: dict[str, Any]) -> None:
    page, theirs = pages[name], {}
    names = canonical(page)
    for node in page["cells"].elements():
        cell, words = node.plain(), dict(dict(node.items())["printed"].items())
        key = names[cell["dataset"]], cell["algorithm"]
        if cell.get("missing_in_source"):
            theirs[key] = (None, None, None, "", "")
            continue
        metric = cell["metric"] or {"mean": None, "std": None}
        seconds = None if cell["time"] is None else pytest.approx(cell["time"] * unit)
        text = words["metric"].text()
        theirs[key] = (metric["mean"], metric["std"], seconds, text, words_of(words))
    ours = {
        key: (cell.mean, cell.std, cell.seconds, cell.text, cell.seconds_text)
        for key, cell in find(name).printed.items()
    }
    assert ours == theirs


@pytest.mark.shared("printed cells of the tables that train and test")
def test_the_hours_of_a_search_and_of_a_training_are_those_of_the_paper(
    pages: dict[str, Any],
) -> None:
    printed = find("bkm/table2").printed
    for cell in pages["bkm/table2"]["cells"].plain():
        parts = cell.get("time_parts")
        found = re.search(
            r"\((.+)\+(.+)\)", printed[cell["dataset"], cell["algorithm"]].seconds_text
        )
        assert (found is None) == (not parts)
        if found and parts:
            assert [float(words) for words in found.groups()] == [
                parts["tuning"],
                parts["training"],
            ]


@pytest.mark.shared("rows and learners of the tables that train and test")
@pytest.mark.parametrize("name", TABLES)
def test_rows_columns_and_runs_are_those_of_the_paper(name: str, pages: dict[str, Any]) -> None:
    table, page = find(name), pages[name]
    names = canonical(page)
    assert [column.label for column in table.learners] == page["algorithms"].plain()
    assert table.protocol.runs == page["protocol"].plain()["runs"] == 5
    entries = page["datasets"].plain()
    assert [(row.name, row.rows) for row in table.datasets] == [
        (names[entry["name"]], entry["instances"]) for entry in entries
    ]
    for row, entry in zip(table.datasets, entries, strict=True):
        spec = dataset_catalogue.spec(row.name)
        variant = dataset_catalogue.variant(spec, row.variant)
        sizes = variant.train, variant.rows, variant.classes, variant.features
        if name == "bkm/table2" or variant.split is None:
            assert sizes == tuple(entry[k] for k in ("train", "instances", "classes", "features"))
        assert variant.train == entry["train"]


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_printed(name: str) -> None:
    table = find(name)
    assert set(table.printed) == set(table.settings)
    assert not table.left_out


@pytest.mark.parametrize("name", ALL)
def test_learners_are_known_and_take_their_settings(name: str) -> None:
    """A misspelled setting is one that no learner of the table takes."""
    table = find(name)
    kind = PROTOCOLS[table.protocol.kind]
    shared = set()
    for column in table.learners:
        learner = catalogue()[column.learner].load()
        assert any(role.is_filled_by(learner) for role in kind.roles)
        taken = settings_of(learner).keys()
        for row in table.datasets:
            for key, setting in table.settings[row.name, column.label].items():
                if setting.shared:
                    shared.add(key)
                else:
                    assert key in taken or setting.referred, (column.label, key)
    known = {key for c in table.learners for key in settings_of(catalogue()[c.learner].load())}
    referred = {
        key for cell in table.settings.values() for key, setting in cell.items() if setting.referred
    }
    assert shared <= known | referred


def test_budgets_of_table_3_are_those_of_the_paper() -> None:
    table = find("lsokl/table3")
    sizes = {
        "cod-rna": (400, 1600), "w7a": (400, 1600), "w8a": (1000, 4000), "a9a": (1000, 4000),
        "KDDCUP08": (200, 800), "KDDCUP99": (200, 400),
    }  # fmt: skip
    for dataset, (budget, components) in sizes.items():
        for label in ("BSGD-M", "BSGD-R", "NOGD"):
            setting = table.settings[dataset, label]["budget"]
            assert (setting.value, setting.source) == (budget, "printed")
        assert table.settings[dataset, "FOGD"]["components"].value == components
        assert table.settings[dataset, "NOGD"]["rank"].value == 0.2 * budget


# Table 2

PRINTED = {"particles": 100, "batch": 200, "step": 1e-3, "decay": 1e-3, "bandwidth": "median"}


def test_settings_of_bkm_are_printed_but_for_two() -> None:
    table = find("bkm/table2")
    for row in table.datasets:
        settings = table.settings[row.name, "BKM"]
        for key, value in PRINTED.items():
            assert (settings[key].value, settings[key].source) == (value, "printed"), key
        open_ = {key for key, setting in settings.items() if setting.source != "printed"}
        assert open_ == {"components", "iterations"}
        assert table.settings[row.name, "BSGD"]["budget"].value == 200
        for label in ("RRF", "FKL"):
            decay = table.settings[row.name, label]["decay"]
            assert (decay.value, decay.source) == (1e-3, "printed")


def powers(first: int, last: int, by: int) -> tuple[float, ...]:
    return tuple(2.0**exponent for exponent in range(first, last + 1, by))


STEPS = (1e-7, 1e-5, 1e-3, 1e-1)
GAMMAS = powers(-5, 15, 2)  # kernel widths, and C
SCALES = tuple(math.sqrt(2 * gamma) for gamma in GAMMAS)
WIDTHS = tuple(sorted(1 / scale for scale in SCALES))
SEARCHED = {  # section 4.1
    "LIBSVM": {"width": WIDTHS, "cost": GAMMAS},
    "RKS": {"scale": SCALES, "step": STEPS, "decay": powers(-15, 5, 2)},
    "BSGD": {"width": WIDTHS, "decay": powers(-15, 5, 2)},
    "FKL": {"scale": powers(-15, 5, 4), "step": STEPS, "scale_step": STEPS},
    "RRF": {"scale": powers(-15, 5, 4), "step": STEPS, "scale_step": STEPS},
}


def ranges_of(blocks: tuple[tuple[Range, ...], ...]) -> dict[str, tuple[Any, ...]]:
    return {one.name: one.values for block in blocks for one in block}


def test_the_rivals_are_searched_as_printed_and_bkm_is_not() -> None:
    found = {
        (row.name, column.label): blocks
        for (row, column), blocks in cells_to_tune(find("bkm/table2"), Options()).items()
    }
    datasets = {row.name for row in find("bkm/table2").datasets}
    assert set(found) == {(dataset, label) for dataset in datasets for label in SEARCHED}
    for (_, label), blocks in found.items():
        assert ranges_of(blocks) == SEARCHED[label]
        assert len(blocks) == 1  # all combinations


def test_the_searches_see_the_printed_share_of_the_rows() -> None:
    search = find("bkm/table2").search
    assert search is not None
    assert (search.folds, search.runs, search.runs_of) == (5, 1, {"RKS": 5})
    large = {"skin", "epsilon", "covtype"}, {"susy", "higgs"}
    for row in find("bkm/table2").datasets:
        usual = search.subsets.get(row.name, search.subset)
        assert usual == (0.1 if row.name in large[0] else 0.01 if row.name in large[1] else 1)
        for label in ("LIBSVM", "BSGD"):
            share = search.shares_of[label].of(row.name)
            assert share == (
                0.01 if row.name in large[0] else 0.001 if row.name in large[1] else 0.1
            )
    assert set(search.shares_of) == {"LIBSVM", "BSGD"}
    assert "connect-4" in search.reasons["subset"]


def test_cells_that_are_odd_as_printed_are_remarked() -> None:
    """The share of the majority class, and cells that repeat another one of their dataset."""
    printed = find("bkm/table2").printed
    remarked = {key for key, cell in printed.items() if cell.text and cell.note}
    majority = {("w8a", label) for label in ("RKS", "FKL", "RRF")}
    assert all(printed[key].mean == round(100 * (1 - 454 / 14_951), 2) for key in majority)
    same = defaultdict(list)
    for (dataset, label), cell in printed.items():
        if cell.std is not None:
            same[dataset, cell.text].append((dataset, label))
    copies = {key for keys in same.values() if len(keys) > 1 for key in keys}
    assert copies - majority == {
        ("a9a", "RKS"), ("a9a", "FKL"), ("skin", "RKS"), ("skin", "RRF")
    }  # fmt: skip
    assert remarked == copies | majority | {("skin", "BKM")}


def test_stars_are_printed_where_the_paper_has_them() -> None:
    printed = find("bkm/table2").printed
    starred = {key for key, cell in printed.items() if cell.text.endswith("*")}
    bkm = {(dataset, "BKM") for dataset in ("connect-4", "epsilon", "covtype", "higgs")}
    assert starred == {("poker", "BSGD"), *bkm}
    assert all(printed[key].mean and printed[key].std for key in starred)


def test_the_report_adds_the_search_and_prints_hours() -> None:
    shown = find("bkm/table2").shown
    assert (shown.seconds, shown.unit, shown.stars) == ("search + training", "hours", 0.05)
    assert find("bkm/table2").protocol.na_after == 50 * 24 * HOUR
    assert find("lsokl/table3").shown.seconds == "training"


def test_libsvm_runs_once() -> None:
    for name in TABLES:
        table = find(name)
        assert table.runs_of("LIBSVM") == 1
        repeated = {"BSGD-M", "BSGD-R", "FOGD", "NOGD"} if name == "lsokl/table3" else {"BKM"}
        assert {table.runs_of(label) for label in repeated} == {5}


# The rows


def test_the_rows_of_the_paper_are_prepared_as_its_page_says() -> None:
    """Scaling that was chosen by its results is marked, and every split has a seed."""
    for row in find("bkm/table2").datasets:
        spec = dataset_catalogue.spec(row.name)
        variant = dataset_catalogue.variant(spec, row.variant)
        if variant.split:
            assert variant.split.seed == 0
            assert "seed is our choice" in variant.note
            assert abs((variant.train or 0) - 0.8 * (variant.rows or 0)) < 1
    chosen = {
        name: dataset_catalogue.variant(dataset_catalogue.spec(name), "bkm")
        for name in ("cod-rna", "skin", "covtype")
    }
    assert {name: one.scale for name, one in chosen.items()} == {
        "cod-rna": "[-1,1]", "skin": "[-1,1]", "covtype": "[0,1]"
    }  # fmt: skip
    assert {name: one.prepared.basis for name, one in chosen.items()} == {
        "cod-rna": "fitted", "skin": "fitted", "covtype": "default"
    }  # fmt: skip
    assert chosen["covtype"].task == "binary"


@pytest.mark.shared("table 1 of the BKM paper")
def test_the_rows_that_the_document_lists_are_those_of_table_1() -> None:
    paper = dict(read_yaml(SHARED / "papers" / "bkm.yaml").items())
    (page,) = (dict(one.items()) for one in paper["dataset_tables"].elements())
    keys = ("name", "train", "test", "features", "classes")
    printed = [tuple(str(one[key]) for key in keys) for one in page["datasets"].plain()]
    text = (Path(__file__).parents[2] / "docs" / "bkm.md").read_text(encoding="utf-8")
    rows = re.search(r"\| dataset \| training rows .*\n.*\n((?:\|.*\n)+)", text)
    assert rows is not None
    listed = [
        tuple(word.strip().replace(",", "") for word in line.split("|")[1:6])
        for line in rows[1].splitlines()
    ]
    assert listed == printed


# The figures


@pytest.mark.shared("figures of the BKM paper")
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_the_datasets_and_runs_of_the_paper(
    name: str, pages: dict[str, Any]
) -> None:
    table, page = find(name), {key: node.plain() for key, node in pages[name].items()}
    assert [row.name for row in table.datasets] == page["datasets"]
    assert table.protocol.runs == page["runs"]
    lines = {column.learner for column in table.learners}
    names = {"RRF": "RRF-batch"}
    assert lines == {names.get(one, one) for one in page["algorithms"]}


@pytest.mark.shared("figures of the BKM paper")
@pytest.mark.parametrize(
    ("number", "swept", "printed"),
    [(1, "particles", "S"), (2, "batch", "batch_size"), (4, "decay", "lambda")],
)
def test_a_figure_sweeps_the_printed_values(
    number: int, swept: str, printed: str, pages: dict[str, Any]
) -> None:
    table = find(f"bkm/figure{number}")
    points = [column.point for column in table.learners if column.point]
    assert {point.name for point in points} == {swept}
    ranges = pages[table.name]["parameter_ranges"].plain()
    assert [point.value for point in points] == ranges[printed]


def test_figure_3_sweeps_widths_of_our_choice_beside_the_median_rule() -> None:
    table = find("bkm/figure3")
    values = {column.point.value for column in table.learners if column.point}
    assert {20, 30} < values
    apart = [column for column in table.learners if not column.point]
    assert [table.settings["a9a", one.label]["bandwidth"].value for one in apart] == ["median"]
    swept = next(column.label for column in table.learners if column.point)
    assert table.settings["a9a", swept]["bandwidth"].source == "inferred"


@pytest.mark.parametrize("name", FIGURES)
def test_the_settings_of_a_figure_are_those_of_table_2(name: str) -> None:
    """With what a search has chosen for RRF."""
    table, figure = find("bkm/table2"), find(name)
    for column in figure.learners:
        if column.label.startswith("MultiRRF"):
            continue
        label = "BKM" if column.learner == "BKM" else column.line
        for row in figure.datasets:
            theirs, ours = table.settings[row.name, label], figure.settings[row.name, column.label]
            swept = {column.point.name} if column.point else set()
            for key in theirs.keys() - swept:
                if key in ours or key != "decay":
                    assert ours[key].value == theirs[key].value, (column.label, key)
