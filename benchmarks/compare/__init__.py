"""This tree and another commit, measured in turns in one job: ratios that another day cannot spoil.

Each is an environment of its own with the same versions of its dependencies. `worker` is the only
module that the other commit runs; it uses of okbench what does not change between commits.
"""
