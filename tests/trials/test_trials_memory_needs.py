"""What trials need to hold: against what learners hold in fact, and what does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from trial_material import load, table, trial

from okbench.base.errors import OkbenchError
from okbench.cli.run import run as command
from okbench.datasets.dataset_types import Dataset
from okbench.learners.contract import Draws, Problem, begun
from okbench.learners.registry import catalogue, find, is_ours, settings_of
from okbench.papers.table_types import LearnerColumn, Table
from okbench.protocols.contract import ONLINE
from okbench.trials.plan.options import Options
from okbench.trials.plan.rows_in_memory import rows_bytes
from okbench.trials.run import memory_needs
from okbench.trials.run.estimate import dry_run
from okbench.trials.run.memory_needs import Need, needs, refuse_what_cannot_fit
from okbench.trials.run.run_table import run
from okbench.trials.store.files import Store

ONLINE_LEARNERS = [
    entry for entry in catalogue().values() if is_ours(entry) and ONLINE.is_filled_by(entry.load())
]


@pytest.mark.parametrize("entry", ONLINE_LEARNERS, ids=lambda entry: entry.name)
@pytest.mark.parametrize("rows", ["blobs:1500", "sparse:1500"])
def test_no_model_is_smaller_than_what_is_computed_of_it(entry, rows) -> None:
    name, _, variant = rows.partition(":")
    data = load(name, variant)
    y = data.y
    if entry.tasks == ("regression",):
        y = data.y.astype(float)
    cls = entry.load()
    small = {"budget": 40, "components": 64, "rank": 8, "partitionings": 5, "psi": 16}
    settings = {name: small[name] for name in settings_of(cls) if name in small}
    task = "regression" if entry.tasks == ("regression",) else "binary"
    problem = Problem(task, 4, () if task == "regression" else (-1, 1), len(y))
    learner = begun(cls, settings, problem, Draws(0))
    learner.learn(data.X, y)
    one = trial(dataset=rows)
    one = replace(one, learner=entry.name, settings=tuple(sorted(settings.items())))
    (need,) = needs([one], load, Options())
    if settings.keys() != {"psi"} and settings:  # which alone says nothing of a size
        assert need.model is not None
        assert 0 < need.model <= learner.nbytes
    else:
        assert need.model is None
        assert need.growth > 0


@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("iforest", "1600 cells × 12 B"),
        ("nearest", "1000 points × 4 features × 12 B"),
    ],
)
@pytest.mark.parametrize(("learner", "weight"), [("IK-OGD", 4), ("IK-SVM", 8)])
def test_an_isolation_map_is_counted_with_the_rows_it_is_made_of(
    kind, terms, learner, weight
) -> None:
    """Those of the training part: 1,000 rows here, so that 1,600 points are drawn from them. Each
    of the cells has a weight."""
    settings = {"partitionings": 100, "psi": 16, "map": kind}
    one = trial(dataset="split:1500", protocol="train-test")
    one = replace(one, learner=learner, settings=tuple(sorted(settings.items())))
    (need,) = needs([one], load, Options())
    data = load("split", "1500")
    fitted = begun(find(learner).load(), settings, Problem("binary", 4, (-1, 1)), Draws(0))
    fitted.fit(data.X[:1000], data.y[:1000])
    assert need.terms == f"{terms} + 1 score columns × 1600 cells × {weight} B"
    assert need.model is not None
    assert 0 < need.model <= fitted._map.nbytes + 1600 * weight < 2 * need.model


def fogd(components: int) -> Table:
    """A table with one of okbench's own learners."""
    page = table(
        {"FOGD": "Linear", "Linear": "Linear"},
        settings={("blobs", "FOGD"): {"components": components, "step": 0.1, "width": 8.0}},
        runs=3,
    )
    ours = LearnerColumn("FOGD", "FOGD", where="tables.yaml:3")
    return replace(page, learners=(ours, page.learners[1]))


@pytest.mark.parametrize(
    ("learner", "settings", "terms", "model"),
    [
        (
            "BKM",
            {"particles": 20_000, "components": 50},
            "50 components × 4 features × 4 B + 3 × 20000 particles × 204 numbers × 4 B + "
            "20000 × 20000 particles × 16 B",
            800 + 48_960_000 + 6_400_000_000,
        ),
        (
            "BKM",
            {"particles": 10, "components": 50, "precision": "double"},
            "50 components × 4 features × 8 B + 3 × 10 particles × 204 numbers × 8 B + "
            "10 × 10 particles × 24 B",
            1_600 + 48_960 + 2_400,
        ),
        ("LIBSVM", {}, "kernel cache of 4 MB", 4 * 1_000**2),
        ("LIBSVM", {"cache": 0.5}, "kernel cache of 524 kB", 2**19),
        (
            "LIBSVM",
            {"kernel": "laplacian"},
            "kernel cache of 4 MB + 1000 × 1000 rows × 8 B",
            12 * 1_000**2,
        ),
    ],
    ids=str,
)
def test_particles_and_kernel_caches_are_counted_before_a_run(
    learner: str, settings: Mapping[str, Any], terms: str, model: int
) -> None:
    one = trial(dataset="split:1500", protocol="train-test")
    one = replace(one, learner=learner, settings=tuple(sorted(settings.items())))
    (need,) = needs([one], load, Options())
    assert (need.terms, need.model) == (terms, model)


