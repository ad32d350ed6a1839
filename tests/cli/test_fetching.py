"""okbench fetch, from the outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Okbench
from tests.shared import SHARED


def test_nothing_named_is_refused(okbench: Okbench) -> None:
    assert okbench("fetch").code == 2


def test_a_misspelled_name_is_corrected(okbench: Okbench) -> None:
    said = okbench("fetch", "cod-rnaa")
    assert said.code == 2
    assert said.err == (
        "Error: 'cod-rnaa' is no dataset or table. Did you mean 'cod-rna'?  (okbench list)\n"
    )


def test_a_short_name_of_two_tables_is_refused(okbench: Okbench) -> None:
    said = okbench("fetch", "table1")
    assert (said.code, "could be lsokl/table1 or rrf/table1" in said.err) == (2, True)


def test_wrong_bytes_are_reported_with_both_hashes(okbench: Okbench, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror" / "cadata"
    mirror.mkdir(parents=True)
    (mirror / "cadata").write_text("1 1:2\n", encoding="utf-8")
    said = okbench("fetch", "cadata", "--mirror", str(mirror.parent))
    assert said.code == 3
    assert "failed" in said.out
    assert "expected" in said.out
    assert "Traceback" not in said.err


def test_a_set_behind_a_login_tells_the_steps(okbench: Okbench) -> None:
    said = okbench("fetch", "KDDCUP08", "--mirror", ".")
    assert said.code == 3
    assert "1. " in said.err
    assert said.err.count("registration") == 1
    assert "KDDCUP08 cannot be fetched unattended\n" in said.out
    assert "registration" not in said.out


def test_a_table_that_cannot_be_read_or_found_is_reported(okbench: Okbench) -> None:
    Path("broken.yaml").write_text("title: [\n", encoding="utf-8")
    said = okbench("fetch", "broken.yaml")
    assert (said.code, "broken.yaml:" in said.err) == (2, True)
    said = okbench("fetch", "tabel5")
    assert (said.code, "'tabel5' is no dataset or table. Did you mean 'table5'" in said.err) == (
        2,
        True,
    )


def test_damaged_prepared_rows_are_found_by_verify_and_doctor(okbench: Okbench) -> None:
    Path("rows.csv").write_text("".join(f"{n},{n % 7},{n % 2}\n" for n in range(50)))
    assert okbench("add", "rows.csv", "--name", "mine", "--task", "binary").code == 0
    assert okbench("show", "mine").code == 0
    said = okbench("fetch", "mine", "--verify")
    assert (said.code, said.out.splitlines()[-1]) == (0, "1 here")
    assert "ok   rows" in okbench("doctor").out
    (labels,) = Path("data/.arrays/mine").glob("*/labels.npy")
    labels.write_bytes(labels.read_bytes()[:-8] + bytes(8))
    said = okbench("fetch", "mine", "--verify")
    assert (said.code, said.out.splitlines()[-1]) == (3, "1 failed")
    assert "labels.npy: bytes 0 to 528 are not those that were written" in said.out
    assert "BAD  rows" in okbench("doctor").out


def test_rows_made_here_need_no_fetching(okbench: Okbench) -> None:
    said = okbench("fetch", "digits")
    assert (said.code, said.out) == (0, "no file to fetch\n")
    assert okbench("fetch", "--verify", "cod-rna").out == "no stored file to verify\n"


@pytest.mark.shared("fetching a table's datasets and running one of them")
def test_a_table_s_datasets_come_from_a_mirror_and_run(okbench: Okbench) -> None:
    said = okbench("fetch", "german", "housing", "--mirror", str(SHARED / "data"))
    assert said.code == 0, said.out + said.err
    assert "checksum" in said.out
    ran = okbench("run", "table5", "--datasets", "german", "--learners", "Perceptron", "-j", "1")
    assert ran.code == 0, ran.err
    assert "35.22 ± 0.90" in ran.out


@pytest.mark.shared("an offline bundle")
def test_a_bundle_is_a_mirror_for_another_machine(
    okbench: Okbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    okbench("fetch", "housing", "--mirror", str(SHARED / "data"), "--to", "bundle")
    monkeypatch.setenv("OKBENCH_DATA", str(tmp_path / "elsewhere"))
    said = okbench("fetch", "housing", "--mirror", "bundle")
    assert said.code == 0, said.out + said.err
    assert okbench("fetch", "housing", "--verify").code == 0
