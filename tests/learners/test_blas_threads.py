"""Learners keep linear algebra on one thread, and leave the process as it was."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info

from okbench.learners.batch import rks
from okbench.learners.batch.base import NoLimit
from okbench.learners.online.nystroem import NOGD

def count(*given):
    seen.append(max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))

class Counts(NoLimit):
    mark = count

seen = []
count()
X = np.random.default_rng(0).normal(size=(400, 3))
y = np.where(X[:, 0] > 0, 1, -1)
with ThreadPoolExecutor(2) as pool:  # one ends long before the other
    list(pool.map(lambda n: rks.RKS(components=8).fit(X[:n], y[:n], Counts()), (40, 400)))
eigh = np.linalg.eigh
np.linalg.eigh = lambda matrix: count() or eigh(matrix)
NOGD(budget=30, rank=5).fit(X, y)
within = seen[1:]
count()
print(seen[0], set(within), len(within) > 10, seen[-1])
"""


def test_learners_multiply_on_one_thread_and_restore_the_number_of_threads() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "2 {1} True 2\n"
