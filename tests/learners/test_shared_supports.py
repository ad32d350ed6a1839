"""Learners with the Laplacian kernel that share distances: each learns what it learns alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.learners.contract import Diverged, Draws, Problem
from okbench.learners.isolation import shared_supports
from okbench.learners.isolation.laplacian import LaplacianOGD
from okbench.learners.isolation.shared_supports import LearnedTogether
from tests.learners.test_laplacian import whole_rows

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
CLASSES = pytest.mark.parametrize("n_classes", [2, 4])
PSIS = (4, 4096, 16, 256)
CUTS = (0, 1, 120, 121, 300)


def stream(kind, n_classes, n_rows=300, n_columns=60):
    rng = np.random.default_rng(n_classes)
    if kind == "bytes":
        X, y = whole_rows(n_rows, n_columns, n_classes)
        return X // 100, y
    X = rng.standard_normal((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.4)
    if kind == "mixed":
        X[: n_rows // 2] = whole_rows(n_rows // 2, n_columns)[0]
    return X, rng.integers(0, n_classes, n_rows) * (X[:, 0] > 0)


def begun(psi, y, n_columns=60, n_rows=300, **settings):
    classes = tuple(np.unique(y).tolist())
    problem = Problem("binary" if len(classes) == 2 else "multiclass", n_columns, classes, n_rows)
    return LaplacianOGD(psi=psi, **settings).begin(problem, Draws(0))


def sharing(y, psis=PSIS, **more):
    made = [begun(psi, y, **more) for psi in psis]
    LaplacianOGD.share(made)
    return made


def state(learner):
    return learner.support_size, learner.updates, learner._position


def walked(learner, X, y, cuts=CUTS):
    """All that comes of blocks, each of which is scored before and after it is learned."""
    found, states = [], [state(learner)]
    for first, last in pairwise(cuts):
        part = slice(first, last)
        found += [learner.scores(X[part]), learner.learn_scores(X[part], y[part])]
        found += [learner.scores(X[part]), learner.scores(X[:50])]
        states.append(state(learner))
    return np.concatenate(found).tobytes(), states, learner.support_rows.tolist()


@pytest.fixture
def n_learned(monkeypatch):
    """How many learners learned each block that was learned: all together, or one alone."""
    counts, learn = [], LaplacianOGD._walk

    def counted(self, *given):
        counts.append(len(self._rule.rates))
        return learn(self, *given)

    monkeypatch.setattr(LaplacianOGD, "_walk", counted)
    monkeypatch.setattr(LearnedTogether, "_walk", counted)
    return counts


@FORMS
@CLASSES
@pytest.mark.parametrize("kind", ["numbers", "bytes", "mixed"])
@pytest.mark.parametrize("step", [0.5, 1.5])
def test_each_learns_what_it_learns_alone(n_learned, step, kind, n_classes, form):
    X, y = stream(kind, n_classes)
    X = form(X)
    expected = [walked(begun(psi, y, step=step), X, y) for psi in PSIS]
    n_learned.clear()
    assert [walked(each, X, y) for each in sharing(y, step=step)] == expected
    assert n_learned == [len(PSIS)] * 4
    assert len({len(rows) for *_, rows in expected}) > 1


@CLASSES
def test_a_learner_may_begin_again(n_learned, n_classes):
    X, y = stream("numbers", n_classes)
    expected = walked(begun(16, y), X, y)
    made = sharing(y)[2]
    assert walked(made, X, y) == expected
    assert walked(made.begin(made.problem, Draws(1)), X, y) == expected
    assert n_learned == [1] * 4 + [len(PSIS)] * 4
    made.set_params(psi=4)
    assert walked(made.begin(made.problem, Draws(1)), X, y) == walked(begun(4, y), X, y)
    assert n_learned[8:] == [1] * 8


@FORMS
@pytest.mark.parametrize("kind", ["numbers", "bytes"])
@pytest.mark.parametrize("n_before", [0, 1, 2])
@pytest.mark.parametrize("what", ["row", "target", "cut"])
def test_one_whose_rows_differ_goes_on_alone(n_learned, what, n_before, kind, form):
    X, y = stream(kind, 2)
    cuts = CUTS
    other, labels = X.copy(), y.copy()
    if what == "row":
        other[cuts[n_before], 5] += 1.0
    elif what == "target":
        labels[cuts[n_before]] = 1 - labels[cuts[n_before]]
    else:
        cuts = (*CUTS[: n_before + 1], CUTS[n_before + 1] + 3, 300)
    expected = walked(begun(256, y), form(other), labels, cuts)
    usual = walked(begun(16, y), form(X), y)
    made = sharing(y)
    walked(made[0], form(X), y)
    n_learned.clear()
    assert walked(made[3], form(other), labels, cuts) == expected
    assert n_learned == [1] * (len(cuts) - 1 - n_before)
    n_learned.clear()
    assert walked(made[2], form(X), y) == usual
    assert n_learned == []


def test_the_next_goes_on_where_one_was_stopped(n_learned):
    X, y = stream("numbers", 2)
    expected = [walked(begun(psi, y), X, y) for psi in PSIS]
    made = sharing(y)
    walked(made[0], X, y, CUTS[:3])
    assert [walked(each, X, y) for each in made[1:]] == expected[1:]
    assert n_learned == [1] * 16 + [len(PSIS)] * 4


def test_a_block_that_was_not_learned_to_its_end_is_learned_again(monkeypatch):
    X, y = stream("numbers", 2)
    expected, made, walk = walked(begun(4096, y), X, y), sharing(y), LearnedTogether._walk
    made[0].learn(X[:1], y[:1])

    def failing(self, *given):
        walk(self, *given)
        raise MemoryError

    monkeypatch.setattr(LearnedTogether, "_walk", failing)
    with pytest.raises(MemoryError):
        made[0].learn(X[1:120], y[1:120])
    monkeypatch.setattr(LearnedTogether, "_walk", walk)
    assert walked(made[1], X, y) == expected


def test_scores_that_cannot_be_kept_are_found_alone(n_learned, monkeypatch):
    X, y = stream("numbers", 2)
    expected = [walked(begun(psi, y), X, y) for psi in PSIS]
    n_learned.clear()
    monkeypatch.setattr(shared_supports, "MOST_BYTES", 8 * len(PSIS) * 200)
    assert [walked(each, X, y) for each in sharing(y)] == expected
    assert n_learned == [4, 4, 1, 1] + [1, 1] * 3


def test_one_that_diverges_does_not_stop_the_others():
    X, y = stream("numbers", 2)
    made = [*sharing(y, step=1e300), *(begun(psi, y, step=1e300) for psi in PSIS)]
    said = []
    for each in made:
        with pytest.raises(Diverged) as found:
            walked(each, X, y)
        said.append(str(found.value))
    assert said[:4] == said[4:]


@FORMS
@pytest.mark.parametrize("kind", ["numbers", "bytes"])
def test_what_a_model_holds_is_said_without_making_it(monkeypatch, kind, form):
    X, y = stream(kind, 3)
    made = sharing(y)[0]
    walked(made, form(X), y)
    with monkeypatch.context() as patch:
        patch.setattr(LearnedTogether, "model_of", None)
        said = made.nbytes
    (supports, pixels), size = made._learned()
    entries = supports.entries
    n_values = entries.stops[size - 1]  # none where they are bytes
    lines = (*entries[2:], *supports[1:], pixels)
    held = sum(line[:size].nbytes for line in lines) + 12 * n_values
    assert said == held + made._rule.rates.nbytes


def test_rows_in_blocks_beyond_the_usual_are_cut(n_learned, monkeypatch):
    X, y = stream("numbers", 2)
    expected = walked(begun(16, y), X, y, (0, 300))
    monkeypatch.setattr(shared_supports, "BLOCK", 128)
    n_learned.clear()
    assert walked(sharing(y)[2], X, y, (0, 300)) == expected
    assert n_learned == [len(PSIS)] * 3
