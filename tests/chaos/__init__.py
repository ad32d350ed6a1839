"""Faults on purpose: killed runs, commands that interleave, full disks and mutated files.

`python -m tests.chaos --minutes 5 --seed 0` does what `make chaos` does. It takes minutes, so that
pytest does not collect it. Everything random follows from the seed and the number of a case:
`--case kills:3` repeats case 3 of the part `kills` alone.
"""
