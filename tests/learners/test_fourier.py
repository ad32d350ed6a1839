"""What learners on random Fourier features share: one block, and models apart from scratch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.contract import Draws
from okbench.learners.dualsgd import DualSGD
from okbench.learners.fogd import FOGD
from okbench.learners.maps import FourierMap
from okbench.learners.numeric.fourier import COSINES, SINES, find_features, find_near_features
from okbench.learners.rows import Block
from okbench.learners.rrf import RRF
from tests.learners.test_linear import stream

LEARNERS = pytest.mark.parametrize(
    "learner",
    [
        FOGD(components=64, width=1.5),
        RRF(components=60, width=1.5, scale_step=0.01),
        DualSGD(budget=20, components=60, handed_over=5, width=1.5),
    ],
    ids=lambda learner: learner.name,
)


@pytest.mark.parametrize("width", [1, 8, 30, 105])
@pytest.mark.parametrize("reach", [3.0, 9e5, 1e9])
def test_features_are_cosines_and_sines_however_far(width, reach):
    angles = np.random.default_rng(width).uniform(-reach, reach, (1, width))
    features = np.full((2, width), np.nan)
    find_features(angles[0], features[COSINES], features[SINES])
    np.testing.assert_allclose(features[COSINES], np.cos(angles[0]), atol=1e-15, rtol=0)
    np.testing.assert_allclose(features[SINES], np.sin(angles[0]), atol=1e-15, rtol=0)
    near = np.full((2, width), np.nan)
    if find_near_features(angles, near):
        np.testing.assert_array_equal(near, features)
    else:
        assert np.abs(angles).max() > 1e6
        assert np.isnan(near).all()


def test_sparse_walk_and_matrix_product_give_the_same_angles():
    X, _, _ = stream("binary", filled=0.2)
    frequencies = np.random.default_rng(0).standard_normal((X.shape[1], 37))
    fourier, found = FourierMap.of(frequencies), np.empty((2, 50, 37))
    fourier.project(Block.of(X), 20, found[0])
    fourier.project(Block.of(sp.csr_array(X)), 20, found[1])
    np.testing.assert_allclose(found[0], X[20:70] @ frequencies, atol=1e-13, rtol=0)
    np.testing.assert_allclose(found[1], found[0], atol=1e-13, rtol=0)


@LEARNERS
@pytest.mark.parametrize("far", [1.0, 1e8], ids=["near", "far"])
def test_threads_may_ask_one_learner_at_once(learner, far):
    X, y, problem = stream("multiclass", n_rows=3000)
    learner.begin(problem, Draws(2)).learn(X[:500], y[:500])
    parts = [far * X[start::4] for start in range(4)]
    expected = [learner.scores(part) for part in parts]
    begin = Barrier(4)

    def ask(part):
        begin.wait()
        return [learner.scores(part) for _ in range(10)]

    with ThreadPoolExecutor(4) as pool:
        for found, exact in zip(pool.map(ask, parts), expected, strict=True):
            for scores in found:
                np.testing.assert_array_equal(scores, exact)


@LEARNERS
def test_a_model_holds_no_scratch_memory(learner):
    """Nothing that is held, or counted as bytes, changes with the rows asked about."""
    X, y, problem = stream("binary")
    learner.begin(problem, Draws(2)).learn(X, y)
    held, n_bytes = set(vars(learner)), learner.nbytes
    learner.scores(X)
    assert (set(vars(learner)), learner.nbytes) == (held, n_bytes)
    lanes = 64
    if isinstance(learner, FOGD):
        assert n_bytes == 8 * (X.shape[1] * lanes + 2 * lanes)
    if isinstance(learner, RRF):
        assert n_bytes == 8 * (X.shape[1] * lanes + 2 * lanes + 2 * X.shape[1])
