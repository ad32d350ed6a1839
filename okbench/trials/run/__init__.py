"""From planned trials to outcomes.

`run_table` runs a table into a store, `execute` hands out outcomes as they come, `run_trial` runs
one trial, and `protocol_loop` hands its rows to the learner; `estimate` says what a run would take.
"""

__all__ = ["block_sizes", "curve_totals", "environment", "estimate", "execute", "protocol_loop",
           "run_table", "run_trial", "workers"]  # fmt: skip
