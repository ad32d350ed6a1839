"""Run a small table into a store: python guarded_script.py RESULTS OPTIONS KIND LEARNER …

OPTIONS are those of a run, as JSON. Prints how many trials there were to run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trial_material import load, table

from okbench.trials.plan.options import Options
from okbench.trials.run import guarded
from okbench.trials.run.run_table import run
from okbench.trials.store.files import Store

guarded.WARM_UP_SECONDS = {True: 2.0, False: 2.0}


def main(results: str, options: str, kind: str, *learners: str) -> None:
    rows = "split:900" if kind == "train-test" else "blobs"
    page = table({name: name for name in learners}, (rows,), kind=kind, runs=1)
    store = Store(Path(results) / "t.jsonl")
    tally = run(page, load, lambda *a: None, store, Options(**json.loads(options)), lambda t: None)
    print(tally.total)


if __name__ == "__main__":
    main(*sys.argv[1:])
