"""Comparisons of learners and of sets of outcomes.

Import from the modules below: `ranking` compares the learners of a table, `ranking_text` prints and
draws that, and `side_by_side` compares several sets of outcomes.
"""

__all__ = ["ranking", "ranking_text", "side_by_side"]
