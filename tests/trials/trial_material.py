"""Small rows, small tables, and learners that behave or misbehave in one known way."""

from __future__ import annotations

import mmap
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.papers.table_types import DatasetRow, LearnerColumn, Protocol, Setting, Table, Value
from okbench.trials.trial_types import Trial

# by its seconds a test finds the processes that its learners leave
SLEEP = ["sleep", os.environ.setdefault("OKBENCH_TEST_SLEEP", f"86{os.getpid()}")]


@cache
def load(name: str, variant: str = "") -> Dataset:
    """Rows by name: sparse ones, with text labels, of three classes, with targets, in two parts."""
    draw = np.random.default_rng(7)
    rows = int(variant or 600)
    X = draw.normal(size=(rows, 4))
    sign = np.where(X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * draw.normal(size=rows) > 0, 1, -1)
    binary = Dataset(name, X, sign, "binary", (-1, 1), f"print-{name}-{rows}")
    orders = np.array([draw.permutation(rows) for _ in range(2)])
    made: dict[str, Mapping[str, Any]] = {
        "blobs": {},
        "bumps": {"y": np.where(X[:, 0] * X[:, 1] > 0, 1, -1)},
        "words": {"y": np.where(sign > 0, "yes", "no"), "classes": ("no", "yes")},
        "sparse": {"X": sp.csr_array(X * (np.abs(X) > 1))},
        "three": {"y": np.argmax(X[:, :3], axis=1), "task": "multiclass", "classes": (0, 1, 2)},
        "line": {"y": X @ [1.0, 2.0, 3.0, 4.0], "task": "regression", "classes": ()},
        "split": {"n_train": 2 * rows // 3},
        "ordered": {"orders": orders},
    }
    fields = {field: getattr(binary, field) for field in binary.__dataclass_fields__}
    return Dataset(**{**fields, **made[name]})


def table(
    learners: Mapping[str, str],
    datasets: tuple[str, ...] = ("blobs",),
    kind: Any = "single-pass",
    runs: int = 2,
    settings: Mapping[tuple[str, str], Mapping[str, Value]] | None = None,
    **more: Any,
) -> Table:
    """A table over these learners (label → class below)."""
    rows = [name.partition(":") for name in datasets]
    regression = all(load(name).task == "regression" for name, _, _ in rows)
    metric: Any = more.pop("metric", "rmse" if regression else "mistake_rate")
    protocol = Protocol(kind, metric, runs, more.pop("orders", "seeded"), more.pop("block", 0))
    told = {
        cell: {name: Setting(value, where="tables.yaml:7") for name, value in given.items()}
        for cell, given in (settings or {}).items()
    }
    return Table(
        name="made/small",
        title="a small table",
        paper="made",
        protocol=protocol,
        datasets=tuple(DatasetRow(name, variant) for name, _, variant in rows),
        learners=tuple(
            LearnerColumn(label, f"trial_material:{cls}", where="tables.yaml:3")
            for label, cls in learners.items()
        ),
        settings=told,
        where="tables.yaml:1",
        **more,
    )


def trial(learner: str = "Linear", dataset: str = "blobs", **changes: Any) -> Trial:
    """A trial, without a plan."""
    name, _, variant = dataset.partition(":")
    fields: dict[str, Any] = {
        "dataset": name,
        "variant": variant,
        "fingerprint": load(name, variant).fingerprint,
        "learner": f"trial_material:{learner}",
        "learner_version": 1,
        "settings": (),
        "protocol": "single-pass",
        "metric": "mistake_rate",
        "repetition": 0,
    }
    return Trial(**{**fields, **changes})


class Linear:
    """A perceptron, or least-squares steps: a stranger's learner with the two verbs alone."""

    version = 3

    def __init__(self, step: float = 0.5) -> None:
        self.step = step
        self.w: Any = None
        self.labels: list[Any] = []

    def learn(self, X: Any, y: Any) -> Any:
        return np.array([self._one(row, label) for row, label in zip(_dense(X), y, strict=True)])

    def predict(self, X: Any) -> Any:
        scores = _dense(X) @ (np.zeros(X.shape[1]) if self.w is None else self.w)
        return np.where(scores >= 0, 1, -1)

    def _one(self, row: Any, label: Any) -> Any:
        if self.w is None:
            self.w = np.zeros(len(row))
        guess = 1 if row @ self.w >= 0 else -1
        if guess != label:
            self.w += self.step * label * row
        return guess


class Threaded(Linear):
    """The same, said to be compiled."""

    compiled = True


class Drawn:
    """Told the problem, given draws: its mistakes depend on both; it counts its supports."""

    tasks = ("binary",)

    def __init__(self, budget: int = 10, width: float | None = None) -> None:
        self.budget, self.width = budget, width
        self.support_size = 0

    def begin(self, problem: Problem, draws: Draws) -> Drawn:
        assert problem.n_rows
        self.w = draws.normals(1, problem.n_features)[0]
        self.classes = np.asarray(problem.classes)
        return self

    def learn(self, X: Any, y: Any) -> Any:
        self.support_size = min(self.budget, self.support_size + len(y))
        return self.predict(X)

    def predict(self, X: Any) -> Any:
        return self.classes[(_dense(X) @ self.w >= 0).astype(int)]

    @property
    def nbytes(self) -> int:
        return 8 * len(self.w)


class CompiledDrawn(Drawn):
    compiled = True


class Seeded:
    """Guesses, from a seed it takes as a setting."""

    def __init__(self, sharpness: int = 1, seed: int = 0) -> None:
        self.draw = np.random.default_rng(seed)

    def learn(self, X: Any, y: Any) -> Any:
        return np.where(self.draw.random(len(y)) < 0.5, 1, -1)

    predict = learn


class Squares:
    """Least mean squares; `step` may be too large for its own good."""

    tasks = ("regression",)

    def __init__(self, step: float = 0.05) -> None:
        self.step = step
        self.w: Any = None

    def learn(self, X: Any, y: Any) -> Any:
        guesses = []
        self.w = np.zeros(X.shape[1]) if self.w is None else self.w
        for row, target in zip(X, y, strict=True):
            guesses.append(row @ self.w)
            self.w = self.w + self.step * (target - guesses[-1]) * row
        return np.array(guesses)

    def predict(self, X: Any) -> Any:
        return X @ self.w


class RowByRow:
    """Meets row `at` (counted from 0) as its subclass says."""

    def __init__(self, at: int = 400) -> None:
        self.at, self.met = at, 0

    def learn(self, X: Any, y: Any) -> Any:
        guesses = np.ones(len(y), dtype=np.asarray(y).dtype)
        if self.met <= self.at < self.met + len(y):
            guesses = self.meet(guesses, self.at - self.met)
        self.met += len(y)
        return guesses

    def meet(self, guesses: Any, place: int) -> Any:
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        return np.ones(len(X), dtype=int)


class Raises(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        raise ZeroDivisionError("the budget is spent")


class TooShort(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        return guesses[1:]


class Complex(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        return guesses * 1j


class Ragged(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        return [[1], [1, 2]]


class NotANumber(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        guesses = guesses.astype(float)
        guesses[place] = np.nan
        return guesses


class Says(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        raise Diverged(place, "the norm is infinite")


class OutOfMemory(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        raise MemoryError("no room for 8 PB")


class Dies(RowByRow):
    """Ends its process when it meets the row, but not while it is merely warmed up."""

    def meet(self, guesses: Any, place: int) -> Any:
        os._exit(7)


class IsKilled(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)


class Endless(RowByRow):
    """Never returns from a call."""

    def meet(self, guesses: Any, place: int) -> Any:
        while True:
            time.sleep(1)


class EndlessAtOnce(Endless):
    """Never returns from its first call, in which it is merely warmed up."""

    def __init__(self) -> None:
        super().__init__(at=0)


class EndlessInBegin(Linear):
    def begin(self, problem: Problem, draws: Draws) -> None:
        while True:
            time.sleep(1)


class EndlessFit:
    """Marks its progress, then never returns."""

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        clock.mark(100, 7.0)
        while len(y) > 300:  # not while it is merely warmed up
            time.sleep(1)

    def predict(self, X: Any) -> Any:
        return np.ones(len(X), dtype=int)


class Stubborn(RowByRow):
    """Never returns, ignores every signal it can, and lets no other thread run."""

    def meet(self, guesses: Any, place: int) -> Any:
        for number in {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)
        re.match(r"(a+)+$", 100 * "a" + "b")  # takes 2^100 steps without a look at the threads


class Interrupts(RowByRow):
    def meet(self, guesses: Any, place: int) -> Any:
        raise KeyboardInterrupt


class Breeds(RowByRow):
    """Starts processes that go on and on: children, orphans, and one in a session of its own."""

    def meet(self, guesses: Any, place: int) -> Any:
        for own_session in (False, True):
            for _ in range(3):
                subprocess.Popen(SLEEP, start_new_session=own_session)
            subprocess.Popen(["sh", "-c", f"{' '.join(SLEEP)} & exit"], start_new_session=True)
        if os.fork() == 0:
            os.execvp(SLEEP[0], SLEEP)
        if os.fork() == 0:
            while True:
                time.sleep(1)
        return guesses


class BreedsAndDies(Breeds):
    def meet(self, guesses: Any, place: int) -> Any:
        super().meet(guesses, place)
        os._exit(7)


class BreedsEndlessly(Breeds):
    def meet(self, guesses: Any, place: int) -> Any:
        super().meet(guesses, place)
        while True:
            time.sleep(1)


class Grabs(RowByRow):
    """Asks for 4 GB in one call, and says that it holds nothing."""

    nbytes = 0

    def meet(self, guesses: Any, place: int) -> Any:
        self.held = np.ones(500_000_000)
        return guesses


class GrabsBySteps(Grabs):
    """The same, 10 MB after 10 MB, in memory that it might share."""

    def meet(self, guesses: Any, place: int) -> Any:
        self.held: list[Any] = []
        for _ in range(400):
            self.held.append(mmap.mmap(-1, 10_000_000))
            self.held[-1].write(b"1" * 10_000_000)
            time.sleep(0.02)
        return guesses


class HoldsInSilence(Grabs):
    """Holds 200 MB from one row on, and says that it holds nothing."""

    def meet(self, guesses: Any, place: int) -> Any:
        self.held = np.ones(25_000_000)
        return guesses


class Exits(RowByRow):
    """Ends its program as a script does."""

    def meet(self, guesses: Any, place: int) -> Any:
        raise SystemExit(0)


class ExitsInThreads(Exits):
    compiled = True


class Forks:
    """Makes two processes of one, wherever it is called, and lets both come back."""

    def begin(self, problem: Problem, draws: Draws) -> None:
        os.fork()

    def learn(self, X: Any, y: Any) -> Any:
        os.fork()
        return np.ones(len(y), dtype=int)

    def predict(self, X: Any) -> Any:
        return np.ones(len(X), dtype=int)


class Writes(RowByRow):
    """Writes the labels it is given over."""

    def learn(self, X: Any, y: Any) -> Any:
        y[:], X[:] = 1, 0
        return np.ones(len(y), dtype=int)


class Refuses(Linear):
    """A learner whose constructor does not like its settings."""

    def __init__(self, budget: int = 0) -> None:
        raise ValueError("budget is 1 or more")


class LeavesNoFile(Linear):
    """From its first block on, its process can open no file."""

    def learn(self, X: Any, y: Any) -> Any:
        import resource

        if self.w is None:
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, most))
            time.sleep(0.7)  # the process watches its parent twice a second
        return super().learn(X, y)


class StartsThreads(Linear):
    """Starts threads that do nothing, with large stacks."""

    def learn(self, X: Any, y: Any) -> Any:
        threading.stack_size(100_000_000)
        for _ in range(100):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        return super().learn(X, y)


class Sleeps:
    """Takes its time over every row."""

    def __init__(self, seconds: float = 0.002) -> None:
        self.seconds = seconds

    def learn(self, X: Any, y: Any) -> Any:
        time.sleep(self.seconds * len(y))
        return np.ones(len(y), dtype=int)

    def predict(self, X: Any) -> Any:
        return np.ones(len(X), dtype=int)


class SleepsInThreads(Sleeps):
    compiled = True


class Hoards:
    """Holds a megabyte more after every row, by its own account."""

    def __init__(self) -> None:
        self.rows = 0

    def learn(self, X: Any, y: Any) -> Any:
        self.rows += len(y)
        return np.ones(len(y), dtype=int)

    predict = learn

    @property
    def nbytes(self) -> int:
        return self.rows * 1_000_000


class Swells:
    """Really holds more and more, and says nothing of it."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def learn(self, X: Any, y: Any) -> Any:
        self.held.append(np.ones(20_000 * len(y)))
        return np.ones(len(y), dtype=int)

    def predict(self, X: Any) -> Any:
        return np.ones(len(X), dtype=int)


class Picky:
    """Every kind of setting."""

    def __init__(
        self,
        budget: int,
        width: float,
        decay: float | None = None,
        loss: str = "hinge",
        flag: bool = False,
        kernel: Any = np.exp,
        *,
        seed: int = 0,
    ) -> None: ...

    learn = predict = None


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else np.asarray(X)
