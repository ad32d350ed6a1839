"""Croissant metadata of stored outcomes (MLCommons Croissant 1.0, JSON-LD), for other programs.

The results files are its FileObjects, with their checksums. Each results file has a RecordSet with
one record per learner, dataset and settings, whose records stand in the metadata itself: whoever
reads it needs neither okbench nor the results files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from okbench.base.errors import UsageError
from okbench.base.version import __version__
from okbench.base.whole_files import write_whole
from okbench.reports.machines import of_one_machine
from okbench.reports.results_paths import read_file, results_files
from okbench.reports.tables.cells import value_of
from okbench.trials.store.outcome_json import setting_json, to_bytes
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Family, Outcome, Trial

Json = dict[str, Any]
CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
_LICENSE = "https://opensource.org/license/mit"
_VERSION = "1.0.0"  # of the data as Croissant has it: major, minor, patch
# The context that the specification gives, whole: readers compare it with their own.
_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty",
    "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField",
    "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator",
    "source", "subField", "transform",
)  # fmt: skip
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _TERMS},
}
# Name, type and meaning of each field of a record.
_FIELDS = (
    ("dataset", "sc:Text", "name of the dataset"),
    ("variant", "sc:Text", "form of the dataset, empty if it has one form only"),
    ("fingerprint", "sc:Text", "checksum of the prepared rows"),
    ("learner", "sc:Text", "name of the learner"),
    ("learner_version", "sc:Integer", "version of the learner"),
    ("settings", "sc:Text", "every setting of the learner, as a JSON object"),
    ("protocol", "sc:Text", "how trials were run and scored"),
    ("metric", "sc:Text", "name of the metric"),
    ("value", "sc:Float", "mean of the metric over the finished trials, in percent for rates"),
    ("std", "sc:Float", "standard deviation of the metric, normalised by n - 1"),
    ("n", "sc:Integer", "number of finished trials, each on its own permutation of the rows"),
    ("trials", "sc:Integer", "number of trials, with those that did not finish"),
    ("rows", "sc:Integer", "number of rows that were scored in a finished trial"),
    ("seconds", "sc:Float", "mean time inside the learner"),
    ("timed", "sc:Boolean", "whether each trial behind the seconds was measured alone"),
    ("support", "sc:Float", "mean number of support vectors"),
    ("bytes", "sc:Float", "mean size of the model"),
    ("order", "sc:Text", "where the permutations come from"),
    ("seed", "sc:Integer", "seed of the permutations and of every random draw"),
    ("tolerance", "sc:Float", "kernel difference that is allowed, where the protocol has one"),
)  # fmt: skip
_OF_TRIAL = ("dataset", "variant", "fingerprint", "learner", "learner_version", "protocol",
             "metric", "order", "seed", "tolerance")  # fmt: skip


def export_croissant(places: Sequence[Path], target: Path) -> int:
    """Write the metadata of the results files at these places; return the number of records."""
    page = croissant(places, target.absolute().parent)
    text = json.dumps(page, indent=1, ensure_ascii=False, allow_nan=False)
    write_whole(target, f"{text}\n".encode("utf-8", "backslashreplace"))
    return sum(len(one["data"]) for one in page["recordSet"])


def croissant(places: Sequence[Path], folder: Path) -> Json:
    """The metadata as it stands in a file of this folder; the results files are named from there.

    It depends on the content of the files alone.
    """
    files = [(table, path) for place in places for table, path in results_files(place).items()]
    tables = [table for table, _ in files]
    if twice := sorted({table for table in tables if tables.count(table) > 1}):
        raise UsageError(
            f"{twice[0]} has more than one results file here; put them into one first"
            "  (okbench merge PLACE … --into DIR)"
        )
    if not files:
        raise UsageError(f"no results files in {', '.join(map(str, places))}")
    found = {table: read_file(path) for table, path in files}
    days = [outcome.finished[:10] for one in found.values() for outcome in one.measured]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": "okbench-results",
        "description": "Outcomes of online kernel learners in the tables and figures of published "
        "papers, measured by okbench. Rates are in percent; every record is a mean over "
        "permutations of the rows.",
        "license": _LICENSE,
        "url": "./",
        "version": _VERSION,
        "datePublished": max(days, default=""),
        "creator": {"@type": "sc:Organization", "name": "okbench"},
        "keywords": ["online learning", "kernel methods", "benchmark", "reproducibility"],
        "citeAs": f"okbench {__version__}: outcomes of online kernel learners",
        "distribution": [_file_object(table, path, folder) for table, path in files],
        "recordSet": [_record_set(table, contents) for table, contents in found.items()],
    }


def _file_object(table: str, path: Path, folder: Path) -> Json:
    content = path.read_bytes()
    return {
        "@type": "cr:FileObject",
        "@id": f"{table}.jsonl",
        "name": f"{table}.jsonl",
        "description": f"Every trial of {table}, one per line, with the machines that ran them.",
        "contentUrl": Path(os.path.relpath(path.absolute(), folder)).as_posix(),
        "contentSize": f"{len(content)} B",
        "encodingFormat": "application/jsonlines",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _record_set(table: str, contents: Contents) -> Json:
    reason = contents.blessed.get("reason")
    kept = f" The baseline was accepted because: {reason}." if reason else ""
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": f"Cells of {table}, computed from {table}.jsonl.{kept}",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table}/{name}",
                "name": name,
                "description": meaning,
                "dataType": kind,
            }
            for name, kind, meaning in _FIELDS
        ],
        "data": [
            {f"{table}/{name}": record[name] for name, _, _ in _FIELDS}
            for record in _records(contents)
        ],
    }


def _records(contents: Contents) -> Iterator[Json]:
    """One record per cell: the trials that differ in their repetition alone."""
    groups: dict[Family, list[Outcome]] = {}
    for outcome in contents.standing().values():
        groups.setdefault(outcome.trial.family, []).append(outcome)
    for family, outcomes in groups.items():
        trial = family.trial
        scored = [(one, value) for one in outcomes
                  if (value := value_of(one, trial.metric)) is not None]  # fmt: skip
        done, values = [one for one, _ in scored], [value for _, value in scored]
        alone = [one for one in done if one.timed]
        yield {
            **{name: getattr(trial, name) for name in _OF_TRIAL},
            "settings": _settings_text(trial),
            "value": fmean(values) if values else None,
            "std": stdev(values) if len(values) > 1 else None,
            "n": len(values),
            "trials": len(outcomes),
            "rows": max((one.rows for one in done), default=None),
            "seconds": _mean([one.seconds for one in of_one_machine(alone or done)]),
            "timed": bool(alone),
            "support": _mean([one.support for one in done]),
            "bytes": _mean([one.bytes for one in done]),
        }


def _settings_text(trial: Trial) -> str:
    settings = {name: setting_json(value) for name, value in trial.settings}
    return to_bytes(settings).decode("utf-8").strip()


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