def test_what_cannot_fit_is_refused_with_its_arithmetic_and_nothing_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_needs, "available", lambda: 1_000_000)
    store = Store(tmp_path / "t.jsonl")
    rows = rows_bytes(load("blobs"))
    with pytest.raises(OkbenchError) as refusal:
        run(fogd(50_000), load, lambda *a: None, store, Options(jobs=2), lambda t: None)
    assert str(refusal.value) == (
        f"FOGD × blobs needs {(2 * (rows + 1_600_000)) / 1e6:.3g} MB: 2 at a time × (rows "
        f"{rows / 1e3:.3g} kB + model 1.6 MB = 50000 components × 4 features × 8 B); 1 MB are "
        "available. Run fewer at a time (--jobs), without this learner or dataset, or all the "
        "same with --force"
    )
    assert not store.outcomes()
    forced = Options(jobs=2, force=True)
    tally = run(fogd(50_000), load, lambda *a: None, store, forced, lambda t: None)
    assert tally.endings == {"done": 6}


def test_a_model_beyond_the_limit_is_refused_with_its_arithmetic(tmp_path: Path) -> None:
    store, options = Store(tmp_path / "t.jsonl"), Options(memory_limit=1e6)
    with pytest.raises(
        OkbenchError,
        match=r"the model alone takes 1\.6 MB = 50000 components × 4 features × 8 B, and the limit "
        r"is 1 MB; raise --memory",
    ):
        run(fogd(50_000), load, lambda *a: None, store, options, lambda t: None)


def test_more_random_numbers_than_a_bound_are_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_needs, "MOST_DRAWN", 4 * 50_000 - 1)
    store = Store(tmp_path / "t.jsonl")
    with pytest.raises(OkbenchError) as refusal:
        run(fogd(50_000), load, lambda *a: None, store, Options(), lambda t: None)
    assert str(refusal.value) == (
        "FOGD × blobs draws 200,000 random numbers before its first row = 50000 components × 4 "
        "features, whether a row has these features or not; more than 199,999 "
        "delay every trial. Number the features of the file without gaps, hash "
        "them (--hash 2^18), leave this learner or dataset out, or run all the same with --force"
    )
    assert not store.outcomes()
    forced = run(fogd(50_000), load, lambda *a: None, store, Options(force=True), lambda t: None)
    assert forced.endings == {"done": 6}
    monkeypatch.setattr(memory_needs, "MOST_DRAWN", 4 * 50_000)
    refuse_what_cannot_fit(needs([trial()], load, Options()), Options())


WIDE = "1 1:0.5 3:1\n-1 2:1 10000000:2\n1 1:1 5:0.5\n-1 2:0.3 7:1\n"


def test_a_file_with_an_index_of_ten_million_runs_or_is_refused_with_its_arithmetic(
    tmp_path: Path,
) -> None:
    """Kernel learners hold what rows use; learners that draw for every feature are refused."""
    (tmp_path / "wide.svm").write_text(WIDE, encoding="utf-8")

    def invoke(learner: str) -> Result:
        arguments = ["--data", str(tmp_path / "wide.svm"), "--learners", learner, "--trials", "1"]
        return CliRunner().invoke(command, [*arguments, "--results", str(tmp_path / "runs")])

    for learner in ("OGD", "RBP", "Projectron"):
        done = invoke(learner)
        assert done.exit_code == 0, done.output
    refused = invoke("RRF").exception
    assert isinstance(refused, OkbenchError)
    assert "100 components × 10000000 features" in str(refused)


def test_a_dry_run_names_the_needs_and_what_is_unknown(tmp_path: Path) -> None:
    summary = dry_run(
        fogd(1000), load, lambda *a: None, Store(tmp_path / "t.jsonl"), Options(jobs=2)
    )
    by_learner = {need.learner: need for need in summary.needs}
    assert by_learner["FOGD"].model == 32_000
    assert by_learner["FOGD"].at_once == 2
    assert by_learner["trial_material:Linear"].model is None
    assert summary.available > 0


def test_no_more_trials_are_counted_at_a_time_than_there_are() -> None:
    three = [replace(trial(repetition=r), learner="OGD") for r in range(3)]
    (need,) = needs(three, load, Options(jobs=8))
    assert need.at_once == 3
    assert needs(three, load, Options(jobs=8, timing=True))[0].at_once == 1


def test_rows_that_are_mapped_count_as_none(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", load("blobs").X)

    def mapped(name: str, variant: str) -> Dataset:
        return replace(load(name), X=np.load(tmp_path / "X.npy", mmap_mode="r")[:])

    (need,) = needs([trial()], mapped, Options())
    assert need.rows == 0
    assert needs([trial()], load, Options())[0].rows > 0


def test_a_need_without_a_figure_is_never_refused() -> None:
    unknown = Need("rows", "mine:Mine", 1, 0, None, "unknown", growth=10**18)
    refuse_what_cannot_fit([unknown], Options(memory_limit=1.0))


def test_a_container_with_less_memory_than_the_machine_is_taken_at_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_needs, "_CGROUP", tmp_path)
    machine = memory_needs.available()
    assert machine > 5000
    (tmp_path / "memory.max").write_text("9000\n", encoding="ascii")
    (tmp_path / "memory.current").write_text("5000\n", encoding="ascii")
    (tmp_path / "memory.stat").write_text("anon 3000\ninactive_file 1000\n", encoding="ascii")
    assert memory_needs.available() == 5000
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert memory_needs.available() > 5000
