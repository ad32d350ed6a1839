"""The workers of a cluster, seen from the head: which are there, which get no trials, and what is
said of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from okbench.base.errors import OkbenchError, UsageError
from okbench.base.quantities import spoken_time
from okbench.trials.cluster.contract import Cluster, Place
from okbench.trials.plan.options import Options

_REFRESH_SECONDS = 1.0
_SILENT_SECONDS = 60.0  # without a sign of life, until the user hears of it
_NAMED = 6  # workers in one line


class WorkerWatch:
    """Which workers are there. `say` takes what the user should know."""

    def __init__(self, cluster: Cluster, options: Options, say: Callable[[str], None]) -> None:
        self._cluster, self._options, self._say = cluster, options, say
        self._places: dict[str, Place] = {}
        self._names: dict[str, str] = {}  # of all workers that were ever seen
        self._silent: set[str] = set()
        self.shunned: dict[str, str] = {}  # workers that get no trials, and why
        self._looked = -math.inf
        self._empty_since: float | None = None

    @property
    def slots(self) -> int:
        """The tasks that can run at one time on the workers that get trials."""
        return sum(p.slots for id_, p in self._places.items() if id_ not in self.shunned)

    def name(self, place: str) -> str:
        return self._names.get(place, place)

    def shun(self, place: str, reason: str) -> None:
        """Give this worker no trials from now on."""
        if place not in self.shunned:
            self.shunned[place] = reason
            self._say(f"worker {self.name(place)} gets no trials: {reason}")
            self.look_soon()

    def look_soon(self) -> None:
        """Have the next look not wait for its time."""
        self._looked = -math.inf

    def look(self) -> bool:
        """See which workers have come and gone, once in a while; True if some were seen to be
        there. OkbenchError if there are none that could run trials and no more is to be waited."""
        if time.monotonic() - self._looked < _REFRESH_SECONDS:
            return False
        before = self._places
        self._places = {place.id: place for place in self._cluster.places()}
        self._looked = time.monotonic()
        self._names |= {place.id: place.name for place in self._places.values()}
        self._say_changes(before)
        self._say_silent()
        if self._options.timing and (reason := self._cluster.shared()):
            raise UsageError(
                f"--timing needs one worker per machine with nothing beside it: {reason}"
            )
        if self._places and not self._places.keys() - self.shunned.keys():
            reasons = "; ".join(f"{self.name(id_)}: {why}" for id_, why in self.shunned.items())
            raise OkbenchError(f"no worker is left that can run the trials: {reasons}")
        self._wait()
        return bool(self._places)

    def _say_changes(self, before: dict[str, Place]) -> None:
        if came := [place for id_, place in self._places.items() if id_ not in before]:
            slots = sum(place.slots for place in came)
            names = _listed([f"{place.name} on {place.host}" for place in came])
            self._say(f"{slots} trials at a time on {len(came)} workers: {names}")
        if gone := [place.name for id_, place in before.items() if id_ not in self._places]:
            elsewhere = "; their trials run elsewhere" if self._places else ""
            self._say(f"workers have left: {_listed(gone)}{elsewhere}")

    def _say_silent(self) -> None:
        silent = {id_ for id_, p in self._places.items() if p.silent >= _SILENT_SECONDS}
        if new := sorted(self.name(id_) for id_ in silent - self._silent):
            self._say(
                f"no sign of life for {spoken_time(_SILENT_SECONDS)} from workers: {_listed(new)}; "
                f"their trials wait until {self._cluster.engine} gives these workers up"
            )
        self._silent = silent

    def _wait(self) -> None:
        """Wait for workers where there is none, and no longer than is asked for."""
        if self._places:
            self._empty_since = None
            return
        limit = self._options.cluster.wait_workers
        if self._empty_since is None:
            self._empty_since = self._looked
            what = "no worker is left" if self._names else "there is no worker yet"
            since = time.strftime("%H:%M:%S")
            self._say(f"{what}; waiting since {since}, at most {spoken_time(limit)}")
        elif self._looked - self._empty_since >= limit:
            raise OkbenchError(
                f"{self._cluster.engine} at {self._options.cluster.address} has had no worker for "
                f"{spoken_time(limit)} (--wait-workers); outcomes so far are stored. Start workers "
                "and run again to go on"
            )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
