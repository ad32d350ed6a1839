"""A small table to run, with a user-defined learner, and what undisturbed runs of it give."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from okbench.trials.store.files import Store
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome
from tests.chaos.commands import Command

TABLE = "small"
OWN = "chaos_learner:Slow"
COMPILED = "Perceptron,OGD,FOGD"

_YAML = f"""\
title: Three compiled learners and one of the user's own
protocol: {{kind: single-pass, metric: mistake_rate, runs: 16}}
settings: {{width: 8}}
datasets:
  breast-cancer:
  spirals: {{width: 0.25}}
learners:
  Perceptron:
  OGD: {{step: 0.2}}
  FOGD: {{components: 20, step: 0.002}}
  Slow: {{learner: '{OWN}'}}
"""
_LEARNER = '''\
"""A perceptron that takes its time, so that there is a moment to kill it."""

import time

import numpy as np
import scipy.sparse as sp


class Slow:
    def __init__(self, seconds=0.002):
        self.seconds, self.w = seconds, None

    def learn(self, X, y):
        time.sleep(self.seconds)
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        self.w = np.zeros(X.shape[1]) if self.w is None else self.w
        guesses = []
        for row, label in zip(X, y):
            guesses.append(1 if row @ self.w >= 0 else -1)
            if guesses[-1] != label:
                self.w += label * row
        return np.array(guesses)

    def predict(self, X):
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.where(X @ self.w >= 0, 1, -1)
'''

Figures = tuple[object, ...]


@dataclass(frozen=True)
class World:
    """The folder, and what came of each trial when nothing disturbed it, by seed and id."""

    folder: Path
    undisturbed: dict[int, dict[str, Figures]]

    def undisturbed_of(self, learners: str) -> dict[str, Figures]:
        """The part of the undisturbed run that these learners have."""
        chosen = learners.split(",")
        outcomes = read(self.results(0)).standing()
        runs = self.undisturbed[0].items()
        return {id_: run for id_, run in runs if outcomes[id_].trial.learner in chosen}

    def results(self, seed: int) -> Path:
        """The folder with the results of the undisturbed run with that seed."""
        return self.folder / f"undisturbed-{seed}"

    def case(self, name: str) -> Path:
        """An empty folder to run the table in."""
        folder = self.folder / name
        folder.mkdir()
        write_table(folder)
        return folder


def made(folder: Path) -> World:
    """Run the table undisturbed, by the command line as a user runs it, and its compiled learners
    with two more seeds, for outcomes that can be merged."""
    write_table(folder)
    subprocess.run(
        [sys.executable, "-m", "okbench", *run_words(folder / "undisturbed-0")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    for seed in (1, 2):
        words = run_words(folder / f"undisturbed-{seed}", "--learners", COMPILED)
        command = Command([*words, "--seed", str(seed)], folder)
        if command.wait() != 0:
            raise RuntimeError(f"an undisturbed run fails: {command.message}")
    runs = {seed: figures(read(folder / f"undisturbed-{seed}")) for seed in (0, 1, 2)}
    return World(folder, runs)


def write_table(folder: Path) -> None:
    """The table and the learner as files."""
    (folder / f"{TABLE}.yaml").write_text(_YAML, encoding="utf-8")
    (folder / "chaos_learner.py").write_text(_LEARNER, encoding="utf-8")


def run_words(results: Path | str, *more: str) -> list[str]:
    """The command that runs the table, and runs again what failed when a worker was killed."""
    return ["run", f"{TABLE}.yaml", "--results", str(results), "-j2", "--retry", "failed", *more]


def read(results: Path) -> Contents:
    """What the results file of the table holds."""
    return Store.of(results, TABLE).read()


def figures(contents: Contents) -> dict[str, Figures]:
    """What decides whether two outcomes are equal, for each trial that is done."""
    return {
        id_: _figures(outcome)
        for id_, outcome in contents.standing().items()
        if outcome.status == "done"
    }


def doubled(contents: Contents) -> list[str]:
    """The trials that were stored as done more than once."""
    done = Counter(outcome.trial.id for outcome in contents.measured if outcome.status == "done")
    return [id_ for id_, times in done.items() if times > 1]


def _figures(outcome: Outcome) -> Figures:
    curve = tuple(point[:3] for point in outcome.curve)  # less the seconds
    return outcome.rows, outcome.total, outcome.support, curve
