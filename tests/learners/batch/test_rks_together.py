"""RKS learners that are trained together: each learns what it learns alone, to the last bit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.batch import random_features, rks
from okbench.learners.batch.rks import RKS
from okbench.learners.contract import Diverged, Draws
from tests.learners.batch.clocks import Marking
from tests.learners.test_linear import stream

STEPS, DECAYS = (1e-3, 0.1, 3.0), (0.0, 1e-3, 0.5)
GIVEN = {"components": 12, "scale": 0.7, "batch": 16, "epochs": 3}


def learners(problem, **more):
    every = [(*pair, more) for pair in product(STEPS, DECAYS)]
    made = [RKS(**{**GIVEN, **given}, step=step, decay=decay) for step, decay, given in every]
    return [each.begin(problem, Draws(3)) for each in made]


def fitted(learner, X, y, **clock):
    """What a learner is after a fit, to the last bit; how it diverged, where it did."""
    marking, said = Marking(**clock), ""
    try:
        learner.fit(X, y, marking)
    except Diverged as error:
        return str(error), error.row, learner.updates, marking.marks
    return (
        said,
        learner.weights.tolist(),
        learner.updates,
        marking.marks,
        learner.scores(X).tolist(),
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_each_learns_what_it_learns_alone(task, loss, form, monkeypatch):
    X, y, problem = stream(task, filled=0.3)
    expected = [fitted(each, form(X), y) for each in learners(problem, loss=loss)]
    together = learners(problem, loss=loss)
    RKS.share(together)
    monkeypatch.setattr(random_features, "_Training", None)  # nobody is trained alone
    assert [fitted(each, form(X), y) for each in together] == expected
    assert len({str(one[1]) for one in expected}) == len(expected)


def test_one_that_diverges_ends_where_it_ends_alone_and_the_others_go_on():
    X, y, problem = stream("binary")

    def made():
        found = learners(problem)
        found[4].set_params(step=1e200, decay=1e200)
        return [each.begin(problem, Draws(3)) for each in found]

    expected = [fitted(each, X, y) for each in made()]
    together = made()
    RKS.share(together)
    found = [fitted(each, X, y) for each in together]
    assert found == expected
    assert ["not a finite number" in one[0] for one in found] == [n == 4 for n in range(9)]


def test_other_rows_or_targets_are_learned_alone():
    X, y, problem = stream("binary")
    for other in ((X[:-1], y[:-1]), (X, np.roll(y, 1))):
        alone, together = learners(problem), learners(problem)
        RKS.share(together)
        together[0].fit(X, y)
        assert fitted(together[1], *other) == fitted(alone[1], *other)


def test_they_are_learned_alone_where_mini_batches_are_cut_or_the_clock_says_stop(monkeypatch):
    X, y, problem = stream("binary")
    trained = rks.TrainedTogether._trained
    found = []

    def counted(*given):
        found.append(trained(*given))
        return found[-1]

    monkeypatch.setattr(rks.TrainedTogether, "_trained", counted)
    alone, together = learners(problem), learners(problem)
    RKS.share(together)
    monkeypatch.setattr(random_features, "AT_ONCE", 1000)
    assert fitted(together[0], X, y) == fitted(alone[0], X, y)
    monkeypatch.undo()
    monkeypatch.setattr(rks.TrainedTogether, "_trained", counted)
    stopped = learners(problem)
    RKS.share(stopped)
    fitted(stopped[0], X, y, questions=3)
    assert found == [[], []]
    assert fitted(stopped[1], X, y) == fitted(alone[1], X, y)
