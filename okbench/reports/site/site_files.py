"""Every file of a site, each made when its turn comes: first the tables, one after the other, then
the pages that speak of several tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from okbench.papers.paper_list import papers
from okbench.papers.table_catalogue import names
from okbench.reports.claims.claim_evidence import measured_evidence
from okbench.reports.claims.claims_file import claims_of
from okbench.reports.claims.judge import Settled, settle_claim
from okbench.reports.claims.sources import Outcomes
from okbench.reports.compare.ranking import ranking
from okbench.reports.site.about import About
from okbench.reports.site.cell_links import CellLinks, learner_of
from okbench.reports.site.claims_page import claims_page
from okbench.reports.site.frame import SEARCH, Section, link
from okbench.reports.site.index_page import Entry, entry_of, index_page
from okbench.reports.site.markers import colour_rules
from okbench.reports.site.memory_page import memory_page, memory_section
from okbench.reports.site.places import (
    CLAIMS,
    DATASETS,
    INDEX,
    LEARNERS,
    MEMORY,
    RANKS,
    Place,
    anchor,
    config_of,
    dataset_page,
    learner_page,
    page_of,
    raw_of,
)
from okbench.reports.site.ranks_page import ranks_page, ranks_section
from okbench.reports.site.standings import Standing, standings
from okbench.reports.site.subject_pages import (
    dataset_html,
    datasets_html,
    learner_html,
    learners_html,
)
from okbench.reports.site.table_page import table_page
from okbench.reports.site.table_views import TableView
from okbench.reports.site.trial_lists import pieces, trial_pages, trial_places
from okbench.reports.tables.cells import CellKey
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options

File = tuple[str, str | Path]  # its place, and its text or the file that it is a copy of
_ASSETS = Path(__file__).parent / "assets"


def shared_files() -> Iterator[tuple[str, str]]:
    """The files that every page loads."""
    yield "assets/site.css", (_ASSETS / "site.css").read_text("utf-8") + colour_rules()
    yield "assets/site.js", (_ASSETS / "site.js").read_text("utf-8")


class SiteFiles:
    """The files of the site of these tables. What later pages need of a table is kept: its entry,
    its cells, its ranks."""

    def __init__(self, results: Path, views: Iterable[TableView], about: About) -> None:
        self._results = results
        self._views = views
        self._about = about
        self._papers = papers()
        self._shipped = {card.name for card in names()}
        self.entries: list[Entry] = []
        self._learners: dict[str, list[Standing]] = {}
        self._datasets: dict[str, list[Standing]] = {}
        self._used: dict[str, dict[str, dict[str, None]]] = {}
        self._reports: dict[str, Report] = {}
        self._ranks: list[Section] = []
        self._memory: list[Section] = []

    def files(self) -> Iterator[File]:
        """All of them, the first page last."""
        yield from shared_files()
        for view in self._views:
            yield from self._of_table(view)
        yield from self._of_subjects()
        yield RANKS, ranks_page(self._ranks)
        yield MEMORY, memory_page(self._memory)
        settled = self._settled()
        tables = frozenset(entry.name for entry in self.entries)
        yield CLAIMS, claims_page(settled, self._papers, tables)
        yield SEARCH, self._search(settled)
        yield INDEX, index_page(self.entries, self._papers)

    def _of_table(self, view: TableView) -> Iterator[File]:
        name, loaded = view.table.name, view.loaded
        places: Mapping[CellKey, Place] = {}
        yield raw_of(view.table.trials_of), view.path
        for variant, path in view.configs.items():
            yield config_of(name, variant), path
        if loaded is not None:
            cut = pieces(loaded)
            places = trial_places(name, cut)
            yield from trial_pages(loaded, cut, known=bool(view.configs))
        yield page_of(name), table_page(view, places, self._papers.get(view.table.paper))
        self._keep(view, places)

    def _keep(self, view: TableView, places: Mapping[CellKey, Place]) -> None:
        self.entries.append(entry_of(view))
        for one in standings(view, places):
            self._learners.setdefault(one.learner, []).append(one)
            self._datasets.setdefault(one.data, []).append(one)
        if view.loaded is not None:
            self._keep_settings(view)
        report = view.report
        if view.table.name in self._shipped:
            if report is not None:
                self._reports[view.table.name] = report
            elif view.loaded is not None and view.table.kind == "sweep":
                self._reports[view.table.name] = view.loaded.report
        if report is None:
            return
        ranks = ranks_section(report.table, report.title, ranking(report))
        memory = memory_section(report, CellLinks(MEMORY, view.table, places))
        self._ranks += [ranks] if ranks else []
        self._memory += [memory] if memory else []

    def _keep_settings(self, view: TableView) -> None:
        """The values that were measured: one trial of a cell has those of all."""
        assert view.loaded is not None
        for (_, label), ids in view.loaded.asked.items():
            first = next((o for id_ in ids if (o := view.loaded.outcomes.get(id_))), None)
            if first is not None:
                used = self._used.setdefault(learner_of(view.table, label), {})
                for name, value in first.trial.settings:
                    used.setdefault(name, {})[f"{value}"] = None

    def _of_subjects(self) -> Iterator[File]:
        for name in self._learner_names:
            used = {key: list(values) for key, values in self._used.get(name, {}).items()}
            found = self._learners.get(name, [])
            yield learner_page(name), learner_html(name, found, used, self._about, self._papers)
        yield LEARNERS, learners_html(self._learners, self._about)
        by_name = {name: self._datasets.get(name, []) for name in self._dataset_names}
        for name, found in by_name.items():
            yield dataset_page(name), dataset_html(name, found, self._about)
        yield DATASETS, datasets_html(by_name, self._about)

    @property
    def _learner_names(self) -> list[str]:
        return sorted({*self._learners, *self._used, *self._about.learners})

    @property
    def _dataset_names(self) -> list[str]:
        return sorted({*self._datasets, *self._about.datasets})

    def _settled(self) -> Sequence[Settled]:
        """The claims of every paper that a table of the site belongs to, by its outcomes."""
        shown = {entry.paper for entry in self.entries}
        found = Outcomes([self._results], Options(), reports=self._reports)
        return [
            settle_claim(claim, found.report, measured_evidence, found.table)
            for key in self._papers
            if key in shown
            for claim in claims_of(key)
        ]

    def _search(self, settled: Sequence[Settled]) -> str:
        """The list that the script searches: kind, words, more words, page."""
        cells = (one for found in self._learners.values() for one in found if one.trials)
        listed = [
            *(["table", e.name, e.title, _href(page_of(e.name))] for e in self.entries),
            *(["learner", name, "", _href(learner_page(name))] for name in self._learner_names),
            *(["dataset", name, "", _href(dataset_page(name))] for name in self._dataset_names),
            *(
                ["claim", one.claim.id, one.claim.says, _href(CLAIMS, anchor(one.claim.id))]
                for one in settled
            ),
            *(
                [
                    "cell",
                    f"{one.label} on {one.dataset}",
                    f"{one.table}: {one.words}",
                    _href(*one.trials),
                ]
                for one in cells
                if one.trials
            ),
        ]
        # `<` never stands in the file, so that it is no markup wherever it is put
        text = json.dumps(listed, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
        return f"window.okbenchList = {text};\n"


def _href(page: str, place: str = "") -> str:
    return link(INDEX, page, place)
