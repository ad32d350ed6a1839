"""How far the kernels of random features are from the exact ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import Diverged, Draws, Problem, RecordedDraws
from okbench.learners.fogd import FOGD
from okbench.learners.rrf import RRF
from tests.learners.test_linear import N_FEATURES, stream

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])


def by_hand(X, noise, scales):
    """|z(x)·z(x') / D − exp(−½ Σ s² (x − x')²)|, a pair after the other."""
    gaps = []
    for one, other in zip(X[0::2], X[1::2], strict=True):
        angles = np.array([one * scales, other * scales]) @ noise
        z = np.hstack([np.cos(angles), np.sin(angles)])
        kernel = math.exp(-0.5 * float(np.sum((scales * (one - other)) ** 2)))
        gaps += 2 * [abs(z[0] @ z[1] / noise.shape[1] - kernel)]
    return np.array(gaps)


@FORMS
@pytest.mark.parametrize("filled", [0.2, 1.0])
def test_rrf_tells_them_with_the_scales_it_has_learned(filled, form):
    X, y, problem = stream("binary", filled=filled)
    learner = RRF(components=30, width=1.5, step=0.05, scale_step=0.05).begin(problem, Draws(4))
    learner.learn(form(X), y)
    scales = np.exp(learner.log_scales)
    assert scales.max() > 1.05 * scales.min()
    noise = Draws(4).normals(2 + 2 * N_FEATURES, 30)[2 + N_FEATURES :]
    found = learner.kernel_gaps(form(X))
    np.testing.assert_allclose(found, by_hand(X, noise, scales), atol=1e-12, rtol=0)
    assert found.max() > 0.1


@FORMS
@pytest.mark.parametrize("filled", [0.2, 1.0])
def test_fogd_tells_them_with_its_width(filled, form):
    X, _, problem = stream("multiclass", filled=filled)
    noise = np.random.default_rng(3).standard_normal((N_FEATURES, 40))
    learner = FOGD(components=40, width=2.5).begin(problem, RecordedDraws(noise))
    expected = by_hand(X, noise, np.full(N_FEATURES, 1 / 2.5))
    np.testing.assert_allclose(learner.kernel_gaps(form(X)), expected, atol=1e-12, rtol=0)


def test_the_kernel_is_what_a_row_teaches_rrf_about_another():
    """One step on the squared loss moves the score of x by step · residual · z(x')·z(x)."""
    X, _, _ = stream("regression", n_rows=40)
    problem = Problem("regression", N_FEATURES)
    step, target = 0.5, 3.0
    for one, other in zip(X[0::2], X[1::2], strict=True):
        learner = RRF(components=20, step=step, scale_step=0.0, loss="l2").begin(problem, Draws(1))
        before = learner.scores([one])[0, 0]
        (taught,) = learner.learn([other], [target])
        kernel = (learner.scores([one])[0, 0] - before) / (step * (target - taught) * 20)
        exact = math.exp(-0.5 * float(np.sum((one - other) ** 2)))
        assert learner.kernel_gaps([one, other])[0] == pytest.approx(abs(kernel - exact), abs=1e-10)


@pytest.mark.parametrize(
    ("components", "tolerance"), [(50, 0.25), (50, 0.35), (100, 0.25), (400, 0.1), (400, 0.13)]
)
def test_each_pair_keeps_to_lemma_1_over_many_draws(components, tolerance):
    """P(|k̃ − k| ≥ ε) ≤ 2 exp(−D ε² / 2), but for three deviations of a share of 400 draws."""
    X, _, problem = stream("binary", n_rows=60)
    n_draws = 400
    beyond = np.zeros(len(X))
    for seed in range(n_draws):
        learner = RRF(components=components, width=2.0).begin(problem, Draws(seed))
        beyond += learner.kernel_gaps(X) >= tolerance
    bound = 2.0 * math.exp(-components * tolerance**2 / 2.0)
    assert bound < 0.5
    assert np.max(beyond / n_draws) <= bound + 3.0 * math.sqrt(bound * (1 - bound) / n_draws)


def test_they_shrink_as_components_grow():
    X, _, problem = stream("binary")
    means = [
        RRF(components=components).begin(problem, Draws(2)).kernel_gaps(X).mean()
        for components in (10, 100, 1000)
    ]
    assert means[0] > 2 * means[1] > 4 * means[2] > 0


@pytest.mark.parametrize("learner", [RRF(components=90), FOGD(components=90, width=2.0)], ids=repr)
def test_how_pairs_are_cut_does_not_show(learner):
    X, _, problem = stream("binary")
    whole = learner.begin(problem, Draws(0)).kernel_gaps(X)
    for size in (2, 6, 100):
        cut = [learner.kernel_gaps(X[at : at + size]) for at in range(0, len(X), size)]
        np.testing.assert_allclose(np.concatenate(cut), whole, atol=1e-14, rtol=0)


@pytest.mark.parametrize("learner", [RRF(components=5), FOGD(components=5)], ids=repr)
def test_rows_without_a_partner_and_learners_not_begun_are_refused(learner):
    X, _, problem = stream("binary")
    with pytest.raises(UsageError, match="begin"):
        type(learner)(components=5).kernel_gaps(X)
    learner.begin(problem, Draws(0))
    assert learner.kernel_gaps(X[:0]).shape == (0,)
    with pytest.raises(DataError, match="rows come in pairs here, and these are 5"):
        learner.kernel_gaps(X[:5])
    with pytest.raises(DataError, match="7 were announced"):
        learner.kernel_gaps(X[:4, :3])


@pytest.mark.parametrize(
    "learner", [FOGD(components=5, width=1e-305), RRF(components=5, width=1e-305)], ids=repr
)
def test_gaps_that_are_no_numbers_name_their_row(learner):
    X, _, problem = stream("binary")
    X = X[:6].copy()
    X[:2] = 0.0  # a pair of equal rows has a kernel at any width
    X[2:] *= 1e6
    learner.begin(problem, Draws(0))
    assert np.isfinite(learner.kernel_gaps(X[:2])).all()
    with pytest.raises(Diverged, match="the kernel gap of row 2 is not a finite number") as found:
        learner.kernel_gaps(X)
    assert found.value.row == 2
