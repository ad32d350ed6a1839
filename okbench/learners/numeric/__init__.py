"""The compiled loops that learners share: functions of arrays, which know nothing of files.

`losses` holds the arithmetic of the three tasks, `supports` the table of support vectors, `walks`
what every walk over rows begins with, `fourier` random Fourier features, `lanes` and
`vector_products` the innermost loops. `rules` has the walk of each learner.
"""

__all__ = ["elementary", "fourier", "lanes", "losses", "supports", "vector_products", "walks"]
