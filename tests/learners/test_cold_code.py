"""Code that was just compiled computes the same bits as code that was loaded from the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys

DIGESTS = """
import hashlib, json
from okbench.learners.checks.subject import Subject
from okbench.learners.registry import catalogue
from okbench.protocols.contract import BATCH, MAP

found = {}
for name, entry in catalogue().items():
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
print(json.dumps(found))
"""


def digests(cache):
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_compiled_and_loaded_code_give_the_same_scores(tmp_path):
    compiled = digests(tmp_path)
    assert list(tmp_path.rglob("*.nbc"))
    assert digests(tmp_path) == compiled
