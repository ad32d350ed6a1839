"""Choosing a learner for a user's own rows: a race in which every learner meets the same rows, part
by part, and those that fall behind are stopped.

`choosing` is the whole of it. `entrants` says who may run, `search` with which settings, `runner`
learns a part, `guarded_runner` does so in a worker process for learners that are not okbench's own,
`race` runs them all beside the `guesses` that they should beat, and `paired` says when a learner is
behind. `standings` holds what came of it and imports no learner.
"""
