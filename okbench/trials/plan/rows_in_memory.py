"""Which rows a permutation of all of them can be met in: those that fit the memory.

A permutation meets the rows of a file one by one at random places. That is as fast as memory while
the system can keep the file there, and a hundred times slower when each row is read from the disk.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from okbench.base.errors import OkbenchError
from okbench.base.machine_memory import SHARE, machine_memory
from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.trials.plan.planning import Load
from okbench.trials.trial_types import Trial

OPTION = "--order blocks"

_PLACE = 8  # bytes of a row's place in a permutation


def rows_bytes(data: Dataset) -> int:
    """Bytes of the rows and labels of a dataset."""
    X = data.X
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    return int(sum(array.nbytes for array in arrays) + data.y.nbytes)


def beyond_memory(data: Dataset) -> str:
    """Why rows are too large for a permutation of all of them, in figures; empty if they are not.

    The memory of the machine decides, not what of it is free, so that the same command chooses the
    same kind of order tomorrow.
    """
    order = _PLACE * data.n_rows
    needed, there = rows_bytes(data) + order, machine_memory()
    if needed <= SHARE * there:
        return ""
    return (
        f"{data.n_rows:,} rows in a permutation take {spoken_bytes(needed)} (rows "
        f"{spoken_bytes(needed - order)} + places {spoken_bytes(order)}), more than {SHARE:.0%} of "
        f"the {spoken_bytes(there)} of memory"
    )


def refuse_permutations_beyond_memory(trials: Iterable[Trial], load: Load) -> None:
    """Raise OkbenchError if a trial would meet such rows in a permutation of all of them."""
    permuted = ("seeded", "published")
    for name, variant in dict.fromkeys(
        (trial.dataset, trial.variant) for trial in trials if trial.order in permuted
    ):
        reason = beyond_memory(load(name, variant))
        if reason:
            raise OkbenchError(
                f"{name}: {reason}. Meet them in blocks that are permuted, with the rows permuted "
                f"inside a window of blocks: {OPTION} (outcomes of another kind of order, never "
                "averaged with those of permutations), or run all the same with --force"
            )
