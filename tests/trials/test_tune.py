"""The search for settings, over learners and rows made here."""

from __future__ import annotations

import errno
import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from trial_material import Linear, Squares, load, table

from okbench.base.config_nodes import read_yaml
from okbench.base.errors import ConfigError, OkbenchError, StoreError, UsageError
from okbench.cli.tune import tune as command
from okbench.papers.table_catalogue import find
from okbench.papers.table_types import Equal, Range, Search, Setting, Source, Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.search.tuning import APART, Subsample, Tuning, _tried, cells_to_tune, tune
from okbench.trials.store.files import Store
from okbench.trials.trial_types import Outcome

pytestmark = pytest.mark.usefixtures("in_threads")
VALUES = (0.01, 0.1, 50.0)
SEARCH = Search((Range("step", VALUES),), subset=0.5, at_least=100, runs=2)


def page(source: Source = "inferred", **more: Any) -> Table:
    """Least mean squares, whose step nobody gives, and a learner without a step."""
    learners = {"LMS": "Squares", "Guess": "RowByRow"}
    step = Setting(0.01, source, "not known", "tables.yaml:9")
    settings = {("line", "LMS"): {"step": step}, ("line", "Guess"): {}}
    made = table(learners, ("line",), **more)
    return replace(made, settings=settings, search=SEARCH)


def tuned(folder: Path, whole: Table | None = None, **options: Any) -> Tuning:
    whole = whole or page()
    store = Store(folder / "tune.jsonl")
    said = Options(**options)
    return tune(whole, load, lambda n, v: None, store, said, lambda t: None)


def test_the_value_of_least_cost_is_chosen_and_all_are_kept(tmp_path: Path) -> None:
    (choice,) = tuned(tmp_path).choices
    costs = {each.values["step"]: each.cost for each in choice.tries}
    assert (choice.dataset, choice.learner, choice.values) == ("line", "LMS", {"step": 0.1})
    assert costs[0.1] is not None
    assert costs[0.01] is not None
    assert costs[0.1] < costs[0.01]
    assert costs[50.0] is None  # it diverged
    assert not choice.at_edge
    assert len(Store(tmp_path / "tune.jsonl").outcomes()) == len(VALUES) * SEARCH.runs


def test_what_was_tried_is_not_run_again(tmp_path: Path) -> None:
    first, second = tuned(tmp_path), tuned(tmp_path)
    assert (first.tally.total, second.tally.total) == (6, 0)
    assert first.choices == second.choices


def test_the_search_is_on_a_part_of_the_rows_and_on_row_orders_of_its_own(tmp_path: Path) -> None:
    (choice,) = tuned(tmp_path).choices
    evaluated = plan(page(), load, Options(learners=("LMS",)))
    assert choice.rows == load("line").n_rows // 2
    assert choice.trial.seed == APART
    stored = Store(tmp_path / "tune.jsonl").outcomes()
    assert not stored.keys() & {trial.id for trial in evaluated}
    assert {outcome.trial.order for outcome in stored.values()} == {"seeded"}


def test_a_part_is_the_same_rows_for_a_seed_and_others_for_another() -> None:
    first, again = (Subsample(load, 0.1, 50, seed=APART)("line") for _ in range(2))
    other = Subsample(load, 0.1, 50, seed=APART + 1)("line")
    assert np.array_equal(first.X, again.X)
    assert not np.array_equal(first.X, other.X)
    assert len({first.fingerprint, other.fingerprint, load("line").fingerprint}) == 3
    whole = {tuple(row) for row in load("line").X}
    assert len({tuple(row) for row in first.X} & whole) == first.n_rows == 60


def test_a_part_is_never_larger_than_the_whole_nor_smaller_than_asked_for() -> None:
    rows = load("line").n_rows
    assert Subsample(load, 0.01, 200, seed=1)("line").n_rows == 200
    assert Subsample(load, 0.01, 10**9, seed=1)("line").n_rows == rows
    assert Subsample(load, 1.0, 1, seed=1)("sparse").n_rows == rows


def test_a_part_can_be_sent_to_worker_processes() -> None:
    part = Subsample(load, 0.1, 50, seed=7)
    assert pickle.loads(pickle.dumps(part))("line").fingerprint == part("line").fingerprint


