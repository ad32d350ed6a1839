"""okbench list and --help: quick, complete, and readable by programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from okbench.cli import okbench as group
from okbench.learners.registry import catalogue
from tests.cli.conftest import Okbench

HEAVY = {"numpy", "scipy", "pandas", "numba", "sklearn", "joblib", "matplotlib", "requests"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["run", "--help"], ["list", "learners"]]
)
def test_answering_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        f"sys.argv = ['okbench', *{arguments!r}]\n"
        "from okbench.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert ended.stderr.strip() == "[]"


def test_list_names_every_learner(okbench: Okbench) -> None:
    said = okbench("list", "learners", "--format", "json")
    assert [row["name"] for row in json.loads(said.out)] == list(catalogue())


def test_list_names_tables_datasets_and_learners(okbench: Okbench) -> None:
    said = okbench("list")
    for name in ("demo", "lsokl/table5", "cod-rna", "checkerboard", "Forgetron"):
        assert name in said.out


def test_list_gives_rows_and_the_class_of_a_learner(okbench: Okbench) -> None:
    rows = json.loads(okbench("list", "datasets", "--format", "json").out)
    assert {row["name"]: row["rows"] for row in rows}["a9a"] == 48842
    assert "48,842" in okbench("list", "datasets").out
    listed = json.loads(okbench("list", "learners", "--format", "json").out)
    assert {row["name"]: row["class"] for row in listed}["BPA-S"] == "BPAS"


@pytest.mark.parametrize("kind", ["tables", "datasets", "learners"])
def test_a_list_fits_100_columns_and_loses_no_word(okbench: Okbench, kind: str) -> None:
    listed = okbench("list", kind).out
    assert max(map(len, listed.splitlines())) <= 100
    printed = listed.split()
    for row in json.loads(okbench("list", kind, "--format", "json").out):
        words = str(row["name"]).split() + str(list(row.values())[-1]).split()
        assert [word for word in words if word not in printed] == []


def test_a_damaged_record_of_a_download_stops_no_listing(okbench: Okbench) -> None:
    record = Path("data/cadata/.okbench/cadata.json")
    record.parent.mkdir(parents=True)
    record.write_text("[]", encoding="utf-8")
    said = okbench("list", "datasets", "--format", "json")
    here = {row["name"]: row["here"] for row in json.loads(said.out)}
    assert (said.code, here["cadata"], here["casp"]) == (0, "damaged", "no")
    assert f"cadata: {record.absolute()}: not a record of a download" in said.err
    assert okbench("fetch", "cadata", "--verify").out.startswith("failed")


def commands() -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (name,)
        for sub in getattr(command, "commands", ()):
            yield name, sub


@pytest.mark.parametrize("words", [*commands()], ids=" ".join)
def test_every_command_shows_an_example_within_80_columns(
    okbench: Okbench, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = okbench(*words, "--help").out.splitlines()
    assert [line for line in lines if len(line) > 80] == []
    assert any(line.startswith(f"    okbench {' '.join(words)}") for line in lines)
    documented = [p for p in group.commands[words[0]].params if isinstance(p, click.Option)]
    assert [p.name for p in documented if not p.help] == []


def test_the_version_is_printed(okbench: Okbench) -> None:
    from okbench import __version__

    assert okbench("--version").out.strip() == f"okbench {__version__}"


def test_names_are_completed(okbench: Okbench) -> None:
    from okbench.cli import choices

    def completed(kind: choices.Name, typed: str) -> list[str]:
        return [item.value for item in kind.shell_complete(None, None, typed)]  # type: ignore[arg-type]

    assert "table5" in completed(choices.TABLE, "tab")
    assert completed(choices.LEARNER, "fog") == ["FOGD", "FOGD-ORF"]
    assert completed(choices.LEARNERS, "RBP,fogd-") == ["RBP,FOGD-ORF"]
    assert completed(choices.DATASETS, "cod") == ["cod-rna"]


def test_doctor_examines_this_machine(okbench: Okbench) -> None:
    said = okbench("doctor")
    for name in ("machine", "threads", "compiler", "tables", "learners", "data", "results"):
        assert name in said.out
    assert ("BAD" in said.out) == (said.code == 1)
