"""Which datasets there are: `dataset_catalogue` finds entries, `specs` says what an entry holds.

`entries` reads the entries of a datasets file.
"""

__all__ = ["dataset_catalogue", "entries", "specs"]
