"""okbench show: everything about one dataset, table, learner or trial."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from okbench.base.errors import UsageError
from okbench.base.plain_text import escaped
from okbench.cli import options
from okbench.cli.choices import ANYTHING, kind_of, unknown_name

EPILOG = """\b
Examples:
  okbench show cod-rna --variant rrf
  okbench show table5
  okbench show FOGD
  okbench show own/my.csv
  okbench show 95930c46 --results results     the trial whose id begins so
"""
Lines = Iterator[tuple[str, Any]]


@click.command(epilog=EPILOG)
@click.argument("name", type=ANYTHING)
@click.option("--variant", default="", help="Variant of the dataset: rows as one paper used them.")
@options.results
@options.text_or_json
def show(name: str, variant: str, results: Path, form: str) -> None:
    """Show the dataset, table or learner NAME, or the stored trial whose id begins with NAME."""
    kind = kind_of(name)
    if variant and kind != "dataset":
        raise UsageError(f"--variant goes with a dataset, and '{name}' is none")
    if kind == "dataset":
        data = _dataset(name, variant)
        _print(data, _dataset_lines(data), form)
    elif kind == "table":
        data = _table(name, results)
        _print(data, _table_lines(data), form)
    elif kind == "learner":
        data = _learner(name)
        _print(data, _learner_lines(data), form)
    else:
        _show_trial(name, results, form)


def _print(data: Any, lines: Lines, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, default=repr))
        return
    shown = list(lines)
    width = max(len(label) for label, _ in shown)
    for label, value in shown:
        click.echo(f"{label:<{width}}  {value}".rstrip())


def _show_trial(prefix: str, results: Path, form: str) -> None:
    from okbench.reports.results_paths import BASELINES
    from okbench.reports.tables.explain import describe_trial, trial_records

    places = list(dict.fromkeys([results, BASELINES]))
    page: Any = (trial_records if form == "json" else describe_trial)(prefix, places)
    if not page:
        trial = f"trial in {' or '.join(map(str, places))}"
        raise unknown_name(prefix, ("dataset", "table", "learner"), trial)
    if form == "json":
        page = json.dumps(page, indent=2, ensure_ascii=False)
    click.echo(escaped(page.rstrip()))


def _dataset(name: str, variant: str) -> dict[str, Any]:
    """Rows, ranges, provenance, and the tables that use them."""
    from okbench.datasets.describe import describe
    from okbench.papers.table_catalogue import names

    data = describe(name, variant)
    data["used_by"] = [card.name for card in names() if data["name"] in card.datasets]
    return data


def _dataset_lines(data: Mapping[str, Any]) -> Lines:
    yield "name", f"{data['name']} ({data['variant'] or 'default'})"
    if len(data["variants"]) > 1:
        yield "variants", ", ".join(data["variants"])
    yield "task", data["task"]
    yield from _shape_lines(data)
    if data["classes"]:
        yield "classes", ", ".join(f"{label}: {n:,}" for label, n in data["classes"].items())
    if data["orders"]:
        yield "permutations", f"{data['orders']} published"
    for when in ("before", "after"):
        for label, (low, high) in _ranges(data["ranges"][when]):
            yield f"{label} {when}", f"{low:g} to {high:g}"
    if hashed := (data["ranges"]["after"] or {}).get("hashed"):
        yield "hashed", hashed
    for number, step in enumerate(data["preparation"], start=1):
        yield f"step {number}", step
    prepared = data["prepared"]
    if prepared["reason"]:
        yield "prepared", f"{prepared['source']}: {prepared['reason']}"
    for check in data["agreement"]:
        verdict = "as expected" if check["agrees"] else f"expected {check['expected']:,}"
        reason = f": {check['reason']}" if check["reason"] else ""
        yield check["what"], f"{check['found']:,}, {verdict}{reason}"
    for file in data["files"]:
        hash_ = f" {file['sha256'][:16]}… ({file['checked']}, {file['verified']})"
        source = f" from {file['source']}" if file["source"] else ""
        yield "file", f"{file['name']}{hash_ if file['sha256'] else ''}{source}"
    yield from (
        (label, data[label]) for label in ("note", "cite", "licence", "page") if data[label]
    )
    yield "used by", ", ".join(data["used_by"]) or "no table"
    if data["changes"]:
        yield "changes", "at rows " + ", ".join(map(_change, data["changes"]))
    if data["missing"]:
        yield "missing", data["missing"]
    else:
        yield "fingerprint", data["fingerprint"]


def _shape_lines(data: Mapping[str, Any]) -> Lines:
    """The numbers of rows and columns: those of the rows, or where they are not here, of the
    entry."""
    rows = "not stated" if data["rows"] is None else f"{data['rows']:,}"
    yield (
        "rows",
        rows if data["train"] is None else f"{rows}, of which the first {data['train']:,} train",
    )
    columns = "not stated" if data["features"] is None else f"{data['features']:,}"
    if not data["missing"]:
        columns += f", {data['density']:.1%} filled, {data['layout']}"
    yield "columns", columns


def _change(change: Sequence[int]) -> str:
    """A row, or the rows that a gradual change takes."""
    begin, end = change
    return f"{begin:,}" if begin == end else f"{begin:,} to {end:,}"


def _ranges(ranges: Mapping[str, Any] | None) -> Iterator[tuple[str, tuple[float, float]]]:
    """The widest range of the columns, and the target's."""
    if ranges:
        yield "columns", (ranges["low"], ranges["high"])
        if "target" in ranges:
            yield "target", (ranges["target"][0], ranges["target"][1])


