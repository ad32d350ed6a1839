"""The machine and the versions behind a measurement."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

_PACKAGES = ("okbench", "numpy", "scipy", "numba", "scikit-learn", "joblib")


@cache
def here() -> Mapping[str, Any]:
    """This machine, this Python, these packages. Nothing that changes from minute to minute."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "os": f"{platform.system()} {platform.release()}",
        "arch": platform.machine(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "blas": _blas(),
        "openblas_coretype": os.environ.get("OPENBLAS_CORETYPE", ""),
    }


def hash_of(environment: Mapping[str, Any]) -> str:
    """A short name for an environment record."""
    text = json.dumps(environment, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def machine_line(environment: Mapping[str, Any]) -> str:
    """The line that stands under a table of seconds; what a record lacks is a question mark."""
    packages, blas = (environment.get(name, {}) for name in ("packages", "blas"))
    library = " ".join(filter(None, (blas.get(name) for name in ("name", "version", "core"))))
    threads = blas.get("threads", "?")
    known = {name: environment.get(name, "?") for name in ("cpu", "cores", "memory_gb", "os")}
    return ", ".join(
        [
            f"{known['cpu']}",
            f"{known['cores']} cores",
            f"{known['memory_gb']} GB",
            f"{known['os']}",
            f"Python {environment.get('python', '?')}",
            *(f"{name} {packages.get(name, '?')}" for name in ("numpy", "numba", "okbench")),
            f"{library or 'unknown BLAS'}, {threads} thread{'' if threads == 1 else 's'} per trial",
        ]
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def _memory_gb() -> int:
    import psutil

    return round(psutil.virtual_memory().total / 2**30)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _blas() -> dict[str, Any]:
    """The library behind NumPy's products, and the threads it is kept to."""
    from threadpoolctl import threadpool_info

    from okbench.trials.run.workers import use_one_thread

    use_one_thread()
    pools: list[dict[str, Any]] = threadpool_info()
    blas = [pool for pool in pools if pool["user_api"] == "blas"]
    # SciPy may bring a second one; which of them is listed first changes from run to run.
    found = next((pool for pool in blas if "numpy" in pool["filepath"]), next(iter(blas), {}))
    return {
        "name": found.get("internal_api", "unknown BLAS"),
        "version": found.get("version") or "",
        "core": found.get("architecture", ""),
        "threads": found.get("num_threads", 1),
    }
