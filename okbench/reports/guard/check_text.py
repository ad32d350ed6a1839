"""A check as people, programs, CI servers and pull requests read it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from xml.etree import ElementTree

from okbench.papers.commands import command
from okbench.protocols.metrics import METRICS
from okbench.reports.guard.check import BYTES, FAILS, QUANTITIES, BaselineCheck, CellCheck
from okbench.reports.guard.speed import SpeedCheck
from okbench.reports.numbers import mean_and_std, signed
from okbench.reports.tables.render import in_markdown

_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def summary(check: BaselineCheck) -> str:
    """How the check ended, in one sentence."""
    if not check.cells and not check.seconds:
        return "nothing could be compared"
    if check.passed:
        return "no regressions"
    count = check.regressions
    found = [f"{count} regression{'' if count == 1 else 's'}"] if count else []
    found += [f"{check.undecided} undecided"] if check.undecided else []
    if not check.unmeasured:
        return ", ".join(found)
    measured = ", ".join(found) or "no regressions"
    return f"{measured} in what was measured, {_cells(check.unmeasured)} not measured"


def failure(check: BaselineCheck) -> str:
    """Why a check does not pass, and what to do about cells that are not measured."""
    tables = list(_unmeasured(check))
    if not tables:
        return summary(check)
    runs = command("run", tables[0]) if len(tables) == 1 else "okbench run, table by table"
    return f"{summary(check)}: measure them ({runs}), or check only what was measured (--subset)"


def _text(check: BaselineCheck) -> str:
    lines = [f"scores     {_counted(check)}"] if check.cells else []
    lines += [f"  {_line(cell)}" for cell in _notable(check)]
    lines += [f"  {line}" for line in _unmeasured(check).values()]
    if check.cells:
        lines.append("compared   " + "\n           ".join(_compared(check)))
    if check.seconds:
        found = Counter(one.finding for one in check.seconds)
        lines.append("seconds    " + "   ".join(f"{count} {word}" for word, count in found.items()))
        lines += [f"  {_speed_line(one)}" for one in check.seconds if one.finding != "same"]
    if check.seconds_lack:
        lines.append(f"seconds    no verdict: {check.seconds_lack}")
    if check.unblessed:
        lines.append(f"{check.unblessed} outcomes are not in the baseline")
    return "\n".join([*lines, summary(check)]) + "\n"


def _counted(check: BaselineCheck) -> str:
    """How many trials were found how."""
    total: Counter[str] = Counter()
    for cell in check.cells:
        total.update(cell.counts)
    return "   ".join(f"{count} {finding}" for finding, count in total.most_common())


def _compared(check: BaselineCheck) -> list[str]:
    """Which quantities were compared, and which of how many trials could not be."""
    loose = f"bytes up to a factor of {BYTES:g}"
    words = [loose if name == "bytes" else name for name in QUANTITIES if check.compared[name]]
    lines = [", ".join(words) or "nothing"]
    lacking = [f"{name} of {n} trials" for name in QUANTITIES if (n := check.lacking[name])]
    return [*lines, f"not compared: {', '.join(lacking)}"] if lacking else lines


def _notable(check: BaselineCheck) -> list[CellCheck]:
    return [cell for cell in check.cells if cell.finding not in ("same", "missing")]


def _unmeasured(check: BaselineCheck) -> dict[str, str]:
    """By table, how many cells are not measured, in one line, and how they are."""
    lines = {}
    for table in dict.fromkeys(cell.table for cell in check.cells):
        cells = [cell for cell in check.cells if cell.table == table]
        lacking = [cell for cell in cells if cell.finding == "missing"]
        if lacking:
            trials = sum(cell.counts.get("missing", 0) for cell in lacking)
            lines[table] = (
                f"{table}: {len(lacking)} of {_cells(len(cells))} not measured, {trials} trials"
                f"  ({command('run', table)})"
            )
    return lines


def _cells(count: int) -> str:
    return f"{count} cell{'' if count == 1 else 's'}"


def _line(cell: CellCheck) -> str:
    found = ", ".join(f"{count} {word}" for word, count in cell.counts.items() if word != "same")
    trials = sum(cell.counts.values())
    words = f"{cell.learner} × {cell.dataset}: {found} of {trials} trials"
    return "; ".join(part for part in (words, _means(cell), cell.reason) if part)


def _means(cell: CellCheck) -> str:
    """`15.72 → 16.90 % (+1.18, 14 sd of the baseline)`, or nothing when the means are alike."""
    if cell.before is None or cell.now is None or cell.before == cell.now:
        return ""
    difference = cell.now - cell.before
    before, now = (mean_and_std(cell.metric, mean, None) for mean in (cell.before, cell.now))
    unit = f" {unit}" if (unit := METRICS[cell.metric].unit) else ""
    scale = f", {abs(difference) / cell.spread:.2g} sd of the baseline" if cell.spread else ""
    change = signed(cell.metric, difference, cell.before)
    return f"{before} → {now}{unit} ({change}{scale})"


def _speed_line(one: SpeedCheck) -> str:
    return (
        f"{one.learner} × {one.dataset}: {one.finding}, {one.ratio:.2f} times the seconds "
        f"({one.before:.3g} → {one.now:.3g} s, {one.rounds} each, p = {one.chance:.2g}, "
        f"allowed {one.allowed:g})"
    )


def _markdown(check: BaselineCheck) -> str:
    """For a pull request: what is not the same in a table, the rest in one line."""
    sign = "✅" if check.passed else "❌"
    lines = [f"### {sign} okbench check: {summary(check)}", ""]
    if check.cells:
        lines += [f"Trials: {_counted(check)}. Compared: {'; '.join(_compared(check))}.", ""]
    rows: list[tuple[str, ...]] = [
        (cell.learner, cell.dataset, cell.finding, _means(cell), cell.reason)
        for cell in _notable(check)
    ]
    rows += [
        (
            one.learner,
            one.dataset,
            one.finding,
            f"{one.ratio:.2f}× the seconds",
            f"p = {one.chance:.2g}",
        )
        for one in check.seconds
        if one.finding != "same"
    ]
    rows += [("", "", "missing", "", line) for line in _unmeasured(check).values()]
    if rows:
        lines += ["| learner | dataset | found | change | first seen |", "| --- " * 5 + "|"]
        lines += ["| " + " | ".join(map(in_markdown, row)) + " |" for row in rows]
        lines.append("")
    if check.seconds_lack:
        lines.append(f"No verdict on seconds: {in_markdown(check.seconds_lack)}.")
    return "\n".join(lines).rstrip() + "\n"


def _json(check: BaselineCheck) -> str:
    page = {
        "okbench": "check",
        "schema": 2,
        "passed": check.passed,
        "summary": summary(check),
        "regressions": check.regressions,
        "unmeasured": check.unmeasured,
        "tolerance": check.tolerance,
        "unblessed": check.unblessed,
        "compared": check.compared,
        "not_compared": check.lacking,
        "seconds_lack": check.seconds_lack,
        "cells": [{**vars(cell), "finding": cell.finding} for cell in check.cells],
        "seconds": [{**vars(one), "ratio": one.ratio} for one in check.seconds],
    }
    return json.dumps(page, indent=2, default=str) + "\n"


def _junit(check: BaselineCheck) -> str:
    """A test case for every cell that was measured, and one for all others of a table, as CI
    servers show them."""
    suite = ElementTree.Element("testsuite", name="okbench check")
    for cell in check.cells:
        if cell.finding != "missing":
            group = f"{cell.table}.{cell.dataset}"
            _case(suite, group, cell.learner, cell.finding in FAILS, _line(cell))
    for table, line in _unmeasured(check).items():
        _case(suite, table, "not measured", True, line)
    for one in check.seconds:
        wrong = one.finding in ("worse", "cannot say")
        _case(suite, f"seconds.{one.dataset}", one.learner, wrong, _speed_line(one))
    if not len(suite):
        _case(suite, "okbench", "check", True, summary(check))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, group: str, name: str, failed: bool, words: str) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", classname=_NO_XML.sub("?", group), name=_NO_XML.sub("?", name)
    )
    if failed:
        ElementTree.SubElement(case, "failure", message=_NO_XML.sub("?", words))


PAGES: Mapping[str, Callable[[BaselineCheck], str]] = {
    "text": _text,
    "json": _json,
    "junit": _junit,
    "md": _markdown,
}
