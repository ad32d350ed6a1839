"""Where a trial's random numbers come from: one root seed, and axes that may shift it.

A permutation depends on (seed, dataset, repetition) and is the same for every learner; a learner's
own draws depend on (seed, dataset, learner, repetition). On nothing else.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError, UsageError
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Draws
from okbench.learners.registry import settings_of
from okbench.protocols.contract import RowCounts
from okbench.protocols.registry import PROTOCOLS
from okbench.trials.plan.resolve_settings import SEED_NAMES
from okbench.trials.plan.row_orders import BlockShuffled, FileOrder, RowOrder
from okbench.trials.trial_types import Trial


def row_order(trial: Trial, dataset: Dataset) -> RowOrder:
    """The order in which the rows are met, to be sliced; rows that the protocol does not permute
    keep their places behind the others."""
    shuffled = PROTOCOLS[trial.protocol].shuffled(RowCounts(dataset.n_rows, dataset.n_train))
    if trial.order == "file":
        return FileOrder(dataset.n_rows)
    entropy = [trial.seed, _number(f"{trial.dataset}:{trial.variant}"), trial.repetition]
    if trial.order == "block-shuffled":
        return BlockShuffled(shuffled, dataset.n_rows, entropy)
    if trial.order == "published":
        order = _published(trial, dataset, shuffled)
    else:
        order = seeded_order(trial.seed, trial.dataset, trial.variant, trial.repetition, shuffled)
    return np.concatenate([order, np.arange(shuffled, dataset.n_rows)]).astype(np.int64)


def seeded_order(
    seed: int, dataset: str, variant: str, repetition: int, count: int
) -> NDArray[np.int64]:
    """The permutation of so many rows of a dataset."""
    entropy = [seed, _number(f"{dataset}:{variant}"), repetition]
    order = np.random.default_rng(np.random.SeedSequence(entropy)).permutation(count)
    return order.astype(np.int64)


def published_orders(dataset: Dataset, runs: int) -> NDArray[np.int64]:
    """The published permutations, refused when there are not enough for that many trials."""
    if dataset.orders is None:
        raise DataError(
            f"{dataset.name}: the published permutations are not available; "
            "run it with 'orders: seeded', or fetch the files that bring them"
        )
    if runs > len(dataset.orders):
        raise UsageError(
            f"{dataset.name}: {len(dataset.orders)} permutations were published, "
            f"so not {runs} trials"
        )
    return dataset.orders


def with_seed(cls: type, trial: Trial) -> dict[str, Any]:
    """The settings of a trial, with a seed for a constructor that takes one and is given none."""
    settings = dict(trial.settings)
    open_names = [n for n in SEED_NAMES if n in settings_of(cls) and n not in settings]
    return {**settings, **dict.fromkeys(open_names, seed_number(trial))}


def draws(trial: Trial) -> Draws:
    """The draws of the learner of a trial."""
    return Draws(learner_axes(trial))


def seed_number(trial: Trial) -> int:
    """The same source as one 32-bit number, for learners that take a seed."""
    return int(np.random.SeedSequence(learner_axes(trial)).generate_state(1)[0])


def learner_axes(trial: Trial) -> list[int]:
    """What the draws of a learner follow from."""
    rows, learner = _number(f"{trial.dataset}:{trial.variant}"), _number(trial.learner)
    return [trial.seed, rows, learner, trial.repetition]


def _published(trial: Trial, dataset: Dataset, shuffled: int) -> NDArray[np.int64]:
    order: NDArray[np.int64] = published_orders(dataset, trial.repetition + 1)[trial.repetition]
    if not np.array_equal(np.sort(order), np.arange(shuffled)):
        raise DataError(
            f"{dataset.name}: published order {trial.repetition} does not name each of the "
            f"{shuffled} rows once"
        )
    return order


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
