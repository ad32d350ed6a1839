"""How time grows: with the rows, the features, the components, the budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bench_learners import begun
from benchmarks.clock import medians
from benchmarks.streams import Stream, stream


@dataclass(frozen=True)
class Growth:
    """Seconds of one learner as one size grows."""

    learner: str
    size: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope in doubly logarithmic coordinates: 1 is linear, 2 quadratic."""
        slope, _ = np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)
        return float(slope)


def measure(rounds: int, quick: bool) -> list[Growth]:
    """Every growth that is looked at, on ijcnn1."""
    rows = _repeated(stream("ijcnn1"), 100_000)
    cut = 5 if quick else 1
    counts = tuple(count // cut for count in (10_000, 20_000, 50_000, 100_000))
    some = rows.head(20_000 // cut)
    wide = {d: _widened(some, d) for d in (11, 22, 88, 352)}
    return [
        *(
            _growth(name, "rows T", {t: partial(_learn, name, rows.head(t)) for t in counts}, 1)
            for name in ("Perceptron", "OGD")
        ),
        _growth(
            "FOGD",
            "components D",
            {d: partial(_learn, "FOGD", some, components=d) for d in (100, 200, 400, 800, 1600)},
            rounds,
        ),
        _growth(
            "FOGD",
            "features d",
            {d: partial(_learn, "FOGD", part) for d, part in wide.items()},
            rounds,
        ),
        _growth(
            "RBP",
            "budget B",
            {b: partial(_learn, "RBP", some, budget=b) for b in (50, 100, 200, 500, 1000)},
            rounds,
        ),
    ]


def plot(growths: list[Growth], path: Path) -> None:
    """One panel a size, time against it."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    sizes = list(dict.fromkeys(growth.size for growth in growths))
    figure, panels = pyplot.subplots(1, len(sizes), figsize=(4 * len(sizes), 3.5))
    for size, panel in zip(sizes, np.atleast_1d(panels), strict=True):
        for growth in growths:
            if growth.size == size:
                label = f"{growth.learner}: exponent {growth.exponent:.2f}"
                panel.loglog(growth.sizes, growth.seconds, "o-", label=label)
        panel.set_xlabel(size)
        panel.set_ylabel("seconds")
        panel.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    pyplot.close(figure)


def _growth(learner: str, size: str, actions: dict[int, Any], rounds: int) -> Growth:
    seconds = medians(actions, rounds)
    return Growth(learner, size, tuple(seconds), tuple(seconds.values()))


def _learn(learner: str, rows: Stream, **settings: Any) -> None:
    begun(learner, rows, **settings).learn(rows.X, rows.y)


def _repeated(rows: Stream, n_rows: int) -> Stream:
    order = np.random.default_rng(2).integers(0, len(rows), n_rows)
    return Stream(rows.name, rows.source, rows.dense[order], rows.y[order])


def _widened(rows: Stream, n_features: int) -> Stream:
    copies = -(-n_features // rows.X.shape[1])
    X = np.ascontiguousarray(np.tile(rows.dense, (1, copies))[:, :n_features])
    return Stream(rows.name, rows.source, X, rows.y)
