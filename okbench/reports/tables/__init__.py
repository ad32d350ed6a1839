"""A table's cells and how they are printed: `cells` and `report` compute, `layout` arranges,
`render` writes; `verdicts` compares with the paper, `envelopes` with the
ranges that it searched, `explain` shows the trials behind a cell, `recovery` says what followed the
changes of a stream.
"""

__all__ = [
    "cells",
    "complexity",
    "complexity_text",
    "envelopes",
    "envelopes_text",
    "explain",
    "export",
    "grouping",
    "latex",
    "layout",
    "recovery",
    "recovery_text",
    "render",
    "report",
    "verdicts",
]
