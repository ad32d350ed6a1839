"""Learners with a dictionary of kernels (Shen et al. 2018 and 2019; Hoi et al. 2013; Sahoo et al.
2014): Raker and AdaRaker on random features, OMKL, OMKR and OMKC on kernel expansions, and a single
kernel, RBF.

`dictionary` has the settings that name the kernels. The loops over rows are in `numeric.rules`.
"""

__all__ = [
    "adaraker",
    "dictionary",
    "expansions",
    "fogd_orf",
    "instances",
    "omkc",
    "omkl",
    "omkr",
    "raker",
    "rbf",
]
