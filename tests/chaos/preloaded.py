"""Imported once, by the process from which all commands are forked: what a command would import,
and two runs, which load the compiled code."""

from __future__ import annotations

import importlib
import threading

from okbench.base.shipped import shipped
from okbench.trials.replay.record import read_record
from okbench.trials.replay.replaying import replay

_LEARNERS = ("perceptron", "fogd")

for name in (
    *(
        "okbench.cli",
        "okbench.datasets",
        "okbench.trials.run.run_table",
        "okbench.learners.registry",
    ),
    *("okbench.reports.guard.merge", "okbench.reports.guard.bless", "okbench.reports.guard.check"),
    *("okbench.reports.tables.report", "okbench.reports.tables.export", "pandas", "tqdm"),
):
    importlib.import_module(name)

for learner in _LEARNERS:
    replay(read_record(shipped("configs") / "conformance" / f"{learner}-binary.json"))

assert threading.active_count() == 1, "a process with threads cannot be copied"
