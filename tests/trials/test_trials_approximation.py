"""Kernels held against exact ones, as trials."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trial_material import Linear, load, table, trial

from okbench.base.errors import ConfigError, UsageError
from okbench.learners.contract import Problem
from okbench.learners.rrf import RRF
from okbench.papers.table_types import LearnerColumn, Search, Table
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import plan
from okbench.trials.plan.seeds import draws, row_order
from okbench.trials.replay.recording import ran
from okbench.trials.run import block_sizes
from okbench.trials.run.block_sizes import growing, sizes, ticks
from okbench.trials.run.execute import execute
from okbench.trials.run.protocol_loop import Limits
from okbench.trials.run.run_trial import attempt
from okbench.trials.search.tuning import cells_to_tune
from okbench.trials.store.files import Store
from okbench.trials.store.match_outcomes import recall
from okbench.trials.store.outcome_json import to_bytes
from okbench.trials.trial_types import Outcome, Trial


class Apart(Linear):
    """Says how far the first value of a row is from its partner's; refuses rows without one."""

    def kernel_gaps(self, X: Any) -> Any:
        if len(X) % 2:
            raise ValueError("a row without a partner")
        return np.repeat(np.abs(X[0::2, 0] - X[1::2, 0]), 2)


class Strays(Apart):
    """Answers as it is told."""

    def __init__(self, answer: str = "nan") -> None:
        self.answer = answer

    def kernel_gaps(self, X: Any) -> Any:
        gaps = super().kernel_gaps(X)
        if self.answer == "nan":
            gaps[4:] = np.nan
        return {"nan": gaps, "short": gaps[0::2], "words": gaps.astype(str)}[self.answer]


def made(learner: str = "Apart", dataset: str = "blobs", **changes: Any) -> Trial:
    changes = {"metric": "exceedance", "tolerance": 0.7, **changes}
    found = trial(dataset=dataset, protocol="approximation", **changes)
    return replace(found, learner=f"{__name__}:{learner}")


def features(components: int, tolerance: float, dataset: str = "blobs") -> Trial:
    settings = tuple(sorted({"components": components, "width": 1.0}.items()))
    return replace(made(dataset=dataset), learner="RRF", settings=settings, tolerance=tolerance)


def run(what: Trial) -> Outcome:
    return attempt(what, load, Limits())


def page(tolerances: tuple[float, ...] = (0.7, 0.2), learner: str = "Apart", **more: Any) -> Table:
    columns = tuple(
        LearnerColumn(f"ε={t}", f"{__name__}:{learner}", "tables.yaml:3", tolerance=t)
        for t in tolerances
    )
    found = table({}, kind="approximation", metric="exceedance", **more)
    return replace(found, learners=columns)


def test_rows_are_paired_off_in_the_trials_order_and_those_too_far_apart_counted() -> None:
    rows, what = load("blobs"), made()
    first = rows.X[row_order(what, rows)][:, 0]
    apart = np.abs(first[0::2] - first[1::2])
    outcome = run(what)
    assert (outcome.status, outcome.rows) == ("done", 600)
    assert outcome.total == 2 * np.count_nonzero(apart >= 0.7)
    assert isinstance(outcome.total, int)


def test_a_pair_just_as_far_apart_as_the_tolerance_counts() -> None:
    rows, what = load("blobs"), made()
    first = rows.X[row_order(what, rows)][:, 0]
    apart = np.sort(np.abs(first[0::2] - first[1::2]))
    assert run(replace(what, tolerance=float(apart[-1]))).total == 2


def test_an_odd_last_row_is_left_out() -> None:
    rows, what = load("blobs", "607"), made(dataset="blobs:607")
    order = row_order(what, rows)[:606]
    first = rows.X[order][:, 0]
    outcome = run(what)
    assert (outcome.status, outcome.rows) == ("done", 606)
    assert outcome.total == 2 * np.count_nonzero(np.abs(first[0::2] - first[1::2]) >= 0.7)
    assert outcome.curve[-1][:2] == (606, outcome.total)


def test_a_single_row_has_no_partner_and_no_share() -> None:
    outcome = run(made(dataset="blobs:1"))
    assert (outcome.status, outcome.rows, outcome.total) == ("done", 0, None)


@pytest.mark.parametrize("dataset", ["blobs", "three", "line", "sparse", "split"])
def test_it_goes_with_any_task_and_any_rows(dataset: str) -> None:
    outcome = run(features(30, 0.1, dataset))
    assert (outcome.status, outcome.rows) == ("done", 600)
    assert isinstance(outcome.total, int)
    assert 0 < outcome.total < 600
    assert outcome.total % 2 == 0


def test_the_kernel_measured_is_that_of_the_learner_with_the_trials_draws() -> None:
    rows, what = load("blobs"), features(30, 0.1)
    problem = Problem("binary", 4, (-1, 1), 600)
    learner = RRF(components=30).begin(problem, draws(what))
    gaps = learner.kernel_gaps(rows.X[row_order(what, rows)])
    assert run(what).total == np.count_nonzero(gaps >= 0.1)


