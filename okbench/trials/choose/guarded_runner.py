"""Learners that are not okbench's own, each in a worker process of its own.

A learner that does not return, or holds more than the memory, is ended with its process and all
processes that it has started. The race of the others goes on.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from okbench.base.errors import OkbenchError
from okbench.base.worker_processes import Worker, end_descendants, memory_here
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find, is_ours
from okbench.trials.choose.runner import Learned, Runner, Watch, nobody
from okbench.trials.plan.planning import Load
from okbench.trials.plan.row_orders import BLOCK, WINDOW, RowOrder
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.run.block_sizes import MOST
from okbench.trials.run.guarded import fence, grace_bytes, grace_seconds
from okbench.trials.run.protocol_loop import Ended
from okbench.trials.run.run_trial import reason_of
from okbench.trials.run.workers import use_one_thread
from okbench.trials.trial_types import Status, Trial

_POLL_SECONDS = 0.05
_POLLS_PER_HUNT = 10  # looking for descendants costs more than looking at one process


@dataclass(frozen=True)
class _Begin:
    """Make a learner that is going to meet these rows."""

    trial: Trial
    order: RowOrder
    memory: float  # bytes of its model


@dataclass(frozen=True)
class _Learn:
    """Learn these rows of the order in so many seconds."""

    begin: int
    end: int
    left: float


@dataclass(frozen=True)
class _Taken:
    """The learner is called from now on; the process holds `base` bytes without it."""

    base: int


@dataclass(frozen=True)
class _Failure:
    """Why the learner goes no further."""

    status: Status
    reason: str


class _Host:
    """The worker process of one learner, which is started again when it has been ended."""

    def __init__(self, load: Load, memory: float) -> None:
        self._load, self._memory = load, memory
        self._worker: Worker | None = None

    def ask(
        self, what: _Begin | _Learn, where: str, patience: float, spare: float, watch: Watch
    ) -> Learned | None:
        """What the learner answers, or `Ended`. The process ends if there is no answer within so
        many seconds, or if it grows by more than the memory and what is `spare`."""
        worker = self._worker = self._worker or Worker(_serve, self._load)
        most = self._memory + grace_bytes(self._memory) + spare
        try:
            worker.connection.send(what)
            answer = self._answer(worker, where, patience + grace_seconds(patience), most, watch)
        except (EOFError, OSError):
            reason = worker.death()
            self.end()
            raise Ended("failed", f"{where}: {reason}", (0, 0)) from None
        if isinstance(answer, _Failure):
            raise Ended(answer.status, answer.reason, (0, 0))
        return answer

    def end(self) -> None:
        """End the process with all that it has started."""
        if self._worker is not None:
            self._worker.end()
        self._worker = None

    def _answer(
        self, worker: Worker, where: str, patience: float, most: float, watch: Watch
    ) -> Learned | _Failure | None:
        since, base, polls = math.inf, 0, 0
        while True:
            alive = worker.is_alive()  # asked first: a message may be the last that it sent
            wait(worker.sources, _POLL_SECONDS)
            while worker.connection.poll():
                message: Any = worker.connection.recv()
                if isinstance(message, _Taken):
                    since, base = time.monotonic(), message.base
                elif isinstance(message, int):
                    watch(message)
                else:
                    answer: Learned | _Failure | None = message
                    return answer
            if not alive:
                raise EOFError
            polls += 1
            if base and most < math.inf:
                held = worker.memory(descendants=polls % _POLLS_PER_HUNT == 0) - base
                if held >= most:
                    words = f"{held / 1e6:.4g} MB held, the limit is {self._memory / 1e6:.4g} MB"
                    raise self._ended("memory", where, words)
            if (waited := time.monotonic() - since) > patience:
                raise self._ended("timeout", where, f"{waited:.3g} s and no return")

    def _ended(self, status: Status, where: str, words: str) -> Ended:
        self.end()
        return Ended(status, f"{where}: {words}; its process was ended", (0, 0))


class GuardedRunner:
    """A runner whose learner is in the process of a host; it has been made when this returns."""

    is_guarded = True

    def __init__(
        self, host: _Host, begin: _Begin, patience: float, spare: float, watch: Watch
    ) -> None:
        self._host, self._spare, self._watch = host, spare, watch
        self._name = f"{begin.trial.learner} × {begin.trial.dataset}"
        host.ask(begin, f"{self._name}, before the first row", patience, spare, nobody)

    def learn(
        self, begin: int, end: int, left: float = math.inf, patience: float = math.inf
    ) -> Learned:
        """As `Runner.learn`."""
        where = f"{self._name}, in rows {begin} to {end - 1}"
        patience = max(0.0, min(left, patience))
        learned = self._host.ask(
            _Learn(begin, end, left), where, patience, self._spare, self._watch
        )
        assert learned is not None
        return learned

    def end(self) -> None:
        """End the process of the learner."""
        self._host.end()


AnyRunner = Runner | GuardedRunner


class Runners:
    """Makes the runners of a race: okbench's own learners run in this process, because they return
    from their calls and say what they hold. All others have a process each."""

    def __init__(self, data: Dataset, load: Load, memory: float = math.inf) -> None:
        self.data, self._load, self._memory = data, load, memory
        self._hosts: dict[str, _Host] = {}

    def runner(
        self,
        label: str,
        trial: Trial,
        order: RowOrder,
        patience: float = math.inf,
        spare: float = 0.0,
        watch: Watch = nobody,
    ) -> AnyRunner:
        """A learner at the beginning of its way; it takes the place of the last one of this label
        where that has a process. `patience` and `spare` are seconds and bytes beyond the limits."""
        if is_ours(find(trial.learner)):
            return Runner(trial, self.data, order, self._memory, watch)
        if label not in self._hosts:
            self._hosts[label] = _Host(self._load, self._memory)
        begin = _Begin(trial, order, self._memory)
        return GuardedRunner(self._hosts[label], begin, patience, spare, watch)

    def close(self) -> None:
        """End all processes."""
        for host in self._hosts.values():
            host.end()


def _serve(connection: Any, load: Load) -> None:
    """Make learners and have them learn, as asked, until no more can come."""
    use_one_thread()
    state = _State(connection, load)
    while True:
        try:
            what = connection.recv()
        except EOFError:
            return
        answer = state.answer(what)
        end_descendants()
        connection.send(answer)


class _State:
    """What a worker process keeps from question to question."""

    def __init__(self, connection: Any, load: Load) -> None:
        self._connection, self._load = connection, load
        self._runner: Runner | None = None
        self._base, self._memory = 0, math.inf

    def answer(self, what: _Begin | _Learn) -> Learned | _Failure | None:
        """What comes of a question; whatever a learner raises is an answer, too."""
        try:
            if isinstance(what, _Learn):
                return self._learned(what)
            self._make(what)
            return None
        except Ended as end:
            return _Failure(end.status, end.reason)
        except BaseException as error:  # sys.exit among them
            status: Status = "memory" if isinstance(error, MemoryError) else "failed"
            return _Failure(status, reason_of(error))

    def _make(self, what: _Begin) -> None:
        self._runner, self._memory = None, what.memory
        trial, order = what.trial, what.order
        data = self._load(trial.dataset, trial.variant)
        if data.fingerprint != trial.fingerprint:
            raise OkbenchError(f"the rows of {trial.dataset} have changed since the race began")
        find(trial.learner).load()
        at_once = min(data.n_rows, MOST if isinstance(order, np.ndarray) else BLOCK * WINDOW)
        self._base = memory_here() + rows_bytes(data) * at_once // data.n_rows
        self._connection.send(_Taken(self._base))
        with fence(self._memory):
            self._runner = Runner(
                trial, data, order, self._memory, self._connection.send, self._base
            )

    def _learned(self, what: _Learn) -> Learned:
        assert self._runner is not None
        self._connection.send(_Taken(self._base))
        with fence(self._memory):
            return self._runner.learn(what.begin, what.end, what.left)
