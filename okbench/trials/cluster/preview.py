"""What a run would submit to a cluster. Nothing is connected and nothing is sent."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from okbench.base.quantities import spoken_bytes, spoken_time
from okbench.trials.cluster.head import terms_of
from okbench.trials.cluster.tasks import RunTerms
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.trial_types import Trial

_SHOWN = 3  # tasks


def preview(trials: Sequence[Trial], load: Load, options: Options) -> Iterator[str]:
    """The tasks, what each demands of its worker, and what would be sent besides, line by line."""
    terms = terms_of(trials, load, options)
    address = options.cluster.address or "an address that is not given yet"
    at_once = options.cluster.jobs
    many = f"{at_once} at a time" if at_once else "as many at a time as its workers take"
    yield f"{len(trials)} tasks for {options.backend} at {address}, one per trial, {many}"
    for trial in trials[:_SHOWN]:
        yield f"  {trial.id}  {trial.learner} × {trial.dataset} r={trial.repetition}"
    if len(trials) > _SHOWN:
        yield f"  … and {len(trials) - _SHOWN} more"
    yield from _demands(terms, options)
    yield from _rows(terms, load)


def _demands(terms: RunTerms, options: Options) -> Iterator[str]:
    if limits := list(_limits(terms)):
        yield f"limits of each: {', '.join(limits)}"
    if options.timing:
        yield "each alone on its machine, which needs one worker per machine"
    other = "is accepted, and recorded" if terms.recorded else "is refused"
    for name, version in terms.versions.items():
        yield f"demanded: {name} {version}; a worker with another one {other}"
    if terms.sources.files:
        names = ", ".join(name for name, _ in terms.sources.files)
        yield f"sent with each task: {names} ({spoken_bytes(terms.sources.bytes)})"


def _limits(terms: RunTerms) -> Iterator[str]:
    if terms.seconds < math.inf:
        yield spoken_time(terms.seconds)
    if terms.bytes < math.inf:
        yield spoken_bytes(terms.bytes)


def _rows(terms: RunTerms, load: Load) -> Iterator[str]:
    how = "fetched, or else sent, once" if terms.fetching else "sent once"
    for (name, variant), key in terms.rows.keys:
        rows = load(name, variant)
        shown = f"{name}:{variant}" if variant else name
        yield f"rows: {shown} {key}, {spoken_bytes(rows_bytes(rows))}, {how} to a machine without"
