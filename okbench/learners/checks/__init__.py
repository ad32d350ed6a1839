"""Promises every learner keeps, ours and a stranger's, each a small check.

    for result in run_checks("my_module:MyLearner"):
        print(result.status, result.name, result.reason)

A learner needs only `learn(X, y)` and `predict(X)`. What more it has (settings, `begin`, a budget,
`get_params`) is checked as well; what it lacks is reported as skipped, with the reason.
"""

from __future__ import annotations

import inspect

from okbench.base import tracebacks
from okbench.learners.checks import object_checks, row_checks, stream_checks
from okbench.learners.checks.subject import (
    Check,
    CheckFailed,
    CheckResult,
    NotApplicable,
    Subject,
)
from okbench.learners.registry import Entry, find

__all__ = ["Check", "CheckFailed", "CheckResult", "checks", "run_check", "run_checks"]


def checks() -> list[Check]:
    """Every check, in the order in which they are best read."""
    return [
        Check(
            function.__name__.replace("_", "-"),
            (inspect.getdoc(function) or "").partition("\n")[0],
            function,
        )
        for function in (*stream_checks.CHECKS, *row_checks.CHECKS, *object_checks.CHECKS)
    ]


def run_checks(name: str) -> list[CheckResult]:
    """Every check of a learner, by registry name or `module:Class`."""
    entry = find(name)
    return [run_check(check, entry) for check in checks()]


def run_check(check: Check, entry: Entry) -> CheckResult:
    """What came of one check of one learner. Any error a learner raises is a failure."""
    try:
        check.verify(Subject(entry, entry.load()))
    except NotApplicable as reason:
        return CheckResult(check.name, "skipped", str(reason))
    except CheckFailed as failure:
        return CheckResult(check.name, "failed", str(failure))
    except (Exception, SystemExit) as error:  # a stranger's code may raise anything
        described = tracebacks.described(error)
        return CheckResult(check.name, "failed", described, tracebacks.full(error))
    return CheckResult(check.name, "passed")
