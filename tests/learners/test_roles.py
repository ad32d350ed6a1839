"""What role the methods of a class give it, and how settings that are lists reach a constructor."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from okbench.base.errors import UsageError
from okbench.learners.contract import (
    Batch,
    Draws,
    Map,
    Online,
    Problem,
    begun,
    check_role,
    roles_of,
)
from okbench.learners.registry import catalogue, constructed
from okbench.protocols.contract import BATCH, MAP, ONLINE


class OneByOne:
    def learn(self, X, y): ...

    def predict(self, X): ...


class Whole:
    def fit(self, X, y, clock): ...

    def predict(self, X): ...


class Features:
    def fit(self, X, draws): ...

    def transform(self, X): ...


class Both(OneByOne, Whole): ...


class Estimator(OneByOne):
    def fit(self, X, y, draws=None): ...


class Nothing:
    learn = predict = None

    def fit(self, X, y): ...


class WithoutPredict:
    def fit(self, X, y, clock): ...

    def transform(self, X): ...


class OddFit:
    fit = dict
    predict = transform = len


@pytest.mark.parametrize(
    ("cls", "roles"),
    [
        (OneByOne, {"online"}),
        (Whole, {"batch"}),
        (Features, {"map"}),
        (Both, {"online", "batch"}),
        (Estimator, {"online"}),
        (Nothing, set()),
        (WithoutPredict, set()),
        (OddFit, {"map"}),
        (object, set()),
    ],
)
def test_the_role_follows_from_the_methods_of_the_class(cls, roles):
    assert roles_of(cls) == roles


@pytest.mark.parametrize("entry", catalogue().values(), ids=list(catalogue()))
def test_every_learner_has_a_role(entry):
    assert roles_of(entry.load())


def test_the_protocols_see_the_methods():
    assert isinstance(OneByOne(), Online)
    assert isinstance(Whole(), Batch)
    assert isinstance(Features(), Map)
    assert not isinstance(Features(), Online)


@pytest.mark.parametrize(
    ("role", "message"),
    [
        (ONLINE, "^Mine does not learn block by block: it needs the methods learn and predict$"),
        (BATCH, r"^Mine does not learn all rows at once: .* fit\(X, y, clock\) and predict$"),
        (MAP, r"^Mine does not turn rows into features: .* fit\(X, draws\) and transform$"),
    ],
)
def test_a_class_of_another_role_is_refused(role, message):
    check_role({"online": OneByOne, "batch": Whole, "map": Features}[role.name], role, "Mine")
    with pytest.raises(UsageError, match=message):
        check_role(Nothing, role, "Mine")


class Dictionary:
    def __init__(
        self, widths: list[float], more: Sequence[int] = (), maybe: list[str] | None = None, any_=()
    ):
        self.widths, self.more, self.maybe, self.any_ = widths, more, maybe, any_

    def begin(self, problem, draws):
        self.problem, self.draws = problem, draws


def test_a_constructor_that_asks_for_a_list_gets_one():
    settings = {"widths": (0.5, 1.0), "more": (1,), "maybe": ("a",), "any_": (2,)}
    found = constructed(Dictionary, settings)
    assert (found.widths, found.maybe) == ([0.5, 1.0], ["a"])
    assert (found.more, found.any_) == ((1,), (2,))
    assert settings["widths"] == (0.5, 1.0)


def test_a_learner_that_can_begin_has_begun():
    problem, draws = Problem("regression", 2), Draws(0)
    found = begun(Dictionary, {"widths": (1.0,)}, problem, draws)
    assert (found.problem, found.draws) == (problem, draws)
    assert isinstance(begun(OneByOne, {}, problem, draws), OneByOne)
