"""Choosing a learner for a user's own rows: a race in which every learner meets the same rows, part
by part, and those that fall behind are stopped.

`standings` holds what came of a race and imports nothing heavy; `entrants` says who may run and with
which settings, `race` runs, and `paired` says when a learner is behind.
"""
