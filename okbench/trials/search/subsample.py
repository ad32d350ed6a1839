"""A subsample of a dataset's rows, for trials that need not see all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from okbench.base.permuted_rows import first_permuted
from okbench.datasets.dataset_types import Dataset
from okbench.trials.plan.planning import Load


@dataclass(frozen=True)
class Subsample:
    """Loads a random part of the rows of a dataset, always the same for a seed. Of datasets that
    are met in the order of the file it is the first rows."""

    load: Load
    share: float
    at_least: int
    seed: int
    in_order: tuple[str, ...] = ()  # datasets that are met in the order of the file

    def __call__(self, name: str, variant: str = "") -> Dataset:
        return _part(self, name, variant)


@lru_cache(maxsize=4)
def _part(part: Subsample, name: str, variant: str) -> Dataset:
    whole = part.load(name, variant)
    count = min(whole.n_rows, max(part.at_least, math.ceil(part.share * whole.n_rows)))
    if name in part.in_order:
        chosen = np.arange(count)
    else:
        generator = np.random.default_rng([part.seed, whole.n_rows])
        chosen = first_permuted(generator, whole.n_rows, count)
    return replace(
        whole,
        X=whole.X[chosen],
        y=whole.y[chosen],
        fingerprint=f"{whole.fingerprint}/{count}/{part.seed}",
        orders=None,
        n_train=None,
    )
