"""A figure as a picture, SVG and PNG. The only place that knows matplotlib.

A learner looks the same in every picture and on every page (`line_styles`). The same numbers give
the same bytes: no date, no random names.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Mapping
from typing import Any

from okbench.base.errors import UsageError
from okbench.reports import line_styles
from okbench.reports.figures.figure_data import Panel, Picture
from okbench.reports.line_styles import style_of

# What each marker of `line_styles` is in matplotlib.
MARKERS: dict[str, Any] = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "star": "*",
    "right": ">", "hexagon": "h", "cross": (4, 1, 0), "left": "<",
}  # fmt: skip
_THIN: dict[str, Any] = {"linewidth": 0.6, "linestyle": (0, (7, 3))}  # of what is only proved
_WIDTH, _HEIGHT = 3.1, 2.5  # inches of a panel
_LINE = 0.13  # inches of a line of the caption
_LETTERS_AN_INCH = 16
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_FONT = 8.0
_STYLE = {
    "font.size": _FONT,
    "axes.titlesize": _FONT,
    "axes.grid": True,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.0,
    "svg.fonttype": "path",
}


def images(picture: Picture) -> Mapping[str, bytes]:
    """The picture as files, by ending: svg and png."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise UsageError(
            "drawing needs matplotlib, which is not installed: pip install 'okbench[plot]'"
        ) from error
    with rc_context({**_STYLE, "svg.hashsalt": picture.name}):
        figure = _drawn(picture)
        return {"svg": _saved(figure, "svg", {"Date": None}), "png": _saved(figure, "png", None)}


def _saved(figure: Any, form: str, metadata: Mapping[str, None] | None) -> bytes:
    page = io.BytesIO()
    figure.savefig(page, format=form, metadata=metadata, dpi=200)
    return page.getvalue()


def _drawn(picture: Picture) -> Any:
    """Title, panels, legend, caption from top to bottom, each with inches of its own."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    across = _across(picture)
    down = -(-len(picture.panels) // across)
    width, columns = _WIDTH * across, 2 * across
    caption = "\n".join(
        textwrap.fill(note, int(width * _LETTERS_AN_INCH)) for note in picture.notes
    )
    under = _LINE * (caption.count("\n") + 2)
    entries = len(picture.labels) + bool(picture.bound)
    legend = 1.4 * _LINE * (-(-entries // columns) + 0.5)
    title = textwrap.fill(f"{picture.name}: {picture.title}", int(width * 0.75 * _LETTERS_AN_INCH))
    height = 2 * _LINE * (title.count("\n") + 1) + _HEIGHT * down + legend + under
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    foot = (legend + under) / height
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, foot, 1, 1 - foot))
    figure.suptitle(title, fontsize=_FONT + 2)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for number, (panel, ax) in enumerate(zip(picture.panels, axes, strict=False)):
        _draw(ax, panel, f"({_LETTERS[number % 26]}) {panel.title}")
    for ax in axes[len(picture.panels) :]:
        ax.remove()
    _legend(figure, picture, columns, under / height)
    figure.text(0.1 / width, 0.5 * _LINE / height, caption, fontsize=_FONT - 1, va="bottom")
    return figure


def _across(picture: Picture) -> int:
    """Panels side by side: the two quantities of a dataset stay in one line."""
    count = len(picture.panels)
    if len({panel.quantity for panel in picture.panels}) > 1:
        return 2 if count <= 4 else 4
    return 2 if count == 4 else min(count, 3)


def _draw(ax: Any, panel: Panel, title: str) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    ax.set_title(title)
    ax.set_xlabel(panel.x_name)
    ax.set_ylabel(panel.y_name)
    if panel.quantity == "seconds" or panel.bounds:
        ax.set_yscale("log", nonpositive="mask")
    if panel.is_wide:
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if max(mark.x for line in panel.lines.values() for mark in line) >= 1000:
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    floor = _floor(panel)
    for label, line in panel.lines.items():
        look = _look(label)
        x = [mark.x for mark in line]
        mean = [mark.mean if mark.mean > floor else math.nan for mark in line]
        spread = [mark.std or 0.0 for mark in line]
        ax.plot(x, mean, label=label, **look)
        low = [max(m - s, floor) for m, s in zip(mean, spread, strict=True)]
        high = [m + s for m, s in zip(mean, spread, strict=True)]
        ax.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
        if label in panel.bounds:
            ax.plot(*zip(*panel.bounds[label], strict=True), color=look["color"], **_THIN)
    if panel.bounds:
        ax.set_ylim(bottom=floor)


def _floor(panel: Panel) -> float:
    """Where the drawing ends below: nowhere, but with bounds as far down as the lowest of them."""
    heights = [height for corners in panel.bounds.values() for _, height in corners]
    means = [mark.mean for line in panel.lines.values() for mark in line if mark.mean > 0]
    return min(heights + [mean / 2 for mean in means]) if heights else -math.inf


def _look(label: str) -> dict[str, Any]:
    style = style_of(label)
    dashes = line_styles.DASHES[style.dash]
    return {
        "color": line_styles.COLOURS[style.colour][0],
        "marker": MARKERS[line_styles.MARKERS[style.marker]],
        "linestyle": (0, dashes) if dashes else "-",
        "markerfacecolor": "white" if style.hollow else None,
    }


def _legend(figure: Any, picture: Picture, columns: int, bottom: float) -> None:
    """One legend of all lines drawn, in the table's order, and of what is proved of them."""
    from matplotlib.lines import Line2D

    handles = {line.get_label(): line for ax in figure.axes for line in ax.get_lines()}
    shown = [label for label in picture.labels if label in handles]
    if picture.bound:
        handles[picture.bound] = Line2D([], [], color="#555555", **_THIN)
        shown.append(picture.bound)
    figure.legend(
        [handles[label] for label in shown],
        shown,
        loc="lower center",
        bbox_to_anchor=(0.5, bottom),
        ncols=min(len(shown), columns),
        frameon=False,
    )
