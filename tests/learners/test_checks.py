"""Every learner keeps every promise, and a learner that breaks one is caught."""

from __future__ import annotations

import pytest

from okbench.base.errors import UsageError
from okbench.learners.checks import checks, checks_of, run_check, run_checks
from okbench.learners.registry import catalogue, find
from tests.learners import golden
from tests.learners.broken import BROKEN, Minimal
from tests.learners.broken_fits import BROKEN_FITS, References, Ridge

EVERY = {**BROKEN, **BROKEN_FITS}
QUICK = {"BKM": {"particles": 8, "batch": 20}}  # of learners whose own settings take long
LEARNERS = pytest.mark.parametrize("entry", catalogue().values(), ids=list(catalogue()))


def failures(entry, settings):
    """A message for each check that the learner fails."""
    results = [run_check(check, entry, settings) for check in checks_of(entry.name)]
    assert "passed" in {result.status for result in results}
    return [f"{result.name}: {result.reason}" for result in results if result.status == "failed"]


@LEARNERS
def test_a_learner_keeps_its_promises(entry):
    assert failures(entry, QUICK.get(entry.name, {})) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_learner_keeps_its_promises_with_its_own_settings(name):
    assert failures(find(name), {}) == []


@pytest.mark.parametrize(
    ("cls", "name"), EVERY.items(), ids=[f"{cls.__name__}-{name}" for cls, name in EVERY.items()]
)
def test_a_broken_promise_is_caught(cls, name):
    check = next(check for check in checks() if check.name == name)
    result = run_check(check, find(f"{cls.__module__}:{cls.__name__}"))
    assert result.status == "failed"
    assert result.reason


def test_every_check_has_a_learner_that_breaks_it():
    assert {check.name for check in checks()} == set(EVERY.values())


def test_a_minimal_learner_fails_nothing_and_skips_with_reasons():
    results = run_checks(f"{Minimal.__module__}:{Minimal.__name__}")
    assert [result for result in results if result.status == "failed"] == []
    skipped = {result.name: result.reason for result in results if result.status == "skipped"}
    assert "sparse" in skipped["dense-and-sparse-rows-agree"]
    assert skipped["keeps-its-budget"] == "it has no budget"
    assert skipped["beginning-forgets-everything"] == "it has no begin"
    passed = {result.name for result in results if result.status == "passed"}
    assert {"blocking-does-not-matter", "predictions-come-before-learning"} <= passed


@pytest.mark.parametrize(("cls", "role"), [(Ridge, "batch"), (References, "map")])
def test_a_learner_of_another_role_is_checked_for_that_role_alone(cls, role):
    results = run_checks(f"{cls.__module__}:{cls.__name__}")
    assert [result for result in results if result.status == "failed"] == []
    assert [result.name for result in results] == [c.name for c in checks() if c.role == role]
    online = run_check(checks()[0], find(f"{cls.__module__}:{cls.__name__}"))
    assert (online.status, online.reason) == ("skipped", "it does not have the role 'online'")


def test_a_class_without_a_role_is_refused():
    with pytest.raises(UsageError, match="Counter does not learn block by block: it needs"):
        run_checks("collections:Counter")


@LEARNERS
def test_results_change_only_with_the_version(entry):
    write = "python -m tests.learners.golden"
    kept, found = golden.read().get(entry.name), golden.result(entry)
    assert kept, f"{entry.name} has no golden result yet: {write}"
    assert kept["version"] == found["version"], f"the version was raised: {write}"
    assert golden.differences(kept, found) == [], "raise the learner's version, then " + write


def test_a_golden_result_that_moved_is_told():
    kept = {"version": 1, "binary": 20, "regression": 1.0}
    assert golden.differences(kept, dict(kept)) == []
    assert golden.differences(kept, {**kept, "binary": 21}) == ["binary: 20 became 21"]
    assert golden.differences(kept, {**kept, "regression": 1.0 + 1e-12}) == []
    assert golden.differences(kept, {**kept, "regression": 1.0001}) != []
