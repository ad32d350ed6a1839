"""A sheet in LaTeX: tables that fit on the page of a paper, however many rows there are.

The preamble needs the package booktabs and nothing else. A table set like the paper says in its
caption what a reader must know, and the rest in comments for the author. Best bold, runner-up
italic; where a table asks for stars, the runner-up is underlined, and the best may have a star.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from okbench.reports.numbers import GREEK
from okbench.reports.tables.layout import Row, Sheet, SheetText

LINES = 45  # of a table on a page of the class article
LETTERS = 82  # beside each other on it, each gap counted as two
SMALL_LETTERS = 93  # the same in a smaller size
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
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    **{sign: rf"$\{name}$" for sign, name in GREEK.items()},
    **{
        sign: rf"$\{name}$"
        for sign, name in {
            "±": "pm", "×": "times", "·": "cdot", "→": "rightarrow", "≤": "leq", "≥": "geq",
            "√": "surd", "ℓ": "ell", "ε": "varepsilon",
        }.items()
    },
}  # fmt: skip


def latex(sheet: Sheet, width: float = math.inf) -> str:
    """One table environment: columns that do not fit beside each other continue below. Rows that
    do not fit on a page continue in another environment of the same number."""
    wide = SMALL_LETTERS if sheet.headed else LETTERS
    blocks = list(sheet.fitted(min(width, wide)))
    pages = [page for block in blocks for page in _down(block)]
    if sum(map(_lines_of, blocks)) <= LINES:
        return _environment(sheet, blocks, number=1, last=True)
    return "\n\n".join(
        _environment(sheet, [page], number, last=number == len(pages))
        for number, page in enumerate(pages, start=1)
    )


def _environment(sheet: Sheet, blocks: Sequence[Sheet], number: int, last: bool) -> str:
    """A table of blocks, one below the other, the shorter ones with empty columns at the right."""
    across = max(len(block.header) for block in blocks)
    widest = max(sum(block.widths) for block in blocks)
    size, gap = ("footnotesize", 4) if widest <= LETTERS else ("scriptsize", 3)
    columns = "l" * sheet.words + "r" * (across - sheet.words)
    label = [rf"\label{{{sheet.label}}}"] if sheet.label and number == 1 else []
    caption = latex_escaped(sheet.caption or sheet.title) + (" (continued)" if number > 1 else "")
    return "\n".join(
        [
            *([] if number > 1 else map(_comment, sheet.notes if sheet.caption else ())),
            r"\begin{table}",
            *([r"\addtocounter{table}{-1}"] if number > 1 else []),
            r"\centering",
            rf"\caption{{{caption}}}",
            *label,
            r"\smallskip",
            rf"\{size}\setlength{{\tabcolsep}}{{{gap}pt}}",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            "\n\\midrule\n".join(map(_block, blocks)),
            r"\bottomrule",
            r"\end{tabular}",
            *_below(() if sheet.caption or not last else sheet.notes),
            r"\end{table}",
        ]
    )


def _block(block: Sheet) -> str:
    heads = " & ".join(map(latex_escaped, block.header)) + r" \\"
    groups = ["\n".join(map(_line, group)) for group in block.groups]
    return "\n".join([*_over(block), heads, r"\midrule", "\n\\midrule\n".join(groups)])


def _over(block: Sheet) -> Iterator[str]:
    """The headings over columns that belong together, and a rule below each."""
    if not block.over:
        return
    spans = [
        rf"\multicolumn{{{len(columns)}}}{{c}}{{{latex_escaped(heading)}}}"
        for heading, columns in block.bundles
    ]
    yield " & ".join([*[""] * block.words, *spans]).lstrip() + r" \\"
    yield " ".join(
        rf"\cmidrule(lr){{{columns[0] + 1}-{columns[-1] + 1}}}" for _, columns in block.bundles
    )


def _below(notes: Sequence[str]) -> list[str]:
    return ["", r"\smallskip", " ".join(map(latex_escaped, notes))] if notes else []


def _comment(note: str) -> str:
    """A note for the author, which is not printed."""
    return f"% {latex_escaped(note)}"


def _line(row: Row) -> str:
    return " & ".join(map(_spelled, row)) + r" \\"


def _spelled(entry: SheetText) -> str:
    words = latex_escaped(entry.text) + ("$^*$" if entry.starred else "")
    if entry.underlined:
        return f"\\underline{{{words}}}"
    return (words, f"\\textbf{{{words}}}", f"\\textit{{{words}}}")[entry.place]


def latex_escaped(text: str) -> str:
    """The text as LaTeX prints it letter by letter; two hyphens are two, and no dash."""
    line = re.sub("[\x00-\x1f\x7f]+", " ", text)  # an empty line would end a paragraph
    signs = "".join(_SIGNS.get(character, character) for character in line)
    return re.sub("-(?=-)", "-{}", signs)


def _down(sheet: Sheet) -> Iterator[Sheet]:
    """The sheet page by page, in whole groups of rows."""
    pages: list[list[tuple[Row, ...]]] = [[]]
    for group in sheet.groups:
        if pages[-1] and sum(map(len, [*pages[-1], group])) > LINES:
            pages.append([])
        pages[-1].append(group)
    for groups in pages:
        yield replace(sheet, groups=tuple(groups))


def _lines_of(block: Sheet) -> int:
    return 1 + bool(block.over) + sum(map(len, block.groups))
