"""Timing that a busy machine spoils least: everything in turn, many rounds, medians."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def seconds_of(action: Callable[[], object]) -> float:
    """CPU time of one call: on one thread that is wall time, less what others took the core for."""
    begun = time.process_time()
    action()
    return time.process_time() - begun


def medians(actions: Mapping[Key, Callable[[], object]], rounds: int) -> dict[Key, float]:
    """Median CPU seconds of every action; a round times each once: all meet the same load."""
    for action in actions.values():
        action()  # compiled and in cache before the clock starts
    times: dict[Key, list[float]] = {key: [] for key in actions}
    for _ in range(rounds):
        for key, action in actions.items():
            times[key].append(seconds_of(action))
    return {key: statistics.median(held) for key, held in times.items()}


def machine() -> str:
    """The machine and what decides speed on it, in one line."""
    import numba
    import numpy as np
    from threadpoolctl import threadpool_info

    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        cpu = next(
            (s.partition(":")[2].strip() for s in text.splitlines() if "model name" in s), cpu
        )
    blas = [f"{b['architecture']} × {b['num_threads']}" for b in threadpool_info()
            if b["user_api"] == "blas"]  # fmt: skip
    return (
        f"{cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; Python "
        f"{platform.python_version()}, NumPy {np.__version__} (BLAS {', '.join(blas)} thread), "
        f"Numba {numba.__version__}"
    )


def peak_megabytes() -> float:
    """The most memory this program has held. The system's other figure, of `getrusage`, counts what
    the process that started it held before."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1024
