"""The search by cross-validation on training rows: against counts by hand and scikit-learn's."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from trial_material import load as load_material

from okbench.base.config_nodes import parse_yaml, read_yaml
from okbench.base.errors import ConfigError, UsageError
from okbench.cli.tune import tune as command
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Diverged, Draws, Problem
from okbench.papers.search import read_search
from okbench.papers.table_catalogue import find
from okbench.papers.table_types import (
    DatasetRow,
    LearnerColumn,
    Protocol,
    Range,
    Search,
    Setting,
    Shares,
    Table,
)
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.run.run_table import Tally
from okbench.trials.search import tuning
from okbench.trials.search.folds import Folds
from okbench.trials.search.tuning import APART, Tuning, tune
from okbench.trials.store.files import Store

pytestmark = pytest.mark.usefixtures("in_threads")
TEST_ROW = 1e6  # in every test row: a learner that is handed one says so


class Cut:
    """Answers 1 from `at` on, whatever it is fitted to."""

    def __init__(self, at: float = 0.0) -> None:
        self.at = at

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        _refuse_test_rows(X)
        clock.mark(len(y), 0.0)

    def predict(self, X: Any) -> Any:
        _refuse_test_rows(X)
        return np.where(X[:, 0] >= self.at, 1, -1)


class Neighbours:
    """scikit-learn's nearest neighbours as a batch learner."""

    def __init__(self, neighbours: int = 1) -> None:
        self.neighbours = neighbours

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        _refuse_test_rows(X)
        self._model = KNeighborsClassifier(self.neighbours).fit(X, y)

    def predict(self, X: Any) -> Any:
        _refuse_test_rows(X)
        return self._model.predict(X)


class Chancy:
    """Its answers depend on its draws alone."""

    def __init__(self, at: float = 0.5) -> None:
        self.at = at

    def begin(self, problem: Problem, draws: Draws) -> None:
        self._draws = draws

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        self._first = self._draws.stream("batches").permutation(len(y))[0]

    def predict(self, X: Any) -> Any:
        return np.where(self._draws.stream("guesses").uniforms(len(X)) < self.at, 1, -1)


class Moody:
    """Ends as its setting says."""

    def __init__(self, mood: int = 0) -> None:
        self.mood = mood

    def fit(self, X: Any, y: Any, clock: Any) -> None:
        if self.mood == 1:
            raise Diverged(0, "the weights are infinite")
        if self.mood == 2:
            raise ZeroDivisionError("the step is zero")
        while self.mood == 3 and not clock.should_stop():
            time.sleep(0.01)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mood or 1)


def _refuse_test_rows(X: Any) -> None:
    assert not (np.asarray(X) >= TEST_ROW).any(), "a test row"


TWELVE = [-1, -1, 1, -1, -1, -1, 1, 1, 1, -1, 1, 1]


def rows(name: str, variant: str = "") -> Dataset:
    """`twelve` training rows 0 to 11, `cloud` of 90, both with test rows of TEST_ROW behind."""
    if name == "twelve":
        X, y = np.arange(12.0)[:, None], np.array(TWELVE)
    else:
        draw = np.random.default_rng(5)
        X = draw.normal(size=(90, 3))
        y = np.where(X[:, 0] * X[:, 1] + 0.3 * draw.normal(size=90) > 0, 1, -1)
    if name == "rare":
        y = np.where(np.arange(90) < 3, 1, -1)
    X = np.vstack([X, np.full((6, X.shape[1]), TEST_ROW)])
    return Dataset(name, X, np.append(y, [1] * 6), "binary", (-1, 1), f"print-{name}",
                   n_train=len(y))  # fmt: skip


def page(
    learners: dict[str, str],
    searched: dict[str, tuple[Any, ...]],
    dataset: str = "twelve",
    **how: Any,
) -> Table:
    fields: dict[str, Any] = {"subset": 1.0, "at_least": 1, "runs": 1, "folds": 3, **how}
    limits = {name: fields.pop(name) for name in ("na_after",) if name in fields}
    open_ = {name: Setting(values[0], "inferred", "?") for name, values in searched.items()}
    return Table(
        "made/folds", "folds", "made",
        Protocol("train-test", "accuracy", 2, **limits),
        (DatasetRow(dataset, where="tables.yaml:5"),),
        tuple(LearnerColumn(n, f"{__name__}:{c}", "tables.yaml:6") for n, c in learners.items()),
        {(dataset, name): dict(open_) for name in learners},
        search=Search(tuple(Range(*each) for each in searched.items()), **fields),
        where="tables.yaml:1",
    )  # fmt: skip


