"""Compare what came of a run with what its record expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import ConfigError
from okbench.trials.replay.record import Expected, Tolerance
from okbench.trials.replay.replaying import Replayed


def differences(replayed: Replayed) -> list[str]:
    """Where a run differs from what is expected, in words, the earliest place first; [] if nowhere.

    Of a list (scores, removals, a curve) only the first place that differs is given.
    """
    expected = replayed.record.expected
    if expected is None:
        return []
    tolerance = replayed.record.tolerance
    return [*_in_lists(replayed, expected, tolerance), *_in_figures(replayed, expected, tolerance)]


def _in_lists(replayed: Replayed, expected: Expected, tolerance: Tolerance) -> Iterator[str]:
    record = replayed.record
    after = [f"after row {tick - 1}" for tick in record.ticks]
    if expected.scores is not None:
        scores = _had(replayed, replayed.scores, "scores")
        rows = [f"of row {place} (row {row} of the data)" for place, row in enumerate(record.order)]
        yield from _first("score", rows, scores, expected.scores, tolerance.scores)
    if expected.removal_slots is not None:
        slots = _had(replayed, replayed.removal_slots, "removal_slots")
        removals = [f"of removal {place}" for place in range(len(slots))]
        yield from _first("slot", removals, slots, expected.removal_slots, 0)
    if expected.curve is not None:
        bound = (
            tolerance.loss * np.abs(expected.curve) if replayed.is_regression else tolerance.counts
        )
        total = "summed loss" if replayed.is_regression else "mistakes"
        yield from _first(total, after, np.array(replayed.curve), expected.curve, bound)
    if expected.support_curve is not None:
        supports = None if None in replayed.supports else replayed.supports
        found = np.array(_had(replayed, supports, "support_curve"))
        yield from _first("support", after, found, expected.support_curve, tolerance.counts)


def _in_figures(replayed: Replayed, expected: Expected, tolerance: Tolerance) -> Iterator[str]:
    for name, found in (
        ("mistakes", replayed.total),
        ("support_size", replayed.support_size),
        ("updates", replayed.updates),
    ):
        wanted = getattr(expected, name)
        if wanted is not None and abs(_had(replayed, found, name) - wanted) > tolerance.counts:
            yield f"{name}: {found}, expected {wanted}"
    loss = expected.summed_squared_loss
    if loss is not None and not abs(replayed.total - loss) <= tolerance.loss * abs(loss):
        yield f"summed_squared_loss: {replayed.total!r}, expected {loss!r}"
    sums = replayed.sums()
    for name in ("sum_f", "sum_abs_f"):
        wanted = getattr(expected, name)
        if wanted is None:
            continue
        found = _had(replayed, sums.get(name), name)
        if not abs(found - wanted) <= tolerance.sums * max(1.0, sums["sum_abs_f"]):
            yield f"{name}: {found!r}, expected {wanted!r}"


def _first(
    what: str, places: list[str], found: NDArray[Any], wanted: NDArray[Any], bound: Any
) -> Iterator[str]:
    """The first place at which two lists differ by more than a bound, or end."""
    both = min(len(found), len(wanted))
    limits = np.broadcast_to(bound, len(wanted))[:both]
    apart = np.abs(found[:both] - wanted[:both])
    apart = apart.max(axis=1) if apart.ndim == 2 else apart
    differ = np.flatnonzero(~(apart <= limits))
    if len(differ):
        place = differ[0]
        yield f"{what} {places[place]}: {_plain(found[place])}, expected {_plain(wanted[place])}"
    elif len(found) != len(wanted):
        yield f"{what}: there are {len(found)}, expected {len(wanted)}"


def _plain(value: NDArray[Any]) -> Any:
    """A number, or the list of one row's scores."""
    return value.item() if value.size == 1 else value.tolist()


def _had(replayed: Replayed, found: Any, name: str) -> Any:
    """What a learner reports; a record cannot expect what its learner does not report."""
    if found is None:
        record = replayed.record
        raise ConfigError(f"{record.path}: expect.{name}: {record.learner} does not report it")
    return found
