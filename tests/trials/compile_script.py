"""Say what a process that has compiled nothing compiles or loads inside the clock of its trials:
python compile_script.py LEARNER ROWS PROTOCOL SETTING=NUMBER …

The time limit of the first trial is over after its first block; the second has none.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

from numba.core.dispatcher import Dispatcher
from trial_material import load, trial

from okbench.learners.registry import find, settings_of
from okbench.trials.run.account import Beginning
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.run.sharing import sharing_learners

_compile = Dispatcher.compile
compiled: list[str] = []


def compile_noted(dispatcher: Any, signature: Any) -> Any:
    compiled.append(dispatcher.py_func.__name__)
    return _compile(dispatcher, signature)


def tell(report: Any) -> None:
    if isinstance(report, Beginning):
        compiled.clear()


def main(learner: str, rows: str, protocol: str, *given: str) -> None:
    cls = find(learner).load()
    chosen = {name: int(number) for name, _, number in (pair.partition("=") for pair in given)}
    settings = {name: each.default for name, each in settings_of(cls).items()} | chosen
    what = trial("", rows, protocol=protocol, settings=tuple(sorted(settings.items())))
    what = replace(what, learner=learner)
    learners = sharing_learners([what, replace(what, seed=1)], load)
    Dispatcher.compile = compile_noted
    for limits, own in ((Limits(seconds=1e-9), None), (Limits(), learners.get(what))):
        outcome = attempt(what, load, limits, tell, learner=own)
        print(outcome.status, *compiled)


if __name__ == "__main__":
    main(*sys.argv[1:])