@pytest.mark.parametrize("source", ["printed", "found"])
def test_a_setting_that_is_given_is_tuned_only_when_named(source: Source) -> None:
    with pytest.raises(UsageError, match="no step to tune here"):
        cells_to_tune(page(source), Options(datasets=("line",)))
    by_name = Options(datasets=("line",), learners=("LMS",))
    assert [column.label for _, column in cells_to_tune(page(source), by_name)] == ["LMS"]


@pytest.mark.parametrize("source", ["inferred", "tuned"])
def test_a_setting_nobody_gives_is_tuned_and_tuned_again(source: Source) -> None:
    assert [column.label for _, column in cells_to_tune(page(source), Options())] == ["LMS"]


def test_a_learner_without_the_setting_is_left_alone() -> None:
    by_name = Options(datasets=("line",), learners=("Guess",))
    with pytest.raises(UsageError, match="no step to tune here"):
        cells_to_tune(page(), by_name)


def test_a_table_that_describes_no_search_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no 'tune:' in tables.yaml"):
        cells_to_tune(replace(page(), search=None), Options())
    with pytest.raises(UsageError, match=r"a train-test table is searched by folds .*'folds: 5'"):
        cells_to_tune(page(kind="train-test"), Options())
    with pytest.raises(UsageError, match=r"a block-stream table is searched by folds .*'folds: 5'"):
        cells_to_tune(page(kind="block-stream", block=5), Options())
    folded = replace(page(), search=replace(SEARCH, folds=3))
    with pytest.raises(UsageError, match="folds are of training rows, and single-pass has none"):
        cells_to_tune(folded, Options())


def test_a_value_counts_only_when_all_its_trials_are_done() -> None:
    trials = plan(page(), load, Options(learners=("LMS",)))
    done = Outcome(trials[0], "done", rows=10, total=5.0)
    late = Outcome(trials[1], "timeout", rows=10, total=0.0)
    assert _tried({}, trials, {trials[0].id: done}).cost is None
    both = _tried({}, trials, {trials[0].id: done, trials[1].id: late})
    assert (both.cost, both.endings) == (None, {"done": 1, "timeout": 1})
    assert _tried({}, trials[:1], {trials[0].id: done}).cost == 0.5


@pytest.mark.parametrize(("ties", "chosen"), [("largest", 50.0), ("smallest", 0.01)])
def test_among_equals_the_largest_or_smallest_is_chosen(
    tmp_path: Path, ties: Equal, chosen: float
) -> None:
    """A perceptron from zero makes the same mistakes at every step."""
    whole = replace(
        table({"P": "Linear"}),
        settings={("blobs", "P"): {"step": Setting(1.0, "inferred", "?")}},
        search=replace(SEARCH, ties=ties),
    )
    store = Store(tmp_path / "tune.jsonl")
    tuning = tune(whole, load, lambda n, v: None, store, Options(), lambda t: None)
    (choice,) = tuning.choices
    assert len({each.cost for each in choice.tries}) == 1
    assert (choice.values, choice.at_edge) == ({"step": chosen}, ("step",))


def test_when_no_value_is_done_nothing_is_chosen(tmp_path: Path) -> None:
    (choice,) = tuned(tmp_path, page(), time_limit=1e-9).choices
    assert (choice.values, choice.at_edge) == ({}, ())


TABLE = """\
title: Small
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
settings: {width: 0.25, budget: 20}
datasets: {breast-cancer: , spirals: }
learners: {RBP: , OGD: {step: {value: 0.3, inferred: not known}}}
tune:
  step: {values: [2, 0.2]}
  subset: {value: 0.05, inferred: not told}
  at_least: 80
  runs: 2
"""


def asked(folder: Path, *words: str) -> Any:
    arguments = [str(folder / "small.yaml"), "-j", "1", "--results", str(folder / "runs"), *words]
    return CliRunner().invoke(command, arguments)


