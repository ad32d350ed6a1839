"""Promises that every learner keeps, built in or user-defined, each a small check.

    for result in run_checks("my_module:MyLearner"):
        print(result.status, result.name, result.reason)

A learner needs only the methods of its role: `learn(X, y)` and `predict(X)` of an online learner.
What more it has (settings, `begin`, a budget, `get_params`) is checked as well; what it lacks is
reported as skipped, with the reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from okbench.base import tracebacks
from okbench.base.worker_processes import is_worker
from okbench.learners import registry
from okbench.learners.checks import fit_checks, object_checks, row_checks, stream_checks
from okbench.learners.checks.subject import (
    Check,
    CheckFailed,
    CheckResult,
    NotApplicable,
    Subject,
)
from okbench.learners.contract import check_role, roles_of
from okbench.learners.registry import Entry, find_named
from okbench.protocols.contract import BATCH, MAP, ONLINE

__all__ = ["Check", "CheckFailed", "CheckResult", "checks", "checks_of", "run_check", "run_checks"]


_CALLERS = (Path(__file__).parent, Path(registry.__file__))  # of every learner
_CHECKS: dict[str, tuple[Callable[[Subject], None], ...]] = {
    ONLINE.name: (*stream_checks.CHECKS, *row_checks.CHECKS, *object_checks.CHECKS),
    BATCH.name: fit_checks.BATCH_CHECKS,
    MAP.name: fit_checks.MAP_CHECKS,
}


def checks() -> list[Check]:
    """Every check, in the order in which they are best read."""
    return [
        Check(
            function.__name__.replace("_", "-"),
            (inspect.getdoc(function) or "").partition("\n")[0],
            function,
            role,
        )
        for role, functions in _CHECKS.items()
        for function in functions
    ]


def checks_of(name: str) -> list[Check]:
    """The checks of the roles that a learner has, by registry name or `module:Class`, which is
    allowed by being named here."""
    entry = find_named(name)
    cls = entry.load()
    roles = roles_of(cls)
    if not roles:
        check_role(cls, ONLINE, entry.name)
    return [check for check in checks() if check.role in roles]


def run_checks(name: str) -> list[CheckResult]:
    """What came of every check of the roles that a learner has, run in this process."""
    wanted = checks_of(name)
    return [run_check(check, find_named(name)) for check in wanted]


def run_check(
    check: Check, entry: Entry, settings: Mapping[str, Any] = MappingProxyType({})
) -> CheckResult:
    """What came of one check of one learner, with these settings in place of small ones. Any error
    a learner raises is a failure."""
    try:
        cls = entry.load()
        if check.role not in roles_of(cls):
            raise NotApplicable(f"it does not have the role '{check.role}'")
        check.verify(Subject(entry, cls, settings))
    except NotApplicable as reason:
        return CheckResult(check.name, "skipped", str(reason))
    except CheckFailed as failure:
        return CheckResult(check.name, "failed", str(failure))
    except BaseException as error:  # user-defined code may raise anything
        if isinstance(error, KeyboardInterrupt) and not is_worker():
            raise
        described = tracebacks.described(error, outside=_CALLERS)
        return CheckResult(check.name, "failed", described, tracebacks.full(error))
    return CheckResult(check.name, "passed")
