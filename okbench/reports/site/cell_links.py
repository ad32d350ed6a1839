"""From a page to what stands behind its names and numbers: learners, datasets and trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from okbench.papers.table_types import Table
from okbench.reports.site.frame import link
from okbench.reports.site.grids import Field
from okbench.reports.site.markup import Child, Markup, tag
from okbench.reports.site.places import Place, dataset_page, learner_page
from okbench.reports.tables.cells import Cell, CellKey


@dataclass(frozen=True)
class CellLinks:
    """Links of the page at `path`; `places` are those of the trials by cell."""

    path: str
    table: Table
    places: Mapping[CellKey, Place]

    def dataset(self, name: str) -> Markup:
        """A dataset by its name in the table."""
        return tag("a", name, href=link(self.path, dataset_page(data_of(name))), class_="name")

    def learner(self, label: str) -> Markup:
        """A learner by its label in the table."""
        page = learner_page(learner_of(self.table, label))
        return tag("a", label, href=link(self.path, page), class_="name")

    def to_trials(self, key: CellKey, shown: Child) -> Child:
        """A number, linked to the trials it is made of."""
        place = self.places.get(key)
        return tag("a", shown, href=link(self.path, *place), class_="trials") if place else shown

    def trials(self, cell: Cell, field: Field) -> Field:
        """The field of a cell, linked likewise."""
        key = cell.dataset, cell.learner
        return replace(field, shown=self.to_trials(key, field.shown)) if cell.values else field


def data_of(dataset: str) -> str:
    """The dataset that a row of a table is of, whatever its variant."""
    return dataset.partition(":")[0]


def learner_of(table: Table, label: str) -> str:
    """A learner's own name, by its label in a table or among outcomes of several settings."""
    own = {name: c.learner for c in table.learners for name in (c.label, c.line)}
    return own.get(label, label).partition("(")[0]
