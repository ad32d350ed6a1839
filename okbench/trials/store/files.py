"""What was measured, kept: one file of JSON lines per table, added to and never rewritten by runs.

    {"okbench":"results","schema":3,"crc":"…"}
    {"environment":{...},"hash":"...","crc":"…"}   once for each machine and set of versions
    {"plan":{...},"crc":"…"}                       one per cell, before its first trial is run
    {"outcome":{...},"crc":"…"}                    one per trial, written as the trial ends

Lines of two such files may be put into one. The header of a baseline also says why it was accepted.
Files of schema 1 have no plans, those of schema 1 and 2 no checksums; a header of today's schema
stands before the first line that is added to one. Whoever writes holds the lock of a second file,
`table5.jsonl.lock`, from before the first look at the results until the last line is written.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from okbench.base.errors import StoreError
from okbench.base.locks import try_lock
from okbench.base.whole_files import make_folder, remove_leftovers, replacing, sync_folder
from okbench.papers.table_names import file_of
from okbench.trials.store.lines import (
    SCHEMA,
    environment_line,
    header_line,
    outcome_line,
    plan_line,
)
from okbench.trials.store.outcome_json import presentable
from okbench.trials.store.plans import CellPlan
from okbench.trials.store.read_lines import blessed_of, check_readable, contents_of
from okbench.trials.store.results_file import Contents
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Outcome

_ADVICE = {
    errno.ENOSPC: "free some space and run again",
    errno.EDQUOT: "free some space and run again",
    errno.EROFS: "choose another folder with --results",
    errno.EACCES: "choose another folder with --results",
}


class Store:
    """The results file of one table."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, results: Path, table: str) -> Store:
        """The store of a table, `lsokl/table5`, in a results folder."""
        return cls(file_of(results, table, ".jsonl"))

    def outcomes(self, timed: bool | None = None) -> Mapping[str, Outcome]:
        """What came of each trial, by id; none when the file is not there yet."""
        return self.read().standing(timed)

    def environments(self) -> dict[str, dict[str, Any]]:
        """The machines and versions behind the outcomes, by hash."""
        return self.read().environments

    def blessed(self) -> Mapping[str, Any]:
        """What the first header says of a baseline; nothing is read beyond it."""
        with _explained(self.path, "read"), self.path.open("rb") as file:
            line = file.readline()
        return blessed_of(self.path, line)

    def read(self, curves: bool = True, trials: TrialsOfLines | None = None) -> Contents:
        """All the file holds, nothing when it is not there. Reading it without the curves takes
        half the time; then every curve is empty. Files that are read with the same `trials` share
        those that they both have.
        """
        if not os.path.lexists(self.path):
            return Contents()
        with _explained(self.path, "read"):
            _check_file(self.path)
            with self.path.open("rb") as file:
                return contents_of(self.path, file, curves, trials)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes this file meanwhile; a StoreError if somebody does."""
        with ExitStack() as held:
            with _explained(self.path, "open"):
                real = self._real_path
                make_folder(real.parent)
                _check_file(self.path)
                file = held.enter_context(real.with_name(f"{real.name}.lock").open("ab"))
            with _explained(self.path, "lock"):
                is_ours = try_lock(file.fileno())
            if not is_ours:
                raise StoreError(
                    f"{self.path}: another okbench run is writing here; wait for it, or choose "
                    "another folder with --results"
                )
            remove_leftovers(real)
            yield

    @contextmanager
    def writer(
        self, environment: Mapping[str, Any], hash_: str, trials: TrialsOfLines | None = None
    ) -> Iterator[Writer]:
        """Add outcomes measured in this environment; one writer at a time. A baseline is never
        added to. What is stored already is read with `trials`, see `read`."""
        with self.locked():
            with _explained(self.path, "open"):
                file = self._real_path.open("ab", buffering=0)
            with file:
                with _explained(self.path, "open"):
                    sync_folder(self._real_path.parent)
                contents = self.read(curves=False, trials=trials)
                if contents.blessed:
                    raise StoreError(
                        f"{self.path}: a baseline, to which no outcomes are added; nothing was "
                        "changed. Choose another folder with --results, and make its outcomes "
                        "the baseline with okbench bless"
                    )
                yield Writer(file, self.path, contents, dict(environment), hash_)

    def replace(self, lines: Iterable[bytes]) -> None:
        """Write the file anew, whole, while it is locked; of a link, the file that it leads to."""
        before = _identity(self.path)
        try:
            with replacing(self._real_path) as file:
                file.write(b"".join(lines))
        except OSError as error:
            kept = (
                "What was there before is kept"
                if _identity(self.path) == before
                else "The new results are in place, but a power cut may undo it"
            )
            raise _refusal(self.path, "write", error, kept) from error

    @property
    def _real_path(self) -> Path:
        """The file itself where the path is a link, so that all its names have one lock."""
        return Path(os.path.realpath(self.path))


class Writer:
    """Adds lines to a results file, each safe on disk before the next trial is waited for.

    `contents` is what the file held when it was opened, without the curves.
    """

    def __init__(
        self,
        file: BinaryIO,
        path: Path,
        contents: Contents,
        environment: dict[str, Any],
        hash_: str,
    ) -> None:
        self.contents = contents
        self._file, self._path, self._size = file, path, contents.end
        self._schema = contents.schema
        self._plans = {plan.slot: plan_line(plan) for plan in contents.plans}
        self._environment, self._hash = environment, hash_
        self._introduced = set(contents.environments)
        self._is_torn = contents.torn
        self.recovered = ""
        if contents.torn:
            with _explained(path, "write"):
                self._drop_rest()
            self.recovered = (
                f"{path}: the last line was cut short by a run that was killed; dropped"
            )

    def plan(self, plans: Iterable[CellPlan]) -> None:
        """Write the plans of cells, except those that are already the last of their slot."""
        lines = {plan.slot: plan_line(plan) for plan in plans}
        new = {slot: line for slot, line in lines.items() if self._plans.get(slot) != line}
        if not new:
            return
        self._append(b"".join(new.values()))
        self._plans |= new

    def add(self, outcome: Outcome) -> Outcome:
        """Write an outcome; it is given back as it was written: with the environment it was
        measured in, and with messages that can be printed."""
        return self.add_all([outcome])[0]

    def add_all(
        self,
        outcomes: Iterable[Outcome],
        environments: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> list[Outcome]:
        """Write outcomes that arrived together, forced to the disk once. `environments` are those
        of outcomes that were measured elsewhere and say so by its hash; all others were measured
        in the environment of the writer."""
        records = {**environments, self._hash: self._environment}
        named = (
            (o, o.environment if o.environment in environments else self._hash) for o in outcomes
        )
        added = [presentable(replace(o, environment=hash_)) for o, hash_ in named]
        new = dict.fromkeys(o.environment for o in added if o.environment not in self._introduced)
        lines = [environment_line(hash_, records[hash_]) for hash_ in new]
        for outcome in added:
            lines.append(outcome_line(outcome))
            check_readable(self._path, lines[-1])
        if lines:
            self._append(b"".join(lines))
        self._introduced |= new.keys()
        return added

    def _append(self, line: bytes) -> None:
        """All of these lines or nothing of them."""
        if self._schema != SCHEMA:
            line = header_line() + line
        with _explained(self._path, "write"):
            if self._is_torn:
                self._drop_rest()
            self._check_unchanged()
            try:
                self._is_torn = True
                written = 0
                while written < len(line):
                    written += self._file.write(line[written:]) or 0
                os.fsync(self._file.fileno())
            except OSError:
                with suppress(OSError):
                    self._drop_rest()
                raise
        self._is_torn, self._schema = False, SCHEMA
        self._size += len(line)

    def _drop_rest(self) -> None:
        """Cut off what follows the whole lines."""
        self._file.truncate(self._size)
        self._is_torn = False

    def _check_unchanged(self) -> None:
        """What another program puts in the place of the file, or adds to it, is left alone."""
        mine = os.fstat(self._file.fileno())
        if _identity(self._path) == (mine.st_dev, mine.st_ino) and mine.st_size == self._size:
            return
        raise StoreError(
            f"{self._path}: another program has replaced, removed or changed the results while "
            "okbench was writing them; the rest is not written. Run again to go on"
        )


@contextmanager
def _explained(path: Path, verb: str) -> Iterator[None]:
    """Turn a refusal of the system into a message."""
    try:
        yield
    except OSError as error:
        kept = "Everything written before is kept" if verb == "write" else "Nothing was changed"
        raise _refusal(path, verb, error, kept) from error


def _refusal(path: Path, verb: str, error: OSError, kept: str) -> StoreError:
    advice = _ADVICE.get(error.errno or 0, "see --results")
    return StoreError(
        f"{path}: cannot {verb} the results: {error.strerror or error}. {kept}. To go on: {advice}"
    )


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file has this name, if any."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _check_file(path: Path) -> None:
    """A folder or a device in the place of a results file is never read nor written."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: not a file; choose another folder with --results")
