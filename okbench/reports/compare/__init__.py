"""Comparisons of learners and of sets of outcomes.

Import from the modules below: `pairs` compares the learners of a table on each dataset, `ranking`
compares them over datasets by the statistics in `rank_tests`, `ranking_text` and `ranking_picture`
show both, and `side_by_side` compares several sets of outcomes.
"""

__all__ = ["pairs", "rank_tests", "ranking", "ranking_picture", "ranking_text", "side_by_side"]
