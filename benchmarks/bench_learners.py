"""Rows per second of the learners: against plain loops, scikit-learn, the machine's own limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import limits
from benchmarks.clock import medians
from benchmarks.plain import expansions, maps, table1
from benchmarks.plain.bsgd import bsgd
from benchmarks.plain.dualsgd import dualsgd
from benchmarks.plain.rrf import rrf
from benchmarks.streams import Stream, stream
from okbench.learners.contract import Draws, Problem
from okbench.learners.linear import STRETCH_ROWS
from okbench.learners.numeric.lanes import padded
from okbench.learners.registry import find

WIDTH, BUDGET, RANK, COMPONENTS = 8.0, 100, 20, 400
SCALED_COMPONENTS, RIVAL_COMPONENTS = 100, 1600  # of RRF, and of FOGD in the paper's comparison
UNBOUNDED = ("Perceptron", "OGD", "Norma")
BUDGETED = ("RBP", "Forgetron", "BOGD", "BPA-S")
SPECIAL = ("Projectron", "Projectron++", "BudgetPerceptron", "BPA-NN", "BPA-P", "TVM")
TABLE, GOLDEN = "BSGD-M, table", "golden section"
PEGASOS = ("BSGD-R", "BSGD-M", TABLE, "DualSGD")
LEARNERS = (*UNBOUNDED, *BUDGETED, *SPECIAL, *PEGASOS, "FOGD", "NOGD", "RRF")

# Times faster than the plain loop, and share of the bound (dense, sparse), that are aimed at.
Aim = tuple[float | None, float | None, float | None]
TARGETS: dict[str, Aim] = {
    **dict.fromkeys(LEARNERS, (None, None, None)),
    **dict.fromkeys(UNBOUNDED, (10, None, None)),
    **dict.fromkeys(BUDGETED, (50, 0.40, 0.40)),
    "Projectron": (25, None, None),
    "Projectron++": (25, None, None),
    "FOGD": (20, 0.75, 0.55),
    "NOGD": (25, None, None),
    "RRF": (30, 0.50, 0.50),
    "BSGD-M": (50, None, None),
}
# Rows for plain loops that find Gram matrices or partners anew at every update.
PLAIN_ROWS = {"BPA-NN": 600, "BPA-P": 400, "TVM": 100, "BSGD-M": 1000, TABLE: 1000}


@dataclass(frozen=True)
class Speed:
    """What was measured for one learner on one set; rates in rows per second."""

    dataset: str
    learner: str
    rows: int
    rate: float
    plain: float
    bound: float | None
    pair_ns: float | None  # unbounded learners: time for a row and one of its supports
    others: dict[str, float]


def measure(
    names: tuple[str, ...], rounds: int, quick: bool, machine: limits.Limits
) -> list[Speed]:
    """Every learner on every set, everything in turn within a round."""
    speeds = []
    for name in names:
        rows = stream(name)
        contests = {learner: _contest(learner, rows, quick) for learner in LEARNERS}
        actions = {
            (learner, label): partial(action, part)
            for learner, contest in contests.items()
            for label, (part, action) in contest.items()
        }
        seconds = medians(actions, rounds)
        products = _product_seconds(rows, rounds)
        for learner, contest in contests.items():
            rates = {
                label: len(part) / seconds[learner, label] for label, (part, _) in contest.items()
            }
            part = contest["okbench"][0]
            bound = _bound_seconds(learner, rows, machine, products)
            speeds.append(
                Speed(
                    name,
                    learner,
                    len(part),
                    rates.pop("okbench"),
                    rates.pop("plain"),
                    None if bound is None else 1 / bound,
                    _pair_ns(learner, part, seconds[learner, "okbench"]),
                    rates,
                )
            )
    return speeds


def begun(learner: str, rows: Stream, **settings: Any) -> Any:
    """A learner about to meet the rows; labels are values to one that knows no classes."""
    entry, problem = find(learner), rows.problem
    if "binary" not in entry.tasks:
        problem = Problem("regression", problem.n_features, n_rows=problem.n_rows)
    return entry.load()(**settings).begin(problem, Draws(0))


def learn(learner: str, rows: Stream, **settings: Any) -> Any:
    return begun(learner, rows, **settings).learn(rows.X, rows.y)


Contest = dict[str, tuple[Stream, Callable[[Stream], Any]]]


def _contest(learner: str, rows: Stream, quick: bool) -> Contest:
    """The ways to learn the rows, each with as many rows as its speed allows."""
    cut = 4 if quick else 1
    if learner in UNBOUNDED:
        part = rows.head(8000 // cut)
        return {"okbench": (part, partial(learn, learner)), "plain": (part, PLAIN[learner])}
    plain = _distinct(rows.head(2000)) if learner in ("BPA-NN", "BPA-P") else rows
    contest: Contest = {
        "okbench": (rows.head(len(rows) // cut), OURS.get(learner, partial(learn, learner))),
        "plain": (plain.head(PLAIN_ROWS.get(learner, 4000 // cut)), PLAIN[learner]),
    }
    for label, action in OTHERS.get(learner, {}).items():
        n_rows = len(rows) if label == GOLDEN else 400 if "row" in label else 8000
        contest[label] = (rows.head(n_rows // cut), action)
    return contest


def _distinct(rows: Stream) -> Stream:
    """Each row once: repeated ones make the Gram matrices that plain loops solve with singular."""
    first = np.sort(np.unique(rows.dense, axis=0, return_index=True)[1])
    return Stream(rows.name, rows.source, rows.X[first], rows.y[first])


def _bare(loop: Callable[..., Any], settings: dict[str, Any], rows: Stream) -> Any:
    return loop(rows.dense, rows.y, **settings)


def _plain(loop: Callable[..., Any], settings: dict[str, Any], rows: Stream) -> Any:
    return _bare(loop, {"task": "binary", "n_columns": 1, **settings}, rows)


def _plain_drawing(loop: Callable[..., Any], settings: dict[str, Any], rows: Stream) -> Any:
    return _plain(loop, {**settings, "uniforms": Draws(0).look_ahead(len(rows))}, rows)


def _plain_bogd(rows: Stream) -> Any:
    decaying = {**DESCENT, "decay": 1 / len(rows) ** 2, "clip": 10.0}
    return _plain_drawing(expansions.bogd, decaying, rows)


def _plain_mapped(
    loop: Callable[..., Any], components: int, settings: dict[str, Any], rows: Stream
) -> Any:
    frequencies = Draws(0).normals(rows.X.shape[1], components) / WIDTH
    return _plain(loop, {"frequencies": frequencies, **settings}, rows)


def _plain_rrf(rows: Stream) -> Any:
    draws, n_features, size = Draws(0), rows.X.shape[1], SCALED_COMPONENTS
    settings = {
        "noise": draws.normals(n_features, size),
        "weights": 0.01 * draws.normals(1, 2 * size),
        "log_scales": np.zeros(n_features),
        "step": 0.003,
        "scale_step": 1e-4,
    }
    return _bare(rrf, {"task": "binary", "loss": "hinge", **settings}, rows)


def _scikit(sampler: str, block: int, rows: Stream) -> None:
    """scikit-learn's map and its linear model, `block` rows at a time."""
    from sklearn.kernel_approximation import Nystroem, RBFSampler
    from sklearn.linear_model import SGDClassifier

    gamma = 1 / (2 * WIDTH**2)
    features = (
        RBFSampler(gamma=gamma, n_components=2 * COMPONENTS, random_state=0)
        if sampler == "RBFSampler"
        else Nystroem(gamma=gamma, n_components=BUDGET, random_state=0)
    )
    features.fit(rows.X[:BUDGET])
    model = SGDClassifier(loss="hinge", learning_rate="constant", eta0=0.1)
    classes = np.array([-1.0, 1.0])
    for first in range(0, len(rows), block):
        z = features.transform(rows.X[first : first + block])
        if first:
            model.predict(z)
        model.partial_fit(z, rows.y[first : first + block], classes=classes)


