"""What features make of rows taken in pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from okbench.base.jit import compiled
from okbench.learners.numeric.lanes import dot
from okbench.learners.numeric.rules.linear import make_features


@compiled()
def pair_products(
    finish: int, projected: Any, others: Any, n_features: int, first: int, out: Any
) -> None:
    """Inner product of the features of a projected row and of its partner in `others`, pair after
    pair; row 0 of both makes out[first]."""
    features = np.empty((2, n_features))
    for i in range(projected.shape[0]):
        make_features(finish, projected, i, features[0])
        make_features(finish, others, i, features[1])
        out[first + i] = dot(features, 0, features, 1, n_features)
