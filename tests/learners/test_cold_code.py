"""Code that was just compiled computes the same bits as code that was loaded from the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from okbench.learners.registry import catalogue

LOADED = """
import json
from okbench.learners.registry import catalogue
from tests.learners.compiled_once import digests, kept_at

assert list(kept_at().parent.rglob("*.nbc"))
print(json.dumps([json.loads(kept_at().read_text()), digests(list(catalogue()))]))
"""


@pytest.mark.slow
def test_compiled_and_loaded_code_give_the_same_scores(tmp_path):
    """`make test-slow` has compiled into the cache that its tests share; elsewhere this does."""
    cache = os.environ.get("NUMBA_CACHE_DIR", str(tmp_path))

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    python("-m", "tests.learners.compiled_once")
    compiled, loaded = json.loads(python("-c", LOADED))
    assert compiled == loaded
    assert {name.partition(" ")[0] for name in loaded} >= {"FOGD", "OGD", "BKM", "RRF", "OMKL"}
    assert len(loaded) > len(catalogue())
