"""The conformance suite: small runs of every learner and task, kept in configs/conformance.

A record may change only when the learner's version is raised, or this file; then delete it. To
write those that are missing:

    python -m tests.trials.replay_suite
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from okbench.base.shipped import shipped
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.learners.contract import Draws
from okbench.learners.registry import catalogue, settings_of
from okbench.protocols.contract import BATCH, ONLINE
from okbench.trials.replay.record import Record, Tolerance
from okbench.trials.replay.recording import record_text
from okbench.trials.replay.replaying import replay

FOLDER = shipped("configs") / "conformance"
N_ROWS, N_FEATURES = 64, 3
N_TRAINED = 48  # of them, by a learner that is given all rows at once
TICKS = (16, 32, 48, 64)
SMALL = {"budget": 7, "rank": 3, "components": 5, "width": 0.8}
STEPS = {
    "FOGD": 0.1, "OGD": 0.4, "NOGD": 0.4, "BOGD": 0.4, "Norma": 0.1, "BudgetPerceptron": 0.4,
    "RRF": 0.1, "FOGD-ORF": 0.1,
}  # fmt: skip
BATCHES = {"batch": 8, "epochs": 6}
OWN = {
    "BudgetPerceptron": {"margin": 0.1},
    "TVM": {"cost": 0.7, "tolerance": 1e-10},  # an optimum only as near as scores are compared
    "RRF": {"scale_step": 0.05, "decay": 0.02},
    "DualSGD": {"handed_over": 3},
    "BSGD-M": {"decay": 0.05},
    "BSGD-R": {"decay": 0.05},
    "IK-OGD": {"partitionings": 6, "psi": 8, "initial": 20},
    "IK-OGD-dual": {"partitionings": 6, "psi": 8, "initial": 20},
    "LaplacianOGD": {"psi": 64},
    "LaplacianNOGD": {"psi": 64},
    "Raker": {"widths": (0.5, 1.0, 2.0), "weight_step": 0.8},
    "AdaRaker": {"widths": (0.5, 2.0), "kernels": ("laplacian", "cauchy"), "base": 3},
    "OMKL": {"widths": (0.5, 1.0, 2.0), "kernels": ("gaussian", "laplacian", "cauchy")},
    "OMKR": {"widths": (0.5, 1.0), "update": "sampled", "smoothing": 0.2},
    "OMKC": {"widths": (0.5, 1.0), "combination": "sampled", "discount": 0.8, "budget": None},
    "RBF": {"decay": 0.05, "step": 0.3},
    "FOGD-ORF": {"kernel": "laplacian"},
    **{name: {**BATCHES, "scale": 0.8, "step": 0.1} for name in ("RKS", "FKL", "RRF-batch")},
    **{name: {**BATCHES, "scales": (0.4, 0.8, 1.6)} for name in ("MultiRRF-A", "MultiRRF-V")},
    "BSGD": {"decay": 0.05, "epochs": 3},
    "BKM": {"particles": 4, "iterations": 60, "batch": 8, "step": 0.05},
    "LLSVM": {"decay": 0.05},
    "IK-SVM": {"partitionings": 6, "psi": 8},
    "IK-LIBSVM": {"partitionings": 6, "psi": 8},
    "Laplacian-LIBSVM": {"psi": 64},
}
# Single precision, and solvers of a package whose stopping rule may change by version.
COARSE = {
    "BKM": 1e-3, "LIBSVM": 1e-2, "LIBLINEAR": 1e-2, "IK-SVM": 1e-2, "ChiSquare-SVM": 1e-2,
    "IK-LIBSVM": 1e-2, "Laplacian-LIBSVM": 1e-2, "ChiSquare-LIBSVM": 1e-2,
}  # fmt: skip
IN_REGRESSION = {"epsilon": 0.3, "step": 0.3}
# The usual values depend on the task; a record says them, chosen so that the clip bites.
BOGD_CLIP = {"binary": 1.5, "multiclass": 0.9, "regression": math.inf}
BY_TASK = {
    "IK-OGD": {"binary": {"map": "iforest"}, "multiclass": {"map": "nearest"}},
    "IK-OGD-dual": {"binary": {"map": "nearest"}, "multiclass": {"map": "iforest"}},
    "BOGD": {task: {"decay": 0.01, "clip": clip} for task, clip in BOGD_CLIP.items()},
    "RRF": {
        "binary": {"loss": "hinge"},
        "multiclass": {"loss": "logistic"},
        "regression": {"loss": "eps_insensitive"},
    },
    # Losses under which no two coefficients are equally long: who leaves is not left to rounding.
    "DualSGD": {
        "binary": {"loss": "logistic", "decay": 0.02},
        "multiclass": {"loss": "logistic", "decay": 0.02},
        "regression": {"loss": "l2", "decay": 1.5},
    },
}


def present():
    """Each learner of ours, with each task it does: there is a record of every one."""
    return [
        (entry.name, task)
        for entry in catalogue().values()
        if entry.target.startswith("okbench.") and _learns(entry.load())
        for task in entry.tasks
    ]


def _learns(cls):
    return any(role.is_filled_by(cls) for role in (ONLINE, BATCH))


def path_of(name, task, folder=FOLDER):
    plain = name.lower().replace("++", "-plus-plus")
    return folder / f"{plain}-{task}.json"


def rows(task):
    """Rows with a pattern worth learning, of two decimals each."""
    rng = np.random.default_rng(1717)
    X = rng.uniform(-1, 1, (N_ROWS, N_FEATURES)).round(2)
    signal = X[:, 0] + 2 * X[:, 1] * X[:, 2] + 0.2 * rng.standard_normal(N_ROWS)
    if task == "regression":
        y, classes = signal.round(2), ()
    elif task == "binary":
        y, classes = np.where(signal > 0.1, 1, -1), (-1, 1)
    else:
        y, classes = np.digitize(signal, [-0.4, 0.1, 0.6]) + 1, (1, 2, 3, 4)
    return Dataset("", X, y, task, classes, fingerprint(X, y, classes))


def made(name, task, folder=FOLDER):
    """The text of a record, from a run of the learner as it is."""
    entry = catalogue()[name]
    known = settings_of(entry.load())
    chosen = SMALL | (IN_REGRESSION if task == "regression" else {})
    chosen |= {"step": STEPS[name]} if name in STEPS else {}
    chosen |= OWN.get(name, {}) | BY_TASK.get(name, {}).get(task, {})
    defaults = {key: parameter.default for key, parameter in known.items()}
    settings = {**defaults, **{key: value for key, value in chosen.items() if key in known}}
    order, test, at = np.random.default_rng(1).permutation(N_ROWS), None, TICKS
    if not ONLINE.is_filled_by(entry.load()):
        order, test, at = order[:N_TRAINED], order[N_TRAINED:], ()
    record = Record(
        path=path_of(name, task, folder),
        dataset=rows(task),
        order=order,
        learner=name,
        settings=tuple(sorted(settings.items())),
        draws=Draws([17, len(name)]),
        ticks=at,
        test=test,
        tolerance=_tolerance(name),
    )
    return record_text(replay(record), f"{name} version {entry.version}, made rows", inline)


def _tolerance(name):
    scores = COARSE.get(name)
    return Tolerance() if scores is None else Tolerance(scores=scores, sums=scores)


def inline(name: str, numbers):
    """Stands for an array by its numbers, in the record itself."""
    return numbers.tolist()


def write(folder: Path = FOLDER):
    """Write the records that are missing."""
    folder.mkdir(exist_ok=True)
    for name, task in present():
        if path_of(name, task, folder).exists():
            continue
        path_of(name, task, folder).write_text(made(name, task, folder), encoding="utf-8")


if __name__ == "__main__":
    write()
