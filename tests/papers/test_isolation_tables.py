"""Tables 5, 7 and 8 of Ting et al. (2019) and the table behind its figure 3, against the paper."""

from __future__ import annotations

from typing import Any

import pytest

from okbench.base.config_nodes import read_yaml
from okbench.datasets.catalogue import dataset_catalogue
from okbench.learners.registry import catalogue, settings_of
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.options import Options
from okbench.trials.search.tuning import cells_to_tune
from tests.shared import SHARED
from tests.shipped_tables import find

PRINTED = ("ik/table5", "ik/table7", "ik/table8")
ALL = (*PRINTED, "ik/scaled-pixels", "ik/online")
PSI = tuple(2**m for m in range(2, 13))  # Table 3


@pytest.fixture(scope="module")
def paper() -> dict[str, Any]:
    """The transcribed tables by their id."""
    parts = dict(read_yaml(SHARED / "papers" / "ik.yaml").items())
    pages = (dict(page.items()) for page in parts["tables"].elements())
    return {page["id"].text(): page for page in pages} | {"sizes": parts["dataset_tables"].plain()}


def canonical(page: Any) -> dict[str, str]:
    return {one["name"]: one.get("canonical") or one["name"] for one in page["datasets"].plain()}


@pytest.mark.shared("printed cells of the isolation kernel")
@pytest.mark.parametrize("name", PRINTED)
def test_printed_cells_are_those_of_the_paper(name: str, paper: dict[str, Any]) -> None:
    page, theirs = paper[name], {}
    names = canonical(page)
    for cell in page["cells"].plain():
        mean = None if cell["metric"] is None else pytest.approx(100 * cell["metric"]["mean"])
        theirs[names[cell["dataset"]], cell["algorithm"]] = (mean, None, cell["time"])
    printed = find(name).printed
    assert {key: (one.mean, one.std, one.seconds) for key, one in printed.items()} == theirs


@pytest.mark.shared("printed cells of the isolation kernel")
@pytest.mark.parametrize("name", PRINTED)
def test_cells_without_a_number_have_the_words_of_the_paper(
    name: str, paper: dict[str, Any]
) -> None:
    names, printed = canonical(paper[name]), find(name).printed
    found = 0
    for node in paper[name]["cells"].elements():
        cell, words = node.plain(), dict(dict(node.items())["printed"].items())
        if cell["metric"] is None:
            one = printed[names[cell["dataset"]], cell["algorithm"]]
            given = [words[key].scalar() or "" for key in ("metric", "time")]
            assert [one.text, one.seconds_text] == given
            found += 1
    assert found == {"ik/table5": 6, "ik/table7": 3, "ik/table8": 3}[name]


@pytest.mark.shared("rows and learners of the isolation kernel")
@pytest.mark.parametrize("name", PRINTED)
def test_rows_and_columns_are_those_of_the_paper(name: str, paper: dict[str, Any]) -> None:
    table, page = find(name), paper[name]
    assert [column.label for column in table.learners] == page["algorithms"].plain()
    names = canonical(page)
    assert [(row.name, row.rows) for row in table.datasets] == [
        (names[entry["name"]], entry["instances"]) for entry in page["datasets"].plain()
    ]


@pytest.mark.shared("table 4 of the isolation kernel")
@pytest.mark.parametrize("name", PRINTED)
def test_variants_have_the_sizes_of_table_4(name: str, paper: dict[str, Any]) -> None:
    sizes = {one.get("canonical") or one["name"]: one for one in paper["sizes"][0]["datasets"]}
    for row in find(name).datasets:
        variant = dataset_catalogue.variant(dataset_catalogue.spec(row.name), row.variant)
        entry = sizes[row.name]
        assert (variant.train, variant.rows, variant.features, variant.classes, variant.task) == (
            *(entry[key] for key in ("train", "instances", "features", "classes")), "binary",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("dataset", "variants", "first"),
    [
        ("mnist", ["ik"], {3, 4, 6, 7, 9}),
        ("smallNORB", ["ik"], {1, 4}),
        ("cifar-10", ["ik", "ik-bytes"], {0, 2, 3, 4, 5}),
        ("covtype", ["ik"], {2}),
    ],
)
def test_classes_are_joined_as_the_paper_joins_them(
    dataset: str, variants: list[str], first: set[int]
) -> None:
    spec = dataset_catalogue.spec(dataset)
    for name in variants:
        labels = dict(dataset_catalogue.variant(spec, name).labels)
        assert labels.pop("rest") == -1
        assert {int(label) for label in labels} == first
        assert set(labels.values()) == {1}


