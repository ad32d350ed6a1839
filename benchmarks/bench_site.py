"""How long it takes to make pages of 20,000 outcomes with curves.

Done by a process of its own, imports included, whose CPU seconds and peak memory are printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bench_reports import MEGABYTES, large_table, write_outcomes
from benchmarks.clock import peak_megabytes

WITHIN = 10.0


def main(quick: bool) -> None:
    """Print seconds and peak memory of the site of 20,000 outcomes (2,000 when quick)."""
    runs = 10 if quick else 100
    with tempfile.TemporaryDirectory() as folder:
        count = write_outcomes(large_table(runs), Path(folder) / "runs")
        command = [sys.executable, "-m", __spec__.name, folder, str(runs)]
        told = [json.loads(subprocess.check_output(command)) for _ in range(3)]
    seconds, peak = min(each[0] for each in told), max(each[1] for each in told)
    print(f"{count} outcomes as pages, {told[0][2]:.0f} MB with the outcomes")
    print(f"  site    {seconds:5.2f} s (aim {WITHIN:g} s)   {peak:4.0f} MB (aim {MEGABYTES})")


def _worker(folder: str, runs: str) -> None:
    begun = time.process_time()
    from okbench.reports.site.build import build

    site = build(Path(folder) / "runs", Path(folder) / "site", [large_table(int(runs))])
    seconds = time.process_time() - begun
    peak = peak_megabytes()
    print(json.dumps([seconds, peak, site.bytes / 1e6]))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        _worker(*sys.argv[1:])
    else:
        main(quick="--quick" in sys.argv)
