"""Trials written down as records, and the two commands."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from trial_material import load, table, trial

from okbench.base.errors import OkbenchError, StoreError, UsageError
from okbench.cli.replay import record as record_command
from okbench.cli.replay import replay as replay_command
from okbench.datasets import load as load_rows
from okbench.papers.table_catalogue import find
from okbench.protocols.metrics import default_metric
from okbench.trials.replay.differences import differences
from okbench.trials.replay.record import read_record
from okbench.trials.replay.recording import chosen_trial, ran, refuse_other, write_record
from okbench.trials.replay.replaying import replay
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome
from tests.trials.replay_suite import FOLDER, path_of


def small(learner, dataset="blobs", **changes):
    """A trial of a learner of okbench on made rows, on its second permutation."""
    settings = {"RBP": {"budget": 15}, "FOGD": {"components": 20, "step": 0.05}}.get(learner, {})
    chosen = tuple(sorted({**settings, "width": 1.5}.items()))
    told = {"learner": learner, "settings": chosen, "repetition": 1, **changes}
    return replace(trial(dataset=dataset), **told)


class Chancy:
    """Predicts by draws of every kind, with and without a name, several times each."""

    def __init__(self, widths: list[float] | None = None):
        self.widths = widths

    def begin(self, problem, draws):
        self.classes = np.asarray(problem.classes)
        n = problem.n_features
        noise, signs = draws.stream("noise"), draws.stream("signs")
        self.rows = [noise.normals(2, n)[1], *draws.normals(2, n), draws.normals(1, n)[0]]
        self.rows += [noise.normals(1, n)[0], noise.orthogonal(n)[0], signs.orthogonal(n)[-1]]
        self.rows += [
            np.roll(self.rows[0], k) for k in (*noise.choice(n, 2), *noise.permutation(n))
        ]
        self.rows += [signs.uniforms(n) - 0.5, signs.uniforms(n) - 0.5]
        self.draws = draws

    def predict(self, X):
        scores = (np.asarray(X) @ np.array(self.rows).T).sum(axis=1)
        return self.classes[(scores >= 0).astype(int)]

    def learn(self, X, y):
        later = self.draws.stream("later")  # one call for each row: no block shows in it
        moves = np.array([later.uniforms(1)[0] + later.choice(5, 1)[0] for _ in y])
        return np.where(moves < 2.5, self.classes[0], self.predict(X))


@pytest.mark.parametrize("dataset", ["blobs", "words", "sparse", "three", "line", "ordered"])
@pytest.mark.parametrize("learner", ["Perceptron", "RBP", "FOGD"])
def test_a_recorded_trial_comes_out_equal_wherever_its_files_are(tmp_path, learner, dataset):
    order = "published" if dataset == "ordered" else "seeded"
    metric = default_metric(load(dataset).task).name
    one = small(learner, dataset, order=order, metric=metric)
    write_record(ran(one, load(dataset), tmp_path / "here" / "one.json"), "a note")
    shutil.move(tmp_path / "here", tmp_path / "there")
    found = read_record(tmp_path / "there" / "one.json")
    replayed = replay(found)
    assert differences(replayed) == []
    assert found.expected.scores is not None
    outcome = attempt(one, load, Limits())
    assert replayed.total == pytest.approx(outcome.total, rel=1e-12)
    assert replayed.support_size == outcome.support


def test_a_record_of_a_trial_needs_nothing_of_okbench(tmp_path):
    write_record(ran(small("RBP"), load("blobs"), tmp_path / "one.json"), "a note")
    told = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert set(told["rows"]) == {"X", "y"}
    assert set(told["draws"]) == {"uniforms"}
    with np.load(tmp_path / "one.npz") as held:
        assert sorted(held["order"]) == list(range(600))
        slots = np.floor(15 * held["uniforms"]).astype(int)
        assert slots.tolist() == held["removal_slots"].tolist()
        assert len(slots) == told["expect"]["mistakes"] - 15


def test_draws_of_every_name_and_kind_are_written_and_given_back(tmp_path):
    settings = (("widths", (0.5, 1, 2.0)),)
    one = replace(trial(), learner=f"{__name__}:Chancy", settings=settings)
    run = ran(one, load("blobs"), tmp_path / "one.json")
    write_record(run, "")
    page = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert page["settings"] == {"widths": [0.5, 1, 2.0]}
    assert len(page["draws"]["normals"]) == 2
    kinds = {name: set(of_name) for name, of_name in page["draws"]["named"].items()}
    assert kinds == {
        "noise": {"normals", "orthogonal", "choice", "permutation"},
        "signs": {"orthogonal", "uniforms"},
        "later": {"uniforms", "choice"},
    }
    found = read_record(tmp_path / "one.json")
    assert found.settings == (("widths", (0.5, 1.0, 2.0)),)
    replayed = replay(found)
    assert replayed.total == run.total
    assert replayed.curve == run.curve
    assert replayed.total == attempt(one, load, Limits()).total
    assert differences(replayed) == []
    with pytest.raises(OkbenchError, match="the record holds no more normals named 'noise'"):
        replay(found)  # its draws are used up


def test_a_strangers_seed_is_written_down(tmp_path):
    one = replace(trial("Seeded"), settings=(("sharpness", 2),))
    write_record(ran(one, load("blobs"), tmp_path / "one.json"), "")
    found = read_record(tmp_path / "one.json")
    assert "seed" in dict(found.settings)
    replayed = replay(found)
    assert differences(replayed) == []
    assert replayed.total == attempt(one, load, Limits()).total


def test_what_cannot_be_recorded_is_refused(tmp_path):
    stream = replace(small("RBP"), protocol="block-stream", block=5)
    with pytest.raises(UsageError, match="only single-pass trials and those with test rows can be"):
        ran(stream, load("blobs"), tmp_path / "one.json")
    with pytest.raises(UsageError, match=r"one\.npz: a record's name ends in \.json"):
        ran(small("RBP"), load("blobs"), tmp_path / "one.npz")
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be written"):
        write_record(ran(small("RBP"), load("blobs"), tmp_path / "file" / "one.json"), "")


def test_a_text_of_one_record_never_stands_beside_the_arrays_of_another(tmp_path, monkeypatch):
    text, arrays = tmp_path / "one.json", tmp_path / "one.npz"
    runs = [ran(small("RBP", repetition=r), load("blobs"), text) for r in (1, 2)]
    replace_file, seen = Path.replace, []

    def interrupted(self, target):
        replace_file(self, target)
        seen.append((text.exists() and text.read_bytes(), arrays.read_bytes()))

    monkeypatch.setattr(Path, "replace", interrupted)
    for run in runs:
        write_record(run, "a note")
    (_, old_arrays), (old_text, _), (between, new_arrays), (new_text, _) = seen
    assert old_text != new_text
    assert old_arrays != new_arrays
    assert between is False
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.json", "one.npz"]


def test_one_trial_is_chosen_from_a_table():
    several = table({"A": "Linear", "B": "Threaded"}, datasets=("blobs", "bumps"))
    label, chosen = chosen_trial(several, load, ("bumps",), ("b",), 3, seed=7)
    assert label == "B"
    assert (chosen.dataset, chosen.learner) == ("bumps", "trial_material:Threaded")
    assert (chosen.repetition, chosen.seed) == (3, 7)
    with pytest.raises(UsageError, match="several: blobs × A, bumps × A"):
        chosen_trial(several, load, ("blobs", "bumps"), ("A",), 0)
    with pytest.raises(UsageError, match="trial: 0 or more, not -1"):
        chosen_trial(several, load, ("blobs",), ("A",), -1)


def test_a_run_other_than_the_stored_one_is_refused(tmp_path):
    one = small("RBP")
    run = ran(one, load("blobs"), tmp_path / "one.json")
    stored = attempt(one, load, Limits())
    refuse_other(run, stored)
    with pytest.raises(OkbenchError, match=r"not written: .* stored"):
        refuse_other(run, replace(stored, total=stored.total + 1))
    with pytest.raises(OkbenchError, match="with 14"):
        refuse_other(run, replace(stored, support=14))
    with pytest.raises(StoreError, match="the trial was not run in these results"):
        refuse_other(run, None)
    with pytest.raises(StoreError, match="the trial ended as timeout"):
        refuse_other(run, Outcome(one, "timeout"))


# --- the commands -------------------------------------------------------------------------------


def invoke(command, *arguments):
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_record_then_replay(tmp_path):
    path = tmp_path / "one.json"
    told = ("demo", "--datasets", "breast-cancer", "--learners", "NOGD", "--trial", 2, "-o", path)
    written = invoke(record_command, *told)
    assert written.exception is None
    assert written.stdout == f"{path}\n"
    replayed = invoke(replay_command, path, "--scores", tmp_path / "scores.npy")
    assert replayed.exit_code == 0
    assert json.loads(replayed.stdout)["verdict"] == "equal"
    with np.load(tmp_path / "one.npz") as held:
        np.testing.assert_allclose(np.load(tmp_path / "scores.npy")[:, 0], held["scores"])


def test_record_is_named_after_its_trial(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    invoke(record_command, "demo", "--datasets", "breast-cancer", "--learners", "rbp")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["demo-breast-cancer-RBP-0.json", "demo-breast-cancer-RBP-0.npz"]


def test_records_of_two_columns_of_one_learner_are_two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "datasets: {breast-cancer: }\n"
        "learners: {fast / ε=1: {learner: OGD, step: 1}, slow: {learner: OGD, step: 0.1}}\n",
        encoding="utf-8",
    )
    for label in ("slow", "fast / ε=1"):
        done = invoke(
            record_command, "own.yaml", "--datasets", "breast-cancer", "--learners", label
        )
        assert done.exception is None
    names = sorted(path.name for path in tmp_path.glob("*.json"))
    assert names == ["own-breast-cancer-fast-ε=1-0.json", "own-breast-cancer-slow-0.json"]


def test_a_figure_of_a_tables_trials_is_held_to_the_tables_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.yaml").write_text(
        "title: t\nprotocol: {kind: single-pass, metric: mistake_rate, runs: 1}\n"
        "datasets: {breast-cancer: }\nlearners: {RBP: }\n",
        encoding="utf-8",
    )
    (tmp_path / "drawn.yaml").write_text(
        "title: t\nkind: curves\nof: page\ndraw: {quantities: [metric]}\n", encoding="utf-8"
    )
    _, one = chosen_trial(find("page.yaml"), load_rows, ("breast-cancer",), ("RBP",), 0)
    with Store.of(tmp_path, "page").writer({}, "none") as writer:
        writer.add(attempt(one, load_rows, Limits()))
    told = ("--datasets", "breast-cancer", "--learners", "RBP", "--results", tmp_path)
    assert invoke(record_command, "drawn.yaml", *told).exception is None


def test_record_holds_the_trial_to_stored_results(tmp_path):
    _, one = chosen_trial(find("demo"), load_rows, ("breast-cancer",), ("RBP",), 0)
    outcome = attempt(one, load_rows, Limits())
    told = ["demo", "--datasets", "breast-cancer", "--learners", "RBP", "--results", tmp_path]
    told += ["-o", tmp_path / "one.json"]
    store = Store.of(tmp_path, "demo")
    with store.writer({}, "none") as writer:
        writer.add(outcome)
    assert invoke(record_command, *told).exception is None
    (tmp_path / "one.json").unlink()
    with store.writer({}, "none") as writer:
        writer.add(replace(outcome, total=outcome.total + 1))
    refused = invoke(record_command, *told).exception
    assert isinstance(refused, OkbenchError)
    assert refused.exit_code == 1
    assert not (tmp_path / "one.json").exists()


def test_replay_says_which_records_came_out_otherwise(tmp_path):
    good, bad = path_of("RBP", "binary"), tmp_path / "bad.json"
    told = json.loads(good.read_text(encoding="utf-8"))
    told["expect"]["mistakes"] += 1
    bad.write_text(json.dumps(told), encoding="utf-8")
    found = invoke(replay_command, bad, good)
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert [line["verdict"] for line in lines] == ["parts", "equal"]
    (difference,) = lines[0]["differences"]
    assert difference.startswith("mistakes: ")
    assert str(found.exception) == "1 of 2 records have another outcome: bad.json"
    assert found.exception.exit_code == 1


def damaged(folder):
    """Records that cannot be run, and the exit code of each when it is alone."""
    good = json.loads(path_of("RBP", "binary").read_text(encoding="utf-8"))
    rows, diverging = good["rows"], {"X": [[1e300, 1e300]] * 3, "y": [1, -1, 1]}
    pages = {
        "not-json": ("{", 2),
        "no-file": (json.dumps({**good, "rows": {**rows, "X": {"file": "none.npy"}}}), 3),
        "no-learner": (json.dumps({**good, "learner": "RBPP"}), 2),
        "stranger": (json.dumps({**good, "learner": "nowhere:None"}), 2),
        "diverges": (json.dumps({"okbench": "record", "schema": 1, "task": "regression",
                                 "rows": diverging, "learner": "FOGD",
                                 "settings": {"components": 2, "step": 1e300, "width": 1e-300},
                                 "draws": {"seed": 1}}), 1),
    }  # fmt: skip
    for name, (text, code) in pages.items():
        path = folder / f"{name}.json"
        path.write_text(text, encoding="utf-8")
        yield path, code


def test_replay_goes_on_after_a_record_that_cannot_be_run(tmp_path):
    good, bad = path_of("RBP", "binary"), dict(damaged(tmp_path))
    found = invoke(replay_command, *bad, good, tmp_path / "absent.json", good)
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    verdicts = [line["verdict"] for line in lines]
    assert verdicts == ["failed"] * len(bad) + ["equal", "failed", "equal"]
    for line, path in zip(lines, bad, strict=False):
        assert line["record"] == str(path)
        assert path.name in line["error"]
    assert found.exception.exit_code == 1
    assert "6 of 8 records have another outcome, 6 of which could not be run" in str(
        found.exception
    )


def test_a_record_that_cannot_be_run_ends_replay_with_its_own_code_when_it_is_alone(tmp_path):
    for path, code in damaged(tmp_path):
        found = invoke(replay_command, path)
        assert isinstance(found.exception, OkbenchError), path
        assert (found.exception.exit_code, found.stdout) == (code, ""), path


def test_a_record_that_expects_nothing_is_not_called_equal(tmp_path):
    whole = json.loads(path_of("RBP", "binary").read_text(encoding="utf-8"))
    path = tmp_path / "r.json"
    for expect, verdict in (({}, "nothing to compare"), ({"updates": 0}, "parts"), (None, None)):
        page = {**whole, "expect": expect}
        page = page if expect is not None else {k: v for k, v in page.items() if k != "expect"}
        path.write_text(json.dumps(page), encoding="utf-8")
        line = json.loads(invoke(replay_command, path).stdout)
        assert line.get("verdict") == verdict


def test_replay_runs_the_shipped_records():
    found = invoke(replay_command, "--conformance")
    lines = [json.loads(line) for line in found.stdout.splitlines()]
    assert len(lines) == len(list(FOLDER.glob("*.json"))) > 0
    assert {line["verdict"] for line in lines} == {"equal"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name one or more records"),
        (["a.json", "b.json", "--scores", "s.npy"], "--scores needs a single record"),
    ],
)
def test_replay_refuses_what_makes_no_sense(arguments, message):
    found = invoke(replay_command, *arguments)
    assert isinstance(found.exception, UsageError)
    assert message in str(found.exception)