def test_every_tolerance_is_held_against_the_same_draws_and_pairs() -> None:
    totals = [run(features(30, tolerance)).total for tolerance in (0.05, 0.1, 0.2)]
    assert totals == sorted(totals, reverse=True)  # type: ignore[type-var]
    assert len({draws(features(30, t)).normals(1, 1)[0, 0] for t in (0.05, 0.2)}) == 1


@pytest.mark.parametrize("first", [1, 2, 7, 100, 4096])
@pytest.mark.parametrize("dataset", ["blobs", "blobs:607", "sparse:131"])
def test_blocks_are_even_and_how_rows_are_cut_does_not_show(
    dataset: str, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = [features(30, 0.1, dataset)]
    trials += [made(dataset=dataset)] if dataset.startswith("blobs") else []
    for what in trials:
        usual = run(what)
        with monkeypatch.context() as patched:
            patched.setattr(block_sizes, "sizes", lambda: sizes(first, first))
            cut = run(what)
        assert cut.status == "done"
        assert cut.total == usual.total
        assert [point[:2] for point in cut.curve] == [point[:2] for point in usual.curve]


def test_no_tick_and_no_block_comes_between_the_rows_of_a_pair() -> None:
    stops = ticks(606, "binary", together=2)
    assert (stops.step, stops[0]) == (40, 40)
    assert ticks(4, "binary", together=2).step == 2
    spans = list(growing(0, 606, stops, sizes(7, 7), together=2))
    assert all(begin % 2 == 0 == end % 2 for begin, end in spans)
    assert max(end - begin for begin, end in spans) == 6
    assert spans[-1][1] == 606


def test_the_outcome_does_not_depend_on_the_number_of_jobs() -> None:
    trials = [replace(features(20, t), repetition=r) for t in (0.1, 0.3) for r in range(3)]
    found = []
    for jobs in (1, 2):
        with closing(execute(trials, load, Options(jobs=jobs))) as coming:
            found.append({one.trial.id: (one.total, one.rows) for one in coming})
    assert found[0] == found[1]
    assert len({total for total, _ in found[0].values()}) > 4


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ("nan", "diverged", "at row 4 of 600: kernel gap nan is no usable number"),
        ("short", "failed", "kernel_gaps returned kernel gaps of shape (20,) for 40 rows"),
        ("words", "failed", "kernel gaps of type <U32 where numbers are expected"),
    ],
)
def test_an_answer_that_is_none_ends_the_trial_with_a_reason(
    answer: str, status: str, said: str
) -> None:
    outcome = run(made("Strays", settings=(("answer", answer),)))
    assert outcome.status == status
    assert said in outcome.reason


def test_the_tolerance_is_in_the_id_and_no_other_id_has_changed() -> None:
    assert made().spelled.startswith("approximation:0.7/1 | ")
    assert made().id != replace(made(), tolerance=0.2).id
    assert trial().spelled == (
        "single-pass/1 | trial_material:Linear/1  | blobs@print-blobs-600 | order=seeded/0 seed=0"
    )
    assert trial().id == "10c8012faed2ea2d"
    assert trial(protocol="block-stream", block=50).spelled.startswith("block-stream:50/1 | ")


def test_a_plan_has_a_trial_of_every_tolerance_and_they_are_recalled(tmp_path: Path) -> None:
    trials = plan(page(), load)
    assert [one.tolerance for one in trials] == [0.7, 0.2, 0.7, 0.2]
    store = Store(tmp_path / "small.jsonl")
    with store.writer({}, "e") as writer:
        for one in trials:
            writer.add(run(one))
    known = store.outcomes()
    assert [known[one.id].trial for one in trials] == trials
    assert recall(page(), known.values()) == {
        ("blobs", f"ε={t}"): tuple(one.id for one in trials if one.tolerance == t)
        for t in (0.7, 0.2)
    }


def test_outcomes_stored_before_there_were_tolerances_are_read(tmp_path: Path) -> None:
    store = Store(tmp_path / "small.jsonl")
    with store.writer({}, "e") as writer:
        writer.add(run(trial()))
    lines = [json.loads(line) for line in store.path.read_bytes().splitlines()]
    del lines[-1]["outcome"]["trial"]["tolerance"]
    kept = [{**line, "schema": 1} if "okbench" in line else line for line in lines]
    for line in kept:
        del line["crc"]
    store.path.write_bytes(b"".join(map(to_bytes, kept)))
    assert list(store.outcomes()) == [trial().id]


def test_a_learner_without_an_approximate_kernel_is_refused_at_planning() -> None:
    plain = replace(page().learners[0], learner="trial_material:Linear")
    with pytest.raises(ConfigError) as refused:
        plan(replace(page(), learners=(plain,)), load)
    assert str(refused.value) == (
        "tables.yaml:3: trial_material:Linear has no approximate kernel to measure: "
        "kind: approximation asks for the method kernel_gaps"
    )


def test_it_is_neither_tuned_nor_recorded(tmp_path: Path) -> None:
    searched = replace(page(), search=Search((), subset=0.5, at_least=10, runs=1))
    with pytest.raises(
        UsageError, match="only single-pass tables and those with test rows are tuned"
    ):
        cells_to_tune(searched, Options())
    with pytest.raises(UsageError, match="can be recorded, not approximation"):
        ran(made(), load("blobs"), tmp_path / "one.json")