def tuned(folder: Path, table: Table, load: Any = rows, **options: Any) -> Tuning:
    store = Store(folder / "tune.jsonl")
    return tune(table, load, lambda n, v: None, store, Options(**options), lambda t: None)


# --- folds --------------------------------------------------------------------------------------


def test_folds_are_disjoint_parts_of_the_training_rows_and_never_have_a_test_row() -> None:
    folds = Folds(rows, 5, 1.0, 1, seed=3)
    assert folds.variants("bkm") == tuple(f"bkm fold {k}/5" for k in range(1, 6))
    apart = []
    for variant in folds.variants(""):
        part = folds("cloud", variant)
        assert part.n_rows == 90
        assert part.X.max() < TEST_ROW
        assert part.orders is None
        held = {tuple(row) for row in part.X[part.n_train :]}
        learned = {tuple(row) for row in part.X[: part.n_train]}
        assert not held & learned
        apart.append(held)
    assert sum(map(len, apart)) == len(set.union(*apart)) == 90
    assert len({folds("cloud", variant).fingerprint for variant in folds.variants("")}) == 5


@pytest.mark.parametrize(("count", "share"), [(2, 1.0), (7, 1.0), (5, 0.35), (3, 0.5)])
def test_folds_have_equal_sizes_and_equal_shares_of_each_class(count: int, share: float) -> None:
    folds = Folds(rows, count, share, 1, seed=11)
    parts = [folds("cloud", variant) for variant in folds.variants("")]
    assert {part.n_rows for part in parts} == {math.ceil(90 * share)}
    for label in (None, -1, 1):
        held = [part.y[part.n_train :] for part in parts]
        sizes = [len(y) if label is None else int((y == label).sum()) for y in held]
        assert max(sizes) - min(sizes) <= 1


def test_folds_are_the_same_for_a_seed_and_the_part_grows_with_the_share() -> None:
    small, large = (Folds(rows, 3, share, 1, seed=1) for share in (0.3, 0.6))
    again = Folds(rows, 3, 0.3, 1, seed=1)
    other = Folds(rows, 3, 0.3, 1, seed=2)

    def held(folds: Folds) -> Any:
        return folds("cloud", "fold 2/3").X

    assert np.array_equal(held(small), held(again))
    assert not np.array_equal(held(small), held(other))
    assert {tuple(row) for row in held(small)} < {tuple(row) for row in held(large)}


def test_targets_and_sparse_rows_are_dealt_too() -> None:
    def split(name: str, variant: str = "") -> Dataset:
        return replace(load_material(name, variant), n_train=100)

    for name in ("line", "sparse", "words"):
        part = Folds(split, 4, 1.0, 1, seed=0)(name, "fold 1/4")
        assert (part.n_rows, part.n_train) == (100, 75)
        assert part.X.shape == (100, 4)


