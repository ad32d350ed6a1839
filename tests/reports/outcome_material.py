"""Outcomes made by hand, and the results files that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from okbench.trials.store.outcome_json import outcome_record, to_bytes
from okbench.trials.trial_types import Outcome, Trial

MACHINE = {
    "cpu": "one",
    "cores": 2,
    "memory_gb": 4,
    "arch": "x",
    "os": "Linux",
    "python": "3.11",
    "packages": {"numpy": "2", "numba": "0", "okbench": "0.1.0"},
    "blas": {"name": "b", "version": "", "core": "", "threads": 1},
}


def trial(learner: str = "A", dataset: str = "rows", repetition: int = 0, **more: Any) -> Trial:
    fields: dict[str, Any] = {
        "dataset": dataset,
        "variant": "",
        "fingerprint": "f1",
        "learner": learner,
        "learner_version": 1,
        "settings": (),
        "protocol": "single-pass",
        "metric": "mistake_rate",
        "repetition": repetition,
    }
    return Trial(**{**fields, **more})


def outcome(total: float | None, of: Trial | None = None, **more: Any) -> Outcome:
    fields: dict[str, Any] = {"status": "done", "rows": 1000, "seconds": 1.0, "environment": "e1"}
    return Outcome(of or trial(), total=total, **{**fields, **more})


def outcomes(
    totals: Iterable[float], learner: str = "A", dataset: str = "rows", **of_trial: Any
) -> list[Outcome]:
    """One outcome per permutation."""
    return [
        outcome(total, trial(learner, dataset, r, **of_trial)) for r, total in enumerate(totals)
    ]


def results_file(
    path: Path,
    found: Iterable[Outcome],
    blessed: Mapping[str, Any] | None = None,
    machines: Mapping[str, Any] | None = None,
) -> Path:
    """A results file with these outcomes, a baseline if it is `blessed`."""
    header: dict[str, Any] = {"okbench": "results", "schema": 1}
    lines = [to_bytes(header | ({"blessed": blessed} if blessed else {}))]
    for hash_, record in (machines or {"e1": MACHINE}).items():
        lines.append(to_bytes({"environment": record, "hash": hash_}))
    lines += [to_bytes({"outcome": outcome_record(one)}) for one in found]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path
