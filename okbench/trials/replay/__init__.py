"""Single runs as records: read one, run it, compare it with what it expects, write one of a trial.

`record` reads a record, `replaying` runs it, `differences` compares, and `recording` writes the
record of a trial.
"""

__all__ = ["differences", "record", "recording", "replaying"]
