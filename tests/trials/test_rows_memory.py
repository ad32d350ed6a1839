"""The memory of a process that learns rows from files, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from okbench.datasets.prepare.prepared_files import NpyWriter

ROWS, FEATURES = 800_000, 20  # 128 MB

SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.prepared_files import read_features
from okbench.learners.contract import Draws, Problem
from okbench.learners.fogd import FOGD
from okbench.trials.run.protocol_loop import walk
from okbench.trials.trial_types import Trial

def resident():
    text = Path("/proc/self/status").read_text()
    return {line.split()[0]: int(line.split()[1]) / 1024 for line in text.splitlines()
            if line.startswith(("VmHWM", "VmRSS"))}

folder, order, rows = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
X = read_features(folder, 20)
y = np.load(folder / "labels.npy", mmap_mode="c").view(np.ndarray)
problem = Problem("binary", 20, (-1, 1), rows)
def learn(count):
    data = Dataset("rows", X[:count], y[:count], "binary", (-1, 1), "rows")
    what = Trial("rows", "", "rows", "FOGD", 0, (), "single-pass", "mistake_rate", 0, order)
    learner = FOGD(components=10, width=2.0).begin(problem, Draws(0))
    assert walk(what, data, learner).status == "done"
learn(1_000)  # compiled before it counts
before = resident()["VmRSS:"]
learn(rows)
print(json.dumps(resident()["VmHWM:"] - before))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_rows_met_in_blocks_are_never_all_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with (
        NpyWriter(tmp_path / "X.npy", np.float64, FEATURES) as features,
        NpyWriter(tmp_path / "labels.npy", np.int64) as labels,
    ):
        for _ in range(8):
            X = rng.random((ROWS // 8, FEATURES))
            features.append(X)
            labels.append(np.where(X[:, 0] > 0.5, 1, -1))

    def grown(order: str) -> float:
        command = [sys.executable, "-c", SCRIPT, str(tmp_path), order, str(ROWS)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return float(json.loads(done.stdout))

    megabytes = ROWS * FEATURES * 8 / 2**20
    assert grown("block-shuffled") < megabytes / 2  # a window has 10 MB
    assert grown("file") < megabytes / 2
    assert grown("seeded") > megabytes * 0.9  # pages of the mapped file count: the measure works
