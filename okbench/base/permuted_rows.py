"""The first places of a permutation of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def first_permuted(generator: np.random.Generator, n_rows: int, count: int) -> NDArray[np.int64]:
    """The first of the places that `generator.permutation(n_rows)` draws, in half of its memory:
    4 bytes a row while they are drawn."""
    places = np.arange(n_rows, dtype=np.int32 if n_rows < 2**31 else np.int64)
    generator.shuffle(places)
    return places[:count].astype(np.int64)
