"""Runs recorded from the authors' own programs, turned into records and replayed.

tests/learners holds the learners to all of them; here it is the way there that is tested.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from okbench.learners.registry import catalogue
from okbench.trials.replay.differences import differences
from okbench.trials.replay.record import read_record
from okbench.trials.replay.replaying import replay
from tests.learners.lsokl_oracle import runs
from tests.shared import SHARED

NAMES = {"sigma": "width", "B": "budget", "C": "aggressiveness", "lambda": "decay", "gamma": "clip"}
STEPS = {"eta", "eta_nogd", "eta_fogd", "eta_norma", "eta_perceptron"}


def settings_of(run):
    """The settings of a recorded run under our names."""
    given = run.settings
    found = {}
    for name, value in given.items():
        if name == "rho_f":
            found["components"] = round(value * given["B"])
        elif name == "rho_n":
            found["rank"] = round(value * given["B"])
        elif not (run.record["algorithm"] == "FOGD" and name == "B"):
            value = "Infinity" if value == "inf" else value
            found["step" if name in STEPS else NAMES.get(name, name)] = value
    return found


def record_of(run, folder):
    """A record of the run that names the files it was recorded in."""
    inputs = str(SHARED / "oracle" / "lsokl" / f"inputs_{run.dataset}.npz")
    held = {key: {"file": inputs, "key": key, "index": run.permutation}
            for key in ("permutations", "gauss", "uniform")}  # fmt: skip
    recorded, regression = run.record, run.problem.task == "regression"
    rates = np.array(recorded["loss_curve" if regression else "mistake_rate_curve"])
    curve = rates * recorded["ticks"]
    np.save(
        folder / "scores.npy", run.trace if run.problem.task == "multiclass" else run.trace[:, 0]
    )
    expect = {
        "support_size": recorded["n_sv_end"],
        "support_curve": recorded["n_sv_curve"],
        "curve": curve.tolist() if regression else np.rint(curve).astype(int).tolist(),
        "scores": {"file": "scores.npy"},
    }
    names = ("mistakes", "summed_squared_loss", "removal_slots", "sum_f", "sum_abs_f")
    expect |= {name: recorded[name] for name in names if name in recorded}
    told = {
        "okbench": "record",
        "schema": 1,
        "task": run.problem.task,
        "rows": {
            "file": str(SHARED / "data" / "lsokl-mat" / f"{run.dataset}.mat"),
            "key": "data",
            "target": 0,
        },
        "order": held["permutations"],
        "learner": recorded["algorithm"],
        "settings": settings_of(run),
        "draws": {"normals": held["gauss"], "uniforms": held["uniform"]},
        "ticks": recorded["ticks"],
        "expect": expect,
    }
    path = folder / "record.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "run", runs(*catalogue(), when=lambda run: run.permutation == 0 and not run.fragile)
)
def test_a_record_of_the_authors_run_comes_out_equal(run, tmp_path):
    replayed = replay(read_record(record_of(run, tmp_path)))
    assert differences(replayed) == []
    assert len(replayed.errors) == len(run.order)
