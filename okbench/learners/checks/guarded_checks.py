"""The checks in a worker process: a learner that never returns, or that ends its process, fails the
check under way, and the next one begins in a new process. After two checks that did not return, no
more are run: each would take the whole time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from multiprocessing.connection import wait
from typing import Any, Literal

from okbench.base.worker_processes import Worker, end_descendants
from okbench.learners.checks import checks, checks_of, run_check
from okbench.learners.checks.subject import CheckResult
from okbench.learners.registry import find

MOST_ENDLESS = 2  # checks
_POLL_SECONDS = 0.1
_TAKEN = "taken"
_After = Literal["ready", "dead", "endless"]  # the worker after a check


def run_guarded_checks(
    name: str, seconds: float, settings: Mapping[str, Any]
) -> Iterator[CheckResult]:
    """Every check of the roles that a learner has, each for so many seconds at most.

    `settings` take the place of the small ones that the checks choose.
    """
    wanted = {check.name: check.role for check in checks_of(name)}
    worker: Worker | None = None
    endless = 0
    try:
        for place, check in enumerate(checks()):
            if wanted.get(check.name) != check.role:
                continue
            if endless == MOST_ENDLESS:
                yield CheckResult(check.name, "not run")
                continue
            if worker is None:
                worker = Worker(_serve, name, settings)
            result, after = _answer(worker, place, check.name, seconds)
            if after != "ready":
                worker.end()
                worker = None
            endless += after == "endless"
            yield result
    finally:
        if worker is not None:
            worker.end()


def _answer(worker: Worker, place: int, name: str, seconds: float) -> tuple[CheckResult, _After]:
    """What came of a check, and whether the worker can do another."""
    deadline = None
    try:
        worker.connection.send(place)
        while True:
            alive = worker.is_alive()  # asked first: a message may be the last that it sent
            wait(worker.sources, _POLL_SECONDS)
            if worker.connection.poll():
                message = worker.connection.recv()
                if isinstance(message, CheckResult):
                    return message, "ready"
                deadline = time.monotonic() + seconds
            elif not alive:
                return CheckResult(name, "failed", worker.death()), "dead"
            elif deadline is not None and time.monotonic() > deadline:
                reason = f"no return within {seconds:g} s; its process was ended"
                return CheckResult(name, "failed", reason), "endless"
    except (EOFError, OSError):
        return CheckResult(name, "failed", worker.death()), "dead"


def _serve(connection: Any, name: str, settings: Mapping[str, Any]) -> None:
    """Run the checks that are asked for by their places, until no more can come."""
    known = checks()
    while True:
        try:
            check = known[connection.recv()]
        except EOFError:
            return
        connection.send(_TAKEN)
        result = run_check(check, find(name), settings)
        end_descendants()
        connection.send(result)
