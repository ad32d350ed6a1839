"""The dataset half of okbench show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click


def show_dataset(name: str, variant: str, form: str) -> None:
    """Rows, ranges, provenance, and who uses them."""
    import json

    from okbench.datasets.describe import describe

    told = describe(name, variant)
    told["used_by"] = list(_tables_with(told["name"]))
    if form == "json":
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    width = len("columns before")
    for label, value in _lines(told):
        click.echo(f"{label:<{width}}  {value}".rstrip())


def _tables_with(name: str) -> Iterator[str]:
    from okbench.papers.table_catalogue import names

    return (card.name for card in names() if name in card.datasets)


def _lines(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "name", f"{told['name']} ({told['variant'] or 'default'})"
    if len(told["variants"]) > 1:
        yield "variants", ", ".join(told["variants"])
    yield "task", told["task"]
    rows = f"{told['rows']:,}"
    yield "rows", rows if told["train"] is None else f"{rows}, the first {told['train']:,} to learn"
    yield "columns", f"{told['features']:,}, {told['density']:.1%} filled, {told['layout']}"
    if told["classes"]:
        counts = (f"{label}: {count:,}" for label, count in told["classes"].items())
        yield "classes", ", ".join(counts)
    if told["orders"]:
        yield "orders", f"{told['orders']} published"
    for when in ("before", "after"):
        for label, (low, high) in _ranges(told["ranges"][when]):
            yield f"{label} {when}", f"{low:g} to {high:g}"
    for number, step in enumerate(told["preparation"], start=1):
        yield f"step {number}", step
    for check in told["agreement"]:
        verdict = "as expected" if check["agrees"] else f"expected {check['expected']:,}"
        yield (
            check["what"],
            f"{check['found']:,}, {verdict}" + (f": {check['reason']}" if check["reason"] else ""),
        )
    for file in told["files"]:
        held = f" {file['sha256'][:16]}… ({file['checked']}, {file['verified']})"
        yield "file", f"{file['name']}{held if file['sha256'] else ''} from {file['source']}"
    for label in ("note", "cite", "licence", "page"):
        if told[label]:
            yield label, told[label]
    yield "used by", ", ".join(told["used_by"]) or "no table here"
    yield "fingerprint", told["fingerprint"]


def _ranges(ranges: Mapping[str, Any] | None) -> Iterator[tuple[str, tuple[float, float]]]:
    """The widest range of the columns, and the target's."""
    if ranges:
        yield "columns", (ranges["low"], ranges["high"])
        if "target" in ranges:
            yield "target", (ranges["target"][0], ranges["target"][1])
