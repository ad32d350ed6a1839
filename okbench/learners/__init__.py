"""The algorithms: one class per learner, announced by the decorator of `registry`.

`contract` says what a learner is, `base` and the bases named in `kernel` what a class can build on,
`draws` where its random numbers come from, `checks` what every learner must keep. The loops over
rows are in `compiled`.
"""

__all__ = ["base", "checks", "contract", "draws", "registry"]
