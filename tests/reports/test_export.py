from __future__ import annotations

import csv
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from outcome_material import outcomes, results_file

from okbench.base.errors import UsageError
from okbench.cli.compare import export as command
from okbench.reports.tables.export import export


@pytest.fixture
def results(tmp_path: Path) -> Path:
    found = outcomes([200, 210], "A", "rows", settings=(("name", 'a "b", ü'), ("step", 0.1)))
    found[1] = replace(found[1], status="failed", total=None, reason="line\nbreak")
    found[0] = replace(found[0], curve=((500, 90, 10, 0.5), (1000, 200, None, 1.0)))
    results_file(tmp_path / "runs/made/t.jsonl", found)
    return tmp_path / "runs"


def test_csv_has_a_row_a_trial(results: Path, tmp_path: Path) -> None:
    assert export([results], "csv", tmp_path / "out.csv") == 2
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["table"], first["learner"], first["value"]) == ("made/t", "A", "20.0")
    assert json.loads(first["settings"]) == {"name": 'a "b", ü', "step": 0.1}
    assert (first["cpu"], first["okbench"]) == ("one", "0.1.0")
    assert (second["status"], second["value"], second["reason"]) == ("failed", "", "line\nbreak")


def test_curves_have_a_row_a_point(results: Path, tmp_path: Path) -> None:
    assert export([results], "csv", tmp_path / "out.csv", curves=True) == 2
    lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id,table,rows,total,support,seconds"
    assert lines[2].endswith("made/t,1000,200,,1.0")


def test_parquet_holds_the_same(results: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    export([results], "parquet", tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column("value").to_pylist() == [20.0, None]
    assert table.column("repetition").to_pylist() == [0, 1]


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
    assert export([results], "csv", pipe) == 2
    assert os.read(reader, 9) == b"id,table,"
    os.close(reader)
    assert pipe.is_fifo()
