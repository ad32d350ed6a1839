"""The regret of Raker against what was best in hindsight, and what Theorem 1 allows.

    python -m benchmarks.regret [--out results/raker]

Raker learns the first T rows with the step η = 1 / √T of the theorem, for the weights and for the
models, and without λ. Its loss is compared with two that are known in hindsight alone:

the best expert: the kernel whose own model, learned online, has the smallest total loss.
Exponential weights allow ln P / η + η B² T more, where B is the largest loss of an expert, and 1
at least. The paper assumes losses of at most 1.

the best function: fixed weights θ on the features of one kernel, the best of P. Of all θ the one
counts for which loss and bound together are smallest, that of least squares with the penalty
‖θ‖² / (2 η). The theorem allows ln P / η + ‖θ‖² / (2 η) + η L² T / 2 + η B² T, where L is the
largest norm of a gradient that the models met. Its terms with ε, which are due to the features
standing in for the kernel, are no part of it, since θ has the same features.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from okbench.base.whole_files import write_whole
from okbench.datasets import load, missing
from okbench.learners.contract import Draws, FloatArray, Problem
from okbench.learners.many_kernels.raker import Raker
from okbench.reports.csv_text import csv_text

COMPONENTS = 50
STREAMS = (("twitter", "raker", 6000), ("tom's hardware", "raker", 9725), ("friedman1", "", 10_000))
SIZES = 12  # values of T for each stream


@dataclass(frozen=True)
class Regret:
    """Losses, regrets and bounds after the first `rows` rows of a stream."""

    stream: str
    rows: int
    loss: float
    best_expert: float
    expert_regret: float
    expert_bound: float
    best_function: float
    function_regret: float
    function_bound: float
    lipschitz: float
    largest_loss: float  # of an expert


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/raker"))
    out = parser.parse_args().out
    found = [one for name, variant, most in STREAMS for one in regrets(name, variant, most)]
    header = list(asdict(found[0]))
    text = csv_text([header, *(list(asdict(one).values()) for one in found)])
    write_whole(out / "regret.csv", text.encode())
    for ending, content in drawn(found).items():
        write_whole(out / f"regret.{ending}", content)
    for one in found:
        print(
            f"{one.stream:<15} T = {one.rows:>6,}: regret {one.function_regret:8.2f} of at most "
            f"{one.function_bound:8.1f} (function), {one.expert_regret:8.2f} of at most "
            f"{one.expert_bound:8.1f} (expert)"
        )


def regrets(name: str, variant: str, most: int) -> list[Regret]:
    """The regrets on a stream that is here, for longer and longer beginnings of it."""
    if missing(name, variant):
        print(missing(name, variant))
        return []
    rows = load(name, variant)
    sizes = np.unique(np.geomspace(100, most, SIZES).round().astype(int))
    return [measured(name, np.asarray(rows.X[:size]), rows.y[:size]) for size in sizes.tolist()]


def measured(name: str, X: FloatArray, y: FloatArray, seed: int = 0) -> Regret:
    """The regret after all of these rows."""
    n_rows, n_kernels = len(X), len(Raker.widths.default)
    step = 1.0 / math.sqrt(n_rows)
    problem = Problem("regression", X.shape[1], n_rows=n_rows)
    learner = Raker(components=COMPONENTS, step=step, decay=0.0).begin(problem, Draws(seed))
    features = features_of(learner, X)
    loss = float(np.sum((y - learner.learn(X, y)) ** 2))
    outputs = experts(features, y, step)
    losses = (y - outputs) ** 2
    best_expert = float(losses.sum(axis=1).min())
    of_experts = math.log(n_kernels) / step + step * n_rows * max(1.0, losses.max()) ** 2
    lipschitz = float(2.0 * np.abs(y - outputs).max())  # the features have norm 1
    fixed = [best_function(each, y, step) for each in features]
    best, norm = min(fixed, key=lambda one: one[0] + one[1] / (2.0 * step))
    bound = of_experts + norm / (2.0 * step) + step * lipschitz**2 * n_rows / 2.0
    return Regret(
        name, n_rows, loss, best_expert, loss - best_expert, of_experts, best, loss - best, bound,
        lipschitz, float(losses.max()),
    )  # fmt: skip


def features_of(learner: Raker, X: FloatArray) -> FloatArray:
    """The features of every kernel that a learner has drawn: kernels × rows × 2 components."""
    held, size = learner.map.frequencies, learner.components
    by_kernel = held.reshape(len(held), len(learner.widths), -1)[:, :, :size]
    angles = np.einsum("ij,jpk->pik", X, by_kernel)
    found: FloatArray = np.concatenate([np.cos(angles), np.sin(angles)], axis=2) / math.sqrt(size)
    return found


def experts(features: FloatArray, y: FloatArray, step: float) -> FloatArray:
    """What the model of each kernel answers before it learns a row: kernels × rows."""
    weights = np.zeros((len(features), features.shape[2]))
    outputs = np.empty(features.shape[:2])
    for t, target in enumerate(y):
        outputs[:, t] = np.einsum("pj,pj->p", weights, features[:, t])
        weights += (2.0 * step * (target - outputs[:, t]))[:, np.newaxis] * features[:, t]
    return outputs


def best_function(features: FloatArray, y: FloatArray, step: float) -> tuple[float, float]:
    """The total loss of the weights θ that minimise it plus ‖θ‖² / (2 step), and ‖θ‖²."""
    gram = features.T @ features + np.eye(features.shape[1]) / (2.0 * step)
    weights = np.linalg.solve(gram, features.T @ y)
    return float(np.sum((y - features @ weights) ** 2)), float(weights @ weights)


def drawn(found: list[Regret]) -> Mapping[str, bytes]:
    """A panel per stream: regrets and their bounds over √T, in logarithms."""
    import io

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(one.stream for one in found))
    lines = (
        ("function_regret", "against the best function", "#0072B2", "o-"),
        ("function_bound", "bound of Theorem 1", "#0072B2", "--"),
        ("expert_regret", "against the best expert", "#D55E00", "s-"),
        ("expert_bound", "bound of exponential weights", "#D55E00", ":"),
    )
    with rc_context({"svg.hashsalt": "regret", "font.size": 8.0}):
        figure = Figure(figsize=(3.1 * len(names), 3.2), layout="constrained")
        panels = figure.subplots(1, len(names), squeeze=False)[0]
        for name, panel in zip(names, panels, strict=True):
            points = [one for one in found if one.stream == name]
            for field, label, colour, style in lines:
                values = [getattr(one, field) / math.sqrt(one.rows) for one in points]
                panel.plot([one.rows for one in points], values, style, color=colour, label=label)
            panel.set(title=name, xlabel="rows T", ylabel="regret / √T", xscale="log")
            panel.set_yscale("symlog", linthresh=0.1)  # a regret may be negative
            panel.set_ylim(-0.1, 20.0)
            panel.axhline(0.0, color="#999999", linewidth=0.6)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        pages = {ending: io.BytesIO() for ending in ("svg", "png")}
        figure.savefig(pages["svg"], format="svg", metadata={"Date": None})
        figure.savefig(pages["png"], format="png", dpi=200)
    return {ending: page.getvalue() for ending, page in pages.items()}


if __name__ == "__main__":
    main()
