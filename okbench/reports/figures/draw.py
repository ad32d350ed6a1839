"""A figure as a picture.

A learner looks the same in every picture and on every page (`line_styles`). The same numbers give
the same bytes: no date, no random names.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from okbench.reports import line_styles
from okbench.reports.figures.figure_data import Panel, Picture
from okbench.reports.figures.page_look import FONT_SIZE, PageLook, saved
from okbench.reports.figures.surfaces import Surface
from okbench.reports.line_styles import style_of

_LOOK = PageLook()

# What each marker of `line_styles` is in matplotlib.
MARKERS: dict[str, Any] = {
    "circle": "o", "square": "s", "up": "^", "diamond": "D", "down": "v", "star": "*",
    "right": ">", "hexagon": "h", "cross": (4, 1, 0), "left": "<",
}  # fmt: skip
_MARKERS_A_LINE = 25  # at most
_CHANGE = "#555555"  # where the concept of a stream changes
_THIN: dict[str, Any] = {"linewidth": 0.6, "linestyle": (0, (7, 3))}  # of what is only proved
_HEIGHT = 2.5  # inches of a panel, at most
_LINE = 0.13  # inches of a line of the caption
_ENTRY, _LETTER = 0.55, 0.07  # inches of an entry of the legend, and of each of its letters
_LETTERS_AN_INCH = 16
_LEVELS = tuple(level / 10 for level in range(1, 10))  # of contours
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def images(picture: Picture, look: PageLook = _LOOK) -> Mapping[str, bytes]:
    """The picture as files, by ending."""
    return saved(look, picture.name, lambda: _drawn(picture, look))


def _drawn(picture: Picture, look: PageLook) -> Any:
    across = _across(picture, look.across)
    labels = [label for label in picture.labels if any(label in p.lines for p in picture.panels)]
    entries = [*labels, *([picture.bound] if picture.bound else [])]
    title = f"{picture.name}: {picture.title}" if look.titled else ""
    notes = picture.notes if look.titled else ()
    count = len(picture.surfaces) + len(picture.panels)
    figure, axes, bottom = panels_of(count, across, entries, look, title, notes)
    parts: list[Surface | Panel] = [*picture.surfaces, *picture.panels]
    for number, (part, ax) in enumerate(zip(parts, axes, strict=True)):
        heading = lettered(number, part.title, count)
        if isinstance(part, Surface):
            _draw_contours(ax, part, heading)
        else:
            _draw(ax, part, heading)
    _legend(figure, picture, look, bottom)
    return figure


def panels_of(
    count: int,
    across: int,
    entries: Sequence[str],
    look: PageLook,
    title: str,
    notes: Sequence[str],
) -> tuple[Any, list[Any], float]:
    """A figure of so many axes with room for a legend of these entries, the height of whose lower
    edge is given back as a share: title, panels, legend, caption from top to bottom."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    down = -(-count // across)
    width = look.width
    caption = "\n".join(textwrap.fill(note, int(width * _LETTERS_AN_INCH)) for note in notes)
    under = _LINE * (caption.count("\n") + 2) if caption else 0.0
    legend = 1.4 * _LINE * (-(-len(entries) // legend_columns(look, entries)) + 0.5)
    heading = textwrap.fill(title, int(width * 0.75 * _LETTERS_AN_INCH))
    above = 2 * _LINE * (heading.count("\n") + 1) if heading else 0.0
    height = above + min(_HEIGHT, 0.8 * width / across) * down + legend + under
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    foot = (legend + under) / height
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, foot, 1, 1 - foot))
    if heading:
        figure.suptitle(heading, fontsize=FONT_SIZE + 2)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for ax in axes[count:]:
        ax.remove()
    if caption:
        figure.text(0.1 / width, 0.5 * _LINE / height, caption, fontsize=FONT_SIZE - 1, va="bottom")
    return figure, axes[:count], under / height


def lettered(number: int, title: str, count: int) -> str:
    """`(b) german`, where there is more than one panel."""
    return f"({_LETTERS[number % 26]}) {title}" if count > 1 else title


def legend_columns(look: PageLook, entries: Sequence[str]) -> int:
    """The entries of a legend beside each other."""
    longest = max(map(len, entries), default=0)
    return max(1, min(len(entries), int(look.width / (_ENTRY + _LETTER * longest))))


def _across(picture: Picture, most: int) -> int:
    """Panels side by side: the two quantities of a dataset stay in one line."""
    count = len(picture.panels) + len(picture.surfaces)
    paired = len({panel.quantity for panel in picture.panels}) > 1
    return min(2 if paired else balanced(count), most)


def balanced(count: int) -> int:
    """Panels side by side that make even rows."""
    return 2 if count == 4 else min(count, 3)


def _draw(ax: Any, panel: Panel, title: str) -> None:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    ax.set_title(title)
    ax.set_xlabel(panel.x_name)
    ax.set_ylabel(panel.y_name)
    if panel.quantity == "seconds" or panel.bounds or panel.is_high:
        ax.set_yscale("log", nonpositive="mask")
    if panel.is_wide:
        ax.set_xscale("log")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    if max(mark.x for line in panel.lines.values() for mark in line) >= 1000:
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    for begin, end in panel.changes:
        ax.axvspan(begin, end, color=_CHANGE, alpha=0.15, linewidth=0)
        ax.axvline(begin, color=_CHANGE, linewidth=0.8, zorder=1)
    floor = _floor(panel)
    for label, line in panel.lines.items():
        look = look_of(label)
        x = [mark.x for mark in line]
        mean = [mark.mean if mark.mean > floor else math.nan for mark in line]
        spread = [mark.std or 0.0 for mark in line]
        ax.plot(x, mean, label=label, markevery=-(-len(x) // _MARKERS_A_LINE), **look)
        low = [max(m - s, floor) for m, s in zip(mean, spread, strict=True)]
        high = [m + s for m, s in zip(mean, spread, strict=True)]
        ax.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
        if label in panel.bounds:
            ax.plot(*zip(*panel.bounds[label], strict=True), color=look["color"], **_THIN)
    if panel.bounds:
        ax.set_ylim(bottom=floor)


def _draw_contours(ax: Any, surface: Surface, title: str) -> None:
    ax.set_title(title)
    ax.grid(False)
    ax.set_box_aspect(1)
    lines = ax.contour(
        surface.x, surface.y, surface.values, levels=_LEVELS, cmap="cividis", linewidths=1.0
    )
    ax.clabel(lines, levels=_LEVELS[::2], fontsize=FONT_SIZE - 3)


def _floor(panel: Panel) -> float:
    """Where the drawing ends below: nowhere, but with bounds as far down as the lowest of them."""
    heights = [height for corners in panel.bounds.values() for _, height in corners]
    means = [mark.mean for line in panel.lines.values() for mark in line if mark.mean > 0]
    return min(heights + [mean / 2 for mean in means]) if heights else -math.inf


def look_of(label: str) -> dict[str, Any]:
    """The colour, marker and dashes of a learner."""
    style = style_of(label)
    dashes = line_styles.DASHES[style.dash]
    return {
        "color": line_styles.COLOURS[style.colour][0],
        "marker": MARKERS[line_styles.MARKERS[style.marker]],
        "linestyle": (0, dashes) if dashes else "-",
        "markerfacecolor": "white" if style.hollow else None,
    }


def _legend(figure: Any, picture: Picture, look: PageLook, bottom: float) -> None:
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
        ncols=legend_columns(look, shown),
        frameon=False,
    )
