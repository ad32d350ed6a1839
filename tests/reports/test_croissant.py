from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
from outcome_material import outcome, outcomes, results_file, trial

from okbench.base.errors import UsageError
from okbench.cli import main
from okbench.reports.croissant import export_croissant

TYPES = {"sc:Text": str, "sc:Integer": int, "sc:Float": (int, float), "sc:Boolean": bool}
REQUIRED = {
    "@context", "@type", "conformsTo", "name", "description", "license", "url", "version",
    "datePublished", "creator", "distribution", "recordSet",
}  # fmt: skip


def written(place: Path, target: Path) -> dict[str, Any]:
    export_croissant([place], target)
    return json.loads(target.read_text(encoding="utf-8"))


def check_schema(page: dict[str, Any]) -> None:
    """What Croissant 1.0 asks of a dataset with records of its own."""
    assert page.keys() >= REQUIRED
    assert page["@type"] == "sc:Dataset"
    assert page["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    ids = [one["@id"] for one in page["distribution"]]
    for file in page["distribution"]:
        assert file["@type"] == "cr:FileObject"
        assert file.keys() >= {"@id", "name", "contentUrl", "encodingFormat", "sha256"}
    for records in page["recordSet"]:
        ids.append(records["@id"])
        assert (records["@type"], bool(records["data"])) == ("cr:RecordSet", True)
        kinds = {field["@id"]: TYPES[field["dataType"]] for field in records["field"]}
        ids += kinds
        for field in records["field"]:
            assert field["@type"] == "cr:Field"
            assert field["@id"] == f"{records['@id']}/{field['name']}"
            assert field["description"]
        for record in records["data"]:
            assert record.keys() == kinds.keys()
            for name, value in record.items():
                assert value is None or isinstance(value, kinds[name]), (name, value)
    assert len(ids) == len(set(ids))


def test_every_file_has_its_checksum_and_its_place_beside_the_metadata(tmp_path: Path) -> None:
    path = results_file(tmp_path / "results/made/one.jsonl", outcomes([100.0, 200.0]))
    page = written(tmp_path / "results", tmp_path / "meta/croissant.json")
    check_schema(page)
    (file,) = page["distribution"]
    content = (tmp_path / "meta" / file["contentUrl"]).read_bytes()
    assert content == path.read_bytes()
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert file["contentSize"] == f"{len(content)} B"
    assert page["recordSet"][0]["@id"] == "made/one"


def test_a_record_is_the_mean_over_the_trials_of_a_cell(tmp_path: Path) -> None:
    timed = [outcome(total, trial(repetition=r, settings=(("width", 8.0),)), timed=True, seconds=s)
             for r, (total, s) in enumerate([(100, 1.0), (200, 3.0), (240, 5.0)])]  # fmt: skip
    late = outcome(None, trial(repetition=3, settings=(("width", 8.0),)), status="timeout")
    other = outcome(50, trial(settings=(("width", float("inf")),)), seconds=None)
    results_file(tmp_path / "r/t.jsonl", [*timed, late, other])
    first, second = written(tmp_path / "r", tmp_path / "c.json")["recordSet"][0]["data"]
    values = [10.0, 20.0, 24.0]
    found = {name.removeprefix("t/"): value for name, value in first.items()}
    assert (found["value"], found["std"]) == (fmean(values), stdev(values))
    assert (found["n"], found["trials"], found["rows"]) == (3, 4, 1000)
    assert (found["seconds"], found["timed"]) == (3.0, True)
    assert (found["learner"], found["dataset"], found["metric"]) == ("A", "rows", "mistake_rate")
    assert json.loads(found["settings"]) == {"width": 8.0}
    assert json.loads(second["t/settings"]) == {"width": "Infinity"}
    assert (second["t/n"], second["t/std"], second["t/seconds"]) == (1, None, None)


def test_what_never_finished_has_no_value(tmp_path: Path) -> None:
    results_file(tmp_path / "r/t.jsonl", [outcome(None, status="failed", rows=0)])
    page = written(tmp_path / "r", tmp_path / "c.json")
    check_schema(page)
    (record,) = page["recordSet"][0]["data"]
    assert (record["t/value"], record["t/n"], record["t/trials"]) == (None, 0, 1)


def test_the_same_files_give_the_same_metadata(tmp_path: Path) -> None:
    found = [replace(one, finished="2026-01-02T03:04:05+00:00") for one in outcomes([1.0])]
    results_file(tmp_path / "r/t.jsonl", found)
    page = written(tmp_path / "r", tmp_path / "a.json")
    assert page == written(tmp_path / "r", tmp_path / "b.json")
    assert page["datePublished"] == "2026-01-02"


def test_the_project_s_baselines_are_described_whole(tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "results"
    page = written(results, tmp_path / "c.json")
    check_schema(page)
    files = {one["@id"] for one in page["distribution"]}
    assert files == {p.relative_to(results).as_posix() for p in results.rglob("*.jsonl")}
    assert {f"{one['@id']}.jsonl" for one in page["recordSet"]} == files


def test_a_table_in_two_places_and_no_table_at_all_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        results_file(tmp_path / name / "t.jsonl", outcomes([1.0]))
    with pytest.raises(UsageError, match="t has more than one results file here"):
        export_croissant([tmp_path / "a", tmp_path / "b"], tmp_path / "c.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no results files in"):
        export_croissant([tmp_path / "empty"], tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_the_command_writes_it_and_takes_no_other_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results_file(tmp_path / "r/t.jsonl", outcomes([1.0]))
    monkeypatch.chdir(tmp_path)
    for more, code in (([], 0), (["--curves"], 2), (["--format", "csv"], 2)):
        words = ["okbench", "export", "r", "--croissant", "-o", "c.json", *more]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        assert int(ended.value.code or 0) == code
    assert "c.json: 1 records" in capsys.readouterr().out
    check_schema(json.loads((tmp_path / "c.json").read_text(encoding="utf-8")))
