"""The numbers of the documents, and the commands that print them.

Two comments of a document tie it to `results/`. A comment below a paragraph or a table names a
command and the values that stand above it, in their order:

    <!-- numbers: okbench report table5 --results results --format json
    german/OGD/{mean,std}, counts/default/within -->

A name with a comma is written with `\\,`, and `1000 * german/OGD/mean` is a multiple of a value.

A comment above a code block names the command that prints its lines:

    <!-- prints: okbench claims lsokl/claim2 --results results -->

Instead of a command, `numbers:` may name a module (`okbench.module`, for its constants), a YAML
file, or a Markdown table of `results/`.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

import click.testing
import yaml

from okbench.cli import okbench

ROOT = Path(__file__).parents[2]
_COMMA = "\0"  # one that belongs to a name
_NUMERAL = re.compile(r"(?<![\w.])[+−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
_COMMENT = re.compile(r"<!-- numbers: (?P<source>[^\n]+?)\n(?P<items>.*?)-->", re.DOTALL)
_PRINTED = re.compile(r"<!-- prints: (?P<command>[^\n]+?) -->\n+```\n(?P<lines>.*?)```", re.DOTALL)


class Quoted(NamedTuple):
    """A paragraph or a table with the values that are named below it."""

    text: str
    values: list[tuple[str, float | str]]  # the path of each value, and the value


def paragraphs(document: str) -> list[Quoted]:
    """Every paragraph, item of a list and table of a document without its code blocks."""
    blocks: list[Quoted] = []
    document = re.sub(r"```.*?```", "", document, flags=re.DOTALL)
    document = re.sub(r"^ {4}okbench .*$", "", document, flags=re.MULTILINE)
    document = document.replace("\n<!-- numbers:", "\n\n<!-- numbers:").replace("-->\n", "-->\n\n")
    for block in re.split(r"\n\s*\n|\n(?=- )", document):
        comment = _COMMENT.fullmatch(block.strip())
        if comment is None:
            blocks += [Quoted(block, [])] if block.strip() else []
        else:
            blocks[-1].values.extend(_values(comment["source"], comment["items"]))
    return blocks


def code_blocks(document: str) -> Iterator[tuple[str, list[str]]]:
    """(command, lines) of every code block below a `prints:` comment."""
    for found in _PRINTED.finditer(document):
        yield found["command"], found["lines"].splitlines()


def faults(quoted: Quoted) -> list[str]:
    """What a paragraph quotes wrongly, and decimal numbers that no value stands for."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda code: " " * len(code.group()), quoted.text)
    found: list[str] = []
    start = 0
    quotes: set[int] = set()
    for path, value in quoted.values:
        place = _place(text, start, value)
        if place is None:
            found.append(
                f"{path} is {value}, which does not follow in: {text[start:][:80].strip()}"
            )
            continue
        quotes.update(range(*place))
        start = place[1]
    for numeral in _NUMERAL.finditer(text):
        if "." in numeral.group() and numeral.start() not in quotes:
            found.append(f"no command is named for {numeral.group()} in: {text.strip()[:80]}")
    return found


def _place(text: str, start: int, value: float | str) -> tuple[int, int] | None:
    """Where the next quotation of a value begins and ends."""
    if isinstance(value, str):
        at = text.find(value, start)
        return None if at < 0 else (at, at + len(value))
    for numeral in _NUMERAL.finditer(text, start):
        if _rounds_to(value, numeral.group()):
            return numeral.span()
    return None


def _rounds_to(value: float, numeral: str) -> bool:
    """Whether a numeral is the value, rounded to its digits. Without a sign it is the size."""
    plain = numeral.replace("−", "-").replace(",", "").rstrip(".")
    if plain[0] not in "+-":
        value = abs(value)
    quoted = Decimal(plain)
    unit = Decimal(1).scaleb(int(quoted.as_tuple().exponent))
    return Decimal(repr(value)).quantize(unit, ROUND_HALF_UP) == quoted


def _values(source: str, items: str) -> list[tuple[str, float | str]]:
    lookup = _source(source.strip())
    paths = [path for item in _split(items.replace("\\,", _COMMA)) for path in _expand(item)]
    return [_value(lookup, path.replace(_COMMA, ",")) for path in paths]


def _value(lookup: Callable[[list[str]], Any], path: str) -> tuple[str, float | str]:
    factor, multiplied, name = path.rpartition(" * ")
    value = lookup(name.split("/"))
    return path, float(factor) * value if multiplied else value


def _split(items: str) -> list[str]:
    """The items between commas that stand outside braces."""
    return [item.strip() for item in re.findall(r"(?:[^,{}]|\{[^}]*\})+", items) if item.strip()]


def _expand(item: str) -> list[str]:
    """`a/{b,c}` becomes a/b and a/c, the first braces varying slowest."""
    parts = [
        part[1:-1].split(",") if part.startswith("{") else [part]
        for part in re.split(r"(\{[^}]*\})", re.sub(r"\s*\n\s*", " ", item))
    ]
    return ["".join(chosen).strip() for chosen in itertools.product(*parts)]


