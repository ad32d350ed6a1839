"""Results files of one table put into one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import DataError
from okbench.reports.results_paths import read_file, results_files
from okbench.trials.store.files import Store
from okbench.trials.store.lines import environment_line, header_line, outcome_line, plan_line
from okbench.trials.store.results_file import Contents


@dataclass(frozen=True)
class Merged:
    """A file that was written: its table, its outcomes, and how many files they came from."""

    path: Path
    table: str
    outcomes: int
    files: int


def merge(places: Sequence[Path], into: Path) -> list[Merged]:
    """Put the results at these places together, table by table, in a folder.

    What lies there already is kept. Files in which the same trial has different scores are refused
    before anything is written. The files of the folder are locked from before they are read until
    all are written; the files at `places` are only read, and outcomes that are added to them
    meanwhile may be left out.
    """
    by_table: dict[str, list[Path]] = {}
    for place in places:
        for table, path in results_files(place).items():
            by_table.setdefault(table, []).append(path)
    ready, merged = [], []
    with ExitStack() as held:
        for table, paths in by_table.items():
            target = Store.of(into, table)
            there = target.path.resolve()
            sources = dict.fromkeys(path.resolve() for path in paths if path.resolve() != there)
            found = {path: read_file(path, curves=True) for path in sources}
            _together(found)  # refused before a folder is made for them
            held.enter_context(target.locked())
            found = _kept(target) | found
            together = _together(found)
            ready.append((target, together))
            merged.append(Merged(target.path, table, len(together.measured), len(found)))
        for target, together in ready:
            target.replace(_lines(together))
    return merged


def _kept(target: Store) -> dict[Path, Contents]:
    """What lies there already, none of which may be lost."""
    if not target.path.exists():
        return {}
    contents = target.read()
    if contents.blessed:
        raise DataError(
            f"{target.path} is a baseline; choose another folder, and bless what is new"
        )
    return {target.path: contents}


def _together(found: Mapping[Path, Contents]) -> Contents:
    """One set of contents, an outcome per trial (two where one was timed alone)."""
    whole = Contents()
    for contents in found.values():
        whole.measured += contents.measured
        whole.plans += contents.plans
        whole.environments |= contents.environments
    for id_, (first, second) in whole.disputed().items():
        raise DataError(
            f"{', '.join(map(str, found))}: {id_} ({first.trial.learner} × {first.trial.dataset}, "
            f"r={first.trial.repetition}) has {first.total} and {second.total}; the same trial "
            "cannot have two scores. Nothing was merged"
        )
    whole.measured = list(whole.each())
    return whole


def _lines(contents: Contents) -> Iterator[bytes]:
    yield header_line()
    for hash_, record in contents.environments.items():
        yield environment_line(hash_, record)
    yield from map(plan_line, contents.distinct_plans())
    yield from map(outcome_line, contents.measured)
