"""Measure, print, and write what was measured.

python -m benchmarks [--quick] [--only PART …] [--out DIR]
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from tabulate import tabulate

from benchmarks import (
    bench_batch,
    bench_bkm,
    bench_bookkeeping,
    bench_isolation,
    bench_learners,
    bench_memory,
    bench_readers,
    bench_reports,
    bench_site,
    growth,
    limits,
)
from benchmarks.bench_learners import TARGETS, Speed
from benchmarks.clock import machine
from benchmarks.growth import Growth
from benchmarks.streams import SHAPES, SHARED, stream

PARTS: dict[str, Callable[[bool], object]] = {
    "batch": bench_batch.main,
    "isolation": bench_isolation.main,
    "bkm": bench_bkm.main,
    "memory": bench_memory.main,
    "reports": bench_reports.main,
    "site": bench_site.main,
    "bookkeeping": bench_bookkeeping.main,
    "readers": lambda quick: _readers(),
}


def main() -> None:
    asked = _arguments()
    print(f"{machine()}; CPU time on one thread\n")
    if "learners" in asked.only:
        _learners(asked)
    for name, measure in PARTS.items():
        if name in asked.only:
            measure(asked.quick)


def _arguments() -> argparse.Namespace:
    names = ("learners", *PARTS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="only these parts")
    parser.add_argument("--out", type=Path, help="a folder for speeds.json and growth.png")
    asked = parser.parse_args()
    if asked.out and "learners" not in asked.only:
        parser.error("--out writes what is measured of learners, and --only leaves them out")
    return asked


def _learners(asked: argparse.Namespace) -> None:
    """The speed of online learners, and how it changes with the size of the problem."""
    rounds = 3 if asked.quick else 9
    found = limits.measure(rounds)
    print(f"this core: {found}\n")
    speeds = bench_learners.measure(tuple(SHAPES), rounds, asked.quick, found)
    for name in SHAPES:
        print(f"{name} ({stream(name).source} rows, {stream(name).filled:.0f} values each)")
        print(_speed_table([speed for speed in speeds if speed.dataset == name]), "\n")
    growths = growth.measure(rounds, asked.quick)
    print(_growth_table(growths), "\n")
    if asked.out:
        _write(asked.out, found, speeds, growths)


def _readers() -> None:
    mirror = SHARED / "data"
    if mirror.is_dir():
        bench_readers.main(mirror, bench_readers.NAMES)
    else:
        print(f"the readers were not measured: {mirror} is not here")


def _speed_table(speeds: list[Speed]) -> str:
    """The rows of one set; a share that misses its target is marked with <."""
    lines = []
    for speed in speeds:
        sparse = not isinstance(stream(speed.dataset).X, np.ndarray)
        times, *shares = TARGETS[speed.learner]
        lines.append(
            [
                speed.learner,
                f"{speed.rows:,}",
                f"{speed.rate / 1e3:,.0f}",
                _against(speed.rate, speed.plain, times, "×"),
                _against(100 * speed.rate, speed.bound, _percent(shares[sparse]), "%"),
                "" if speed.pair_ns is None else f"{speed.pair_ns:.2f}",
                "; ".join(
                    f"{speed.rate / other:,.1f}× {name}" for name, other in speed.others.items()
                ),
            ]
        )
    heads = ["learner", "rows", "k rows/s", "plain loop", "of its bound", "ns a pair", "others"]
    return tabulate(lines, heads, disable_numparse=True)


def _against(rate: float, other: float | None, target: float | None, sign: str) -> str:
    if other is None:
        return ""
    share = rate / other
    aim = "" if target is None else f" (aim {target:.0f})"
    return f"{'<' if target is not None and share < target else ''}{share:.0f} {sign}{aim}"


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _growth_table(growths: list[Growth]) -> str:
    lines = [
        [
            each.learner,
            each.size,
            f"{each.exponent:.2f}",
            ", ".join(
                f"{size:,}: {1e3 * seconds:.0f} ms"
                for size, seconds in zip(each.sizes, each.seconds, strict=True)
            ),
        ]
        for each in growths
    ]
    return tabulate(lines, ["learner", "time against", "exponent", ""], disable_numparse=True)


def _write(folder: Path, found: limits.Limits, speeds: list[Speed], growths: list[Growth]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    held = {
        "machine": machine(),
        "limits": asdict(found),
        "speeds": [asdict(speed) for speed in speeds],
        "growth": [{**asdict(each), "exponent": each.exponent} for each in growths],
    }
    (folder / "speeds.json").write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    growth.plot(growths, folder / "growth.png")


if __name__ == "__main__":
    main()