def printed(command: str) -> str:
    """What a command prints, run from the folder of the project."""
    words = shlex.split(command)
    assert words[0] == "okbench"
    assert {"--results", "--printed"} & set(words), f"{command} reads runs/"
    return _run(tuple(words[1:]))


@functools.cache
def _run(words: tuple[str, ...]) -> str:
    words = tuple(str(ROOT / word) if word == "results" else word for word in words)
    done = click.testing.CliRunner().invoke(okbench, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@functools.cache
def _source(source: str) -> Any:
    if source.startswith("results/"):
        return functools.partial(_markdown_value, _markdown_rows(ROOT / source))
    if source.endswith(".yaml"):
        return functools.partial(
            _nested_value, yaml.safe_load((ROOT / source).read_text(encoding="utf-8"))
        )
    if re.fullmatch(r"okbench(\.\w+)+", source):
        module = importlib.import_module(source)
        return lambda path: getattr(module, path[0])
    payload = json.loads(printed(source))
    lookups = {"report": _report_value, "claims": _claims_value, "figure": _figure_value,
               "compare": _nested_value}  # fmt: skip
    return functools.partial(lookups[payload["okbench"]], payload)


def _report_value(payload: dict[str, Any], path: list[str]) -> float | str:
    """A field of a cell, or a number of cells.

    [NAME OF SETTINGS/]DATASET/LEARNER/FIELD; counts/RESTS ON/OUTCOME; and with an outcome, or
    nothing for all outcomes: exact/DATASET/OUTCOME (cells without random numbers) and
    alternative/NAME OF SETTINGS/OUTCOME. After changes of a stream: recovery/DATASET/LEARNER/FIELD,
    or the name of an error written down besides.
    """
    cells = payload["cells"]
    if path[0] == "recovery":
        (one,) = [
            one for one in payload["recoveries"] if [one["dataset"], one["learner"]] == path[1:3]
        ]
        return float({**one, **one["others"]}[path[3]])
    if path[0] == "counts":
        return int(payload["counts"].get(path[1], {}).get(path[2], 0))
    if path[0] == "exact":
        alike = [cell for cell in cells if cell["exact"] and cell["dataset"] == path[1]]
        return sum(path[2] in ("", cell["verdict"]["outcome"]) for cell in alike)
    if path[0] == "alternative":
        alike = payload["alternatives"][path[1]]
        return sum(path[2] in ("", cell["verdict"]["outcome"]) for cell in alike)
    if path[0] in payload["alternatives"]:
        cells, path = payload["alternatives"][path[0]], path[1:]
    names = set(path[:2])
    (cell,) = [cell for cell in cells if {cell["dataset"], cell["learner"]} == names]
    return _field(cell, path[2:])


def _field(cell: dict[str, Any], fields: list[str]) -> float | str:
    short = {"printed": ("printed", "mean"), "printed_std": ("printed", "std"),
             "printed_seconds": ("printed", "seconds"), "outcome": ("verdict", "outcome"),
             "smallest": ("verdict", "smallest")}  # fmt: skip
    (field,) = fields
    value: Any = cell
    for key in short.get(field, (field,)):
        value = value[key]
    if field == "printed_std" and cell["printed"]["filler"]:
        return float(cell["printed"]["text"].split("±")[1])
    if field.startswith("printed"):  # a printed mean may be a text that keeps its zeros
        return float(value)
    assert isinstance(value, int | float | str), f"{fields}: {value!r}"
    return value


def _claims_value(payload: dict[str, Any], path: list[str]) -> float | str:
    """CLAIM, whose value is its standing; or count/STANDING."""
    standings = {
        claim["claim"]["id"].split("/")[1]: claim["standing"] for claim in payload["claims"]
    }
    if path[0] == "count":
        return list(standings.values()).count(path[1])
    return str(standings[path[0]])


def _figure_value(payload: dict[str, Any], path: list[str]) -> float | str:
    """LEARNER/DATASET/X/{mean,std,bound,seconds,n}."""
    learner, dataset, x, field = path
    quantity = "seconds" if field == "seconds" else "metric"
    (point,) = [
        point
        for point in payload["points"]
        if (point["learner"], point["dataset"], point["quantity"]) == (learner, dataset, quantity)
        and point["x"] == float(x)
    ]
    return float(point["mean" if field == "seconds" else field])


def _nested_value(payload: Any, path: list[str]) -> float | str:
    value = payload
    for key in path:
        value = value[int(key)] if isinstance(value, list) else value[key]
    assert isinstance(value, int | float | str)
    return value


def _markdown_rows(path: Path) -> dict[str, dict[str, str]]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


def _markdown_value(rows: dict[str, dict[str, str]], path: list[str]) -> float | str:
    """ROW/COLUMN, or ROW/COLUMN/NAME for the exponent in `NAME^2.27`."""
    cell = rows[path[0]][path[1]]
    if len(path) == 2:
        return cell
    found = re.search(rf"\b{re.escape(path[2])}\^([\d.]+)", cell)
    assert found is not None, cell
    return float(found.group(1))