@pytest.mark.parametrize(
    ("folds", "dataset", "said"),
    [
        (Folds(rows, 13, 1.0, 1, 0), "twelve", r"twelve: 13 folds of 12 rows"),
        (Folds(rows, 5, 0.1, 1, 0), "twelve", r"5 folds of 2 rows \(of 12 training rows\)"),
        (Folds(rows, 3, 0.05, 1, 0), "rare", r"rare: class 1 has 0 of the 5 rows searched on"),
        (Folds(load_material, 3, 1.0, 1, 0), "blobs", "blobs comes in one part"),
    ],
)
def test_folds_that_cannot_be_are_refused(folds: Folds, dataset: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        folds(dataset, folds.variants("")[0])


def test_a_class_with_one_row_is_refused_for_the_other_folds_leave_it_out() -> None:
    def lone(name: str, variant: str = "") -> Dataset:
        whole = rows("cloud")
        return replace(whole, y=np.where(np.arange(96) == 40, 1, -1))

    with pytest.raises(UsageError, match="class 1 has 1 of the 90 rows searched on"):
        Folds(lone, 3, 1.0, 1, 0)("cloud", "fold 3/3")


# --- the search ---------------------------------------------------------------------------------


def test_the_costs_are_those_counted_by_hand(tmp_path: Path) -> None:
    """Rows 2 and 9 have the label of the other side. A cut at 6 is wrong there alone: 2 of 12. One
    at 3 is wrong at 3, 4 and 5 too: 5 of 12. One at 10 is wrong at 2, 6, 7 and 8, not at 9: 4."""
    table = page({"Cut": "Cut"}, {"at": (3, 6, 10)})
    (choice,) = tuned(tmp_path, table).choices
    costs = {each.values["at"]: each.cost for each in choice.tries}
    assert costs == pytest.approx({3: 5 / 12, 6: 2 / 12, 10: 4 / 12}, abs=1e-15)
    assert (choice.values, choice.rows) == ({"at": 6}, 12)


def test_every_fold_is_scored_by_what_the_others_taught(tmp_path: Path) -> None:
    """Four rows, two folds of two, one row of each class in each: a nearest neighbour that met the
    fold itself would make no mistake; by hand it takes the label of the nearest row elsewhere."""

    def four(name: str, variant: str = "") -> Dataset:
        X = np.array([[0.0], [1.0], [10.0], [11.0], [TEST_ROW]])
        return Dataset("four", X, np.array([-1, 1, -1, 1, 1]), "binary", (-1, 1), "four", n_train=4)

    table = page({"N": "Neighbours"}, {"neighbours": (1, 2)}, "four", folds=2)
    folds = Folds(four, 2, 1.0, 1, APART)
    wrong = 0
    for variant in folds.variants(""):
        part = folds("four", variant)
        known, held = part.X[:2, 0], part.X[2:4, 0]
        for x, label in zip(held, part.y[2:4], strict=True):
            nearest = part.y[int(np.argmin(np.abs(known - x)))]
            wrong += int(nearest != label)
    (choice,) = tuned(tmp_path, table, four).choices
    assert choice.tries[0].cost == wrong / 4


@pytest.mark.parametrize("count", [3, 5])
def test_the_costs_are_those_of_scikit_learn_on_the_same_folds(tmp_path: Path, count: int) -> None:
    values = (1, 3, 7)
    table = page({"N": "Neighbours"}, {"neighbours": values}, "cloud", folds=count, subset=0.7)
    (choice,) = tuned(tmp_path, table).choices
    folds = Folds(rows, count, 0.7, 1, APART)
    held = [folds("cloud", variant) for variant in folds.variants("")]
    X = np.vstack([part.X[part.n_train :] for part in held])
    y = np.concatenate([part.y[part.n_train :] for part in held])
    fold_of = np.repeat(np.arange(count), [part.n_rows - (part.n_train or 0) for part in held])
    for each in choice.tries:
        model = KNeighborsClassifier(each.values["neighbours"])
        scores = cross_val_score(model, X, y, cv=PredefinedSplit(fold_of))
        assert each.cost == pytest.approx(1 - scores.mean(), abs=1e-12)
    assert choice.rows == 63


def test_every_fold_of_a_candidate_is_a_stored_trial_with_a_readable_id(tmp_path: Path) -> None:
    table = page({"Cut": "Cut"}, {"at": (3, 6)}, runs=2)
    tuned(tmp_path, table, jobs=1)
    stored = Store(tmp_path / "tune.jsonl").read().measured
    spelled = [outcome.trial.spelled for outcome in stored]
    assert len(set(spelled)) == 2 * 3 * 2
    assert all("train-test/1 | " in one and "order=seeded/" in one for one in spelled)
    assert Counter(one.split("twelve:")[1].split("@")[0] for one in spelled) == {
        f"fold {k}/3": 4 for k in (1, 2, 3)
    }
    evaluated = {trial.id for trial in plan(table, rows, Options())}
    assert not {outcome.trial.id for outcome in stored} & evaluated
    # candidate by candidate, so that a search that is cut short has whole candidates
    assert [dict(one.trial.settings)["at"] for one in stored] == [3.0] * 6 + [6.0] * 6


def test_a_search_that_was_cut_short_goes_on_where_it_stopped(tmp_path: Path) -> None:
    table = page({"Cut": "Cut"}, {"at": (3, 6, 10)})
    whole = tuned(tmp_path / "whole", table)

    class CutShort(Exception):
        pass

    def stop(tally: Tally) -> None:
        if tally.endings.total() == 4:
            raise CutShort

    store = Store(tmp_path / "tune.jsonl")
    with pytest.raises(CutShort):
        tune(table, rows, lambda n, v: None, store, Options(), stop)
    assert len(store.outcomes()) == 4
    again = tuned(tmp_path, table)
    assert again.tally.total == 9 - 4
    assert again.choices[0].tries == whole.choices[0].tries
    assert tuned(tmp_path, table).tally.total == 0


def test_what_diverges_fails_or_is_late_does_not_count_and_does_not_end_it(tmp_path: Path) -> None:
    table = page({"M": "Moody"}, {"mood": (3, 2, 1, 0)})
    found = tuned(tmp_path, table, time_limit=0.3, jobs=2)
    (choice,) = found.choices
    by_mood = {each.values["mood"]: each for each in choice.tries}
    assert {mood: each.cost is None for mood, each in by_mood.items()} == {
        0: False, 1: True, 2: True, 3: True
    }  # fmt: skip
    assert [by_mood[mood].endings for mood in (1, 2, 3)] == [
        {"diverged": 3}, {"failed": 3}, {"timeout": 3}
    ]  # fmt: skip
    assert choice.values == {"mood": 0}


def test_repeats_have_draws_of_their_own(tmp_path: Path) -> None:
    table = page({"C": "Chancy"}, {"at": (0.4, 0.6)}, runs=4)
    tuned(tmp_path, table)
    totals = {}
    for outcome in Store(tmp_path / "tune.jsonl").outcomes().values():
        key = outcome.trial.variant, outcome.trial.settings
        totals.setdefault(key, set()).add(outcome.total)
    assert len(totals) == 6
    assert any(len(found) > 1 for found in totals.values())


def test_learners_have_shares_repeats_and_ranges_of_their_own(tmp_path: Path) -> None:
    table = page({"Cut": "Cut", "C": "Chancy"}, {"at": (0.4, 0.6)}, "cloud")
    assert table.search is not None
    name = f"{__name__}:Chancy"
    search = replace(
        table.search,
        ranges=(
            Range("at", (0.4, 0.6), spared=(name,)),
            Range("at", (0.1, 0.5, 0.9), only=(name,)),
        ),
        shares_of={name: Shares(0.5, {"cloud": 0.4})},
        runs_of={name: 5},
    )
    cut, chancy = tuned(tmp_path, replace(table, search=search)).choices
    assert (cut.rows, chancy.rows, cut.runs, chancy.runs) == (90, 36, 1, 5)
    assert (len(cut.tries), len(chancy.tries)) == (2, 3)
    assert cut.tries[0].endings == {"done": 3}
    assert chancy.tries[0].endings == {"done": 15}
    twice = replace(search, ranges=(*search.ranges, Range("at", (1, 2), where="t.yaml:9")))
    with pytest.raises(ConfigError, match=r"t.yaml:9: a second range of 'at' for test_folds:Cut"):
        tuned(tmp_path, replace(table, search=twice))
    with pytest.raises(UsageError, match="NoSuch"):
        tuned(tmp_path, replace(table, search=replace(search, runs_of={"NoSuch": 5})))


@pytest.mark.parametrize("folds", [13, 10**15])
def test_the_refusal_names_the_place_and_nothing_is_run(tmp_path: Path, folds: int) -> None:
    table = page({"Cut": "Cut"}, {"at": (3, 6)}, folds=folds)
    with pytest.raises(ConfigError, match=rf"tables.yaml:5: twelve: {folds} folds of 12 rows"):
        tuned(tmp_path, table)
    assert not (tmp_path / "tune.jsonl").exists()


# --- its seconds, and searches that are given up --------------------------------------------------


def test_the_seconds_are_those_of_all_trials(tmp_path: Path) -> None:
    table = page({"Cut": "Cut"}, {"at": (3, 6)})
    (choice,) = tuned(tmp_path, table).choices
    stored = Store(tmp_path / "tune.jsonl").outcomes().values()
    assert choice.seconds == pytest.approx(math.fsum(one.seconds or 0.0 for one in stored))
    assert choice.seconds > 0
    assert not choice.given_up


def test_a_search_that_takes_too_long_is_given_up_with_its_estimate(tmp_path: Path) -> None:
    table = page({"Cut": "Cut"}, {"at": tuple(range(40))}, na_after=1e-9)
    (choice,) = tuned(tmp_path, table).choices
    (try_,) = choice.tries
    assert choice.expected == pytest.approx(40 * choice.seconds)
    assert "by 1 of its 40 candidates" in choice.given_up
    assert try_.cost is None or choice.values == {}
    patient = replace(table, protocol=replace(table.protocol, na_after=3600.0))
    (whole,) = tuned(tmp_path / "patient", patient).choices
    assert (len(whole.tries), whole.given_up) == (40, "")


@pytest.mark.parametrize(("spare", "together"), [(1000, [1, 39]), (math.inf, [1, 2, 4, 8, 16, 9])])
def test_a_search_that_may_be_long_is_looked_at_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spare: float, together: list[int]
) -> None:
    """One that cannot be tries all that is left together."""
    counts: list[int] = []
    run = tuning.run

    def counted(grid: Table, *given: Any) -> Any:
        counts.append(len(grid.learners) - 1)  # the first is the column that is searched for
        return run(grid, *given)

    monkeypatch.setattr(tuning, "run", counted)
    monkeypatch.setattr(tuning, "SPARE", spare)
    (choice,) = tuned(
        tmp_path, page({"Cut": "Cut"}, {"at": tuple(range(40))}, na_after=86400.0)
    ).choices
    assert counts == together
    assert len(choice.tries) == 40


