"""Which rows are met in blocks: those that are asked for, and those beyond the memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from trial_material import load, table

from okbench.base.errors import OkbenchError, UsageError
from okbench.cli.report import report
from okbench.cli.run import run as command
from okbench.papers.table_types import DatasetRow
from okbench.trials.plan import rows_in_memory
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.plan.rows_in_memory import beyond_memory
from okbench.trials.run.run_table import run
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall


def small_memory(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(rows_in_memory, "machine_memory", lambda: count)


def test_rows_beyond_half_of_the_memory_are_counted_out(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = 600 * (4 * 8 + 8 + 8)  # features, labels, places of a permutation
    small_memory(monkeypatch, 2 * needed)
    assert beyond_memory(load("blobs")) == ""
    small_memory(monkeypatch, 2 * needed - 2)
    assert beyond_memory(load("blobs")) == (
        "600 rows in a permutation take 28.8 kB (rows 24 kB + places 4.8 kB), more than 50% of the "
        "57.6 kB of memory"
    )


def test_permutations_beyond_the_memory_are_refused_and_blocks_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small_memory(monkeypatch, 30_000)
    made = table({"Linear": "Linear"}, runs=1)
    store = Store(tmp_path / "small.jsonl")

    def go(order: str, **options: bool) -> int:
        asked = made.in_orders(order)  # type: ignore[arg-type]
        return run(asked, load, lambda *_: None, store, Options(**options), lambda _: None).total

    with pytest.raises(OkbenchError, match=r"600 rows .* 28\.8 kB .*--order blocks") as caught:
        go("seeded")
    assert "--force" in str(caught.value)
    assert (go("block-shuffled"), go("file")) == (1, 1)
    assert go("seeded", force=True) == 1


def test_orders_of_two_kinds_share_no_cell(tmp_path: Path) -> None:
    full = table({"Linear": "Linear"}, runs=2)
    blocks = full.in_orders("block-shuffled")
    store = Store(tmp_path / "small.jsonl")
    for each in (full, blocks):
        run(each, load, lambda *_: None, store, Options(), lambda _: None)
    known = store.outcomes()
    assert len(known) == 4
    ids = [recall(each, known.values())["blobs", "Linear"] for each in (full, blocks)]
    assert not set(ids[0]) & set(ids[1])
    assert {known[one].trial.order for one in ids[0]} == {"seeded"}
    assert {known[one].trial.order for one in ids[1]} == {"block-shuffled"}


def test_the_orders_asked_for_take_the_place_of_those_of_single_rows() -> None:
    made = table({"Linear": "Linear"}, ("ordered",), orders="published")
    rows = tuple(DatasetRow(row.name, orders="published") for row in made.datasets)
    asked = replace(made, datasets=rows).in_orders("block-shuffled")
    assert {one.order for one in plan(asked, load)} == {"block-shuffled"}
    assert asked.order_note.endswith("permutations of all rows: ordered.")
    assert made.order_note == ""


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(0).random((300, 2))
    lines = [f"{a:.3f},{b:.3f},{int(a + b > 1)}" for a, b in draw]
    path = tmp_path / "own.csv"
    path.write_text("a,b,y\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def _run(*more: str) -> str:
    given = ["--data", "own.csv", "--target", "y", "--learners", "FOGD", "--no-tune"]
    done = CliRunner().invoke(command, [*given, "--trials", "2", "-j", "1", *more])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def test_own_rows_are_met_as_the_command_asks(rows: Path) -> None:
    words = "Block-shuffled orders, another kind than permutations of all rows: own.csv."
    assert words not in _run()
    assert words in _run("--order", "blocks")
    assert "orders: block-shuffled" in Path("runs/own/own.csv.yaml").read_text(encoding="utf-8")
    assert words in CliRunner().invoke(report, ["own/own.csv"]).output
    with pytest.raises(UsageError, match="--in-order excludes --order"):
        _run("--in-order", "--order", "blocks")


def test_own_rows_beyond_the_memory_are_met_in_blocks_and_the_command_says_so(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_memory(monkeypatch, 10_000)
    output = _run()
    assert "order: 300 rows in a permutation take 9.6 kB" in output
    assert "blocks of rows are permuted instead (--order blocks)" in output
    assert "Block-shuffled orders" in output


def test_a_table_of_a_paper_is_met_in_blocks_on_request(rows: Path) -> None:
    given = ["demo", "--learners", "FOGD", "--datasets", "spirals", "--trials", "1"]
    done = CliRunner().invoke(command, [*given, "--order", "blocks"])
    assert "permutations of all rows: spirals." in done.output
    for order, found in (("blocks", True), ("permutations", False)):
        shown = CliRunner().invoke(report, [*given, "--order", order, "--results", "runs"])
        assert ("missing" not in shown.output) == found
