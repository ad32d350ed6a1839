"""Curves drawn with letters, for a terminal without a window."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from okbench.base.errors import UsageError
from okbench.papers.commands import command, name_of, run_command
from okbench.papers.table_types import Table
from okbench.reports.figures.figure_data import Panel, Picture, convergence, picture_of
from okbench.reports.figures.text import words_of
from okbench.reports.load import load_table
from okbench.reports.site.axes import Axis, axis, counted, tick_text, timed
from okbench.reports.site.charts import Line, drawable
from okbench.reports.tables.render import written
from okbench.trials.plan.options import Options
from okbench.trials.store.match_outcomes import Versions

HEIGHT = 16  # lines of a drawing
_LETTERS = string.ascii_letters + string.digits
_MORE = "*"  # lines beyond those that have a letter
_TICKS = 9  # columns left of the drawing
_NOT_DRAWN = ("; shaded: standard deviation (n − 1)", ", thin and dashed")


def stored_curves(
    table: Table,
    results: Path,
    options: Options,
    width: int = 80,
    encoding: str | None = None,
    versions: Versions | None = None,
) -> str:
    """A table's convergence, or the panels of a figure, from what a results folder holds."""
    if table.kind == "complexity":
        raise UsageError(f"{table.name} has no curves  ({command('report', name_of(table))})")
    figure = table if table.figure else convergence(table)
    shown = picture_of(load_table(figure, results, options, None, versions))
    if not shown.panels:
        raise UsageError(f"no curves of {table.name} in {results}  ({run_command(table)})")
    return written(curves_text(shown, table.protocol.metric, width), encoding)


def curves_text(shown: Picture, metric: str, width: int = 80) -> str:
    """Every panel, one under the other, and what a reader must know."""
    drawn = [_panel(panel, drawable(panel), metric, width) for panel in shown.panels]
    notes = [_without(note, _NOT_DRAWN) for note in shown.notes]
    return "\n\n".join([f"{shown.name}: {shown.title}", *drawn, "\n".join(notes)]) + "\n"


def _panel(panel: Panel, lines: Mapping[str, Line], metric: str, width: int) -> str:
    """Letters on a grid, the scales beside and below it, and whose letter is which: the highest
    at the right comes first, as on the drawing."""
    if not lines:
        return f"{panel.title}: no finite {panel.y_name}"
    marks = [mark for line in lines.values() for mark in line]
    x = axis((mark.x for mark in marks), 0, max(20, width - _TICKS - 3) - 1, logarithmic=False)
    y = axis((mark.mean for mark in marks), HEIGHT - 1, 0)
    letters = {
        label: _LETTERS[place] if place < len(_LETTERS) else _MORE
        for place, label in enumerate(panel.lines)
    }
    scale = f"{panel.y_name}, logarithmic" if y.logarithmic else panel.y_name
    return "\n".join(
        [
            f"{panel.title}: {scale} against {panel.x_name}",
            *_drawing(panel, lines, letters, x, y),
            *_legend(lines, letters, metric, width),
        ]
    )


def _drawing(
    panel: Panel, lines: Mapping[str, Line], letters: Mapping[str, str], x: Axis, y: Axis
) -> Iterator[str]:
    columns = round(x.end) + 1
    grid = [[" "] * columns for _ in range(HEIGHT)]
    for label, line in lines.items():
        for across, up in _places(line, x, y):
            if grid[up][across] == " ":
                grid[up][across] = letters[label]
    words = timed if panel.quantity == "seconds" else tick_text
    ticks = {round(y(value)): words(value) for value in reversed(y.ticks(5))}
    for up, row in enumerate(grid):
        joint = "+" if up in ticks else "|"
        yield f"{ticks.get(up, ''):>{_TICKS}} {joint}{''.join(row)}".rstrip()
    rule, labels = ["-"] * columns, [" "] * (columns + 6)
    for value in x.ticks(5):
        rule[round(x(value))] = "+"
        name = counted(value)
        begin = max(0, round(x(value)) - len(name) // 2)
        labels[begin : begin + len(name)] = name
    yield " " * (_TICKS + 1) + "+" + "".join(rule)
    yield (" " * (_TICKS + 2) + "".join(labels)).rstrip()


def _places(line: Line, x: Axis, y: Axis) -> Iterator[tuple[int, int]]:
    """Where a line runs: each column from its first point to its last, straight between points."""
    points = [(round(x(mark.x)), y(mark.mean)) for mark in line]
    for (left, start), (right, end) in zip(points, [*points[1:], points[-1]], strict=True):
        for across in range(left, max(right, left + 1)):
            share = (across - left) / (right - left) if right > left else 0.0
            yield across, round(start + share * (end - start))


def _legend(
    lines: Mapping[str, Line], letters: Mapping[str, str], metric: str, width: int
) -> Iterator[str]:
    """Letter, label and last value of every line, in as many columns as there is room for."""
    ordered = sorted(lines, key=lambda label: -lines[label][-1].mean)
    longest = max(map(len, ordered))
    entries = [
        f"{letters[label]}  {label:<{longest}}  {words_of(lines[label][-1], metric)}"
        for label in ordered
    ]
    wide = max(map(len, entries)) + 3
    across = max(1, (width - 2) // wide)
    down = -(-len(entries) // across)
    for place in range(down):
        yield "  " + _joined(entries[place::down], wide)


def _joined(entries: Sequence[str], wide: int) -> str:
    return "".join(f"{entry:<{wide}}" for entry in entries).rstrip()


def _without(text: str, phrases: Sequence[str]) -> str:
    for phrase in phrases:
        text = text.replace(phrase, "")
    return text
