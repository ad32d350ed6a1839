"""Stored outcomes as a DataFrame, as CSV and as Parquet."""

from __future__ import annotations

import csv
import os
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from outcome_material import outcomes, results_file

from okbench import load_results
from okbench.base.errors import UsageError
from okbench.cli.compare import export as command
from okbench.reports.tables.export import export

MIXED = (("budget", 50), ("flush", True), ("loss", 'a "b", ü'), ("step", 0.1))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    found = outcomes([200, 210], "A", "rows", settings=MIXED)
    found[1] = replace(found[1], status="failed", total=None, reason="line\nbreak")
    found[0] = replace(found[0], curve=((500, 90, 10, 0.5), (1000, 200, None, 1.0)), support=40)
    results_file(tmp_path / "runs/made/t.jsonl", found)
    more = outcomes([0.5], "B", "=rows", settings=(("loss", 2), ("step", -0.5)), metric="rmse")
    more[0] = replace(more[0], reason="@here", finished="-1")
    results_file(tmp_path / "runs/other.jsonl", more)
    return tmp_path / "runs"


def test_there_is_one_row_per_trial_and_one_column_per_setting(results: Path) -> None:
    frame = load_results(str(results))
    assert frame["table"].tolist() == ["made/t", "made/t", "other"]
    assert frame["value"].tolist()[0] == 20.0
    assert frame["value"].isna().tolist() == [False, True, False]
    assert frame["value"].iloc[2] == (0.5 / 1000) ** 0.5
    assert frame.loc[0, ["cpu", "cores", "okbench", "numpy"]].tolist() == ["one", 2, "0.1.0", "2"]
    assert [name for name in frame if name.startswith("setting.")] == [
        "setting.budget", "setting.flush", "setting.loss", "setting.step",
    ]  # fmt: skip
    assert frame["setting.step"].tolist() == [0.1, 0.1, -0.5]
    assert frame["setting.loss"].tolist() == ['a "b", ü', 'a "b", ü', 2]
    assert frame.groupby("setting.budget", dropna=False)["id"].count().tolist() == [2, 1]


def test_whole_numbers_stay_whole_where_some_are_absent(results: Path) -> None:
    frame = load_results(results)
    kinds = frame[["setting.budget", "support", "rows", "repetition"]].dtypes.astype(str)
    assert kinds.tolist() == ["Int64", "Int64", "Int64", "int64"]
    assert (frame["support"].iloc[0], frame["support"].isna().sum()) == (40, 2)


def test_one_file_holds_the_trials_of_its_table(results: Path) -> None:
    assert load_results(results / "other.jsonl")["learner"].tolist() == ["B"]
    with pytest.raises(UsageError, match="no results at"):
        load_results(results / "another.jsonl")


def test_an_empty_folder_gives_the_columns_and_no_row(results: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for curves in (False, True):
        empty, full = (load_results(p, curves=curves) for p in (tmp_path / "empty", results))
        assert empty.empty
        assert list(empty) == [name for name in full if not name.startswith("setting.")]


def test_curves_have_one_row_per_point(results: Path) -> None:
    frame = load_results(results, curves=True)
    assert frame[["repetition", "rows", "total", "value"]].values.tolist() == [
        [0, 500, 90, 18.0],
        [0, 1000, 200, 20.0],
    ]
    assert frame["support"].tolist() == [10, pd.NA]
    assert frame["setting.step"].tolist() == [0.1, 0.1]


def test_csv_can_be_read_back(results: Path, tmp_path: Path) -> None:
    assert export([results], "csv", tmp_path / "out.csv") == 3
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        first, second, _ = csv.DictReader(file)
    assert (first["table"], first["learner"], first["value"]) == ("made/t", "A", "20.0")
    assert (first["setting.loss"], first["setting.budget"]) == ('a "b", ü', "50")
    assert (second["status"], second["value"], second["reason"]) == ("failed", "", "line\nbreak")


def test_a_spreadsheet_runs_no_text_of_an_export(results: Path, tmp_path: Path) -> None:
    export([results], "csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        *_, last = csv.DictReader(file)
    assert (last["dataset"], last["reason"], last["finished"]) == ("'=rows", "'@here", "-1")
    assert last["setting.step"] == "-0.5"


def test_parquet_holds_the_same(results: Path, tmp_path: Path) -> None:
    export([results], "parquet", tmp_path / "out.parquet")
    back, frame = pd.read_parquet(tmp_path / "out.parquet"), load_results(results)
    assert back["setting.loss"].tolist() == ['a "b", ü', 'a "b", ü', "2"]
    same = [name for name in frame if name != "setting.loss"]
    pd.testing.assert_frame_equal(back[same], frame[same])


def test_numbers_beyond_64_bits_are_kept(tmp_path: Path) -> None:
    found = outcomes([1], seed=2**70, settings=(("big", 2**70),))
    place = results_file(tmp_path / "big.jsonl", found)
    assert load_results(place)[["seed", "setting.big"]].values.tolist() == [[2**70, 2**70]]
    export([place], "csv", tmp_path / "out.csv")
    assert str(2**70) in (tmp_path / "out.csv").read_text(encoding="utf-8")
    export([place], "parquet", tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["seed"].tolist() == [str(2**70)]


def test_parquet_without_pyarrow_says_what_to_install(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'okbench\[parquet\]'"):
        export([results], "parquet", tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_the_ending_picks_the_format(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    assert CliRunner().invoke(command, [str(results), "-o", str(target)]).exit_code == 0
    assert target.exists()
    target = tmp_path / "out.CSV"
    assert CliRunner().invoke(command, [str(results), "-o", str(target)]).exit_code == 0
    odd = CliRunner().invoke(command, [str(results), "-o", str(tmp_path / "out.xls")])
    assert "no format 'xls' (csv, parquet)" in str(odd.exception)


def test_a_pipe_is_written_to_and_never_replaced(results: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert export([results], "csv", pipe) == 3
    assert os.read(reader, 9) == b"id,table,"
    os.close(reader)
    assert pipe.is_fifo()
