"""Settings varied through a table's ranges, over learners and rows made here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trial_material import load, table

from okbench.base.errors import UsageError
from okbench.papers.table_types import PrintedCell, Range, Search, Setting, Source, Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.run_table import Tally, run
from okbench.trials.search.search_grid import variations
from okbench.trials.search.tuning import cells_to_tune
from okbench.trials.search.vary import FEW, candidates_to_try, dry_run_varied, run_varied
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall

pytestmark = pytest.mark.usefixtures("in_threads")
VALUES = (0.01, 0.1, 50.0)
SEARCH = Search((Range("step", VALUES),), subset=0.5, at_least=100, runs=2)
OWN = 0.03


def page(source: Source = "fitted", **more: Any) -> Table:
    """Least mean squares, whose step nobody gives, on two sets, and a learner without a step."""
    made = table({"LMS": "Squares", "Guess": "RowByRow"}, ("line", "line:100"), runs=4)
    lines = tuple(replace(row, name=name) for row, name in zip(made.datasets, NAMES, strict=True))
    step = Setting(OWN, source, "not known", "tables.yaml:9")
    settings = {(name, label): {"step": step} if label == "LMS" else {}
                for name in NAMES for label in ("LMS", "Guess")}  # fmt: skip
    printed = {key: PrintedCell(*key, mean=1.0, std=0.1, text="1.0 ± 0.1") for key in settings}
    fields = {"datasets": lines, "settings": settings, "printed": printed, "search": SEARCH}
    return replace(made, **{**fields, **more})


NAMES = ("long", "short")


def rows(name: str, variant: str = "") -> Any:
    return load("line", variant)


def vary(store: Store, whole: Table | None = None, **options: Any) -> Tally:
    asked = Options(**options)
    return run_varied(whole or page(), rows, lambda n, v: None, store, asked, lambda t: None)


def test_every_value_of_every_cell_with_an_open_setting_is_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "small.jsonl")
    summary = dry_run_varied(page(), rows, lambda n, v: None, store, Options())
    assert (summary.total, summary.to_run) == (2 * len(VALUES) * FEW,) * 2
    assert not store.path.exists()
    tally = vary(store)
    assert tally.endings == {"done": 2 * 2 * FEW, "diverged": 2 * FEW}
    labels = [plan.label for plan in store.read().plans]
    assert sorted(labels) == sorted(2 * [f"LMS step={value}" for value in VALUES])


def test_the_trials_are_those_of_the_table_with_the_value_as_its_setting(tmp_path: Path) -> None:
    store = Store(tmp_path / "small.jsonl")
    vary(store, trials=2)
    for value in VALUES:
        settings = {
            key: {name: replace(one, value=value) for name, one in given.items()}
            for key, given in page().settings.items()
        }
        same = plan(page(settings=settings), rows, Options(trials=2, learners=("LMS",)))
        assert {trial.id for trial in same} <= store.outcomes().keys()


def test_the_cells_of_the_table_keep_their_trials(tmp_path: Path) -> None:
    store, whole = Store(tmp_path / "small.jsonl"), page(left_out=LEFT_OUT)
    run(whole, rows, lambda n, v: None, store, Options(), lambda t: None)
    lines = store.path.read_bytes()
    before = recall(whole, store.outcomes().values(), plans=store.read().plans)
    vary(store, whole)
    after = recall(whole, store.outcomes().values(), plans=store.read().plans)
    assert store.path.read_bytes().startswith(lines)
    assert before == after
    assert {len(ids) for ids in after.values()} == {4}


LEFT_OUT = frozenset((name, "Guess") for name in NAMES)


def test_what_was_varied_is_not_run_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "small.jsonl")
    first, second = vary(store, datasets=("short",)), vary(store)
    lines = store.path.read_bytes()
    assert (first.total, second.total) == (9, 9)
    assert vary(store).total == 0
    assert vary(store, trials=FEW + 1).total == 2 * len(VALUES)
    assert store.path.read_bytes().startswith(lines)


def test_the_cell_of_the_least_time_comes_first(tmp_path: Path) -> None:
    store = Store(tmp_path / "small.jsonl")
    vary(store)
    met = [outcome.trial.dataset for outcome in store.read().measured]
    assert met == 9 * ["short"] + 9 * ["long"]  # nothing was known: by rows
    slow = Store(tmp_path / "slow.jsonl")
    measured = Store(tmp_path / "small.jsonl").read().measured
    with slow.writer({}, "e") as writer:
        for outcome in measured:
            if outcome.trial.repetition == 0:
                seconds = {"long": 1.0, "short": 2.0}[outcome.trial.dataset]
                writer.add(replace(outcome, seconds=seconds, status="done"))
    vary(slow)
    later = [one.trial.dataset for one in slow.read().measured if one.trial.repetition]
    assert later == 6 * ["long"] + 6 * ["short"]


def test_several_settings_alone_and_if_allowed_in_every_combination() -> None:
    ranges = (Range("step", (1, 2)), Range("decay", (3, 4, 5)))
    alone = [{"step": 1}, {"step": 2}, {"decay": 3}, {"decay": 4}, {"decay": 5}]
    both = [{"step": step, "decay": decay} for step in (1, 2) for decay in (3, 4, 5)]
    assert variations(ranges, replace(SEARCH, together=6)) == [*alone, *both]
    assert variations(ranges, replace(SEARCH, together=5)) == alone
    assert variations(ranges[:1], replace(SEARCH, together=1)) == alone[:2]


def test_a_range_that_is_not_searched_is_varied_alone_also_where_the_value_is_printed() -> None:
    """It takes part in no search and in no combination."""
    more = Range("decay", (3, 4), searched=False)
    ranges = (Range("step", (1, 2)), more)
    alone = [{"step": 1}, {"step": 2}, {"decay": 3}, {"decay": 4}]
    assert variations(ranges, SEARCH) == alone
    apart = replace(SEARCH, ranges=(replace(SEARCH.ranges[0], searched=False),))
    found = candidates_to_try(page("printed", search=apart), Options())
    assert list(found.values()) == 2 * [[{"step": value} for value in VALUES]]
    for options in (Options(), Options(datasets=("long",), learners=("LMS",))):
        with pytest.raises(UsageError, match="no step to tune here"):
            cells_to_tune(page(search=apart), options)


def test_a_table_without_ranges_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no ranges to vary.*add a 'tune:' block"):
        candidates_to_try(page(search=None), Options())


@pytest.mark.parametrize(
    ("whole", "options"),
    [
        (page("found"), Options()),
        (page("printed"), Options()),
        (page(printed={}), Options()),
        (page(), Options(learners=("Guess",))),
    ],
)
def test_where_nothing_is_inferred_or_printed_nothing_is_varied(
    whole: Table, options: Options
) -> None:
    with pytest.raises(UsageError, match=r"made/small: nothing to vary, .*ranges for step"):
        candidates_to_try(whole, options)
