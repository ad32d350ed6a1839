"""What was measured, in files: `files` reads and writes them, `results_file` is what one holds,
`lines` and `read_lines` are its lines as they are written and read, `plans` which trials a run
planned, `match_outcomes` which outcomes belong in which cell.
No learner is imported here and no rows are read.
"""

__all__ = [
    "field_types",
    "files",
    "lines",
    "match_outcomes",
    "outcome_json",
    "plans",
    "read_lines",
    "results_file",
]
