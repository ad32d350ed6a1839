"""The tables that travel with okbench."""

from __future__ import annotations

import subprocess
import sys

import pytest

from okbench.base.config_nodes import Node, read_yaml
from okbench.datasets.catalogue import dataset_catalogue
from okbench.papers.table_catalogue import names
from okbench.papers.table_types import Table
from tests.shared import SHARED
from tests.shipped_tables import find

LSOKL = ("lsokl/table5", "lsokl/table7", "lsokl/table9")


@pytest.fixture(scope="module")
def transcribed() -> dict[str, dict[str, Node]]:
    """The transcribed tables of the paper by their id."""
    tables = dict(read_yaml(SHARED / "papers" / "lsokl.yaml").items())["tables"].elements()
    return {dict(table.items())["id"].text(): dict(table.items()) for table in tables}


@pytest.mark.parametrize("name", [card.name for card in names()])
def test_every_shipped_table_loads(name: str) -> None:
    table = find(name)
    assert table.name == name
    assert all(setting.reason for cell in table.settings.values() for setting in cell.values()
               if setting.source != "printed")  # fmt: skip


@pytest.mark.parametrize("short", ["demo", "table5", "table7", "table9"])
def test_short_names_mean_the_paper_s_main_tables(short: str) -> None:
    assert find(short).name in {"demo", f"lsokl/{short}"}


@pytest.mark.shared("printed cells")
@pytest.mark.parametrize("name", LSOKL)
def test_printed_cells_are_those_of_the_paper(
    name: str, transcribed: dict[str, dict[str, Node]]
) -> None:
    table, page = find(name), transcribed[name]
    canonical = {
        entry["name"]: entry.get("canonical", entry["name"]) for entry in page["datasets"].plain()
    }
    theirs = {}
    for node in page["cells"].elements():
        cell, words = node.plain(), dict(dict(node.items())["printed"].items())
        key = canonical[cell["dataset"]], cell["algorithm"]
        theirs[key] = (
            cell["metric"]["mean"],
            cell["metric"]["std"],
            cell["time"],
            words["metric"].text(),
            words["time"].text(),
        )
    ours = {
        key: (
            cell.mean,
            theirs[key][1] if cell.filler else cell.std,
            cell.seconds,
            cell.text,
            cell.seconds_text,
        )
        for key, cell in table.printed.items()
    }
    assert ours == theirs


def test_what_is_printed_as_a_deviation_and_is_none_is_marked() -> None:
    """One unit of the last digit, whatever the set: table 5's learners without a budget."""
    printed = find("table5").printed
    fillers = {key for key, cell in printed.items() if cell.filler}
    assert fillers == {
        (row.name, label)
        for row in find("table5").datasets
        for label in ("Perceptron", "OGD")
        if row.name != "german"
    }
    assert all(printed[key].std is None for key in fillers)


@pytest.mark.shared("printed cells")
@pytest.mark.parametrize("name", LSOKL)
def test_datasets_and_learners_are_those_of_the_paper(
    name: str, transcribed: dict[str, dict[str, Node]]
) -> None:
    table, page = find(name), transcribed[name]
    entries = page["datasets"].plain()
    assert [(row.name, row.rows) for row in table.datasets] == [
        (entry.get("canonical", entry["name"]), entry["instances"]) for entry in entries
    ]
    assert [column.label for column in table.learners] == page["algorithms"].plain()


@pytest.mark.shared("printed cells")
@pytest.mark.parametrize("name", LSOKL)
def test_budgets_are_those_of_the_paper_unless_inferred(
    name: str, transcribed: dict[str, dict[str, Node]]
) -> None:
    table = find(name)
    for entry in transcribed[name]["datasets"].plain():
        dataset = entry.get("canonical", entry["name"])
        stated = entry["settings"]
        for column in table.learners:
            budget = table.settings[dataset, column.label]["budget"]
            assert budget.source == "fitted" or budget.value == stated["B"]
        share = table.settings[dataset, "NOGD"]["budget"].value / stated["B"]
        fogd, nogd = table.settings[dataset, "FOGD"], table.settings[dataset, "NOGD"]
        assert fogd["components"].value == share * stated["D"]
        assert nogd["rank"].value == share * stated["k"]


@pytest.mark.parametrize("name", LSOKL)
def test_every_cell_is_either_printed_or_left_out(name: str) -> None:
    table = find(name)
    assert set(table.printed) | table.left_out == set(table.settings)
    assert not set(table.printed) & table.left_out


@pytest.mark.parametrize("name", [card.name for card in names()])
def test_rows_are_those_datasets_yaml_promises(name: str) -> None:
    for row in find(name).datasets:
        variant = dataset_catalogue.variant(dataset_catalogue.spec(row.name), row.variant)
        if row.rows is not None and variant.rows is not None:
            assert row.rows == variant.rows, row.name
        if find(name).orders_of(row) == "published":
            assert variant.orders, f"{row.name} has no published orders"


def value(table: Table, dataset: str, learner: str, setting: str) -> object:
    return table.settings[dataset, learner][setting].value


def test_regression_rows_printed_at_another_budget_say_so() -> None:
    table = find("table9")
    budgets = {
        learner.label: value(table, "housing", learner.label, "budget")
        for learner in table.learners
    }
    assert {label for label, budget in budgets.items() if budget == 20} == {
        "RBP",
        "Forgetron",
        "Projectron",
        "BOGD",
    }
    assert table.settings["housing", "RBP"]["budget"].source == "fitted"
    assert (value(table, "housing", "NOGD", "step"), value(table, "mg", "NOGD", "step")) == (
        0.3,
        0.4,
    )
    assert value(table, "housing", "RBP", "step") == 0.1


def test_published_orders_are_asked_for_where_they_exist() -> None:
    published = {
        row.name
        for name in LSOKL
        for row in find(name).datasets
        if find(name).orders_of(row) == "published"
    }
    assert published == {"german", "spambase", "dna", "satimage", "housing", "mg"}


def test_listing_and_finding_import_nothing_heavy() -> None:
    heavy = ["numpy", "scipy", "numba", "pandas", "sklearn", "requests"]
    code = (
        "import sys; from okbench.papers.table_catalogue import find, names;"
        "names(); find('table5');"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
