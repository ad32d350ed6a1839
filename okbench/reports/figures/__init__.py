"""Figures as numbers (`figure_data`), as text (`text`, `curve_text`) and as pictures (`draw`)."""

__all__ = ["curve_text", "draw", "figure_data", "text"]
