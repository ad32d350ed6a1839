"""What a learner tells of itself besides its predictions."""

from __future__ import annotations

from typing import Any


def figure_told(learner: Any, name: str) -> int | None:
    """A figure the learner offers as an attribute or a method; None when it has none to give."""
    try:
        figure = getattr(learner, name, None)
        return None if figure is None else int(figure() if callable(figure) else figure)
    except Exception:
        return None
