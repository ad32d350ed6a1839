"""Clocks for fits."""

from __future__ import annotations

import math


class Marking:
    """A clock that keeps the marks, and stops a fit at the question after so many."""

    def __init__(self, questions=math.inf):
        self.marks, self.left = [], questions

    def time_left(self):
        return math.inf if self.left > 0 else 0.0

    def should_stop(self):
        self.left -= 1
        return self.left < 0

    def mark(self, rows_seen, total=None):
        self.marks.append((rows_seen, total))
