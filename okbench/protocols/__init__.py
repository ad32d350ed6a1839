"""How trials are run and scored: one object per protocol and one per metric.

    from okbench.protocols.registry import PROTOCOLS    # by name, as a table's `kind` says
    from okbench.protocols.metrics import METRICS       # by name, as a table's `metric` says

A further protocol is a module with its `ProtocolKind` and one line in `registry`; a further metric
is a `Metric` and one line in `METRICS`. Nothing else in okbench depends on their names.
"""

__all__ = ["approximation", "block_stream", "contract", "costs", "metrics", "registry",
           "single_pass", "train_test"]  # fmt: skip
