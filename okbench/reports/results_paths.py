"""Results files by the names people give: a file, a folder of them, or a table."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import UsageError, did_you_mean
from okbench.base.shipped import shipped
from okbench.papers.commands import command
from okbench.papers.table_catalogue import find, names
from okbench.papers.table_names import checked_name
from okbench.trials.store.files import Store
from okbench.trials.store.results_file import Contents
from okbench.trials.store.trials_of_lines import TrialsOfLines
from okbench.trials.trial_types import Outcome

RUNS, BASELINES = Path("runs"), Path("results")
_TABLE_FILES = (".yaml", ".yml")


@dataclass(frozen=True)
class Pair:
    """A baseline and the outcomes to be compared with it."""

    table: str
    baseline: Path
    new: Path


def baselines_of(table: str) -> Path:
    """The folder of the baseline of a table: results/ if it is there, else the baselines of the
    project, which a wheel carries without their curves.
    """
    here = Store.of(BASELINES, table).path.exists()
    return BASELINES if here else shipped("results")


def outcomes_of(table: str, results: Path | None) -> Path:
    """The results folder to read of a table, named as its trials are: the one that was asked for,
    else runs/ if it has a results file of the table, else the baselines if these have one.
    """
    if results is not None:
        return results
    folders = (RUNS, baselines_of(table))
    return next((place for place in folders if Store.of(place, table).path.exists()), RUNS)


def outcomes_of_all(tables: Sequence[str]) -> Path:
    """The folder to read of several tables, or of all if none is named: runs/ if it has outcomes of
    one of them, else the baselines if these have outcomes of all."""
    if tables:
        folders = {outcomes_of(table, None) for table in tables}
        return RUNS if RUNS in folders else folders.pop()
    filled = (place for place in (RUNS, BASELINES) if place.is_dir() and results_files(place))
    return next(filled, shipped("results"))


def results_files(place: Path) -> dict[str, Path]:
    """The results files at a place by the table they are of: the file, or all of a folder."""
    if place.is_dir():
        found = sorted(p for p in place.rglob("*.jsonl") if not p.name.endswith(".tune.jsonl"))
        return {path.relative_to(place).with_suffix("").as_posix(): path for path in found}
    if place.is_file():
        return {table_of(place): place}
    raise UsageError(f"no results at {place}")


def table_of(path: Path) -> str:
    """The table a results file is of: as its header says, else the one its place is named after
    (`…/lsokl/table5.jsonl`), else its name. The outcomes are not read for it.
    """
    blessed = Store(path).blessed().get("table")
    if blessed is not None:
        return checked_name(blessed, f"{path}:1: blessed.table")
    folder, name = path.absolute().parent.name, path.stem
    known = {card.name for card in names()}
    return f"{folder}/{name}" if f"{folder}/{name}" in known else name


def pairs(baseline: Path, new: Path | None) -> list[Pair]:
    """What to check against what. Both are a results file, a folder of them, or a table by its name
    or its YAML file, and the baseline may also be the name of a paper. Outcomes are looked for
    under the name of the table, in runs/ if no place is given. One file of outcomes at least is
    there.
    """
    place = baseline if _holds_results(baseline) else _baseline_named(baseline)
    files = results_files(place)
    if not files:
        raise UsageError(f"no results files in {baseline}")
    measured = RUNS if new is None else _outcomes_named(new)
    if len(files) > 1 and measured.is_file():
        raise UsageError(
            f"{baseline} holds {len(files)} baselines; name a folder to check, not a file"
        )
    found = []
    for name, path in files.items():
        table = str(Store(path).blessed().get("table", name))
        found.append(Pair(table, path, _measured_at(measured, table, name)))
    if not any(pair.new.is_file() for pair in found):
        advice = "" if new else f"  ({command('run', found[0].table)})"
        raise UsageError(f"no results at {found[0].new}{advice}")
    return found


def _holds_results(place: Path) -> bool:
    if place.is_dir():
        return bool(results_files(place))
    return place.is_file() and not _is_table_file(place)


def _is_table_file(place: Path) -> bool:
    return place.suffix in _TABLE_FILES and place.is_file()


def _baseline_named(name: Path) -> Path:
    """The baseline of a table, which may be named as anywhere (`table5`), or the folder of a
    paper's; a folder that exists but is empty stays itself."""
    full = _table_named(name) or str(name)
    with suppress(UsageError):  # the path of a file that is not there
        places = (Store.of(baselines_of(full), full).path, BASELINES / full)
        for place in places:
            if _holds_results(place):
                return place
    if name.is_dir():
        return name
    known = results_files(BASELINES) if BASELINES.is_dir() else ()
    if hint := did_you_mean(str(name), known):
        raise UsageError(f"no baseline at {name}.{hint}")
    raise UsageError(f"no baseline at {name}; make one with okbench bless TABLE --reason '…'")


def _outcomes_named(name: Path) -> Path:
    """The place itself, or the results file in runs/ of the table of that name."""
    table = _table_named(name) if _is_table_file(name) or not name.exists() else None
    return Store.of(RUNS, table).path if table else name


def _table_named(name: Path) -> str | None:
    if _is_table_file(name):
        return find(str(name)).name
    with suppress(UsageError):
        return find(str(name)).name
    return None


def _measured_at(place: Path, table: str, name: str) -> Path:
    """The file of a table's outcomes: in a folder of all tables, or of the same part of them as
    the baselines are."""
    if place.is_file() or place.suffix == ".jsonl":
        return place
    of_table, alike = (Store.of(place, one).path for one in (table, name))
    return alike if alike.is_file() and not of_table.is_file() else of_table


def read_file(path: Path, curves: bool = False, trials: TrialsOfLines | None = None) -> Contents:
    """What a results file holds; it must be there."""
    if not path.is_file():
        raise UsageError(f"no results at {path}")
    return Store(path).read(curves=curves, trials=trials)


def outcomes_at(place: Path) -> dict[str, Outcome]:
    """Every outcome that stands at a place, by its trial's id."""
    return {
        id_: outcome
        for path in results_files(place).values()
        for id_, outcome in read_file(path).standing().items()
    }
