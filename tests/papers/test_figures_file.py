"""Figures, sweeps and stated orders, in files written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from okbench.base.errors import ConfigError
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import Figure, Point, StatedComplexity

SWEEP = """\
title: A sweep
kind: sweep
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
draw: {quantities: [metric, seconds]}
settings: {width: 8, budget: 100}
sweep: {name: budget, values: [10, 20], inferred: a guess}
datasets:
  first: {budget: 7}
  second:
learners:
  RBP:
  FOGD:
    sweep: {name: rho, values: [1, 2.5, 4]}
    components: rho * budget
left_out:
  second: [FOGD]
"""
TABLE = """\
title: A table
paper: ours
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
settings: {width: 8}
datasets: {first: , second: }
learners: {RBP: , FOGD: {step: 0.1}}
"""
CURVES = "title: Curves\nkind: curves\nof: table1\ndraw: {quantities: [seconds]}\n"
ORDERS = """\
title: Orders
kind: complexity
protocol: {kind: single-pass, metric: mistake_rate, runs: 3}
datasets: {first: }
learners:
  NOGD: {sweep: [{name: budget, values: [10, 20]}, {name: rank, values: [2, 4]}]}
symbols: {B: budget, k: rank}
stated:
  NOGD: {strategy: Approximation, time: O(kB^2), space: O(B)}
"""
KERNELS = """\
title: Kernels
kind: sweep
protocol: {kind: approximation, metric: exceedance, runs: 3}
draw: {quantities: [metric], bound: lemma-1}
sweep: {name: components, values: [10, 20]}
datasets: {first: }
learners:
  near: {learner: RRF, tolerance: 0.1}
  far:
    learner: RRF
    tolerance: 1
