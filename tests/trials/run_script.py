"""Run a small table into a store: python run_script.py RESULTS LEARNER JOBS RUNS SECONDS_A_ROW."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

from trial_material import load, table

from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan, remaining
from okbench.trials.run import execute as executing
from okbench.trials.run.execute import execute
from okbench.trials.store.files import Store

# compiled learners run in threads, as those of okbench do
executing.is_ours = lambda entry: True  # type: ignore[assignment]


def main(results: str, learner: str, jobs: str, runs: str, seconds: str) -> None:
    page = table(
        {"A": learner, "B": "Linear"},
        runs=int(runs),
        settings={("blobs", "A"): {"seconds": float(seconds)}},
    )
    options, store = Options(jobs=int(jobs)), Store.of(Path(results), page.name)
    todo = remaining(plan(page, load, options), store.outcomes(), options)
    with (
        store.writer({"cpu": "test"}, "e") as writer,
        closing(execute(todo, load, options)) as outcomes,
    ):
        for outcome in outcomes:
            writer.add(outcome)
            print(outcome.trial.id, outcome.status, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
