"""okbench doctor: check the machine and the installation."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from okbench.base.errors import OkbenchError

Finding = tuple[bool, str]
GIGABYTE = 2**30
EPILOG = """\b
Examples:
  okbench doctor
"""


@click.command(epilog=EPILOG)
def doctor() -> None:
    """Check this machine, the packages, the tables, the folders and the prepared rows, and report
    every problem.

    The exit code is 1 if something needs attention.
    """
    findings = [_checked(check) for check in CHECKS.values()]
    width = max(map(len, CHECKS))
    for name, (well, what) in zip(CHECKS, findings, strict=True):
        click.echo(f"{'ok' if well else 'BAD':<4} {name:<{width}}  {what}")
    bad = sum(not well for well, _ in findings)
    if bad:
        raise OkbenchError(f"{bad} of {len(findings)} checks need{'s' * (bad == 1)} attention")


def _checked(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


def _machine() -> Finding:
    from okbench.trials.run.environment import here, machine_line

    return True, machine_line(here())


def _threads() -> Finding:
    from okbench.trials.run.environment import here

    threads = here()["blas"]["threads"]
    return threads == 1, f"linear algebra runs on {threads} thread(s); trials need 1"


def _load() -> Finding:
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    found = f"{busy:.1f} of {cores} cores are busy"
    return busy < cores, found if busy < cores else f"{found}: seconds measured now mean little"


def _compiler() -> Finding:
    import numba

    import okbench
    from okbench.base.jit import cache_folder

    place = cache_folder(Path(okbench.__path__[0]))
    kept = _writable(place)
    advice = "" if kept else ", which cannot be written: set NUMBA_CACHE_DIR to a folder that can"
    return kept, f"numba {numba.__version__}, cache in {place}{advice}"


def _tables() -> Finding:
    from okbench.papers.table_catalogue import find, names

    cards = names()
    for card in cards:
        find(card.name)
    return bool(cards), f"{len(cards)} tables can be read"


def _learners() -> Finding:
    from okbench.learners.registry import catalogue

    for entry in catalogue().values():
        entry.load()
    return bool(catalogue()), f"{len(catalogue())} learners can be loaded"


def _data() -> Finding:
    from okbench.datasets.data_folder import data_folder

    folder = data_folder()
    free = shutil.disk_usage(_existing(folder)).free
    well = _writable(folder)
    return well, f"{folder}, {free / GIGABYTE:.0f} GB free" + (
        "" if well else ", which cannot be written"
    )


def _rows() -> Finding:
    from tqdm import tqdm

    from okbench.base.quantities import spoken_bytes
    from okbench.datasets.prepare.prepared_files import check_kept

    bar = tqdm(check_kept(), desc="prepared rows", delay=1.0, disable=None, leave=False)
    found = [(size, damage) for _, size, damage in bar]
    if damages := [damage for _, damage in found if damage]:
        first = f"{len(damages)} of {len(found)} folders of prepared rows are damaged: {damages[0]}"
        return False, f"{first}; the rows are prepared again when they are next used"
    size = spoken_bytes(sum(size for size, _ in found))
    return True, f"{len(found)} folders of prepared rows ({size}) have their checksums"


def _results() -> Finding:
    folder = Path("runs")
    well = _writable(folder)
    return well, f"{folder.absolute()}" + (
        "" if well else ", which cannot be written: use --results"
    )


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _writable(folder: Path) -> bool:
    """Whether files can be written there, or in the nearest folder above it that exists."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder.absolute())):
            return True
    except OSError:
        return False


CHECKS: dict[str, Callable[[], Finding]] = {
    "machine": _machine,
    "threads": _threads,
    "load": _load,
    "compiler": _compiler,
    "tables": _tables,
    "learners": _learners,
    "data": _data,
    "rows": _rows,
    "results": _results,
}
