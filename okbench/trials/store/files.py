"""What was measured, kept: one file of JSON lines a table, added to and never rewritten.

    {"okbench":"results","schema":2}
    {"environment":{...},"hash":"..."}      once for each machine and set of versions
    {"plan":{...}}                          one per cell, written before its first trial is run
    {"outcome":{...}}                       one per trial, written as the trial ends

Lines of two such files may be put into one. A baseline says more in its header: why it was blessed.
Files of schema 1 have no plans; a second header stands before the first plan that is added to one.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Any

from okbench.base.errors import StoreError
from okbench.base.locks import try_lock
from okbench.papers.table_names import file_of
from okbench.trials.store.outcome_json import outcome_of, outcome_record, to_bytes, without_curve
from okbench.trials.store.plans import CellPlan, plan_of, plan_record
from okbench.trials.store.results_file import Contents
from okbench.trials.trial_types import Outcome

SCHEMA = 2
_HEADERS = [to_bytes({"okbench": "results", "schema": schema}) for schema in (1, SCHEMA)]
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

    def outcomes(self, timed: bool | None = None) -> dict[str, Outcome]:
        """What came of each trial, by id; none when the file is not there yet."""
        return self.read().standing(timed)

    def environments(self) -> dict[str, dict[str, Any]]:
        """The machines and versions behind the outcomes, by hash."""
        return self.read().environments

    def blessed(self) -> Mapping[str, Any]:
        """What the first header says of a baseline; nothing is read beyond it."""
        contents = Contents()
        with _explained(self.path, "read"), self.path.open("rb") as file:
            line = file.readline()
        if line.endswith(b"\n"):
            self._take(contents, line, 1)
        return contents.blessed

    @contextmanager
    def writer(self, environment: Mapping[str, Any], hash_: str) -> Iterator[Writer]:
        """Add outcomes measured in this environment; one writer at a time."""
        with _explained(self.path, "open"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _check_file(self.path)
            file = FileIO(self.path, "a+")
        with file:
            with _explained(self.path, "lock"):
                _lock(file, self.path)
            yield Writer(file, self.path, self.read(curves=False), dict(environment), hash_)

    def read(self, curves: bool = True) -> Contents:
        """All the file holds, nothing when it is not there. Reading it without the curves takes
        half the time; then every curve is empty.
        """
        if not os.path.lexists(self.path):
            return Contents()
        with _explained(self.path, "read"):
            _check_file(self.path)
            data = self.path.read_bytes()
        *lines, rest = data.split(b"\n")
        if not lines and not any(header.startswith(rest) for header in _HEADERS):
            raise _not_results(self.path)
        contents = Contents(end=len(data) - len(rest), torn=bool(rest))
        for number, line in enumerate(lines, start=1):
            self._take(contents, line if curves else without_curve(line), number)
        return contents

    def _take(self, contents: Contents, line: bytes, number: int) -> None:
        """Add what a line says to the contents."""
        try:
            record = json.loads(line.decode("utf-8"))
            if number == 1 or "okbench" in record:
                self._check_header(record)
                contents.blessed = record.get("blessed", contents.blessed)
                contents.schema = max(contents.schema, int(record["schema"]))
            elif "environment" in record:
                contents.environments[record["hash"]] = dict(record["environment"])
            elif "plan" in record:
                contents.plans.append(plan_of(record["plan"]))
            else:
                contents.measured.append(outcome_of(record["outcome"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            if number == 1:
                raise _not_results(self.path) from error
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise StoreError(
                f"{self.path}:{number}: a damaged line ({what}); nothing was changed. "
                "Repair or delete the line, or choose another folder with --results"
            ) from error

    def _check_header(self, record: Mapping[str, Any]) -> None:
        if record["okbench"] != "results":
            raise ValueError("not a results header")
        if int(record["schema"]) > SCHEMA:
            raise StoreError(
                f"{self.path}: written by a newer okbench (schema {record['schema']}; this one "
                f"reads up to {SCHEMA}); nothing was changed. Upgrade okbench"
            )


class Writer:
    """Adds lines to a results file, each safe on disk before the next trial is waited for.

    `contents` is what the file held when it was opened, without the curves.
    """

    def __init__(
        self,
        file: FileIO,
        path: Path,
        contents: Contents,
        environment: dict[str, Any],
        hash_: str,
    ) -> None:
        self.contents = contents
        self._file, self._path, self._size = file, path, contents.end
        self._schema = contents.schema
        self._plans = {plan.slot: _plan_line(plan) for plan in contents.plans}
        self._environment, self._hash = environment, hash_
        self._introduced = hash_ in contents.environments
        self.recovered = ""
        if contents.torn:
            with _explained(path, "write"):
                file.truncate(contents.end)
            self.recovered = (
                f"{path}: the last line was cut short by a run that was killed; dropped"
            )

    def plan(self, plans: Iterable[CellPlan]) -> None:
        """Write the plans of cells, except those that are already the last of their slot."""
        lines = {plan.slot: _plan_line(plan) for plan in plans}
        new = {slot: line for slot, line in lines.items() if self._plans.get(slot) != line}
        if not new:
            return
        header = b"" if self._schema == SCHEMA else _HEADERS[-1]
        self._append(header + b"".join(new.values()))
        self._schema = SCHEMA
        self._plans |= new

    def add(self, outcome: Outcome) -> Outcome:
        """Write an outcome; it is given back with the environment it was measured in."""
        outcome = replace(outcome, environment=self._hash)
        line = to_bytes({"outcome": outcome_record(outcome)})
        if not self._introduced:
            line = to_bytes({"environment": self._environment, "hash": self._hash}) + line
        if not self._size:
            line = _HEADERS[-1] + line
        self._append(line)
        self._schema = self._schema or SCHEMA
        self._introduced = True
        return outcome

    def _append(self, line: bytes) -> None:
        """All of these lines or nothing of them."""
        with _explained(self._path, "write"):
            try:
                written = 0
                while written < len(line):
                    written += self._file.write(line[written:]) or 0
                os.fsync(self._file)
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._size)
                raise
        self._size += len(line)


def _plan_line(plan: CellPlan) -> bytes:
    return to_bytes({"plan": plan_record(plan)})


@contextmanager
def _explained(path: Path, verb: str) -> Iterator[None]:
    """Turn a refusal of the system into a message."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "see --results")
        kept = " Everything written before is kept." if verb == "write" else ""
        raise StoreError(
            f"{path}: cannot {verb} the results: {error.strerror or error}.{kept} "
            f"To go on: {advice}"
        ) from error


def _lock(file: FileIO, path: Path) -> None:
    if not try_lock(file.fileno()):
        raise StoreError(
            f"{path}: another okbench run is writing here; wait for it, or choose "
            "another folder with --results"
        )


def _check_file(path: Path) -> None:
    """A folder or a device in the place of a results file is never read nor written."""
    if path.exists() and not path.is_file():
        raise StoreError(f"{path}: not a file; choose another folder with --results")


def _not_results(path: Path) -> StoreError:
    return StoreError(
        f"{path}:1: not a file of okbench results; nothing was changed. Move it away, or choose "
        "another folder with --results"
    )
