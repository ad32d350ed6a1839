"""What a person may ask of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from okbench.base.errors import UsageError, did_you_mean
from okbench.trials.trial_types import Status

CLUSTERS = ("dask", "ray")
BACKENDS = ("threads", "processes", *CLUSTERS)


@dataclass(frozen=True)
class ClusterOptions:
    """Where a cluster is, and what is asked of its workers.

    `rows` that a worker lacks are sent to it, or fetched there from their official address first.
    `versions` says what becomes of a worker with another okbench, NumPy or learner: it is refused,
    or the differences are recorded. `jobs` trials run at one time; None for as many as the workers
    take. A run ends after `wait_workers` seconds without any worker.
    """

    address: str = ""
    rows: Literal["send", "fetch"] = "send"
    versions: Literal["refuse", "record"] = "refuse"
    jobs: int | None = None
    wait_workers: float = 600.0


@dataclass(frozen=True)
class Options:
    """Which trials, and how to run them. None means: all of them, or as the table says.

    `repetitions` names single permutations, counted from 0, where `trials` takes the first so many.
    `time_limit` is in seconds inside the learner, `memory_limit` in bytes, both per trial. `retry`
    names the endings that are run again; `again` runs everything again. `timing` measures one
    trial at a time. With `sharing`, trials may compute once what they have in common, unless there
    is a `memory_limit`. `force` runs trials that are expected not to fit into the memory. `backend`
    is one of BACKENDS. Left empty, or with "threads", compiled learners of okbench run in threads
    as long as no limit is set, and all else in processes. With an engine of CLUSTERS trials run on
    the machines of `cluster`.
    """

    datasets: tuple[str, ...] | None = None
    learners: tuple[str, ...] | None = None
    trials: int | None = None
    repetitions: tuple[int, ...] | None = None
    seed: int = 0
    jobs: int = 1
    backend: str = ""
    cluster: ClusterOptions = ClusterOptions()
    time_limit: float | None = None
    memory_limit: float = math.inf
    retry: frozenset[Status] = frozenset()
    again: bool = False
    timing: bool = False
    sharing: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if self.trials is not None and self.trials < 1:
            raise UsageError(f"trials: at least 1, not {self.trials}")
        if self.repetitions is not None:
            self._check_repetitions(self.repetitions)
        if self.jobs < 1:
            raise UsageError(f"jobs: at least 1, not {self.jobs}")
        if self.backend and self.backend not in BACKENDS:
            hint = did_you_mean(self.backend, BACKENDS)
            raise UsageError(
                f"no backend '{self.backend}'.{hint} It is one of {', '.join(BACKENDS)}"
            )
        if self.seed < 0:
            raise UsageError(f"seed: 0 or more, not {self.seed}")
        if self.time_limit is not None and not self.time_limit > 0:
            raise UsageError(f"time limit: more than 0 seconds, not {self.time_limit}")
        if not self.memory_limit > 0:
            raise UsageError(f"memory limit: more than 0 bytes, not {self.memory_limit}")
        for status in self.retry:
            if status not in get_args(Status):
                known = ", ".join(get_args(Status))
                hint = did_you_mean(status, get_args(Status))
                raise UsageError(f"retry: no ending '{status}'.{hint} It is one of {known}")

    @property
    def on_cluster(self) -> bool:
        return self.backend in CLUSTERS

    @property
    def at_once(self) -> int:
        """Trials that run at one time, as far as is known before a cluster is asked."""
        if self.timing:
            return 1
        return (self.cluster.jobs or 1) if self.on_cluster else self.jobs

    def _check_repetitions(self, repetitions: tuple[int, ...]) -> None:
        if self.trials is not None:
            raise UsageError(
                "trials and repetition exclude each other: the first so many, or these"
            )
        if not repetitions:
            raise UsageError("repetition: name one or more, counted from 0")
        if min(repetitions) < 0:
            raise UsageError(f"repetition: 0 or more, not {min(repetitions)}")
