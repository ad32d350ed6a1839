"""Sources of settings and rows, and the alternatives of a table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from okbench.base.errors import ConfigError, UsageError
from okbench.datasets.catalogue import dataset_catalogue
from okbench.papers.provenance import BASES, SOURCES, Ingredient, basis_of, preparation_of, weakest
from okbench.papers.table_catalogue import find, names
from tests import shipped_tables

TABLE = """\
title: A table
paper: ours
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
datasets: {first: , second: }
learners: {OGD: {step: {value: 0.2, fitted: to the print}, width: 8}, FOGD: {step: 0.1}}
random: [FOGD]
"""
DEFAULT = """\
table: ours/table1
cells:
  first: {OGD: {step: {value: 0.5, default: of the program}}}
"""


def put(folder: Path, text: str, name: str = "ours/table1") -> Path:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_source_has_a_place_on_the_scale() -> None:
    assert {basis_of(source) for source in SOURCES} == set(BASES)
    assert weakest([]) == "printed"
    for stronger, weaker in pairwise(BASES):
        assert weakest([Ingredient("a", weaker), Ingredient("b", stronger)]) == weaker


def test_what_is_inferred_without_a_word_more_counts_as_fitted() -> None:
    assert basis_of("inferred") == "fitted"
    assert basis_of("tuned") == "searched"


def test_an_alternative_lies_beside_its_table_and_is_no_table(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, DEFAULT, "ours/table1.default")
    assert [card.name for card in names(tmp_path)] == ["ours/table1"]
    table = find("ours/table1", tmp_path)
    assert table.settings["first", "OGD"]["step"].value == 0.2
    assert set(table.alternatives) == {"default"}
    assert set(table.alternatives["default"]) == {("first", "OGD")}
    other = table.alternatives["default"]["first", "OGD"]
    assert (other["step"].value, other["step"].source) == (0.5, "default")
    assert other["width"].value == 8


def test_a_named_alternative_takes_the_place_of_the_table_s_own_settings(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, DEFAULT, "ours/table1.default")
    table = find("ours/table1", tmp_path, tuned=Path("default"))
    assert table.settings["first", "OGD"]["step"].value == 0.5
    assert table.settings["second", "OGD"]["step"].value == 0.2
    assert table.alternatives == {}


def test_an_alternative_counts_on_top_of_the_tuned_settings(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, DEFAULT, "ours/table1.default")
    tuned = "table: ours/table1\ncells: {second: {OGD: {step: 7}}, first: {OGD: {width: 2}}}\n"
    put(tmp_path, tuned, "ours/table1.tuned")
    table = find("ours/table1", tmp_path, tuned=Path("default"))
    assert table.settings["first", "OGD"]["step"].value == 0.5
    assert table.settings["first", "OGD"]["width"].value == 2
    assert table.settings["second", "OGD"]["step"].value == 7


def test_settings_of_no_such_name_are_refused(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    put(tmp_path, DEFAULT, "ours/table1.default")
    with pytest.raises(UsageError, match=r"'defaults'; table1.yaml has default.*Did you mean"):
        find("ours/table1", tmp_path, tuned=Path("defaults"))


def test_learners_with_random_numbers_are_those_of_the_table(tmp_path: Path) -> None:
    put(tmp_path, TABLE)
    assert find("ours/table1", tmp_path).random == {"FOGD"}
    put(tmp_path, TABLE.replace("[FOGD]", "[FOGDD]"))
    with pytest.raises(ConfigError, match="Did you mean 'FOGD'"):
        find("ours/table1", tmp_path)
    put(tmp_path, TABLE.replace("random: [FOGD]\n", ""))
    assert find("ours/table1", tmp_path).random is None


def test_the_reader_of_preparations_agrees_with_the_catalogue() -> None:
    for name in dataset_catalogue.dataset_names():
        entry = dataset_catalogue.spec(name)
        if not entry.user_defined and not entry.embedded:
            for variant in entry.variants.values():
                assert preparation_of(name, variant.name) == variant.prepared
            assert preparation_of(name) == dataset_catalogue.variant(entry).prepared


@pytest.mark.parametrize(
    ("dataset", "variant", "source"),
    [
        ("cod-rna", "lsokl", "fitted"),
        ("parkinsons", "", "fitted"),
        ("mnist", "lsokl", "fitted"),
        *((name, "", "fitted") for name in ("abalone", "cpusmall", "cadata", "casp")),
        *(
            (name, "", "found")
            for name in ("german", "spambase", "dna", "satimage", "housing", "mg")
        ),
        ("a9a", "", "printed"),
        ("made by a user", "", "printed"),
    ],
)
def test_rows_chosen_by_the_print_are_marked_as_fitted(
    dataset: str, variant: str, source: str
) -> None:
    found = preparation_of(dataset, variant)
    assert found.source == source
    assert bool(found.reason) == (source != "printed")


def test_a_preparation_written_wrongly_is_refused(tmp_path: Path) -> None:
    from okbench.datasets.catalogue.entries import read_catalogue

    path = put(
        tmp_path,
        "datasets:\n  a: {task: binary, reader: csv, files: {f: {name: f}},\n"
        "      variants: {v: {prepared: {fited: x}}}}\n",
        "datasets",
    )
    with pytest.raises(ConfigError, match=r"datasets.yaml:3: 'fited' is not a key here"):
        read_catalogue(path)


@pytest.mark.parametrize("name", ["lsokl/table5", "lsokl/table7", "lsokl/table9"])
def test_one_default_is_marked_alike_in_every_cell(name: str) -> None:
    """The marking does not follow the outcome: a value with the reason of a program's default is
    nowhere marked as found."""
    table = shipped_tables.find(name)
    for cell in (*table.settings.values(), *table.alternatives.get("default", {}).values()):
        for setting in cell.values():
            if "default" in setting.reason or "of the authors' program" in setting.reason:
                fitted = "; the default " in setting.reason  # and the print needs another
                assert setting.source == ("fitted" if fitted else "default"), setting


def test_every_fitted_value_names_what_it_explains() -> None:
    for card in names():
        table = shipped_tables.find(card.name)
        for cell in table.settings.values():
            for setting in cell.values():
                if setting.source == "fitted":
                    assert len(setting.reason) > 10, setting.where
