"""python -m tests.chaos: every part in turn, then a table; exit code 1 if anything was found."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.chaos import full_disk, fuzz, interleavings, kills, world
from tests.chaos.findings import Tally, report

FINDINGS = Path(".chaos").absolute()
PARTS = ("kills", "interleavings", "disk", "inputs")
_JOBS = os.cpu_count() or 1
_SLICE = {"kills": 6, "interleavings": 3, "disk": 3}
_WHOLE = {"kills": 200, "interleavings": 50, "disk": 30}
_SLICE_MINUTES = 0.1  # of mutated inputs


def main() -> int:
    given = _arguments()
    # what the table names is the harness's own; BLAS on one thread, so that processes can be copied
    os.environ["OKBENCH_ALLOW_LEARNERS"] = world.OWN.partition(":")[0]
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    # of the semaphores of killed runs, which no one else could remove
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"
    if given.case:
        return _repeated(given.case, given.seed)
    counts = _SLICE if given.slice else _WHOLE
    began, tallies = time.monotonic(), [Tally(part) for part in given.parts.split(",")]
    folder = Path(tempfile.mkdtemp(prefix="okbench-chaos-")).resolve()
    folder.chmod(0o755)  # a command that runs as nobody works here too
    try:
        disturbed = [tally for tally in tallies if tally.part != "inputs"]
        if disturbed:
            made = world.made(folder)
        for tally in disturbed:
            start = time.monotonic()
            _DISTURB[tally.part](made, tally, given.seed, counts[tally.part], _JOBS)
            tally.note = f"{time.monotonic() - start:.0f} s"
            found = (
                f"{tally.recovered:,} of {tally.tried:,} recovered, {len(tally.findings)} findings"
            )
            print(f"  {tally.part}: {found}, {tally.note}", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    left = 60 * given.minutes - (time.monotonic() - began)
    seconds = 60 * _SLICE_MINUTES if given.slice else max(left, 20 * given.minutes)
    for tally in tallies:
        if tally.part == "inputs":
            fuzz.fuzz(tally, given.seed, given.inputs, seconds, _JOBS, FINDINGS)
    return 0 if report(tallies, given.seed, FINDINGS) else 1


_DISTURB: dict[str, Callable[[world.World, Tally, int, int, int], None]] = {
    "kills": kills.kills,
    "interleavings": interleavings.interleavings,
    "disk": full_disk.full_disks,
}
_CASES = {
    "kills": kills.one_case,
    "interleavings": interleavings.one_case,
    "disk": full_disk.one_case,
}


def _repeated(case: str, seed: int) -> int:
    """Do one case again; for an input, print what comes of it."""
    part, _, name = case.partition(":")
    if part == "inputs":
        name, _, number = name.rpartition(":")
        FINDINGS.mkdir(exist_ok=True)
        return 0 if fuzz.one_input(seed, name, int(number), FINDINGS) else 1
    tally = Tally(part)
    with tempfile.TemporaryDirectory(prefix="okbench-chaos-") as folder:
        Path(folder).chmod(0o755)
        _CASES[part](world.made(Path(folder).resolve()), tally, seed, int(name))
    return 0 if report([tally], seed, FINDINGS) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5, help="time for all parts [5]")
    parser.add_argument(
        "--seed", type=int, default=0, help="all that is random follows from it [0]"
    )
    parser.add_argument("--slice", action="store_true", help="a few cases of each part")
    parser.add_argument("--inputs", type=int, default=10**6, help="mutated inputs at most [10^6]")
    parser.add_argument("--parts", default=",".join(PARTS), help="some of them, by commas")
    parser.add_argument("--case", help="repeat one case: kills:3, inputs:csv:1234")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
