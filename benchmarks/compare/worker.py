"""The process in which one commit is timed: it does what it is asked to, and stays.

Each line of stdin is a request, each line of stdout the answer, both JSON. The first answer says
which learners and versions there are. Of okbench it uses the registry, `Problem`, `Draws` and the
methods of learners, because older commits have these too.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from functools import cache
from typing import Any

import numba
import numpy as np
import scipy
import scipy.sparse as sp

from okbench.learners.contract import Draws, Problem
from okbench.learners.registry import catalogue, find

ASKED_ROWS = 500  # that a batch learner predicts, to compare what two commits have learned


def main() -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what okbench prints is no answer
    hello = {
        "learners": {name: list(entry.tasks) for name, entry in catalogue().items()},
        "versions": {each.__name__: each.__version__ for each in (np, scipy, numba)},
    }
    print(json.dumps(hello), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer = timed(**json.loads(line))
        except Exception as error:  # a learner may raise anything
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def timed(
    learner: str, rows: str, task: Any, n_rows: int, times: int, cold: bool = False
) -> dict[str, Any]:
    """CPU seconds that a learner takes for the first rows, learned `times` times by new objects,
    and the digest of its predictions. With `cold` the class is loaded inside the clock."""
    X, y = matrix(rows)
    X, y = X[:n_rows], y[:n_rows]
    classes = () if task == "regression" else tuple(np.unique(y).tolist())
    problem = Problem(task, X.shape[1], classes, n_rows)
    begun = time.process_time()
    cls = find(learner).load()
    objects = [prepared(cls, problem) for _ in range(times)]
    if not cold:
        begun = time.process_time()
    for each in objects:
        told = learned(each, X, y)
    seconds = time.process_time() - begun
    if told is None:
        told = objects[-1].predict(X[:ASKED_ROWS])
    return {"seconds": seconds, "digest": hashlib.sha256(spelled(told)).hexdigest()[:16]}


@cache
def matrix(path: str) -> tuple[Any, Any]:
    """The rows of a file, dense or sparse, and their labels."""
    with np.load(path) as held:
        if "X" in held:
            return held["X"], held["y"]
        parts = held["data"], held["indices"], held["indptr"]
        return sp.csr_array(parts, shape=tuple(held["shape"])), held["y"]


def prepared(cls: type, problem: Problem) -> Any:
    """A learner before the first row."""
    made = cls()
    if hasattr(made, "begin"):
        made.begin(problem, Draws(0))
    return made


def learned(made: Any, X: Any, y: Any) -> Any:
    """What an online learner predicts of the rows while it learns them, the features of a map, or
    None of a batch learner, which is asked outside the clock."""
    if hasattr(made, "learn"):
        return made.learn(X, y)
    if hasattr(made, "transform"):
        return made.fit(X, Draws(0)).transform(X)
    made.fit(X, y)
    return None


def spelled(told: Any) -> bytes:
    """Predictions or features as bytes."""
    return (told.data if sp.issparse(told) else np.ascontiguousarray(told)).tobytes()


if __name__ == "__main__":
    main()
