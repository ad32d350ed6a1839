"""Trials in worker processes, whose limits hold even inside a call that never returns.

A trial that keeps to its limits ends by itself, between two blocks. One that overruns a limit by
more than a grace is ended with its process and everything this has started, and the outcome is made
of what it has reported so far. The run goes on in a new process.

The trials of okbench's own learners share a process, one after the other. Whatever another learner
leaves in its process (open files, threads, settings of libraries) would change the trials after it,
so that its process ends with its trial.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any

from okbench.base.errors import OkbenchError
from okbench.base.quantities import now
from okbench.base.worker_processes import Worker, end_descendants, status_here
from okbench.learners.registry import find, is_ours
from okbench.protocols.metrics import METRICS
from okbench.trials.plan.planning import Load
from okbench.trials.run.account import Account, Beginning, Warming
from okbench.trials.run.protocol_loop import SLACK, Limits, never
from okbench.trials.run.run_trial import PLAIN_WARM_UP_SECONDS, attempt
from okbench.trials.run.sharing import sharing_learners
from okbench.trials.run.workers import use_one_thread
from okbench.trials.trial_types import Outcome, Status, Trial

# for a learner that may compile, and for any other
WARM_UP_SECONDS = {True: 120.0, False: PLAIN_WARM_UP_SECONDS}
WARM_UP_BYTES = 512_000_000  # for compiling, and for modules that are imported meanwhile
_LEAST_FENCE = 1_000_000_000  # bytes; a compiler that is refused memory ends its process
_POLL_SECONDS = 0.05
_POLLS_PER_HUNT = 10  # looking for descendants costs more than looking at one process
_STARTS = 3  # in a row that may fail
_TAKEN = "taken"


def grace_seconds(limit: float) -> float:
    """How long a call may go on beyond the time limit: a second, or a tenth of the limit."""
    return max(1.0, 0.1 * limit)


def grace_bytes(limit: float) -> float:
    """What a call may hold beyond the memory limit: 64 MB, or a tenth of the limit."""
    return max(SLACK, 0.1 * limit)


def run_guarded(
    groups: Sequence[Sequence[Trial]], load: Load, limits: Limits, jobs: int
) -> Generator[Outcome, None, None]:
    """The outcomes of trials as they end, `jobs` at a time, those of a group in one worker; a
    worker that dies costs one trial.

    Closing the generator ends the workers, and nothing is handed out of the trials under way.
    """
    slots = [Slot(load, limits) for _ in range(min(jobs, len(groups)))]
    try:
        yield from run_in(slots, groups)
    finally:
        for slot in slots:
            slot.end()


def run_in(
    slots: Sequence[Slot],
    groups: Sequence[Sequence[Trial]],
    stopped: Callable[[], bool] = never,
    endless: set[str] | None = None,
) -> Generator[Outcome, None, None]:
    """The outcomes of trials as they end in these slots, whose workers stay for others.

    It returns early once `stopped` says so. `endless` are the learners whose warm-up was ended:
    they go without.
    """
    waiting = deque(groups)
    for slot in slots:
        slot.group.clear()
    endless = set() if endless is None else endless
    failed_starts = 0
    ended: list[Outcome] = []
    while waiting or ended or any(slot.trial or slot.group for slot in slots):
        for slot in slots:
            if slot.trial is not None:
                continue
            if waiting and not slot.group:
                slot.group.extend(waiting.popleft())
            if slot.group:
                slot.give(slot.group[0].learner not in endless)
        yield from ended  # while the next ones run
        ended = []
        wait([source for slot in slots for source in slot.sources], _POLL_SECONDS)
        if stopped():
            return
        for slot in slots:
            try:
                ended += slot.look()
            except _NotRun as end:
                slot.group.appendleft(end.trial)
                if isinstance(end, _EndlessWarmUp):
                    endless.add(end.trial.learner)
                elif isinstance(end, _NotStarted):
                    failed_starts += 1
                    if failed_starts == _STARTS:
                        reason = f"no worker process could be started: {end}"
                        raise OkbenchError(reason) from end
        failed_starts = 0 if ended else failed_starts


class _NotRun(Exception):
    """Raised where a trial has to be given to another worker."""

    def __init__(self, trial: Trial, reason: str = "") -> None:
        super().__init__(reason)
        self.trial = trial


class _NotStarted(_NotRun):
    """The worker died before it took the trial."""


class _EndlessWarmUp(_NotRun):
    """The warm-up was ended from outside."""


class _NotBegun(_NotRun):
    """The trial ended before its learner was made, in a worker that had run other trials."""


class Slot:
    """The trial that runs, those of the same group that follow, and the workers that run them.

    One worker is kept for okbench's own learners, and replaced when it is gone. A group of trials
    of another learner has a worker of its own. `modules` is a folder from which workers import
    first, if there is one.
    """

    def __init__(self, load: Load, limits: Limits, modules: str = "") -> None:
        self._load, self._limits, self._modules = load, limits, modules
        self._workers: dict[bool, Worker] = {}  # by whether they run okbench's own learners
        self._is_ours = True  # the learner of the trial
        self.trial: Trial | None = None
        self.died = False  # the worker, and the last trial with it
        self.group: deque[Trial] = deque()

    @property
    def sources(self) -> tuple[Any, ...]:
        return self._workers[self._is_ours].sources if self.trial else ()

    def give(self, warm_up: bool) -> None:
        """Have the next trial of the group run."""
        group = tuple(self.group)
        trial = self.group.popleft()
        self._is_ours = is_ours(find(trial.learner))
        worker = self._workers.get(self._is_ours)
        self._is_first = worker is None or not worker.is_alive()
        if worker is None or self._is_first:
            self._end_worker()
            worker = self._workers[self._is_ours] = Worker(_serve, self._load, self._modules)
        limits = replace(self._limits, stopped=never, believes=self._is_ours)
        self.trial, self.died = trial, False
        self._account = Account(METRICS[trial.metric])
        self._is_taken = self._is_warming = self._has_begun = False
        self._base = self._deadline = self._since = math.inf
        self._polls = 0
        with suppress(OSError):  # it has died this moment, as `look` will find
            worker.connection.send((group, limits, warm_up))

    def look(self) -> list[Outcome]:
        """The outcome of the trial if it has ended; one that overruns a limit is ended here."""
        if self.trial is None:
            return []
        trial, worker = self.trial, self._workers[self._is_ours]
        alive = worker.is_alive()  # asked first: a message may be the last that it sent
        outcome = None
        try:
            while outcome is None and worker.connection.poll():
                report = worker.connection.recv()
                if isinstance(report, Outcome):
                    outcome = report
                else:
                    self._take(report)
        except (EOFError, OSError):
            alive = False
        if outcome is None:
            look = self._of_the_overrun if alive else self._of_the_dead
            outcome = look(trial, worker)
        return [self._ended(outcome)] if outcome else []

    def end(self) -> None:
        """End the workers, and the trial with them."""
        self.trial = None
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()

    def _end_worker(self) -> None:
        """End the worker of the trial, and the trial with it."""
        self.trial = None
        worker = self._workers.pop(self._is_ours, None)
        if worker is not None:
            worker.end()

    def _ended(self, outcome: Outcome) -> Outcome:
        """The outcome, unless the trial has to run in a new worker; this one ends if nothing may
        follow in it."""
        self.trial = None
        is_repeated = not self._has_begun and not self._is_first
        if is_repeated or not (self._is_ours or self.group):
            self._end_worker()
        if is_repeated:
            raise _NotBegun(outcome.trial)
        return outcome

    def _take(self, report: Any) -> None:
        self._is_taken, self._since = True, time.monotonic()
        if report == _TAKEN:
            return
        self._account.take(report)
        left = self._limits.seconds - self._account.seconds
        left += grace_seconds(self._limits.seconds)
        if isinstance(report, Warming | Beginning):
            self._base = report.base
            self._is_warming = isinstance(report, Warming)
            self._has_begun = isinstance(report, Beginning)
        if isinstance(report, Warming):
            self._base += WARM_UP_BYTES
            left = max(left, WARM_UP_SECONDS[report.may_compile]) if left < math.inf else left
        self._deadline = self._since + left

    def _of_the_dead(self, trial: Trial, worker: Worker) -> Outcome:
        reason = worker.death()
        self._end_worker()
        if not self._is_taken:
            raise _NotStarted(trial, reason)
        self.died = True
        return Outcome(trial, "failed", reason=f"{_name_of(trial)}: {reason}", finished=now())

    def _of_the_overrun(self, trial: Trial, worker: Worker) -> Outcome | None:
        """The outcome of a trial that is ended because it overruns a limit, if it does."""
        limits, held = self._limits, self._held(worker)
        waited = time.monotonic()
        seconds = self._account.seconds + max(0.0, waited - self._since)
        if held is not None and held >= limits.bytes + grace_bytes(limits.bytes):
            status: Status = "memory"
            why = f"{held / 1e6:.4g} MB held, the limit is {limits.bytes / 1e6:.4g} MB"
        elif waited > self._deadline:
            status = "timeout"
            why = f"{seconds:.3g} s and no return, the limit is {limits.seconds:g} s"
        else:
            return None
        self._end_worker()
        if self._is_warming:
            raise _EndlessWarmUp(trial)
        self._account.seconds = seconds
        place = _name_of(trial)
        reason = f"{place}, from row {self._account.row} on: {why}; its process was ended"
        outcome = self._account.outcome(trial, status, held, reason, {})
        return replace(outcome, finished=now())

    def _held(self, worker: Worker) -> int | None:
        """Bytes held by the learner; None when nobody needs to know."""
        if self._limits.bytes == math.inf or self._base == math.inf:
            return None
        self._polls += 1
        descendants = self._polls % _POLLS_PER_HUNT == 0
        return max(0, worker.memory(descendants) - int(self._base))


def _name_of(trial: Trial) -> str:
    return f"{trial.learner} × {trial.dataset} r={trial.repetition}"


def _serve(connection: Any, load: Load, modules: str = "") -> None:
    """Run the first trial of each group that comes, one at a time, until no more can come. The
    others of a group come later, as the first of what is left of it."""
    if modules:
        sys.path.insert(0, modules)
    use_one_thread()
    learners: dict[Trial, Any] = {}
    while True:
        try:
            group, limits, warm_up = connection.recv()
        except EOFError:
            return
        connection.send(_TAKEN)
        if group[0] not in learners:
            learners = sharing_learners(group, load)
        learner = learners.pop(group[0], None)
        with fence(limits.bytes) as is_fenced:
            outcome = attempt(group[0], load, limits, connection.send, warm_up, learner)
        del learner
        with suppress(OSError):  # without a file descriptor left; the parent ends them, too
            end_descendants()
        connection.send(_explained(outcome) if is_fenced else outcome)


@contextmanager
def fence(limit: float) -> Iterator[bool]:
    """Let the system refuse a large allocation at once (Linux); whether it does. It counts what is
    reserved, not what is used, so it allows twice the limit, and 1 GB; the parent measures what is
    used."""
    status = status_here()
    if limit == math.inf or "VmData" not in status:
        yield False
        return
    import resource

    reserved = 1024 * int(status["VmData"].split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    asked = int(reserved + max(_LEAST_FENCE, 2 * (limit + grace_bytes(limit))))
    most = min(each for each in (asked, soft, hard) if each != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _explained(outcome: Outcome) -> Outcome:
    """The outcome; if a thread was refused, its reason says that the fence may have done it."""
    if "can't start new thread" not in outcome.reason:
        return outcome
    advice = (
        "under a memory limit the system counts the whole stack that is reserved for each thread,"
        " often 8 MB (RLIMIT_DATA): start fewer threads, give them smaller stacks"
        " (threading.stack_size), or raise the memory limit"
    )
    return replace(outcome, reason=f"{outcome.reason}; {advice}")