def test_choices_are_written_as_settings_that_the_table_reads(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    done = asked(tmp_path)
    assert done.exit_code == 0, done.output
    path = tmp_path / "runs" / "small.tuned.yaml"
    assert str(path) in done.stdout
    name = str(tmp_path / "small.yaml")
    before, after = find(name), find(name, tuned=path)
    assert before.settings["spirals", "OGD"]["step"].source == "inferred"
    step = after.settings["spirals", "OGD"]["step"]
    assert step.source == "tuned"
    assert step.value in (2, 0.2)
    assert step.reason.startswith("best of 2 of 2 values on 500 rows")
    assert "step" not in after.settings["spirals", "RBP"]
    assert (tmp_path / "runs" / "small.tune.jsonl").exists()


def test_the_file_tells_all_that_was_tried_and_how(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    asked(tmp_path, "--datasets", "spirals", "--trials", "1", "--subset", "0.02")
    record = read_yaml(tmp_path / "runs" / "small.tuned.yaml").plain()
    assert (record["search"]["subset"], record["search"]["runs"]) == (0.02, 1)
    assert record["search"]["inferred"] == {}
    assert record["search"]["ties"] == "the largest of equals"
    tried = record["tried"]["spirals"]["OGD"]
    assert (tried["rows"], tried["seed"], tried["learner"]) == (200, APART, "OGD/1")
    assert set(tried["mistakes per row"]) == {"2", "0.2"}
    assert record["versions"]["numpy"] == np.__version__


def test_choices_of_other_cells_stay_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    asked(tmp_path, "--datasets", "spirals")
    asked(tmp_path, "--datasets", "breast-cancer")
    tuned_now = find(str(tmp_path / "small.yaml"), tuned=tmp_path / "runs" / "small.tuned.yaml")
    assert {
        tuned_now.settings[name, "OGD"]["step"].source for name in ("spirals", "breast-cancer")
    } == {"tuned"}


def test_a_file_of_another_table_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("table: other\ncells: {}\n", encoding="utf-8")
    refused = asked(tmp_path, "--to", str(other))
    assert isinstance(refused.exception, ConfigError)
    assert other.read_text(encoding="utf-8") == "table: other\ncells: {}\n"


def test_trials_that_fail_are_told_and_end_in_an_error(tmp_path: Path) -> None:
    text = TABLE.replace(
        "learners: {", "learners: {Wild: {learner: trial_material:Raises, at: 3}, "
    )
    text = text.replace("step: {values: [2, 0.2]}", "at: {values: [5, 7]}")
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    done = asked(tmp_path, "--datasets", "spirals", "--learners", "Wild")
    assert isinstance(done.exception, OkbenchError)
    assert "4 trials failed" in str(done.exception)
    assert "the budget is spent" in done.stderr
    assert "at none  [5: not done, 7: not done]" in done.stdout


def test_a_share_or_a_count_out_of_range_is_refused(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    for words in (["--subset", "0"], ["--subset", "1.5"], ["--trials", "0"]):
        assert isinstance(asked(tmp_path, *words).exception, UsageError), words


# --- several settings ---------------------------------------------------------------------------


class Damped(Squares):
    """Least mean squares whose step is the product of a list."""

    def __init__(self, factors: tuple[float, ...] = (1.0,), width: float = 1.0) -> None:
        super().__init__(math.prod(factors))
        self.factors, self.width = factors, width


class Listed(Linear):
    """A perceptron that takes a list it has no use for."""

    tasks = ("binary",)

    def __init__(self, factors: list[float]) -> None:
        assert type(factors) is list
        super().__init__()


GUESS = "{value: [1], inferred: not known}"


def test_a_range_may_hold_lists(tmp_path: Path) -> None:
    ranges = (Range("factors", ((0.1, 0.5), (0.5, 0.1), (0,))), Range("width", (1, 2)))
    made = table({"D": "Squares"}, ("line",))
    made = replace(made, learners=(replace(made.learners[0], learner=f"{__name__}:Damped"),))
    given = {name: Setting(1, "inferred", "?") for name in ("factors", "width")}
    search = replace(SEARCH, ranges=ranges, runs=1)
    whole = replace(made, settings={("line", "D"): given}, search=search)
    (choice,) = tuned(tmp_path, whole).choices
    assert len(choice.tries) == 6
    assert choice.tries[0].cost == choice.tries[2].cost < choice.tries[4].cost
    # of equal lists the first, of equal numbers the largest
    assert choice.values == {"factors": (0.1, 0.5), "width": 2}
    assert choice.at_edge == ("width",)


def test_a_list_that_was_chosen_is_read_back(tmp_path: Path) -> None:
    text = BOTH.replace("RBP:", f"RBP: {{learner: '{__name__}:Listed', factors: {GUESS}}}")
    text = text.replace("  together", "  factors: {values: [[2, 0.5], [0.25]]}\n  together")
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    done = asked(tmp_path, "--learners", "RBP")
    assert done.exit_code == 0, done.output
    path = tmp_path / "runs" / "small.tuned.yaml"
    record = read_yaml(path).plain()
    assert record["search"]["ranges"]["factors"] == [[2, 0.5], [0.25]]
    costs = record["tried"]["spirals"]["RBP"]["mistakes per row"]
    assert set(costs) == {"factors [2, 0.5]", "factors [0.25]"}
    found = find(str(tmp_path / "small.yaml"), tuned=path).settings["spirals", "RBP"]["factors"]
    assert (found.source, found.value) in [("tuned", (2, 0.5)), ("tuned", (0.25,))]
    assert f"factors {list(found.value)}" in done.stdout  # type: ignore[arg-type]


BOTH = """\
title: Both
protocol: {kind: single-pass, metric: mistake_rate, runs: 2}
settings: {width: {value: 0.5, inferred: not known}, budget: 20}
datasets: {spirals: {rows: 10000}}
learners:
  RBP:
  FOGD: {step: {value: 0.3, inferred: not known}, components: 4 * budget}
  BOGD: {step: {value: 0.1, found: in a file}, decay: {value: 1 / rows, inferred: not known}}
tune:
  width: {values: [0.125, 0.5], except: [BOGD]}
  step: {values: [0.02, 0.2, 2]}
  decay: {values: [1 / rows, 100 / rows]}
  together: 6
  subset: {value: 0.05, datasets: {spirals: 0.02}}
  at_least: 80
  runs: 1
"""


def both(folder: Path, changed: dict[str, str] | None = None, *words: str) -> tuple[Any, Any]:
    """What the command said of the table above, and the file it wrote."""
    text = BOTH
    for was, now in (changed or {}).items():
        assert was in text
        text = text.replace(was, now)
    (folder / "small.yaml").write_text(text, encoding="utf-8")
    said = asked(folder, *words)
    assert said.exit_code == 0, said.output
    return said, read_yaml(folder / "runs" / "small.tuned.yaml").plain()


def test_a_learner_is_searched_on_a_share_of_its_own(tmp_path: Path) -> None:
    usual = "subset: {value: 0.05, datasets: {spirals: 0.02}}"
    _, record = both(tmp_path, {usual: f"{usual[:-1]}, learners: {{FOGD: 0.1}}}}"})
    assert record["search"]["subsets of"] == {"FOGD": {"subset": 0.1, "subsets": {}}}
    tried = record["tried"]["spirals"]
    assert {name: one["rows"] for name, one in tried.items()} == {
        "RBP": 200,
        "FOGD": 1000,
        "BOGD": 200,
    }


def test_every_combination_of_what_a_learner_takes_is_tried(tmp_path: Path) -> None:
    said, record = both(tmp_path)
    tried = record["tried"]["spirals"]
    assert len(tried["RBP"]["mistakes per row"]) == 2
    assert len(tried["FOGD"]["mistakes per row"]) == 6
    assert tried["FOGD"]["searched"] == [["width", "step"]]
    assert (record["search"]["together"], record["search"]["subsets"]) == (6, {"spirals": 0.02})
    assert (tried["FOGD"]["rows"], tried["RBP"]["rows"]) == (200, 200)
    costs = tried["FOGD"]["mistakes per row"]
    chosen = record["cells"]["spirals"]["FOGD"]
    words = f"width {chosen['width']['value']:g}, step {chosen['step']['value']:g}"
    assert costs[words] == min(costs.values())
    assert chosen["step"]["tuned"].startswith("best of 6 of 6 combinations of width, step on 200")
    assert f"FOGD  {words}" in said.stdout
    after = find(str(tmp_path / "small.yaml"), tuned=tmp_path / "runs" / "small.tuned.yaml")
    assert after.settings["spirals", "FOGD"]["step"].source == "tuned"
    assert after.settings["spirals", "FOGD"]["components"].value == 80


def test_a_setting_that_is_given_and_a_learner_that_is_spared_are_left_alone(
    tmp_path: Path,
) -> None:
    _, record = both(tmp_path)
    assert set(record["cells"]["spirals"]["BOGD"]) == {"decay"}
    decay = record["cells"]["spirals"]["BOGD"]["decay"]["value"]
    assert decay in (1 / 10000, 100 / 10000)  # of all rows, whatever is searched on
    _, record = both(tmp_path, None, "--datasets", "spirals", "--learners", "BOGD")
    assert set(record["cells"]["spirals"]["BOGD"]) == {"step", "decay"}


def test_above_the_stated_size_one_setting_is_searched_after_the_other(tmp_path: Path) -> None:
    _, record = both(tmp_path, {"together: 6": "together: 5"}, "--learners", "FOGD")
    told = record["tried"]["spirals"]["FOGD"]
    assert told["searched"] == [["width"], ["step"]]
    costs = told["mistakes per row"]
    assert len(costs) == 2 + 3
    widths = {words: cost for words, cost in costs.items() if "step" not in words}
    best = min(widths.values())
    (kept,) = (words for words, cost in widths.items() if cost == best)
    assert all(words.startswith(kept) for words in costs.keys() - widths.keys())
    step = record["cells"]["spirals"]["FOGD"]["step"]
    assert step["tuned"].startswith("best of 3 of 3 values on 200 rows")


def test_what_is_reckoned_from_a_setting_follows_it(tmp_path: Path) -> None:
    changed = {
        "step: {values: [0.02, 0.2, 2]}": "budget: {values: [5, 10]}",
        "  RBP:\n": "  NOGD: {rank: 0.4 * budget}\n",
    }
    both(tmp_path, changed, "--datasets", "spirals", "--learners", "NOGD")
    outcomes = Store(tmp_path / "runs" / "small.tune.jsonl").outcomes().values()
    tried = [dict(outcome.trial.settings) for outcome in outcomes]
    assert {(each["budget"], each["rank"]) for each in tried} == {(5, 2), (10, 4)}


def test_a_share_asked_for_holds_for_every_dataset(tmp_path: Path) -> None:
    _, record = both(tmp_path, None, "--subset", "0.01", "--learners", "RBP")
    assert record["tried"]["spirals"]["RBP"]["rows"] == 100
    assert "subsets" not in record["search"]


def test_a_search_in_several_rounds_goes_on_where_it_stopped(tmp_path: Path) -> None:
    changed = {"together: 6": "together: 5"}
    _, first = both(tmp_path, changed)
    lines = (tmp_path / "runs" / "small.tune.jsonl").read_bytes()
    _, again = both(tmp_path, changed)
    assert again == first
    assert (tmp_path / "runs" / "small.tune.jsonl").read_bytes() == lines


def test_choices_made_before_outlive_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    asked(tmp_path, "--datasets", "spirals")
    path = tmp_path / "runs" / "small.tuned.yaml"
    before = path.read_text(encoding="utf-8")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    refused = asked(tmp_path, "--datasets", "breast-cancer")
    assert isinstance(refused.exception, StoreError)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in path.parent.iterdir() if "tuned" in p.name] == [path.name]


def test_a_file_of_choices_emptied_by_hand_is_filled(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    other = tmp_path / "other.yaml"
    other.write_text("table: small\ncells: {spirals: }\ntried:\n", encoding="utf-8")
    done = asked(tmp_path, "--datasets", "breast-cancer", "--to", str(other))
    assert done.exit_code == 0, done.output
    assert set(read_yaml(other).plain()["cells"]) == {"spirals", "breast-cancer"}


def test_a_range_of_no_learners_setting_is_refused_and_one_of_anothers_is_not() -> None:
    def searching(name: str) -> Table:
        ranges = (*SEARCH.ranges, Range(name, (1, 2), where="tables.yaml:9"))
        return replace(page(), search=replace(SEARCH, ranges=ranges))

    assert cells_to_tune(searching("aggressiveness"), Options())
    with pytest.raises(ConfigError, match=r"tables.yaml:9: no learner has a setting 'stepp'\. Did"):
        cells_to_tune(searching("stepp"), Options())


def test_a_learner_is_spared_in_any_case_and_one_nobody_knows_is_refused() -> None:
    def sparing(name: str) -> Table:
        range_ = Range("step", VALUES, spared=(name,), where="tables.yaml:9")
        ogd = replace(page().learners[0], label="OGD", learner="OGD")
        settings = {("line", "OGD"): {"step": Setting(0.01, "inferred")}}
        search = replace(SEARCH, ranges=(range_,))
        return replace(page(), learners=(ogd,), settings=settings, search=search)

    assert cells_to_tune(sparing("RBP"), Options())
    with pytest.raises(UsageError, match="no step to tune here"):
        cells_to_tune(sparing("ogd"), Options())
    with pytest.raises(ConfigError, match=r"tables.yaml:9: no learner 'OGDD'\. Did you mean"):
        cells_to_tune(sparing("OGDD"), Options())


def test_the_command_that_uses_the_choices_can_be_pasted(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(TABLE, encoding="utf-8")
    done = asked(tmp_path, "--datasets", "spirals", "--to", str(tmp_path / "a b.yaml"))
    assert f"--settings '{tmp_path / 'a b.yaml'}')" in done.stdout
