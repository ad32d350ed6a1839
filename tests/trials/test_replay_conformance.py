"""The shipped records: all there, as okbench runs them, and as plain loops over them say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from okbench.learners.registry import find
from okbench.trials.replay.differences import differences
from okbench.trials.replay.record import read_record
from okbench.trials.replay.replaying import replay
from tests.trials.replay_plain import plain_scores
from tests.trials.replay_suite import FOLDER, path_of, present

SHIPPED = sorted(FOLDER.glob("*.json"))
LEARNED = [path for path in SHIPPED if "test" not in json.loads(path.read_text(encoding="utf-8"))]


def test_every_learner_of_ours_has_a_record_for_each_task_it_does_and_nobody_else():
    """`python -m tests.trials.replay_suite` writes what is missing."""
    assert {path.name for path in SHIPPED} == {path_of(*one).name for one in present()}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_record_comes_out_as_it_expects(path):
    record = read_record(path)
    assert record.expected is not None
    assert differences(replay(record)) == []


# Plain renderings of learners that are fitted are compared in tests/learners/batch.
@pytest.mark.parametrize("path", LEARNED, ids=lambda path: path.stem)
def test_plain_loops_over_a_shipped_record_give_its_scores(path):
    told = json.loads(path.read_text(encoding="utf-8"))
    expected = np.array(told["expect"]["scores"]).reshape(len(told["order"]), -1)
    found = plain_scores(told)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_record_puts_its_learner_to_work(path):
    """The budget is filled and then some, and the learner is right about some rows."""
    told = json.loads(path.read_text(encoding="utf-8"))
    expected, settings = told["expect"], told["settings"]
    if settings.get("budget") and path in LEARNED:
        assert expected["support_size"] == settings["budget"]
        assert expected["updates"] > 2 * settings["budget"]
    if "mistakes" in expected:
        assert path not in LEARNED or expected["mistakes"] > 0
        chance = 0.8 if find(told["learner"]).load().is_baseline else 0.75
        assert expected["mistakes"] < len(told.get("test", told["order"])) * chance


@pytest.mark.parametrize(
    ("name", "setting", "other"),
    [
        ("forgetron-binary", "root", "correct"),
        ("forgetron-multiclass", "root", "correct"),
        ("nogd-binary", "switch", "paper"),
        ("nogd-regression", "switch", "paper"),
        ("bogd-binary", "clip", "Infinity"),
        ("bogd-multiclass", "clip", "Infinity"),
        ("bogd-regression", "decay", 0.0),
        ("norma-regression", "nu", 0.5),
        ("perceptron-regression", "epsilon", 0.2),
        ("bpa-s-multiclass", "aggressiveness", 0.4),
        ("bpa-nn-binary", "aggressiveness", 0.4),
        ("budgetperceptron-binary", "margin", 0.0),
        ("tvm-binary", "merging", "any"),
        ("rrf-binary", "loss", "logistic"),
        ("rrf-regression", "loss", "l1"),
        ("rrf-multiclass", "scale_step", 0.0),
        ("dualsgd-multiclass", "stale", True),
        ("dualsgd-regression", "handed_over", 2),
        ("dualsgd-binary", "squared_width", True),
        ("raker-regression", "weight_step", 0.3),
        ("raker-binary", "decay", 0.5),
        ("adaraker-binary", "base", 2),
        ("omkl-regression", "kernels", ["gaussian"]),
        ("omkl-binary", "decay", 0.0),
        ("omkr-regression", "update", "all"),
        ("omkr-regression", "smoothing", 0.0),
        ("omkc-binary", "combination", "weighted"),
        ("rbf-multiclass", "decay", 0.0),
    ],
)
def test_a_shipped_record_tells_a_variant_of_its_learner_apart(tmp_path, name, setting, other):
    told = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert told["settings"][setting] != other
    told["settings"][setting] = other
    path = tmp_path / "other.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    assert differences(replay(read_record(path)))


def test_the_documented_example_comes_out_as_documented(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "replay.md").read_text(encoding="utf-8")
    record, printed = re.findall(r"```json\n(.*?)```", text, flags=re.DOTALL)
    path = tmp_path / "run.json"
    path.write_text(record, encoding="utf-8")
    replayed = replay(read_record(path))
    assert differences(replayed) == []
    figures = json.loads(json.dumps(replayed.figures()))
    assert {**figures, "record": "run.json", "verdict": "equal"} == json.loads(printed)
    path.write_text(record.replace("0.18920171660393503,", "0.25,"), encoding="utf-8")
    (difference,) = differences(replay(read_record(path)))
    assert difference in text
