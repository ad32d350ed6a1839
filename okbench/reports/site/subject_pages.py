"""The pages of learners and datasets: what they are, and where they stand in every table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from okbench.papers.paper_list import Paper
from okbench.reports import numbers
from okbench.reports.site.about import About, DatasetFacts, LearnerFacts
from okbench.reports.site.axes import sized
from okbench.reports.site.frame import link, page, section, several
from okbench.reports.site.grids import Field, GridRow, Heading, grid
from okbench.reports.site.markers import style_sample
from okbench.reports.site.markup import Child, Markup, tag
from okbench.reports.site.places import (
    DATASETS,
    INDEX,
    LEARNERS,
    dataset_page,
    learner_page,
    page_of,
)
from okbench.reports.site.standings import Standing
from okbench.reports.site.table_page import citation
from okbench.reports.site.verdicts import chip
from okbench.reports.tables.verdicts import AGREES, RESULTS

Used = Mapping[str, Sequence[str]]  # the values of each setting that were measured
_SETTINGS = "Defaults, and the values that outcomes of this site were measured with"
_MOST = 12  # values of a setting that are shown
_FOOT = "Made by okbench from stored outcomes; nothing was run for it."


def learner_html(
    name: str, found: Sequence[Standing], used: Used, about: About, papers: Mapping[str, Paper]
) -> str:
    """The page of a learner."""
    path = learner_page(name)
    facts = about.learners.get(name)
    labels = list(dict.fromkeys(one.label for one in found)) or [name]
    parts: list[Child] = [
        tag("h1", name),
        tag("p", facts.summary, class_="answer") if facts else None,
        tag(
            "p",
            [tag("span", style_sample(label), label, class_="key") for label in labels],
            class_="looks",
        ),
    ]
    if facts:
        parts.append(_rule(facts, papers))
    parts.append(_settings(facts, used))
    if found:
        summary = _summary(path, found)
        cells = _cells(path, found, "learner")
        parts.append(section("tables", "Where it stands in every table", summary).body)
        parts.append(section("cells", "Cell by cell", cells).body)
    else:
        parts.append(tag("p", "No table of this site has an outcome of it.", class_="quiet"))
    return page(name, path, *parts, trail=(("Results", INDEX), ("Learners", LEARNERS)), foot=_FOOT)


def dataset_html(name: str, found: Sequence[Standing], about: About) -> str:
    """The page of a dataset."""
    path = dataset_page(name)
    facts = about.datasets.get(name)
    body: list[Child] = [tag("h1", name), _described(facts) if facts else None]
    for table in dict.fromkeys(one.table for one in found):
        here = [one for one in found if one.table == table]
        title = tag("a", table, href=link(path, page_of(table)))
        caption = f"{here[0].metric}: mean ± standard deviation over trials"
        grid_ = _cells(path, here, "dataset", f"cells-{len(body)}", caption)
        body.append(tag("section", tag("h2", title), grid_))
    return page(name, path, *body, trail=(("Results", INDEX), ("Datasets", DATASETS)), foot=_FOOT)


def learners_html(found: Mapping[str, Sequence[Standing]], about: About) -> str:
    """The list of learners."""
    header = [Heading("learner", numeric=False), Heading("", numeric=False, sortable=False)]
    header += [Heading("rule", numeric=False), Heading("tables"), Heading("cells")]
    header += [Heading("best of a dataset")]
    names = sorted({*found, *about.learners}, key=str.casefold)
    rows = [
        GridRow(
            (
                Field(tag("a", name, href=link(LEARNERS, learner_page(name))), name),
                Field(style_sample(name), None),
                Field(facts.summary if (facts := about.learners.get(name)) else "", None, "title"),
                _number(len({one.table for one in found.get(name, ())})),
                _number(len(found.get(name, ()))),
                _number(sum(one.is_best for one in found.get(name, ()))),
            )
        )
        for name in names
    ]
    return _list_page("Learners", LEARNERS, header, rows)


def datasets_html(found: Mapping[str, Sequence[Standing]], about: About) -> str:
    """The list of datasets with outcomes."""
    header = [Heading("dataset", numeric=False), Heading("task", numeric=False)]
    header += [Heading("columns"), Heading("tables"), Heading("cells")]
    rows = []
    for name in sorted(found, key=str.casefold):
        facts = about.datasets.get(name)
        features = facts.features if facts else None
        rows.append(
            GridRow(
                (
                    Field(tag("a", name, href=link(DATASETS, dataset_page(name))), name),
                    Field(facts.task if facts else "", facts.task if facts else None),
                    Field("" if features is None else f"{features:,}", features),
                    _number(len({one.table for one in found[name]})),
                    _number(len(found[name])),
                )
            )
        )
    return _list_page("Datasets", DATASETS, header, rows)


def _list_page(title: str, path: str, header: Sequence[Heading], rows: Sequence[GridRow]) -> str:
    listed = grid("list-table", several(len(rows), title.lower()[:-1]), header, rows, named=0)
    return page(title, path, tag("h1", title), listed, trail=(("Results", INDEX),), foot=_FOOT)


def _number(count: int) -> Field:
    return Field(f"{count:,}" if count else "", count or None)


def _rule(facts: LearnerFacts, papers: Mapping[str, Paper]) -> Markup:
    """What its class says, and the paper it is measured for."""
    paper = papers.get(facts.paper)
    paragraphs = [one for one in facts.description.split("\n\n") if one.strip()]
    tasks = f"Tasks: {', '.join(facts.tasks)}. Version {facts.version}."
    return tag(
        "div",
        [tag("p", " ".join(one.split())) for one in paragraphs if one.strip() != facts.summary],
        tag("p", tasks, class_="quiet"),
        citation(paper) if paper else None,
    )


def _settings(facts: LearnerFacts | None, used: Used) -> Child:
    """Each setting with its default, its meaning, and the values that were measured."""
    known = {one.name: one for one in facts.settings} if facts else {}
    names = [*known, *(name for name in used if name not in known)]
    if not names:
        return None
    header = [Heading("setting", numeric=False)]
    header += [Heading(word, numeric=False) for word in ("default", "meaning", "measured with")]
    rows = [
        GridRow(
            (
                Field(tag("code", name), name),
                Field(known[name].default or "to be given" if name in known else "", None),
                Field(known[name].meaning if name in known else "", None, "title"),
                Field(_values(used.get(name, ())), None, "why"),
            )
        )
        for name in names
    ]
    return section(
        "settings", "Settings", grid("settings-table", _SETTINGS, header, rows, named=0)
    ).body


def _values(values: Sequence[str]) -> str:
    more = f" … ({len(values)} values)" if len(values) > _MOST else ""
    return ", ".join(values[:_MOST]) + more


def _summary(path: str, found: Sequence[Standing]) -> Markup:
    """A line per table: the mean rank, and how its numbers stand to those printed."""
    header = [Heading("table", numeric=False), Heading("there called", numeric=False)]
    header += [Heading("cells"), Heading("mean rank"), Heading("best on")]
    header += [Heading("agree with print"), Heading("better"), Heading("worse")]
    rows = []
    for table, label in dict.fromkeys((one.table, one.label) for one in found):
        here = [one for one in found if (one.table, one.label) == (table, label)]
        ranks = [one.rank for one in here if one.rank is not None]
        of = max((one.of for one in here), default=0)
        mean = fmean(ranks) if ranks else None
        rows.append(
            GridRow(
                (
                    Field(tag("a", table, href=link(path, page_of(table))), table),
                    Field(tag("span", style_sample(label), label, class_="key"), label),
                    _number(len(here)),
                    Field("" if mean is None else f"{mean:.2f} of {of}", mean),
                    _number(sum(one.is_best for one in here)),
                    _number(sum(one.outcome in AGREES for one in here)),
                    _number(sum(one.outcome == "better" for one in here)),
                    _number(sum(one.outcome == "worse" for one in here)),
                )
            )
        )
    return grid("summary-table", "Ranks are among the complete cells of a dataset, 1 the best",
                header, rows, named=0)  # fmt: skip


def _cells(
    path: str,
    found: Sequence[Standing],
    of: str,
    name: str = "cells-table",
    caption: str = "Means ± standard deviations over trials",
) -> Markup:
    """The cells of a learner by table and dataset, or those of a dataset by learner."""
    by_dataset = of == "learner"
    header = [Heading("dataset" if by_dataset else "learner", numeric=False)]
    header += [Heading("okbench"), Heading("rank")]
    header += [Heading("outcome", numeric=False)]
    header += [Heading("table", numeric=False)] if by_dataset else []
    header += [Heading("paper prints"), Heading("seconds"), Heading("memory")]
    rows = [GridRow(tuple(_of_cell(path, one, by_dataset))) for one in found]
    return grid(name, caption, header, rows, named=0)


def _of_cell(path: str, one: Standing, by_dataset: bool) -> Iterable[Field]:
    label = tag("span", style_sample(one.label), class_="key"), one.label
    subject, to = (one.dataset, dataset_page(one.data)) if by_dataset else (
        label, learner_page(one.learner)
    )  # fmt: skip
    name = tag("a", subject, href=link(path, to), class_="name")
    above = one.table if by_dataset else None
    yield Field(tag("span", name, data_above=above), one.dataset if by_dataset else one.label)
    ours: Child = one.words
    if one.trials:
        ours = tag("a", ours, href=link(path, *one.trials), class_="trials")
    yield Field(ours, one.mean, "" if one.rank else "short")
    yield Field(f"{one.rank:g} of {one.of}" if one.rank else one.shortfall, one.rank)
    yield Field(chip(one.outcome), RESULTS.index(one.outcome)) if one.printed else Field("", None)
    if by_dataset:
        yield Field(tag("a", one.table, href=link(path, page_of(one.table))), one.table)
    yield Field(one.printed, None)
    yield Field("" if one.seconds is None else numbers.seconds(one.seconds), one.seconds)
    yield Field("" if one.bytes is None else sized(float(f"{one.bytes:.3g}")), one.bytes)


def _described(facts: DatasetFacts) -> Markup:
    values: Mapping[str, Child] = {
        "task": facts.task,
        "columns": "" if facts.features is None else f"{facts.features:,}",
        "cite": facts.cite,
        "licence": facts.licence,
        "page": tag("a", facts.page, href=facts.page, rel="noreferrer") if facts.page else "",
        **{f"variant {name}": words for name, words in facts.variants.items()},
    }
    rows = [tag("div", tag("dt", k), tag("dd", v)) for k, v in values.items() if v]
    return tag("dl", rows, class_="machine")