"""


def put(folder: Path, text: str, name: str = "ours/figure1") -> None:
    path = folder / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def refusal(folder: Path, text: str) -> str:
    put(folder, text)
    with pytest.raises(ConfigError) as caught:
        find("ours/figure1", folder)
    return str(caught.value)


def test_a_sweep_makes_a_column_of_every_value(tmp_path: Path) -> None:
    put(tmp_path, SWEEP)
    table = find("figure1", tmp_path)
    assert [(column.label, column.line, column.point) for column in table.learners[:3]] == [
        ("RBP budget=10", "RBP", Point("RBP", "budget", 10)),
        ("RBP budget=20", "RBP", Point("RBP", "budget", 20)),
        ("FOGD rho=1", "FOGD", Point("FOGD", "rho", 1)),
    ]
    assert (table.kind, table.figure) == ("sweep", Figure(("metric", "seconds"), "learners"))


def test_a_swept_value_counts_more_than_anything_else_and_says_where_it_is_from(
    tmp_path: Path,
) -> None:
    put(tmp_path, SWEEP)
    budget = find("figure1", tmp_path).settings["first", "RBP budget=20"]["budget"]
    assert (budget.value, budget.source, budget.reason) == (20, "inferred", "a guess")
    assert budget.where.endswith("figure1.yaml:6")


def test_settings_are_reckoned_from_the_swept_name(tmp_path: Path) -> None:
    put(tmp_path, SWEEP)
    settings = find("figure1", tmp_path).settings
    assert settings["second", "FOGD rho=2.5"]["components"].value == 250
    assert settings["first", "FOGD rho=4"]["components"].value == 28
    assert settings["first", "FOGD rho=4"]["rho"].referred
    assert not settings["first", "FOGD rho=4"]["width"].referred


def test_a_cell_left_out_is_left_out_at_every_value(tmp_path: Path) -> None:
    put(tmp_path, SWEEP)
    assert find("figure1", tmp_path).left_out == {
        ("second", f"FOGD rho={rho}") for rho in ("1", "2.5", "4")
    }


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("values: [10, 20]", "values: [10]", "two values or more"),
        ("values: [10, 20]", "values: [10, 10]", "a value stands here twice"),
        ("values: [10, 20]", "values: [10, many]", "a number is expected"),
        ("[metric, seconds]", "[metrik]", "'metrik' is not one of"),
        ("draw: {quantities: [metric, seconds]}\n", "", "'draw' is missing"),
        ("kind: sweep\n", "kind: sweeps\n", "Did you mean 'sweep'"),
        ("kind: sweep\n", "", "'draw' is not a key here"),
    ],
)
def test_a_sweep_written_wrongly_is_refused(
    tmp_path: Path, was: str, wrong: str, said: str
) -> None:
    assert said in refusal(tmp_path, SWEEP.replace(was, wrong, 1))


def test_values_that_look_alike_in_six_digits_are_told_apart(tmp_path: Path) -> None:
    text = SWEEP.replace("values: [10, 20]", "values: [1000000, 1000001]")
    put(tmp_path, text)
    columns = find("figure1", tmp_path).learners
    labels = [column.label for column in columns if column.line == "RBP"]
    assert labels == ["RBP budget=1e+06", "RBP budget=1000001"]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    twice = "[{name: a, values: [1, 2]}, {name: a, values: [2, 3]}]"
    said = refusal(tmp_path, SWEEP.replace("RBP:", f"RBP: {{sweep: {twice}}}"))
    assert said.endswith(":11: two columns are named 'RBP a=2'")


def test_a_sweep_without_any_values_is_refused(tmp_path: Path) -> None:
    nothing = TABLE.replace("title", "kind: sweep\ndraw: {quantities: [metric]}\ntitle")
    assert "no learner has a sweep" in refusal(tmp_path, nothing)


def test_curves_are_of_the_trials_of_the_table_beside_them(tmp_path: Path) -> None:
    put(tmp_path, TABLE, "ours/table1")
    put(tmp_path, CURVES)
    table, figure = find("table1", tmp_path), find("figure1", tmp_path)
    assert figure.settings == table.settings
    assert (figure.datasets, figure.learners) == (table.datasets, table.learners)
    assert (figure.name, figure.of, figure.trials_of) == (
        "ours/figure1",
        "ours/table1",
        "ours/table1",
    )
    assert table.trials_of == "ours/table1"
    card = next(card for card in names(tmp_path) if card.name == "ours/figure1")
    assert (card.title, card.datasets, card.learners) == (
        "Curves",
        ("first", "second"),
        ("RBP", "FOGD"),
    )


def test_curves_of_no_table_or_of_other_curves_are_refused(tmp_path: Path) -> None:
    assert "no table 'table1' stands beside" in refusal(tmp_path, CURVES)
    put(tmp_path, CURVES.replace("table1", "figure2"), "ours/table1")
    assert "draws another table's trials itself" in refusal(tmp_path, CURVES)


@pytest.mark.parametrize("name", ["../ours/table1", "sub/table1", "/table1", ""])
def test_a_table_beside_is_named_and_no_path(tmp_path: Path, name: str) -> None:
    put(tmp_path, TABLE, "ours/table1")
    put(tmp_path, TABLE, "ours/sub/table1")
    said = refusal(tmp_path, CURVES.replace("table1", f"'{name}'"))
    assert f"no table '{name}' stands beside" in said


def test_stated_orders_are_read_as_powers_of_settings(tmp_path: Path) -> None:
    put(tmp_path, ORDERS)
    table = find("figure1", tmp_path)
    assert table.stated["NOGD"] == StatedComplexity(
        "Approximation", ("O(kB^2)", "O(B)"), {"rank": 1, "budget": 2}, {"budget": 1}
    )
    assert [column.label for column in table.learners] == [
        "NOGD budget=10", "NOGD budget=20", "NOGD rank=2", "NOGD rank=4",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("was", "wrong", "said"),
    [
        ("O(kB^2)", "O(kD)", "no setting stands for 'D'"),
        ("O(kB^2)", "quadratic", "an order such as O\\(B\\^2\\)"),
        ("  NOGD: {strategy", "  NOGB: {strategy", "Did you mean 'NOGD'"),
    ],
)
def test_an_order_that_cannot_be_read_is_refused(
    tmp_path: Path, was: str, wrong: str, said: str
) -> None:
    put(tmp_path, ORDERS.replace(was, wrong, 1))
    with pytest.raises(ConfigError, match=said):
        find("ours/figure1", tmp_path)


def test_a_tolerance_is_the_columns_and_no_setting(tmp_path: Path) -> None:
    put(tmp_path, KERNELS)
    table = find("ours/figure1", tmp_path)
    assert [(column.label, column.learner, column.tolerance) for column in table.learners] == [
        ("near components=10", "RRF", 0.1),
        ("near components=20", "RRF", 0.1),
        ("far components=10", "RRF", 1.0),
        ("far components=20", "RRF", 1.0),
    ]
    assert isinstance(table.learners[2].tolerance, float)
    assert all(set(settings) == {"components"} for settings in table.settings.values())
    assert table.figure == Figure(("metric",), "learners", "lemma-1")


def test_elsewhere_a_tolerance_is_a_setting_like_any_other(tmp_path: Path) -> None:
    put(tmp_path, TABLE.replace("step: 0.1", "tolerance: 1e-4"), "ours/table1")
    table = find("table1", tmp_path)
    assert table.settings["first", "FOGD"]["tolerance"].value == 1e-4
    assert {column.tolerance for column in table.learners} == {0.0}


@pytest.mark.parametrize(
    ("was", "wrong", "line", "said"),
    [
        (", tolerance: 0.1", "", 8, "how far may its kernel be from the exact one? add 'tolerance"),
        ("tolerance: 0.1", "tolerance: 0", 8, "a tolerance is above 0 and below 2, for no two"),
        ("tolerance: 1\n", "tolerance: 2\n", 11, "further apart; not 2"),
        ("tolerance: 1\n", "tolerance: -0.5\n", 11, "further apart; not -0.5"),
        ("tolerance: 1\n", "tolerance: .inf\n", 11, "further apart; not inf"),
        ("tolerance: 0.1", "tolerance: near", 8, "a number is expected, not 'near'"),
        ("exceedance", "mistake_rate", 3, "kind: approximation goes with metric: exceedance, not"),
        (
            "approximation",
            "single-pass",
            3,
            "kind: single-pass goes with metric: mistake_rate or accuracy or mean_squared_loss or "
            "rmse or prequential_error or windowed_error or fading_error, not exceedance",
        ),
        (
            "runs: 3",
            "runs: 3, block: 4",
            3,
            "'block' (rows at a time) goes with kind: block",
        ),
        ("lemma-1", "lemma1", 4, "'lemma1' is not one of lemma-1. Did you mean 'lemma-1'?"),
        ("name: components", "name: width", 4, "lemma-1 goes with kind: approximation and a sweep"),
    ],
)
def test_kernels_measured_wrongly_are_refused_with_the_line(
    tmp_path: Path, was: str, wrong: str, line: int, said: str
) -> None:
    refused = refusal(tmp_path, KERNELS.replace(was, wrong, 1))
    assert f"figure1.yaml:{line}: " in refused
    assert said in refused


def test_a_bound_is_drawn_beside_nothing_but_kernels_over_components(tmp_path: Path) -> None:
    mistakes = SWEEP.replace("seconds]}", "seconds], bound: lemma-1}")
    assert "lemma-1 goes with kind: approximation" in refusal(tmp_path, mistakes)
    put(tmp_path, KERNELS, "ours/table1")
    curves = CURVES.replace("[seconds]", "[metric], bound: lemma-1")
    assert "lemma-1 goes with kind: approximation" in refusal(tmp_path, curves)
