"""Whatever is asked wrongly ends in one message and the documented exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("run", "tabel5"), 2, "Did you mean 'table5'"),
        (("run", "demo", "--datasets", "spiral"), 2, "Did you mean 'spirals'"),
        (("run", "demo", "--learners", "FOGDD"), 2, "Did you mean 'FOGD'"),
        (("run", "demo", "--jobs", "0"), 2, "jobs: at least 1"),
        (("run", "demo", "--trials", "0"), 2, "trials: at least 1"),
        (("run", "demo", "--seed", "-1"), 2, "seed: 0 or more"),
        (
            ("run", "demo", "--set", "NOGD.rank=999"),
            2,
            "rank = 999: it must not exceed budget = 100",
        ),
        (
            ("run", "demo", "--dry-run", "--set", "FOGD.width=-2"),
            2,
            "width = -2.0: it must be above 0",
        ),
        (("run", "demo", "--jobs", "two"), 2, "'two' is not a valid integer"),
        (("run", "demo", "--time-limit", "soon"), 2, "write 90s, 30m or 2h"),
        (("run", "demo", "--time-limit", "5"), 2, "'5' has no unit; write 90s, 30m or 2h"),
        (("run", "demo", "--memory", "512"), 2, "'512' has no unit; write 512M or 2G"),
        (("run", "demo", "--memory", "-2G"), 2, "write 512M or 2G"),
        (("run", "demo", "--retry", "fialed"), 2, "Did you mean 'failed'"),
        (("run", "demo", "--backend", "threds"), 2, "threds"),
        (("run", "table5", "--datasets", "a9a"), 3, "okbench fetch a9a"),
        (("report", "demo", "--format", "pdf"), 2, "'pdf' is not one of"),
        (("rnu", "demo"), 2, "run"),
        (("check-learner", "FOGDD"), 2, "Did you mean 'FOGD'"),
        (("check-learner", "nowhere:Nothing"), 2, "nowhere"),
        (("show", "tabel5"), 2, "Did you mean 'table5'"),
        (("show", "table1"), 2, "could be lsokl/table1 or rrf/table1"),
        (("show", "table5", "--variant", "rrf"), 2, "--variant goes with a dataset"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    okbench: Okbench, arguments: tuple[str, ...], code: int, message: str
) -> None:
    said = okbench(*arguments)
    assert said.code == code
    assert message in said.err
    assert said.err.count("Error") == 1
    assert "Traceback" not in said.err
    assert said.out == ""


def test_a_results_file_of_someone_else_is_left_alone(okbench: Okbench, tiny: str) -> None:
    Path("runs").mkdir()
    Path("runs/tiny.jsonl").write_text("dear diary\n", encoding="utf-8")
    said = okbench("run", tiny)
    assert said.code == 4
    assert "runs/tiny.jsonl:1" in said.err
    assert Path("runs/tiny.jsonl").read_text(encoding="utf-8") == "dear diary\n"


def test_a_file_where_the_results_folder_should_be(okbench: Okbench, tiny: str) -> None:
    Path("runs").write_text("", encoding="utf-8")
    said = okbench("run", tiny)
    assert said.code == 4
    assert "--results" in said.err


def test_a_setting_of_the_wrong_type_is_reported_with_file_and_line(
    okbench: Okbench, tmp_path: Path, tiny: str
) -> None:
    path = tmp_path / tiny
    path.write_text(
        path.read_text(encoding="utf-8").replace("step: 2e-3", "step: slow"), encoding="utf-8"
    )
    said = okbench("run", tiny)
    assert said.code == 2
    assert "tiny.yaml:6" in said.err
    assert "step" in said.err


OKBENCH = [sys.executable, "-c", "from okbench.cli import main; main()"]


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["run", "--help"]])
def test_a_reader_that_ends_first_ends_the_command_like_the_signal(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*OKBENCH, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (128 + 13, "")


def test_output_that_cannot_be_written_is_an_error() -> None:
    command = [*OKBENCH, "list"]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 4
    assert ended.stderr == "Error: the output cannot be written: No space left on device\n"
