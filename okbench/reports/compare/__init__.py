"""Learners of a table against each other (`ranking`), and sets of outcomes `side_by_side`."""

__all__ = ["ranking", "ranking_text", "side_by_side"]
