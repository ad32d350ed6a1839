"""Results files of one table put into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import DataError
from okbench.base.whole_files import write_whole
from okbench.reports.results_paths import read_file, results_files
from okbench.trials.store.files import SCHEMA, Store
from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.store.plans import plan_record
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
    before anything is written.
    """
    by_table: dict[str, list[Path]] = {}
    for place in places:
        for table, path in results_files(place).items():
            by_table.setdefault(table, []).append(path)
    ready = []
    with ExitStack() as held:
        for table, paths in by_table.items():
            target = Store.of(into, table)
            if target.path.is_file():
                held.enter_context(_kept(target))
                paths.insert(0, target.path)
            sources = list(dict.fromkeys(path.resolve() for path in paths))
            together = _together(sources)
            merged = Merged(target.path, table, len(together.measured), len(sources))
            ready.append((merged, together))
        for merged, together in ready:
            write_whole(merged.path, _lines(together))
    return [merged for merged, _ in ready]


@contextmanager
def _kept(target: Store) -> Iterator[None]:
    """Nobody adds to a file while it is replaced: what they added would be lost."""
    if target.read(curves=False).blessed:
        raise DataError(
            f"{target.path} is a baseline; choose another folder, and bless what is new"
        )
    with target.writer({}, ""):
        yield


def _together(paths: Sequence[Path]) -> Contents:
    """One set of contents, an outcome a trial (two where one was timed alone)."""
    whole = Contents()
    for path in paths:
        contents = read_file(path, curves=True)
        whole.measured += contents.measured
        whole.plans += contents.plans
        whole.environments |= contents.environments
    for id_, (first, second) in whole.disputed().items():
        raise DataError(
            f"{', '.join(map(str, paths))}: {id_} ({first.trial.learner} × {first.trial.dataset}, "
            f"r={first.trial.repetition}) has {first.total} and {second.total}; the same trial "
            "cannot have two scores. Nothing was merged"
        )
    whole.measured = list(whole.each())
    return whole


def _lines(contents: Contents) -> bytes:
    lines = [to_bytes({"okbench": "results", "schema": SCHEMA})]
    lines += [
        to_bytes({"environment": record, "hash": hash_})
        for hash_, record in contents.environments.items()
    ]
    lines += [to_bytes({"plan": plan_record(plan)}) for plan in contents.distinct_plans()]
    lines += [to_bytes({"outcome": outcome_record(outcome)}) for outcome in contents.measured]
    return b"".join(lines)
