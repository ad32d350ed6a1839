"""The learners that keep support vectors against the recorded runs of Lu et al.'s programs."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.norma import Norma
from okbench.learners.ogd import OGD
from okbench.learners.online.forgetron import Forgetron
from okbench.learners.online.passive_aggressive import BPAS
from okbench.learners.online.projectron import Projectron, ProjectronPP
from okbench.learners.online.simple_budget import BOGD, RBP
from okbench.learners.perceptron import Perceptron
from tests.learners.lsokl_oracle import Run, replayed, runs

ALGORITHMS = (
    "Perceptron",
    "OGD",
    "Norma",
    "RBP",
    "Forgetron",
    "BOGD",
    "BPA-S",
    "Projectron",
    "Projectron++",
)
# The setting of the learner that stands for a hyper-parameter of the record, where it is not its
# name already.
PERCEPTRONS = {"sigma": "width", "B": "budget", "eta_perceptron": "step", "epsilon": "epsilon"}
DESCENTS = {"sigma": "width", "B": "budget", "eta": "step", "epsilon": "epsilon"}
LEARNERS = {
    "Perceptron": (Perceptron, PERCEPTRONS),
    "OGD": (OGD, DESCENTS),
    "Norma": (
        Norma,
        {
            "sigma": "width",
            "eta_norma": "step",
            "lambda": "decay",
            "nu": "nu",
            "epsilon": "epsilon",
        },
    ),
    "RBP": (RBP, PERCEPTRONS),
    "Forgetron": (Forgetron, PERCEPTRONS),
    "BOGD": (BOGD, DESCENTS),  # decay and clip: those it takes by default are the recorded ones
    "BPA-S": (BPAS, {"sigma": "width", "B": "budget", "C": "aggressiveness"}),
    "Projectron": (Projectron, PERCEPTRONS),
    "Projectron++": (ProjectronPP, PERCEPTRONS),
}


def learner_of(run: Run):
    cls, names = LEARNERS[run.record["algorithm"]]
    given = {names[key]: value for key, value in run.settings.items() if key in names}
    if "budget" in given:
        given["budget"] = int(given["budget"])
    return cls(**given)


def replay(run: Run):
    """The learner after the recorded rows, the scores it gave, its errors and supports at ticks."""
    draws = run.draws
    learner = learner_of(run).begin(run.problem, draws)
    return learner, draws, *replayed(run, learner)


def exact(run: Run) -> bool:
    return not run.fragile


@pytest.mark.parametrize("run", runs(*ALGORITHMS, when=exact))
def test_equals_the_recorded_run(run):
    learner, _, scores, errors, supports = replay(run)
    record, ticks = run.record, np.array(run.record["ticks"])
    if run.problem.task == "regression":
        assert errors[-1] == pytest.approx(record["summed_squared_loss"], rel=1e-12)
        np.testing.assert_allclose(errors[ticks - 1] / ticks, record["loss_curve"], rtol=1e-12)
        assert learner.updates == record["n_updates"]
    else:
        assert errors[-1] == record["mistakes"]
        assert (errors[ticks - 1] / ticks).tolist() == record["mistake_rate_curve"]
    assert learner.support_size == record["n_sv_end"]
    assert supports == record["n_sv_curve"]
    assert np.abs(scores).sum() == pytest.approx(record["sum_abs_f"], rel=1e-10)
    np.testing.assert_allclose(scores[-1], record["f_last"], atol=1e-9, rtol=0)


@pytest.mark.parametrize("run", runs(*ALGORITHMS, when=lambda run: exact(run) and run.has_supports))
def test_ends_with_the_recorded_supports(run):
    learner, *_ = replay(run)
    assert run.order[learner.support_rows].sum() == run.record["sum_sv_row_ids_0based"]
    coefficients = learner.coefficients
    assert coefficients.sum() == pytest.approx(run.record["sum_coefficients"], rel=1e-10, abs=1e-10)
    total = run.record["sum_abs_coefficients"]
    assert np.abs(coefficients).sum() == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize(
    "run",
    runs(*ALGORITHMS, when=lambda run: exact(run) and bool(run.record.get("removal_slots"))),
)
def test_removes_the_recorded_slots(run):
    learner, draws, *_ = replay(run)
    uniforms = run.draws.look_ahead(len(run.order))
    drawn = len(uniforms) - np.isfinite(draws.look_ahead(len(uniforms))).sum()
    slots = np.floor(learner.budget * uniforms[:drawn]).astype(int)
    assert slots.tolist() == run.record["removal_slots"]


@pytest.mark.parametrize(
    "run", runs(*ALGORITHMS, when=lambda run: exact(run) and run.permutation == 0)
)
def test_scores_are_the_traced_ones(run):
    _, _, scores, *_ = replay(run)
    np.testing.assert_allclose(scores, run.trace, atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    "run", runs("Projectron", when=lambda run: run.fragile and run.dataset == "housing")
)
def test_projectron_on_ill_conditioned_supports_stays_near_the_recorded_loss(run):
    _, _, _, errors, _ = replay(run)
    n_rows = len(run.order)
    assert errors[-1] / n_rows == pytest.approx(run.record["mean_squared_loss"], abs=2e-9)


@pytest.mark.parametrize("run", runs("BPA-S", when=lambda run: run.fragile))
def test_bpas_with_ties_comes_out_near_the_recorded_mistakes(run):
    _, _, _, errors, _ = replay(run)
    assert abs(int(errors[-1]) - run.record["mistakes"]) <= 0.02 * len(run.order)