BOUNDED = {"budget": BUDGET, "width": WIDTH}
MISTAKES = {"width": WIDTH, "step": 1.0, "epsilon": 0.1}
GRADIENTS = {"width": WIDTH, "step": 0.2, "epsilon": 0.1}
PERCEPTRON, DESCENT = {**BOUNDED, **MISTAKES}, {**BOUNDED, **GRADIENTS}
AGGRESSIVE = {**BOUNDED, "aggressiveness": 1.0}
NORMA = {"width": WIDTH, "step": 0.03, "decay": 0.03, "nu": 0.4, "epsilon": 0.1}
TWINS = {**BOUNDED, "cost": 1.0, "margin": 1.0, "merging": "class", "accuracy": 1e-3}
DUAL = {**BOUNDED, "loss": "hinge", "handed_over": 20, "decay": 1e-3}
BUDGETED_PEGASOS = {**BOUNDED, "n_columns": 1, "decay": 1e-4}
PLAIN: dict[str, Callable[[Stream], Any]] = {
    "Perceptron": partial(_plain, expansions.perceptron, MISTAKES),
    "OGD": partial(_plain, expansions.ogd, GRADIENTS),
    "Norma": partial(_bare, expansions.norma, NORMA),
    "RBP": partial(_plain_drawing, expansions.rbp, PERCEPTRON),
    "Forgetron": partial(_plain, expansions.forgetron, PERCEPTRON),
    "BOGD": _plain_bogd,
    "BPA-S": partial(_plain, expansions.bpas, AGGRESSIVE),
    "Projectron": partial(_plain, expansions.projectron, PERCEPTRON),
    "Projectron++": partial(_plain, expansions.projectron, {**PERCEPTRON, "on_margin": True}),
    "BudgetPerceptron": partial(
        _plain, table1.budget_perceptron, {**BOUNDED, "step": 1.0, "margin": 0.0}
    ),
    "BPA-NN": partial(_plain, table1.bpann, AGGRESSIVE),
    "BPA-P": partial(_plain, table1.bpap, AGGRESSIVE),
    "TVM": partial(_bare, table1.tvm, TWINS),
    "BSGD-R": partial(_bare, bsgd, {**BUDGETED_PEGASOS, "merging": False}),
    "BSGD-M": partial(_bare, bsgd, {**BUDGETED_PEGASOS, "merging": True}),
    TABLE: partial(_bare, bsgd, {**BUDGETED_PEGASOS, "merging": True}),
    "DualSGD": partial(_plain_mapped, dualsgd, 200, DUAL),
    "FOGD": partial(_plain_mapped, maps.fogd, COMPONENTS, {"step": 0.002, "epsilon": 0.1}),
    "NOGD": partial(_plain, maps.nogd, {**DESCENT, "rank": RANK}),
    "RRF": _plain_rrf,
}
OTHERS: dict[str, dict[str, Callable[[Stream], Any]]] = {
    TABLE: {GOLDEN: partial(learn, "BSGD-M")},
    "RRF": {"FOGD with 1,600 components": partial(learn, "FOGD", components=RIVAL_COMPONENTS)},
    **{
        learner: {
            "scikit-learn, a row at a time": partial(_scikit, sampler, 1),
            "scikit-learn, 256 at a time (learns in batches)": partial(_scikit, sampler, 256),
        }
        for learner, sampler in (("FOGD", "RBFSampler"), ("NOGD", "Nystroem"))
    },
}
OURS = {TABLE: partial(learn, "BSGD-M", search="table")}  # with settings that are no defaults


