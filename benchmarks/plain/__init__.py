"""The learners as plain NumPy loops, one row at a time, read straight off the papers.

The tests hold the compiled learners to them, and the benchmarks measure how much faster those are.
"""
