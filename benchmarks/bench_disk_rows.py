"""Rows from a file larger than what a learner may hold: rate and resident memory while they are
learned in block-shuffled orders, beside the rate on rows in memory.

    python -m benchmarks.bench_disk_rows --rows 2_000_000 --folder /tmp/rows --figure disk_rows.png

Rows of 20 float64 features are generated once in the folder, as okbench keeps prepared rows, and
kept if they are there. Every learner runs in a process of its own, which is given the rows as the
protocol loop gives them: the clock runs over the picking of rows, the learner and the scoring. The
files are dropped from the system's cache before each pass, so that they are read from the disk.
CPU time beside the clock shows what others on a busy machine took the core for.
Memory is the resident size that the system reports, mapped pages of files included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import machine, peak_megabytes
from okbench.base.errors import OkbenchError
from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.datasets.prepare.prepared_files import NpyWriter, read_features
from okbench.learners.contract import Problem, begun
from okbench.learners.registry import find
from okbench.trials.plan.seeds import draws
from okbench.trials.run.protocol_loop import Limits, nobody, walk
from okbench.trials.run.workers import use_one_thread
from okbench.trials.trial_types import Trial

FEATURES = 20
ROWS_IN_MEMORY = 2_000_000
LEARNERS: dict[str, dict[str, Any]] = {
    "FOGD": {"components": 400, "width": 4.0},
    "NOGD": {"budget": 100, "width": 4.0},
    "RRF": {"components": 100, "width": 4.0},
    "RBP": {"budget": 100, "width": 4.0},
}
LEAST_SHARE, MOST_BYTES = 0.8, 2e9
_CHUNK = 1 << 18
_SAMPLES = 400


@dataclass(frozen=True)
class Pass:
    """One learner over the rows: (rows, seconds of CPU, resident megabytes) on the way."""

    learner: str
    rows: int
    seconds: float
    cpu_seconds: float
    mistakes: float
    megabytes: float  # at most
    points: tuple[tuple[int, float, float], ...]

    @property
    def rate(self) -> float:
        return self.rows / self.seconds

    @property
    def cpu_rate(self) -> float:
        return self.rows / self.cpu_seconds


def main() -> None:
    """Print both rates and the memory of every learner, and draw them if a figure is asked for."""
    asked = _arguments()
    if asked.child:
        print(json.dumps(_measured(*asked.child, asked.folder, asked.rows)))
        return
    _generate(asked.folder, asked.rows)
    print(machine())
    print(f"{asked.rows:,} rows × {FEATURES} float64 = {spoken_bytes(asked.rows * FEATURES * 8)}")
    passes = []
    for name in LEARNERS:
        memory, shuffled, disk = (
            _run(name, where, asked.folder, asked.rows)
            for where in ("memory", "memory-blocks", "disk")
        )
        passes.append((max(memory, shuffled, key=lambda one: one.cpu_rate), disk))
        share = disk.rate / max(memory.rate, shuffled.rate)
        of_cpu = disk.cpu_rate / max(memory.cpu_rate, shuffled.cpu_rate)
        kept = share >= LEAST_SHARE and disk.megabytes * 1e6 < MOST_BYTES
        print(
            f"  {name:6}{disk.rate / 1e3:8,.0f} k rows/s from the disk; in memory"
            f" {memory.rate / 1e3:,.0f} (permutation), {shuffled.rate / 1e3:,.0f} (blocks):"
            f" {share:.0%} of the faster, {of_cpu:.0%} by CPU time;"
            f" {disk.megabytes:,.0f} MB resident at most;"
            f" {100 * disk.mistakes / disk.rows:.2f} % mistakes, {disk.seconds:,.0f} s"
            f"{'' if kept else '  (target missed)'}",
            flush=True,
        )
    if asked.figure:
        _draw(passes, asked.figure)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_disk_rows")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--folder", type=Path, required=True, help="where the rows are kept")
    parser.add_argument("--figure", type=Path, help="a .png of rate and memory over time")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def _generate(folder: Path, rows: int) -> None:
    """Write the rows of a seed; of the classes one lies around a curved surface."""
    done = folder / "rows.txt"
    if done.is_file() and done.read_text(encoding="ascii") == str(rows):
        return
    folder.mkdir(parents=True, exist_ok=True)
    needed, free = rows * (FEATURES + 1) * 8, shutil.disk_usage(folder).free
    if needed > 0.8 * free:
        raise OkbenchError(f"{folder}: {spoken_bytes(needed)} of rows, {spoken_bytes(free)} free")
    rng = np.random.default_rng(0)
    with (
        NpyWriter(folder / "X.npy", np.float64, FEATURES) as features,
        NpyWriter(folder / "labels.npy", np.int64) as labels,
    ):
        for begin in range(0, rows, _CHUNK):
            count = min(_CHUNK, rows - begin)
            X = rng.standard_normal((count, FEATURES), dtype=np.float32).astype(np.float64)
            score = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * X[:, 3]
            labels.append(np.where(score > 0.0, 1, -1))
            features.append(X)
    done.write_text(str(rows), encoding="ascii")


def _opened(folder: Path, rows: int) -> Dataset:
    X = read_features(folder, FEATURES)
    y = np.load(folder / "labels.npy", mmap_mode="c").view(np.ndarray)
    return Dataset("generated", X[:rows], y[:rows], "binary", (-1, 1), f"generated-{rows}")


def _run(learner: str, where: str, folder: Path, rows: int) -> Pass:
    if where != "disk":
        rows = min(rows, ROWS_IN_MEMORY)
    for path in (folder / "X.npy", folder / "labels.npy"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    command = [sys.executable, "-m", "benchmarks.bench_disk_rows", "--child", learner, where]
    given = ["--folder", str(folder), "--rows", str(rows)]
    done = subprocess.run([*command, *given], stdout=subprocess.PIPE, text=True, check=True)
    return Pass(learner, rows, **json.loads(done.stdout))


def _measured(learner: str, where: str, folder: Path, rows: int) -> dict[str, Any]:
    """One pass, in the process that is measured; a first one over few rows compiles."""
    use_one_thread()
    data = _opened(folder, rows)
    if where != "disk":
        data = replace(data, X=np.array(data.X), y=np.array(data.y))
    order: Any = "seeded" if where == "memory" else "block-shuffled"
    few = replace(data, X=data.X[:5_000], y=data.y[:5_000])
    _pass(learner, few, order, nobody)
    begun_at, cpu, points = time.perf_counter(), time.process_time(), []

    def note(report: Any) -> None:
        if hasattr(report, "upto"):
            points.append((report.upto, time.process_time() - cpu, _resident()))

    total = _pass(learner, data, order, note)
    seconds = time.perf_counter() - begun_at
    cpu = time.process_time() - cpu
    kept = points[:: max(1, len(points) // _SAMPLES)]
    return {"seconds": seconds, "cpu_seconds": cpu, "mistakes": total,
            "megabytes": peak_megabytes(), "points": kept}  # fmt: skip


def _pass(learner: str, data: Dataset, order: Any, tell: Any) -> float:
    settings = LEARNERS[learner]
    cls = find(learner).load()
    trial = Trial(
        data.name, "", data.fingerprint, learner, 0, tuple(sorted(settings.items())),
        "single-pass", "mistake_rate", 0, order,
    )  # fmt: skip
    problem = Problem("binary", FEATURES, data.classes, data.n_rows)
    outcome = walk(trial, data, begun(cls, settings, problem, draws(trial)), Limits(), tell)
    if outcome.status != "done":
        raise OkbenchError(outcome.reason)
    return float(outcome.total or 0)


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _draw(passes: list[tuple[Pass, Pass]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(7, 6), layout="constrained")
    for memory, disk in passes:
        rows, seconds, resident = np.array(disk.points).T
        millions = rows / 1e6
        (line,) = upper.plot(
            millions[1:], np.diff(millions) / np.diff(seconds), label=disk.learner, lw=1
        )
        upper.axhline(memory.cpu_rate / 1e6, color=line.get_color(), ls=":", lw=1)
        lower.plot(millions, resident, color=line.get_color(), label=disk.learner, lw=1)
    upper.set_ylabel("million rows per second of CPU\n(dotted: in memory)")
    upper.set_ylim(bottom=0)
    lower.set_ylabel("resident memory in MB")
    lower.set_ylim(0, 1.5 * max(disk.megabytes for _, disk in passes))
    lower.set_xlabel("million rows learned")
    upper.legend(ncols=4, fontsize="small")
    rows = passes[0][1].rows
    figure.suptitle(f"{rows:,} rows × {FEATURES} read from the disk ({spoken_bytes(rows * 160)})")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
