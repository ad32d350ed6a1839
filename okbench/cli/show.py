"""The trial half of okbench show."""

from __future__ import annotations

from pathlib import Path


def show_trial(id_: str, results: Path) -> str | None:
    """All that is known of the trial whose id begins so, from a results folder and the baselines;
    None when no stored trial has such an id.
    """
    from okbench.reports.explain import describe_trial
    from okbench.reports.files import BASELINES

    return describe_trial(id_, list(dict.fromkeys([results, BASELINES])))
