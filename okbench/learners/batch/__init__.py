"""Learners that are trained on all rows at once: `fit(X, y, clock)`, then `predict(X)`.

`base` is what they share, and `mini_batches` draws the rows of stochastic gradient steps. Import
the modules by name; the package itself imports nothing.
"""

__all__ = [
    "base",
    "bkm",
    "bsgd",
    "llsvm",
    "mini_batches",
    "multi_rrf",
    "random_features",
    "rks",
    "scikit",
]
