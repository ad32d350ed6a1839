"""What every other package may use: errors, YAML with line numbers, whole files, locks, compiling.

Nothing here knows of datasets, learners or trials.
"""

__all__ = [
    "config_nodes",
    "errors",
    "jit",
    "locks",
    "plain_text",
    "quantities",
    "shared_types",
    "shipped",
    "whole_files",
    "worker_processes",
]
