"""Rows a second of the learners: against plain loops, scikit-learn, the machine's own limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import limits
from benchmarks.clock import medians
from benchmarks.plain.expansions import (
    bogd,
    bpas,
    forgetron,
    ogd,
    perceptron,
    projectron,
    rbp,
)
from benchmarks.plain.maps import fogd, nogd
from benchmarks.streams import Stream, stream
from okbench.learners.compiled.lanes import padded
from okbench.learners.contract import Draws
from okbench.learners.linear import STRETCH_ROWS
from okbench.learners.registry import find

WIDTH, BUDGET, RANK, COMPONENTS = 8.0, 100, 20, 400
UNBOUNDED = ("Perceptron", "OGD")
BUDGETED = ("RBP", "Forgetron", "BOGD", "BPA-S", "Projectron", "Projectron++")
LEARNERS = (*UNBOUNDED, *BUDGETED, "FOGD", "NOGD")

# Times faster than the plain loop, and share of the bound (dense, sparse), that are aimed at.
TARGETS: dict[str, tuple[float, float | None, float | None]] = {
    "Perceptron": (10, None, None),
    "OGD": (10, None, None),
    "RBP": (50, 0.40, 0.40),
    "Forgetron": (50, 0.40, 0.40),
    "BOGD": (50, 0.40, 0.40),
    "BPA-S": (50, 0.40, 0.40),
    "Projectron": (25, None, None),
    "Projectron++": (25, None, None),
    "FOGD": (20, 0.75, 0.55),
    "NOGD": (25, None, None),
}


@dataclass(frozen=True)
class Speed:
    """What was measured for one learner on one set; rates in rows a second."""

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
    """A learner about to meet the rows."""
    cls = find(learner).load()
    return cls(**settings).begin(rows.problem, Draws(0))


def learn(learner: str, rows: Stream) -> Any:
    return begun(learner, rows).learn(rows.X, rows.y)


Contest = dict[str, tuple[Stream, Callable[[Stream], Any]]]


def _contest(learner: str, rows: Stream, quick: bool) -> Contest:
    """The ways to learn the rows, each with as many rows as its speed allows."""
    cut = 4 if quick else 1
    if learner in UNBOUNDED:
        part = rows.head(8000 // cut)
        return {"okbench": (part, partial(learn, learner)), "plain": (part, PLAIN[learner])}
    contest: Contest = {
        "okbench": (rows.head(len(rows) // cut), partial(learn, learner)),
        "plain": (rows.head(4000 // cut), PLAIN[learner]),
    }
    for label, action in OTHERS.get(learner, {}).items():
        one_by_one = "row" in label
        contest[label] = (rows.head((400 if one_by_one else 8000) // cut), action)
    return contest


def _plain(loop: Callable[..., Any], settings: dict[str, Any], rows: Stream) -> Any:
    return loop(rows.dense, rows.y, task="binary", n_columns=1, **settings)


def _plain_drawing(loop: Callable[..., Any], settings: dict[str, Any], rows: Stream) -> Any:
    return _plain(loop, {**settings, "uniforms": Draws(0).look_ahead(len(rows))}, rows)


def _plain_bogd(rows: Stream) -> Any:
    decay = 1 / len(rows) ** 2
    return _plain_drawing(bogd, {**BUDGET_OF_DESCENT, "decay": decay, "clip": 10.0}, rows)


def _plain_fogd(rows: Stream) -> Any:
    frequencies = Draws(0).normals(rows.X.shape[1], COMPONENTS) / WIDTH
    return _plain(fogd, {"frequencies": frequencies, "step": 0.002, "epsilon": 0.1}, rows)


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


PERCEPTRON = {"width": WIDTH, "step": 1.0, "epsilon": 0.1}
DESCENT = {"width": WIDTH, "step": 0.2, "epsilon": 0.1}
BUDGET_OF_PERCEPTRON = {"budget": BUDGET, **PERCEPTRON}
BUDGET_OF_DESCENT = {"budget": BUDGET, **DESCENT}
PLAIN: dict[str, Callable[[Stream], Any]] = {
    "Perceptron": partial(_plain, perceptron, PERCEPTRON),
    "OGD": partial(_plain, ogd, DESCENT),
    "RBP": partial(_plain_drawing, rbp, BUDGET_OF_PERCEPTRON),
    "Forgetron": partial(_plain, forgetron, BUDGET_OF_PERCEPTRON),
    "BOGD": _plain_bogd,
    "BPA-S": partial(_plain, bpas, {"budget": BUDGET, "width": WIDTH, "aggressiveness": 1.0}),
    "Projectron": partial(_plain, projectron, BUDGET_OF_PERCEPTRON),
    "Projectron++": partial(_plain, projectron, {**BUDGET_OF_PERCEPTRON, "on_margin": True}),
    "FOGD": _plain_fogd,
    "NOGD": partial(_plain, nogd, {**BUDGET_OF_DESCENT, "rank": RANK}),
}
OTHERS: dict[str, dict[str, Callable[[Stream], Any]]] = {
    learner: {
        "scikit-learn, a row at a time": partial(_scikit, sampler, 1),
        "scikit-learn, 256 at a time (learns in batches)": partial(_scikit, sampler, 256),
    }
    for learner, sampler in (("FOGD", "RBFSampler"), ("NOGD", "Nystroem"))
}


def _product_seconds(rows: Stream, rounds: int) -> dict[int, float]:
    """Seconds a row for the BLAS product with as many columns."""
    sizes = {columns: limits.product(STRETCH_ROWS, rows.X.shape[1], columns)
             for columns in (COMPONENTS, 1024)}  # fmt: skip
    times = medians(sizes, 20 * rounds)
    return {columns: seconds / STRETCH_ROWS for columns, seconds in times.items()}


def _bound_seconds(
    learner: str, rows: Stream, machine: limits.Limits, products: dict[int, float]
) -> float | None:
    """Seconds a row for the arithmetic that no way of writing the learner can leave out."""
    sparse = not isinstance(rows.X, np.ndarray)
    if learner == "FOGD":
        product = rows.filled * COMPONENTS / machine.read_l2 if sparse else products[COMPONENTS]
        return product + COMPONENTS / machine.sincos + 4 * COMPONENTS / machine.read_l1
    if learner in UNBOUNDED or learner.startswith("Projectron"):
        return None
    lanes = padded(BUDGET)
    reads = rows.filled * lanes / machine.read_l1
    kernel = reads + lanes / machine.exp + 2 * lanes / machine.read_l1
    return kernel + (RANK * lanes / machine.read_l1 if learner == "NOGD" else 0.0)


def _pair_ns(learner: str, rows: Stream, seconds: float) -> float | None:
    """Nanoseconds a pair of a row and a support it met."""
    if learner not in UNBOUNDED:
        return None
    asked = begun(learner, rows)
    asked.learn(rows.X, rows.y)
    joined = np.zeros(len(rows))
    joined[asked.support_rows] = 1
    return 1e9 * seconds / float(np.sum(np.cumsum(joined) - joined))
