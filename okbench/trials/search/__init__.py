"""Settings that no paper states: `tuning` chooses them by trials on a part of the rows, `vary` runs
the trials of every value that a paper searched.

`search_grid` lists the candidates (and is all that reports need), `searched_ranges` those of a
learner; `subsample` takes the rows and `folds` deals them out, `tuned_file` writes what was chosen.
"""

__all__ = ["folds", "search_grid", "searched_ranges", "subsample", "tuned_file", "tuning", "vary"]
