"""What learners call, compiled once for all tests.

`make test` and `make test-slow` begin with this. Two processes compile into an empty cache, from
which all tests load, and keep what the code computed that was just compiled.

    NUMBA_CACHE_DIR=.compiled python -m tests.learners.compiled_once
"""

from __future__ import annotations

import hashlib
import json
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from threadpoolctl import threadpool_limits

import okbench
from okbench.base.jit import cache_folder
from okbench.learners.checks.subject import Subject
from okbench.learners.registry import catalogue, find
from okbench.protocols.contract import BATCH, MAP

PROCESSES = 2


def kept_at() -> Path:
    """The file with the digests of what was computed when it was compiled."""
    return cache_folder(Path(okbench.__file__).parent) / "digests.json"


@threadpool_limits.wrap(limits=1)
def digests(names: list[str]) -> dict[str, str]:
    """By learner and task, the hash of the bits of its scores on a stream of rows."""
    found = {}
    for name in names:
        entry = find(name)
        subject = Subject(entry, entry.load())
        if MAP.is_filled_by(subject.cls):
            continue
        for stream in subject.streams(n_rows=500):
            learner = subject.begun(stream, seed=1)
            is_batch = BATCH.is_filled_by(learner)
            learned = (learner.fit if is_batch else learner.learn_scores)(stream.X, stream.y)
            scores = (() if is_batch else (learned,)) + (learner.scores(stream.X),)
            bits = b"".join(array.tobytes() for array in scores)
            found[f"{name} {stream.problem.task}"] = hashlib.sha256(bits).hexdigest()
    return found


def compile_all() -> None:
    """Compile into an empty folder, unless that was done for this state of the sources."""
    path = kept_at()
    if path.exists():
        return
    shutil.rmtree(path.parent, ignore_errors=True)
    names = list(catalogue())
    parts = [names[first::PROCESSES] for first in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
        found = {key: one for part in pool.map(digests, parts) for key, one in part.items()}
    path.write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    compile_all()
