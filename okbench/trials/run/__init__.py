"""From planned trials to outcomes.

`run_table` runs a table into a store, `execute` hands out outcomes as they come, from threads or
from the worker processes of `guarded`, `run_trial` runs one trial and `sharing` those that have
something in common, `protocol_loop` hands rows to the learner, and `account` is what it writes
down; `estimate` and `memory_needs` compute what a run would take.
"""

__all__ = ["account", "batch", "block_sizes", "curve_totals", "environment", "estimate", "execute",
           "guarded", "memory_needs", "protocol_loop", "run_table", "run_trial", "sharing",
           "workers"]  # fmt: skip
