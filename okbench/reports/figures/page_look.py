"""How a picture fits a printed page: its width, its font, and the files it is saved as.

The same numbers give the same bytes: no date, no random names. Text in PDF is text, in a font that
is part of the file; in SVG it is drawn as outlines, so that every machine shows the same.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from okbench.base.errors import UsageError

Size = Literal["column", "page"]
SIZES: tuple[Size, ...] = get_args(Size)
FORMATS = ("pdf", "svg", "png")
FONT_SIZE = 8.0
_WIDTHS: Mapping[Size, float] = {"column": 3.3, "page": 6.8}  # inches, of a page of two columns
_PANEL = 2.1  # inches, at least, of panels beside each other
_NO_DATES: Mapping[str, dict[str, None]] = {
    "pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}
}  # fmt: skip
_STYLE = {
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.grid": True,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.0,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class PageLook:
    """The width of a picture, in columns of a page of two, and its font; `titled` puts the title
    and the notes into the picture, which a paper prints as its caption."""

    size: Size = "page"
    font: str = ""
    titled: bool = False

    @property
    def width(self) -> float:
        """Inches."""
        return _WIDTHS[self.size]

    @property
    def across(self) -> int:
        """The panels that have room beside each other."""
        return int(self.width / _PANEL)

    @property
    def style(self) -> dict[str, Any]:
        """Its settings of matplotlib."""
        return {**_STYLE, **({"font.family": self.font} if self.font else {})}


def saved(look: PageLook, name: str, draw: Callable[[], Any]) -> Mapping[str, bytes]:
    """What `draw` draws as files, by their ending."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise UsageError(
            "drawing needs matplotlib, which is not installed: pip install 'okbench[plot]'"
        ) from error
    _check_font(look.font)
    with rc_context({**look.style, "svg.hashsalt": name}):
        figure = draw()
        return {form: _saved(figure, form) for form in FORMATS}


def _saved(figure: Any, form: str) -> bytes:
    page = io.BytesIO()
    figure.savefig(page, format=form, metadata=_NO_DATES[form], dpi=200)
    return page.getvalue()


def _check_font(name: str) -> None:
    """Refuse a font that matplotlib does not find; families such as `serif` are always there."""
    from matplotlib import font_manager

    if name and name not in font_manager.font_family_aliases:
        try:
            font_manager.findfont(name, fallback_to_default=False)
        except ValueError as error:
            raise UsageError(
                f"--font: there is no font '{name}' here; serif, sans-serif and monospace always "
                "work"
            ) from error
