"""What was measured, in files: `files` reads and writes them, `results_file` is what one holds,
`plans` which trials a run planned, `match_outcomes` which outcomes belong in which cell.
No learner is imported here and no rows are read.
"""

__all__ = ["files", "match_outcomes", "outcome_json", "plans", "results_file"]
