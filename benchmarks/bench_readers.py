"""The LIBSVM reader against scikit-learn's, on the same unpacked files.

    python benchmarks/bench_readers.py FOLDER [NAME …]

FOLDER holds the sets as a mirror does (`a9a/a9a` or `a9a/a9a.bz2`). A reading is a process of its
own; imports and compilation are outside the clock, and peak memory is what reading adds to them.
okbench leaves the rows on disk and maps them. `memory` and `read` are its peak memory over that of
scikit-learn: after reading the file, and after every mapped value has been touched too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from okbench.datasets.unpack import open_unpacked

NAMES = ("a9a", "mnist", "covtype")
REPEATS = 3

_MEASURE = """
import json, sys, time
from pathlib import Path

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10

who, path, tiny = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
if who == "sklearn":
    from sklearn.datasets import load_svmlight_file
    def read(path):
        X, y = load_svmlight_file(str(path))
        return X
else:
    from okbench.datasets.readers.libsvm import read_libsvm
    def read(path):
        X = read_libsvm(path).X
        if who == "in memory":
            X.data.sum() + X.indices.sum()
        return X
read(tiny)
before, start = peak(), time.perf_counter()
X = read(path)
seconds = time.perf_counter() - start
print(json.dumps({"rows": X.shape[0], "seconds": seconds, "bytes": peak() - before}))
"""


def main(folder: Path, names: tuple[str, ...]) -> None:
    """Print rows per second and peak memory of both readers, and their ratios."""
    print(
        f"{'':10}{'rows':>9}{'scikit-learn':>28}{'okbench':>28}{'faster':>9}{'memory':>8}{'read':>7}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        tiny = Path(scratch) / "tiny"
        tiny.write_text("1 1:0.5 2:1e5\n", encoding="utf-8")
        for name in names:
            path = _unpacked(folder / name, Path(scratch))
            theirs, ours, read = (
                _best(who, path, tiny) for who in ("sklearn", "okbench", "in memory")
            )
            told = "".join(f"{_speed(run):>28}" for run in (theirs, ours))
            faster = theirs["seconds"] / ours["seconds"]
            memory = [run["bytes"] / theirs["bytes"] for run in (ours, read)]
            print(
                f"{name:10}{ours['rows']:9,.0f}{told}{faster:8.1f}×{memory[0]:8.2f}{memory[1]:7.2f}"
            )


def _speed(run: dict[str, float]) -> str:
    return f"{run['rows'] / run['seconds']:,.0f} rows/s {run['bytes'] / 2**20:5.1f} MB"


def _unpacked(folder: Path, scratch: Path) -> Path:
    names = (folder.name, f"{folder.name}.bz2")
    held = next(folder / name for name in names if (folder / name).is_file())
    target = scratch / folder.name
    with open_unpacked(held) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out)
    return target


def _best(who: str, path: Path, tiny: Path) -> dict[str, float]:
    """The fastest of a few readings, each in a fresh process, and the most memory any took."""
    runs = []
    for _ in range(REPEATS):
        command = [sys.executable, "-c", _MEASURE, who, str(path), str(tiny)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    fastest = min(runs, key=lambda run: float(run["seconds"]))
    return {**fastest, "bytes": max(float(run["bytes"]) for run in runs)}


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(sys.argv[2:]) or NAMES)
