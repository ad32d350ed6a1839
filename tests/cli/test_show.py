"""okbench show: a dataset, a table, a learner or a trial, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Okbench


def test_a_table_shows_its_title_protocol_datasets_and_learners(okbench: Okbench) -> None:
    said = okbench("show", "table5")
    assert said.code == 0, said.err
    for words in (
        "lsokl/table5", "Online binary classification", "single-pass, mistake rate in %",
        "20 permutations", "german (1,000 rows)", "Projectron++",
    ):  # fmt: skip
        assert words in said.out
    data = json.loads(okbench("show", "lsokl/table5", "--format", "json").out)
    assert data["protocol"]["permutations"] == 20
    assert data["datasets"][0] == {"name": "german", "variant": "", "rows": 1000}


def test_a_table_of_one_s_own_and_a_sweep_are_shown(okbench: Okbench, tiny: str) -> None:
    assert "A tiny table" in okbench("show", tiny).out
    said = okbench("show", "rrf/supplement1")
    assert "components: 10, 20, 50, 100, 200, 400, 800" in said.out
    assert said.out.count("RRF ε=0.1") == 1
    assert "those of lsokl/table7" in okbench("show", "lsokl/figure1").out


def test_a_learner_shows_its_class_and_settings(okbench: Okbench) -> None:
    out = okbench("show", "fogd").out
    assert "okbench.learners.fogd:FOGD" in out
    assert "components = 400" in out


def test_the_meaning_of_a_setting_is_shown_and_documented(okbench: Okbench) -> None:
    from okbench import FOGD

    meaning = FOGD.width.meaning
    assert meaning in okbench("show", "FOGD").out
    assert f"width: {meaning}" in str(FOGD.__doc__)


def test_a_learner_of_one_s_own_is_shown(okbench: Okbench) -> None:
    Path("shown_learner.py").write_text(
        "print('imported')\nclass Mine:\n    def __init__(self, alpha, beta=(1, 2)): pass\n",
        encoding="utf-8",
    )
    said = okbench("show", "shown_learner:Mine")
    assert "alpha (required)" in said.out
    assert ("imported" in said.out, "imported" in said.err) == (False, True)
    data = json.loads(okbench("show", "shown_learner:Mine", "--format", "json").out)
    assert [one["required"] for one in data["settings"]] == [True, False]


def test_a_dataset_shows_its_rows_and_who_uses_it(okbench: Okbench) -> None:
    out = okbench("show", "breast-cancer").out
    assert "569, as expected" in out
    assert out.splitlines()[-2].split() == ["used", "by", "demo"]
    assert json.loads(okbench("show", "breast-cancer", "--format", "json").out)["rows"] == 569


def test_a_dataset_that_is_not_here_shows_its_entry_and_how_to_get_it(okbench: Okbench) -> None:
    said = okbench("show", "cod-rna")
    assert said.code == 0, said.err
    for words in ("271,617", "fitted: unscaled rows", "lsokl/table5", "→ okbench fetch cod-rna"):
        assert words in said.out
    assert "fingerprint" not in said.out
    data = json.loads(okbench("show", "higgs", "--format", "json").out)
    assert (data["rows"], data["fingerprint"]) == (11_000_000, None)


def test_a_trial_is_shown_as_text_and_as_json(okbench: Okbench, tiny: str) -> None:
    okbench("run", tiny, "--trials", "1", "--learners", "RBP", "--jobs", "1")
    lines = Path("runs/tiny.jsonl").read_text(encoding="utf-8").splitlines()
    (stored,) = [json.loads(line)["outcome"] for line in lines if '"outcome"' in line]
    (record,) = json.loads(okbench("show", stored["id"][:8], "--format", "json").out)
    assert record["outcome"] == stored
    assert record["value"] == pytest.approx(100 * stored["total"] / stored["rows"])
    assert record["machine"]["cores"] > 0
    assert f"total         {stored['total']} over" in okbench("show", stored["id"][:8]).out
