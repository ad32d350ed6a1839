"""A sheet in LaTeX: tables that fit on the page of a paper, however many rows there are.

The preamble needs the package booktabs and nothing else. Best bold, runner-up italic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from okbench.reports.numbers import GREEK
from okbench.reports.tables.layout import Row, Sheet, SheetText

LINES = 45  # of a table on a page of the class article
LETTERS = 82  # beside each other on it, each gap counted as two
_SIGNS = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{sign: f"{{{sign}}}" for sign in "[*"},  # which mean something at the beginning of a row
    **{sign: f"{{{sign}}}" for sign in "`'"},  # two of which are another sign
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\dots{}",
    "²": "$^2$",
    "−": "$-$",
    **{sign: rf"$\{name}$" for sign, name in GREEK.items()},
    **{
        sign: rf"$\{name}$"
        for sign, name in {
            "±": "pm", "×": "times", "·": "cdot", "→": "rightarrow", "≤": "leq", "≥": "geq",
            "√": "surd", "ℓ": "ell", "ε": "varepsilon",
        }.items()
    },
}  # fmt: skip


def latex(sheet: Sheet) -> str:
    """One table environment; several of one number where one page is too small."""
    parts = list(_parts(sheet))
    pages = [
        _environment(
            replace(part, notes=sheet.notes if number == len(parts) else ()), continued=number > 1
        )
        for number, part in enumerate(parts, start=1)
    ]
    return "\n\n".join(pages)


def _environment(sheet: Sheet, continued: bool) -> str:
    columns = "l" * sheet.words + "r" * (len(sheet.header) - sheet.words)
    size, gap = ("footnotesize", 4) if sum(_widths(sheet)) <= LETTERS else ("scriptsize", 3)
    groups = ["\n".join(map(_line, group)) for group in sheet.groups]
    title = latex_escaped(sheet.title) + (" (continued)" if continued else "")
    notes = " ".join(map(latex_escaped, sheet.notes))
    return "\n".join(
        [
            r"\begin{table}",
            *([r"\addtocounter{table}{-1}"] if continued else []),
            r"\centering",
            rf"\caption{{{title}}}",
            r"\smallskip",
            rf"\{size}\setlength{{\tabcolsep}}{{{gap}pt}}",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            " & ".join(map(latex_escaped, sheet.header)) + r" \\",
            r"\midrule",
            "\n\\midrule\n".join(groups),
            r"\bottomrule",
            r"\end{tabular}",
            *(["", r"\smallskip", notes] if notes else []),
            r"\end{table}",
        ]
    )


def _line(row: Row) -> str:
    return " & ".join(map(_spelled, row)) + r" \\"


def _spelled(entry: SheetText) -> str:
    words = latex_escaped(entry.text)
    return (words, f"\\textbf{{{words}}}", f"\\textit{{{words}}}")[entry.place]


def latex_escaped(text: str) -> str:
    """The text as LaTeX prints it letter by letter; two hyphens are two, and no dash."""
    line = re.sub("[\x00-\x1f\x7f]+", " ", text)  # an empty line would end a paragraph
    signs = "".join(_SIGNS.get(character, character) for character in line)
    return re.sub("-(?=-)", "-{}", signs)


def _parts(sheet: Sheet) -> Iterator[Sheet]:
    """The sheet page by page: whole groups of rows, and columns with the names beside them."""
    for groups in _down(sheet.groups):
        for columns in _across(sheet):
            yield replace(
                sheet,
                header=tuple(sheet.header[place] for place in columns),
                groups=tuple(
                    tuple(tuple(row[place] for place in columns) for row in group)
                    for group in groups
                ),
            )


def _down(groups: Sequence[tuple[Row, ...]]) -> list[list[tuple[Row, ...]]]:
    pages: list[list[tuple[Row, ...]]] = [[]]
    for group in groups:
        if pages[-1] and sum(map(len, [*pages[-1], group])) > LINES:
            pages.append([])
        pages[-1].append(group)
    return pages


def _across(sheet: Sheet) -> list[list[int]]:
    """The places of the columns of each page. What stands beside a paper's numbers stays there;
    datasets side by side, or the lines of a figure, may go on below.
    """
    if sheet.words > 1:
        return [list(range(len(sheet.header)))]
    widths = _widths(sheet)
    pages = [[0]]
    for place in range(1, len(widths)):
        if len(pages[-1]) > 1 and sum(widths[p] for p in [*pages[-1], place]) > LETTERS:
            pages.append([0])
        pages[-1].append(place)
    return pages


def _widths(sheet: Sheet) -> list[int]:
    """The letters of each column, and the gap beside it."""
    rows = [row for group in sheet.groups for row in group]
    return [
        max([len(heading), *(len(row[place].text) for row in rows)]) + 2
        for place, heading in enumerate(sheet.header)
    ]
