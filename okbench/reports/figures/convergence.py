"""How the learners of a table converge, as a figure of its trials."""

from __future__ import annotations

from dataclasses import replace

from okbench.papers.table_types import Figure, Table


def convergence(table: Table) -> Table:
    """The figure that draws the metric of a table's trials against the rows they had seen."""
    return replace(table, kind="curves", of=table.trials_of, figure=Figure(("metric",)))