def _product_seconds(rows: Stream, rounds: int) -> dict[int, float]:
    """Seconds per row for the BLAS product with as many columns."""
    sizes = {columns: limits.product(STRETCH_ROWS, rows.X.shape[1], columns)
             for columns in (COMPONENTS, 1024)}  # fmt: skip
    times = medians(sizes, 20 * rounds)
    return {columns: seconds / STRETCH_ROWS for columns, seconds in times.items()}


def _bound_seconds(
    learner: str, rows: Stream, machine: limits.Limits, products: dict[int, float]
) -> float | None:
    """Seconds per row for the arithmetic that no way of writing the learner can leave out."""
    sparse = not isinstance(rows.X, np.ndarray)
    if learner == "FOGD":
        product = rows.filled * COMPONENTS / machine.read_l2 if sparse else products[COMPONENTS]
        return product + COMPONENTS / machine.sincos + 4 * COMPONENTS / machine.read_l1
    if learner == "RRF":
        return _scaled_bound_seconds(rows, machine)
    if learner not in (*BUDGETED, "NOGD"):
        return None
    lanes = padded(BUDGET)
    reads = rows.filled * lanes / machine.read_l1
    kernel = reads + lanes / machine.exp + 2 * lanes / machine.read_l1
    return kernel + (RANK * lanes / machine.read_l1 if learner == "NOGD" else 0.0)


def _scaled_bound_seconds(rows: Stream, machine: limits.Limits) -> float:
    """Of RRF: the noise of a row's inputs, read from where it fits, sines and cosines, a score; and
    where there was a loss the same noise again, in the nearest cache now, and the weights twice."""
    lanes, asked = padded(SCALED_COMPONENTS), begun("RRF", rows)
    asked.learn(rows.X, rows.y)
    noise = 8 * rows.X.shape[1] * lanes
    reads = machine.read_l1 if noise <= limits.L1 else machine.read_l2
    scored = rows.filled * lanes / reads + lanes / machine.sincos + 2 * lanes / machine.read_l1
    learned = (rows.filled + 4) * lanes / machine.read_l1 + rows.filled / machine.exp
    return scored + asked.updates / len(rows) * learned


def _pair_ns(learner: str, rows: Stream, seconds: float) -> float | None:
    """Nanoseconds a pair of a row and a support it met."""
    if learner not in UNBOUNDED:
        return None
    asked = begun(learner, rows)
    asked.learn(rows.X, rows.y)
    joined = np.zeros(len(rows))
    joined[asked.support_rows] = 1
    return 1e9 * seconds / float(np.sum(np.cumsum(joined) - joined))