def _table(name: str, results: Path) -> dict[str, Any]:
    """What a table or figure runs."""
    from okbench.papers.table_catalogue import find

    table = find(name, results=results)
    protocol = table.protocol
    points = [column.point for column in table.learners if column.point]
    return {
        "name": table.name,
        "title": table.title,
        "kind": table.kind,
        "paper": table.paper,
        "file": table.where.rpartition(":")[0],
        "trials_of": table.trials_of,
        "protocol": {
            "kind": protocol.kind,
            "metric": protocol.metric,
            "permutations": protocol.runs,
            "orders": protocol.orders,
            "block": protocol.block or None,
            "time_limit": protocol.time_limit if protocol.time_limit < float("inf") else None,
            "na_after": protocol.na_after if protocol.na_after < float("inf") else None,
        },
        "datasets": [
            {"name": row.name, "variant": row.variant, "rows": row.rows} for row in table.datasets
        ],
        "learners": [
            {"label": label, "learner": learner}
            for label, learner in {c.line: c.learner for c in table.learners}.items()
        ],
        "sweep": {
            name: list(dict.fromkeys(point.value for point in points if point.name == name))
            for name in dict.fromkeys(point.name for point in points)
        },
    }


def _table_lines(data: Mapping[str, Any]) -> Lines:
    from okbench.base.quantities import spoken_time
    from okbench.protocols.metrics import METRICS

    protocol = data["protocol"]
    metric = METRICS[protocol["metric"]].heading
    yield "name", data["name"]
    yield "title", data["title"]
    if data["paper"]:
        yield "paper", data["paper"]
    yield "file", data["file"]
    if data["trials_of"] != data["name"]:
        yield "trials", f"those of {data['trials_of']}"
    words = [protocol["kind"], metric, f"{protocol['permutations']} permutations"]
    if protocol["block"]:
        words.append(f"blocks of {protocol['block']:,} rows")
    if protocol["time_limit"]:
        words.append(f"at most {spoken_time(protocol['time_limit'])} per trial")
    if protocol["na_after"]:
        words.append(f"NA beyond {spoken_time(protocol['na_after'])}")
    yield "protocol", ", ".join(words)
    for name, values in data["sweep"].items():
        yield "sweep", f"{name}: {', '.join(f'{value:g}' for value in values)}"
    yield from _listed("datasets", [_row_words(row) for row in data["datasets"]])
    yield from _listed("learners", [_column_words(column) for column in data["learners"]])


def _row_words(row: Mapping[str, Any]) -> str:
    name = f"{row['name']}:{row['variant']}" if row["variant"] else str(row["name"])
    return name if row["rows"] is None else f"{name} ({row['rows']:,} rows)"


def _column_words(column: Mapping[str, Any]) -> str:
    same = column["label"] == column["learner"]
    return str(column["label"]) if same else f"{column['label']} ({column['learner']})"


def _listed(label: str, words: Sequence[str]) -> Lines:
    """One line per word, the first with the label."""
    yield from ((label if number == 0 else "", word) for number, word in enumerate(words))


def _learner(name: str) -> dict[str, Any]:
    """A learner's class, version and settings."""
    from okbench.learners.registry import find_named, settings_of
    from okbench.learners.settings import meanings_of

    with redirect_stdout(sys.stderr):  # what a user-defined learner prints as it is imported
        entry = find_named(name).loaded()
        settings = settings_of(entry.load())
        meanings = meanings_of(entry.load())
    return {
        "name": entry.name,
        "class": entry.target,
        "summary": entry.summary,
        "paper": entry.paper,
        "version": entry.version,
        "tasks": list(entry.tasks),
        "settings": [
            {"name": setting, "required": True, "meaning": meanings.get(setting, "")}
            if parameter.default is parameter.empty
            else {
                "name": setting,
                "required": False,
                "default": parameter.default,
                "meaning": meanings.get(setting, ""),
            }
            for setting, parameter in settings.items()
        ],
    }


def _learner_lines(data: Mapping[str, Any]) -> Lines:
    for label in ("name", "class", "summary", "paper", "version"):
        if data[label]:
            yield label, data[label]
    yield "tasks", ", ".join(data["tasks"])
    words = [
        f"{one['name']} (required)" if one["required"] else f"{one['name']} = {one['default']!r}"
        for one in data["settings"]
    ]
    width = max(map(len, words), default=0)
    meanings = [one["meaning"] for one in data["settings"]]
    lines = [
        f"{word:<{width}}  {meaning}".rstrip()
        for word, meaning in zip(words, meanings, strict=True)
    ]
    yield from _listed("settings", lines)
