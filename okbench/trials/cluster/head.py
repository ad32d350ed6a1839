"""From trials to outcomes on the workers of a cluster, seen from where the run was started.

No more tasks are submitted than the workers soon take, so that a plan of any length costs the
engine the same. A trial whose worker is lost is submitted again, and its outcome counts once: the
first answer to a ticket removes it.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from okbench.base.errors import OkbenchError
from okbench.base.quantities import now
from okbench.datasets.dataset_types import Dataset
from okbench.trials.cluster import rows, tasks
from okbench.trials.cluster.contract import Cluster, Ended, connect
from okbench.trials.cluster.rows import RowsOfRun
from okbench.trials.cluster.sources import sources_of
from okbench.trials.cluster.tasks import Kept, Lacks, Ran, Refused, RunTerms
from okbench.trials.cluster.versions import versions_here
from okbench.trials.cluster.worker_watch import WorkerWatch
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.run.batch import Batch
from okbench.trials.run.environment import hash_of
from okbench.trials.run.execute import alternating
from okbench.trials.run.workers import terminable
from okbench.trials.trial_types import Outcome, Trial

_LOSSES = 3  # of one trial's workers or processes, beyond what the engine itself tries
_AHEAD = 2  # tasks submitted for each that can run, so that none waits for this process
_WAIT_SECONDS = 0.5


def terms_of(trials: Sequence[Trial], load: Load, options: Options) -> RunTerms:
    """What the tasks of these trials have in common."""
    learners = dict.fromkeys(trial.learner for trial in trials)
    used = dict.fromkeys((trial.dataset, trial.variant) for trial in trials)
    keys = tuple((name, rows.key_of(load(*name))) for name in used)
    return RunTerms(
        versions_here(learners),
        options.cluster.versions == "record",
        sources_of(learners),
        RowsOfRun(keys),
        options.cluster.rows == "fetch",
        options.time_limit or math.inf,
        options.memory_limit,
        options.timing,
    )


def run_on_cluster(
    trials: Sequence[Trial], load: Load, options: Options
) -> Generator[Batch, None, None]:
    """The outcomes of trials, those together that arrive together. Closing the generator cancels
    what is under way. Close it (`contextlib.closing`) if you leave it early."""
    if not trials:
        return
    with terminable():
        terms = terms_of(trials, load, options)
        cluster = connect(options)
        try:
            submission = Submission(cluster, trials, load, terms, options)
            yield from submission.batches()
        finally:
            cluster.close()


@dataclass
class Delivery:
    """Rows on their way to a data folder, a piece at a time, and the trials that wait for them."""

    place: str
    folder: str
    name: tuple[str, str]
    dataset: Dataset
    key: str
    id: str = field(default_factory=lambda: uuid4().hex[:12])
    waiting: list[Trial] = field(default_factory=list)
    is_sent: bool = False

    def __post_init__(self) -> None:
        self.pieces: Iterator[tuple[str, int, bytes]] = rows.pieces(self.dataset)

    def next_task(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """The call that takes the next piece, or all of them together when they are there."""
        piece = next(self.pieces, None)
        if piece is not None:
            return tasks.take_piece, (self.key, self.id, *piece)
        self.is_sent = True
        return tasks.take_rows, (self.key, self.id, rows.about(self.dataset))


class Submission:
    """The trials of a run: those that wait, those submitted, and what stands in the way."""

    def __init__(
        self,
        cluster: Cluster,
        trials: Sequence[Trial],
        load: Load,
        terms: RunTerms,
        options: Options,
    ) -> None:
        self._cluster, self._load, self._terms, self._options = cluster, load, terms, options
        self._waiting = deque(alternating(trials) if options.timing else trials)
        self._out: dict[str, Trial | Delivery] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}  # by folder and key
        self._losses: Counter[str] = Counter()
        self._lost_since: set[str] = set()  # trials that were lost since a worker was seen
        self._notices: list[str] = []
        self._watch = WorkerWatch(cluster, options, self._notices.append)

    def batches(self) -> Generator[Batch, None, None]:
        """What arrives, until every trial has its outcome."""
        self._notices += _greeting(self._cluster, self._options.cluster.address)
        while self._waiting or self._out:
            if self._watch.look():
                self._lost_since.clear()
            self._submit()
            batch = self._taken(self._cluster.ended(_WAIT_SECONDS))
            if batch.outcomes or batch.notices:
                yield batch

    def _submit(self) -> None:
        most = self._options.cluster.jobs or _AHEAD * max(1, self._watch.slots)
        while self._waiting and len(self._out) < most:
            trial = self._waiting.popleft()
            self._send(trial, tasks.run_trial, self._terms, trial)

    def _send(
        self, what: Trial | Delivery, call: Callable[..., Any], *given: Any, at: str = ""
    ) -> None:
        ticket = f"okbench-{uuid4().hex}"
        self._out[ticket] = what
        self._cluster.submit(ticket, call, *given, at=at, shunned=self._watch.shunned)

    def _taken(self, ends: Sequence[Ended]) -> Batch:
        """What these ends bring, and what has to be said since the last batch."""
        outcomes: list[Outcome] = []
        environments: dict[str, Mapping[str, Any]] = {}
        workers: Counter[str] = Counter()
        for end in ends:
            what = self._out.pop(end.ticket, None)
            if what is None:
                continue
            if end.error is not None:
                raise _unusable(end.error)
            if isinstance(what, Delivery):
                self._go_on(what, end)
                continue
            outcome = self._outcome(what, end)
            if outcome is None:
                continue
            if isinstance(end.answer, Ran):
                hash_ = hash_of(end.answer.environment)
                environments[hash_] = end.answer.environment
                name = self._watch.name(end.answer.place)
                workers[name] += 1
                extra = {**outcome.extra, "worker": name}
                outcome = replace(outcome, environment=hash_, extra=extra)
            outcomes.append(outcome)
        notices = tuple(self._notices)
        self._notices.clear()
        return Batch(tuple(outcomes), environments, notices, workers)

    def _outcome(self, trial: Trial, end: Ended) -> Outcome | None:
        """The outcome that the end of its task brings for a trial; without one, the trial runs
        again: with its rows, on a different worker, or after a loss."""
        answer, times = end.answer, f"{_LOSSES + 1} times"
        if isinstance(answer, Lacks):
            self._deliver(trial, answer)
            return None
        if isinstance(answer, Refused):
            self._watch.shun(answer.place, answer.reason)
        elif isinstance(answer, Ran) and answer.outcome.trial.id != trial.id:
            other = _spoken(answer.outcome.trial)
            reason = f"it was given {_spoken(trial)} and answered for a different trial, {other}"
            self._watch.shun(answer.place, reason)
        elif isinstance(answer, Ran) and not answer.died:
            return answer.outcome
        elif (answer is not None or end.lost) and self._is_lost_too_often(trial):
            if isinstance(answer, Ran):
                return replace(answer.outcome, reason=f"{answer.outcome.reason}, {times}")
            reason = f"{_spoken(trial)}: {end.lost or 'its answer could not be read'}, {times}"
            return Outcome(trial, "failed", reason=reason, finished=now())
        self._waiting.appendleft(trial)
        return None

    def _is_lost_too_often(self, trial: Trial) -> bool:
        """Count a loss of this trial. Its losses until a worker is seen again are one: a cluster
        without workers may lose a trial again and again, which is no fault of the trial."""
        if trial.id not in self._lost_since:
            self._lost_since.add(trial.id)
            self._losses[trial.id] += 1
            self._watch.look_soon()
        return self._losses[trial.id] > _LOSSES

    def _deliver(self, trial: Trial, lack: Lacks) -> None:
        """Send the rows of a trial to the data folder that lacks them, unless they are on the way
        there already."""
        name = trial.dataset, trial.variant
        key = dict(self._terms.rows.keys)[name]
        delivery = self._deliveries.get((lack.folder, key))
        if delivery is None:
            delivery = Delivery(lack.place, lack.folder, name, self._load(*name), key)
            self._deliveries[lack.folder, key] = delivery
            self._notices.append(
                f"rows of {trial.dataset} are sent to {lack.folder} ({lack.reason})"
            )
            self._send_next(delivery)
        delivery.waiting.append(trial)

    def _send_next(self, delivery: Delivery) -> None:
        call, given = delivery.next_task()
        self._send(delivery, call, *given, at=delivery.place)

    def _go_on(self, delivery: Delivery, end: Ended) -> None:
        """The next piece, or the end of a delivery; the trials run, wherever it ends."""
        if isinstance(end.answer, Kept) and not delivery.is_sent:
            self._send_next(delivery)
            return
        if isinstance(end.answer, Refused):
            self._watch.shun(delivery.place, end.answer.reason)
        del self._deliveries[delivery.folder, delivery.key]
        self._waiting.extendleft(reversed(delivery.waiting))


def _greeting(cluster: Cluster, address: str) -> Iterator[str]:
    """What is said of a cluster before the first trial."""
    dashboard = f", dashboard {cluster.dashboard}" if cluster.dashboard else ""
    yield f"{cluster.engine} at {address}{dashboard}"
    if cluster.exposed:
        yield (
            f"{cluster.exposed} is on a network and not encrypted: whoever controls a part of this "
            "cluster or of the network can run programs here (SECURITY.md)"
        )


def _unusable(error: BaseException) -> OkbenchError:
    """What is said of a task that could not even begin."""
    return OkbenchError(
        f"a worker could not run a task of okbench ({type(error).__name__}: {error}); install the "
        "same okbench there"
    )


def _spoken(trial: Trial) -> str:
    return f"{trial.learner} × {trial.dataset} r={trial.repetition}"
