"""What every learner makes of a small seeded stream, kept in golden.json.

A result may change only when the learner's version is raised. To write the file again:

    python -m tests.learners.golden
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from okbench.learners.checks.subject import Subject, a_stream
from okbench.learners.contract import Draws
from okbench.learners.registry import catalogue
from okbench.protocols.contract import BATCH, MAP

PATH = Path(__file__).with_suffix(".json")


def read():
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def result(entry):
    """The learner's version and, by task, its mistakes or its summed squared loss, or what its
    features add up to."""
    totals = {}
    subject = Subject(entry, entry.load())
    if MAP.is_filled_by(subject.cls):
        return {"version": entry.version, "features": _features(subject)}
    for stream in subject.streams(n_rows=400):
        given = _answers(subject.begun(stream, seed=1), stream)
        if stream.problem.task == "regression":
            totals["regression"] = float(np.sum((given - stream.y) ** 2))
        else:
            totals[stream.problem.task] = int(np.sum(given != stream.y))
    return {"version": entry.version, **totals}


def _features(subject):
    """The sum of the features of some rows, each times its place."""
    X = a_stream("binary", 400).X
    features = subject.new().fit(X, Draws(1)).transform(X)
    return float(np.sum(features * np.arange(1, 1 + features.size).reshape(features.shape)))


def _answers(learner, stream):
    """What it returns while it learns, or predicts after its fit."""
    if BATCH.is_filled_by(learner):
        return learner.fit(stream.X, stream.y).predict(stream.X)
    return learner.learn(stream.X, stream.y)


def differences(kept, found):
    """What is not as it was, in words."""
    return [
        f"{task}: {kept.get(task)} became {found.get(task)}"
        for task in sorted({*kept, *found} - {"version"})
        if task not in kept
        or task not in found
        or not np.isclose(kept[task], found[task], rtol=1e-9, atol=0)
    ]


def write():
    kept = read()
    found = {name: result(entry) for name, entry in catalogue().items()}
    for name in kept.keys() & found.keys():
        same_version = kept[name]["version"] == found[name]["version"]
        if same_version and differences(kept[name], found[name]):
            sys.exit(f"{name}: {differences(kept[name], found[name])}: raise its version first")
    PATH.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
