"""Trials, from a table to stored outcomes.

`trial_types` has the trial and its outcome; `plan` makes trials of a table, `run` runs them,
`cluster` has them run on other machines, `store` keeps the outcomes, `search` tunes settings by
trials, and `replay` runs recorded ones.
"""

__all__ = ["cluster", "plan", "replay", "run", "search", "store", "trial_types"]
