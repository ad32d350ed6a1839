"""The trials of the lines of a results file. Those of one cell differ in their repetition alone, so
what they have in common is read and checked once: it is more than half of every line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from okbench.trials.store.outcome_json import trial_of
from okbench.trials.trial_types import Family, Trial

_OUTCOME = b'{"outcome":{'
_ID = _OUTCOME + b'"id":"'
_TRIAL = b'","trial":'
_NEXT = b'},"status":"'  # cannot be in a text, where a quote has a backslash before it
_REPETITION = b',"repetition":'
_ID_END = len(_ID) + 16
_BEGIN = _ID_END + len(_TRIAL)


class TrialsOfLines:
    """Takes the trial out of a line that is written as okbench writes it.

    With `shared`, a trial that was met before is the same object, so that two files that are
    compared hold each trial once.
    """

    def __init__(self, shared: bool = False) -> None:
        self._cells: dict[tuple[bytes, bytes], Callable[[int], Trial] | None] = {}
        self._shared: dict[Family, _Shared] | None = {} if shared else None

    @classmethod
    def sharing(cls, trials: Iterable[Trial]) -> TrialsOfLines:
        """One that has met these trials, as those that a run has planned."""
        made = cls(shared=True)
        for trial in trials:
            made._met(trial.family)[trial.repetition] = trial
        return made

    def taken_from(self, line: bytes) -> tuple[Trial | None, bytes]:
        """The trial of an outcome, and the line without it and its id. A line of another form, and
        one whose id is not that of its trial, is given back whole for a complete check.
        """
        end = line.find(_NEXT, _BEGIN)
        if end < 0 or not line.startswith(_ID) or line[_ID_END:_BEGIN] != _TRIAL:
            return None, line
        trial = self._trial_of(line, end)
        if trial is None or trial.id.encode() != line[len(_ID) : _ID_END]:
            return None, line
        return trial, _OUTCOME + line[end + len(b"},") :]

    def _trial_of(self, line: bytes, end: int) -> Trial | None:
        """The trial that is written up to this place, as a repetition of one that was checked."""
        place = line.find(_REPETITION, _BEGIN, end)
        first = place + len(_REPETITION)
        comma = line.find(b",", first, end)
        digits = line[first:comma]
        if not (
            0 <= place < comma and digits.isdigit() and (digits[0] != b"0"[0] or len(digits) == 1)
        ):
            return None
        alike = line[_BEGIN:place], line[comma:end]
        try:
            repetition = self._cells[alike]
        except KeyError:
            checked = _checked(line[_BEGIN : end + 1])
            repetition = None if checked is None else self._repetitions(checked.family)
            self._cells[alike] = repetition
        return None if repetition is None else repetition(int(digits))

    def _repetitions(self, family: Family) -> Callable[[int], Trial]:
        """What gives the trials that differ in their repetition alone."""
        return family.repetition if self._shared is None else self._met(family).__getitem__

    def _met(self, family: Family) -> _Shared:
        assert self._shared is not None
        if family not in self._shared:
            self._shared[family] = _Shared(family)
        return self._shared[family]


class _Shared(dict[int, Trial]):
    """Trials of a family by their repetition, each made when it is first asked for."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def __missing__(self, repetition: int) -> Trial:
        made = self[repetition] = self._family.repetition(repetition)
        return made


def _checked(text: bytes) -> Trial | None:
    """The trial that is written so, None if it is not certain that others are read alike."""
    if b"\\" in text or text.count(b'"repetition"') > 1:
        return None
    try:
        return trial_of(json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