FILE = f"""\
title: Folds
protocol: {{kind: train-test, metric: accuracy, runs: 2, na_after: NA}}
datasets: {{hyperplane: }}
learners:
  N: {{learner: "{__name__}:Neighbours", neighbours: {{value: 1, inferred: not known}}}}
tune:
  neighbours: {{values: [1, 5, 9]}}
  folds: 4
  subset: 0.5
"""


@pytest.fixture
def hyperplane(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded rows in two parts."""
    from okbench import datasets

    def split(name: str, variant: str = "") -> Dataset:
        return replace(load_material("blobs"), name=name, n_train=400)

    monkeypatch.setattr(datasets, "load", split)
    monkeypatch.setattr(datasets, "missing", lambda name, variant: None)


def asked(folder: Path, limit: str, *words: str) -> Any:
    text = FILE.replace("na_after: NA", f"na_after: {limit}")
    (folder / "folds.yaml").write_text(text, encoding="utf-8")
    arguments = [str(folder / "folds.yaml"), "-j", "1", "--results", str(folder / "runs"), *words]
    return CliRunner().invoke(command, arguments)


@pytest.mark.usefixtures("hyperplane")
def test_the_file_has_the_choice_the_folds_and_the_seconds(tmp_path: Path) -> None:
    done = asked(tmp_path, "2d")
    assert done.exit_code == 0, done.output
    path = tmp_path / "runs" / "folds.tuned.yaml"
    record = read_yaml(path).plain()
    tried = record["tried"]["hyperplane"]["N"]
    assert (tried["folds"], tried["rows"], tried["permutations"]) == (4, 200, 1)
    assert record["search"]["folds"] == 4
    table = find(str(tmp_path / "folds.yaml"), tuned=path)
    found = table.searched["hyperplane", "N"]
    assert (found.seconds, found.given_up, found.cut) == (tried["seconds"], "", "")
    assert table.settings["hyperplane", "N"]["neighbours"].source == "tuned"
    assert not table.left_out


@pytest.mark.usefixtures("hyperplane")
def test_a_search_that_was_given_up_is_written_down_and_its_cell_left_out(tmp_path: Path) -> None:
    done = asked(tmp_path, "0.000001s")
    assert done.exit_code == 0, done.output
    assert "hyperplane  N  NA: the search takes about" in done.stdout
    path = tmp_path / "runs" / "folds.tuned.yaml"
    table = find(str(tmp_path / "folds.yaml"), tuned=path)
    assert table.left_out == {("hyperplane", "N")}
    assert "of its 3 candidates" in table.searched["hyperplane", "N"].given_up
    # a search that is not given up takes its place
    assert asked(tmp_path, "2d").exit_code == 0
    table = find(str(tmp_path / "folds.yaml"), tuned=path)
    assert (table.left_out, table.searched["hyperplane", "N"].given_up) == (frozenset(), "")


@pytest.mark.usefixtures("hyperplane")
def test_folds_shares_and_repeats_can_be_asked_for(tmp_path: Path) -> None:
    done = asked(tmp_path, "2d", "--folds", "2", "--subset", "0.1", "--trials", "3")
    assert done.exit_code == 0, done.output
    record = read_yaml(tmp_path / "runs" / "folds.tuned.yaml").plain()
    tried = record["tried"]["hyperplane"]["N"]
    assert (tried["folds"], tried["rows"], tried["permutations"]) == (2, 40, 3)
    assert tried["cut"] == "0.1 of the rows instead of 0.5, 2 folds instead of 4"
    table = find(str(tmp_path / "folds.yaml"), tuned=tmp_path / "runs" / "folds.tuned.yaml")
    assert table.searched["hyperplane", "N"].cut == tried["cut"]
    for words in (["--folds", "1"], ["--folds", "0"], ["--folds", "200", "--subset", "0.1"]):
        refused = asked(tmp_path, "2d", *words)
        assert isinstance(refused.exception, UsageError | ConfigError), words


# --- the keys of a table's file -------------------------------------------------------------------


def read(text: str) -> Search:
    found = read_search(parse_yaml(text, "t.yaml"), Path("t.yaml"), ["skin", "a9a"])
    assert found is not None
    return found


def test_what_a_file_says_of_a_search_by_folds() -> None:
    found = read(
        """\
cost: {powers: {of: 2, from: -5, to: 15, by: 2}}
width:
  - {powers: {of: 2, from: -5, to: 15, by: 2}, only: [LIBSVM, RKS]}
  - {powers: {of: 2, from: -15, to: 5, by: 4}, only: [RRF], found: elsewhere}
folds: {value: 5, default: not stated}
subset: {value: 1, datasets: {skin: 0.1}, learners: {LIBSVM: {value: 0.1, datasets: {skin: 0.01}}}}
runs: {value: 1, learners: {RKS: 5}}
"""
    )
    cost, wide, narrow = found.ranges
    assert cost.values == tuple(2.0**k for k in range(-5, 16, 2))
    assert (wide.only, wide.values) == (("LIBSVM", "RKS"), cost.values)
    assert narrow.values == (2.0**-15, 2.0**-11, 2.0**-7, 2.0**-3, 2.0, 32.0)
    assert (narrow.source, narrow.reason) == ("found", "elsewhere")
    assert (found.folds, found.runs, found.at_least) == (5, 1, 1)
    assert (found.subset, found.subsets) == (1.0, {"skin": 0.1})
    assert found.shares_of == {"LIBSVM": Shares(0.1, {"skin": 0.01})}
    assert found.shares_of["LIBSVM"].of("a9a") == 0.1
    assert found.shares_of["LIBSVM"].of("skin") == 0.01
    assert found.runs_of == {"RKS": 5}
    assert found.reasons == {"folds": "not stated"}


BASE = "step: {values: [1, 2]}\nsubset: 1\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASE + "folds: 1", "1 is too small; it must be 2 or more"),
        (BASE + "folds: many", "a whole number is expected, not 'many'"),
        (BASE + "folds: 5\nruns: 0", "0 is too small"),
        (BASE + "folds: 5\nruns: {value: 1, learners: {RKS: 0.5}}", "a whole number is expected"),
        ("step: {values: [1, 2]}\nfolds: 5", "'subset' is missing"),
        (BASE, "'at_least' is missing"),
        (
            "step: {values: [1, 2]}\nfolds: 5\nsubset: {value: 1, learners: {RKS: 1.5}}",
            "above 0 and at most 1, not 1.5",
        ),
        (
            "step: {values: [1, 2]}\nfolds: 5\nsubset: {value: 1, learners: {RKS: {value: 1, "
            "datasets: {skn: 1}}}}",
            "'skn' is no dataset of this table. Did you mean",
        ),
        ("step: {}\nfolds: 5\nsubset: 1", "a range has 'values: "),
        ("step: []\nfolds: 5\nsubset: 1", "one range or more"),
        ("step: {values: [1, 2], only: [A], except: [B]}\nfolds: 5\nsubset: 1", "not with both"),
        ("step: {powers: {of: 2, from: 1}}\nfolds: 5\nsubset: 1", "'to' is missing"),
        ("step: {powers: {of: 2, from: 1, to: 1}}\nfolds: 5\nsubset: 1", "at least 2 values"),
        ("step: {powers: {of: 2, from: 0, to: 5, by: 2}}\nfolds: 5\nsubset: 1", "0 to 5 by 2 does"),
        ("step: {powers: {of: 1, from: 0, to: 5}}\nfolds: 5\nsubset: 1", "not of 1"),
        ("step: {powers: {of: -2, from: 0, to: 5}}\nfolds: 5\nsubset: 1", "not of -2"),
        ("step: {powers: {of: 2, from: 0, to: 3000, by: 3}}\nfolds: 5\nsubset: 1", "at most 1,000"),
        ("step: {powers: {of: 1e200, from: 1, to: 2}}\nfolds: 5\nsubset: 1", "numbers above 0"),
        ("step: {powers: {of: 10, from: -400, to: -399}}\nfolds: 5\nsubset: 1", "numbers above 0"),
    ],
)
def test_what_a_file_says_wrongly_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        read(text)
    assert "t.yaml:" in str(refused.value)