def test_the_two_scales_of_cifar_10_say_where_they_come_from() -> None:
    spec = dataset_catalogue.spec("cifar-10")
    found = {name: dataset_catalogue.variant(spec, name) for name in ("ik", "ik-bytes")}
    assert {name: one.scale for name, one in found.items()} == {"ik": "/255", "ik-bytes": "none"}
    assert {name: one.prepared.basis for name, one in found.items()} == {
        "ik": "default", "ik-bytes": "fitted"
    }  # fmt: skip


def test_scaled_pixels_are_tables_5_and_8_with_other_rows() -> None:
    scaled = find("ik/scaled-pixels")
    assert [(row.name, row.variant) for row in scaled.datasets] == [("cifar-10", "ik")]
    for column in scaled.learners:
        key = "cifar-10", column.label
        table = find("ik/table8" if column.label == "LIBLINEAR chi2" else "ik/table5")
        taken = settings_of(catalogue()[column.learner].load()).keys() - {"psi"}
        ours, theirs = (
            {name: one.value for name, one in each.settings[key].items() if name in taken}
            for each in (scaled, table)
        )
        assert ours == theirs
        assert scaled.printed[key] == table.printed[key]
        assert scaled.runs_of(column.label) == table.runs_of(column.label)


@pytest.mark.parametrize("name", ALL)
def test_learners_are_known_and_take_their_settings(name: str) -> None:
    table = find(name)
    kind = PROTOCOLS[table.protocol.kind]
    for column in table.learners:
        learner = catalogue()[column.learner].load()
        assert kind.role_of(learner) is not None
        taken = settings_of(learner).keys()
        for row in table.datasets:
            for key, setting in table.settings[row.name, column.label].items():
                assert setting.shared or setting.referred or key in taken, (column.label, key)


@pytest.mark.parametrize("name", ALL)
def test_psi_is_searched_through_the_printed_range_by_five_folds(name: str) -> None:
    table = find(name)
    assert table.search is not None
    assert (table.search.folds, table.search.runs) == (5, 1)
    searched = {
        (row.name, column.label): {one.name: one.values for block in blocks for one in block}
        for (row, column), blocks in cells_to_tune(table, Options()).items()
    }
    for (dataset, label), setting in table.settings.items():
        learner = next(one.learner for one in table.learners if one.label == label)
        taken = settings_of(catalogue()[learner].load())
        if "psi" in taken:
            assert searched[dataset, label] == {"psi": PSI}
            assert setting["psi"].source in ("default", "tuned")
        elif label == "AdaRaker":
            values = {10.0**m * part for m in (-2, -3, -4, -5) for part in (1, 0.5)}
            assert sorted(searched[dataset, label]["decay"]) == pytest.approx(sorted(values))
        else:
            assert (dataset, label) not in searched


def test_what_the_paper_prints_of_the_learners_is_set() -> None:
    table = find("ik/table5")
    for row in table.datasets:
        cells = {one.label: table.settings[row.name, one.label] for one in table.learners}
        for label in ("OGD", "NOGD", "IK_i-OGD", "IK_a-OGD", "AdaRaker"):
            assert (cells[label]["step"].value, cells[label]["step"].source) == (0.5, "printed")
        assert [cells[f"IK_{one}-OGD"]["map"].value for one in "ia"] == ["iforest", "nearest"]
        assert {cells[f"IK_{one}-OGD"]["partitionings"].value for one in "ia"} == {100}
        assert (cells["NOGD"]["budget"].value, cells["NOGD"]["rank"].value) == (100, 20)
        assert cells["AdaRaker"]["widths"].value == tuple(2.0**m for m in range(-10, 6))
        assert cells["AdaRaker"]["components"].value == 50


def test_the_batch_tables_keep_the_order_of_the_files_and_the_stream_is_shuffled() -> None:
    for name in PRINTED:
        assert find(name).protocol.orders == "file"
    online = find("ik/online").protocol
    assert (online.kind, online.block, online.orders) == ("block-stream", 1000, "seeded")


def test_the_limits_are_those_of_the_paper() -> None:
    day = 24 * 3600
    assert find("ik/table5").protocol.na_after == 7 * day
    assert find("ik/table7").protocol.time_limit == day / 2
    assert find("ik/table8").protocol.time_limit == 7 * day
    assert find("ik/online").protocol.time_limit == 7 * day
