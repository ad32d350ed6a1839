"""Which claims are asked for, and whose outcomes answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from okbench.base.errors import UsageError, did_you_mean
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_types import Table
from okbench.reports.claims.claims_file import Claim, claims_of, papers_with_claims
from okbench.reports.load import LoadedTable, load_table
from okbench.reports.tables.report import Report
from okbench.trials.plan.options import Options
from okbench.trials.store.match_outcomes import Versions


class Outcomes:
    """Reports by the name of their table, each from the place that holds most of its trials; of
    equals the first. `used` says which that was; `reports` are those that are known already."""

    def __init__(
        self,
        places: Sequence[Path],
        options: Options,
        versions: Versions | None = None,
        reports: Mapping[str, Report] | None = None,
    ) -> None:
        self._places = places
        self._options = options
        self._versions = versions
        self._known = {card.name for card in names()}
        self._reports: dict[str, Report] = dict(reports or {})
        self.used: dict[str, str] = {}

    def report(self, table: str) -> Report | None:
        """The report of a table, None for one that is not written."""
        if table not in self._known:
            return None
        if table not in self._reports:
            found = self.table(table)
            if found.trials_of != table:  # a figure of another table's trials
                return self.report(found.trials_of)
            loaded = [(place, self._load(found, place)) for place in self._places]
            place, best = max(loaded, key=lambda one: len(one[1].counted))
            self._reports[table] = best.report
            if best.counted:
                self.used[table] = f"{_shown(place)} ({len(best.counted)} trials)"
        return self._reports[table]

    def table(self, name: str) -> Table:
        """The table of that name."""
        return find(name)

    def _load(self, table: Table, place: Path) -> LoadedTable:
        return load_table(table, place, self._options, None, self._versions)


def _shown(place: Path) -> str:
    here = Path.cwd()
    return str(place.relative_to(here)) if place.is_relative_to(here) else str(place)


def chosen_claims(
    which: str | None, learner: str | None = None, dataset: str | None = None
) -> list[Claim]:
    """The claims of a paper (`lsokl`), one of them (`lsokl/claim2`) or all, as far as they are
    about a learner and a dataset.
    """
    known = papers_with_claims()
    paper, _, number = (which or "").partition("/")
    if which is not None and paper not in known:
        raise UsageError(
            f"no claims of a paper '{paper}'.{did_you_mean(paper, known)} There are those of "
            + ", ".join(known)
        )
    found = [claim for name in ([paper] if paper else known) for claim in claims_of(name)]
    if number:
        ids = [claim.id for claim in found]
        if which not in ids:
            hint = did_you_mean(which or "", ids)
            raise UsageError(f"no claim '{which}'.{hint} There are {ids[0]} to {ids[-1]}")
        found = [claim for claim in found if claim.id == which]
    for asked, values in ((learner, _learners), (dataset, _datasets)):
        if asked is not None:
            kept = [
                claim for claim in found if asked.casefold() in map(str.casefold, values(claim))
            ]
            if not kept:
                every = sorted({value for claim in found for value in values(claim)})
                raise UsageError(f"no claim is about '{asked}'.{did_you_mean(asked, every)}")
            found = kept
    return found


def _learners(claim: Claim) -> Iterable[str]:
    """The learners a claim names; one of a figure also without the value that is swept."""
    labels = [name for test in claim.tests for name in (*test.learners, *test.others)]
    labels += [name for one in claim.configured for name in (one.learner, one.other)]
    return {*labels, *(label.partition(" ")[0] for label in labels)}


def _datasets(claim: Claim) -> Iterable[str]:
    """The datasets a claim is about: those it names, else all of its tables."""
    known = {card.name: card.datasets for card in names()}
    tables = [(test.table, test.on) for test in claim.tests]
    tables += [(one.table, ()) for one in claim.configured]
    return {name for table, on in tables for name in on or known.get(table, ())}
