"""The walk of each learner over the rows, in a module with the name of the learner.

A rule on a budget says which support vector leaves, and calls the shared walk for all else.
"""
