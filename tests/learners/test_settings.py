"""Settings are fields of a class: the constructor, the checks and the documents follow."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from sklearn.base import clone

from okbench import FOGD, NOGD, RBP
from okbench.base.errors import UsageError
from okbench.learners.registry import catalogue, declared_defaults, is_ours, settings_of
from okbench.learners.settings import (
    Choice,
    Declared,
    Flag,
    Number,
    Numbers,
    Whole,
    Words,
    default,
    fields_of,
    meanings_of,
)

OURS = [entry for entry in catalogue().values() if is_ours(entry)]


class Machine(Declared):
    name = "Machine"
    width = Number(8.0, above=0.0, meaning="width of the kernel")
    budget = Whole(100, at_least=1)
    clip = Number[float | None](None, above=0.0)
    share = Number(0.5, at_least=0.0, at_most=1.0, finite=True)
    bandwidth = Number[float | str]("median", above=0.0, words=("median",))
    passes = Whole[int | str]("rule", at_least=0, words=("rule",))
    widths = Numbers((1.0, 2.0), above=0.0)
    kernels = Words(("gaussian",), ("gaussian", "laplacian"))
    root = Choice("none", ("none", "half"))
    bias = Flag(True)


class Narrow(Machine):
    name = "Narrow"
    width = default(1.0)
    decay = Number(0.1, at_least=0.0)


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("width", 0, "it must be above 0"),
        ("width", "8", "a number is expected"),
        ("width", True, "a number is expected"),
        ("width", math.nan, "a number is expected"),
        ("width", 10**400, "it is beyond the largest number"),
        ("budget", 0, "it must be 1 or more"),
        ("budget", 2.0, "a whole number is expected"),
        ("budget", None, "a whole number is expected"),
        ("clip", 0.0, "it must be above 0"),
        ("share", -0.1, "it must be 0 or more"),
        ("share", 1.5, "it must be 1 or less"),
        ("bandwidth", "mean", "choose median. Did you mean 'median'?"),
        ("bandwidth", -1.0, "it must be above 0"),
        ("passes", "rul", "choose rule. Did you mean 'rule'?"),
        ("passes", -1, "it must be 0 or more"),
        ("widths", 1.0, "a list of numbers is expected"),
        ("widths", [], "a list of numbers is expected"),
        ("widths", "12", "a list of numbers is expected"),
        ("widths", [1, "2"], "a finite number is expected at place 1"),
        ("widths", [True], "a finite number is expected at place 0"),
        ("widths", [math.inf], "a finite number is expected at place 0"),
        ("widths", [1, 0.0], "each must be above 0, also at place 1"),
        ("kernels", "gaussian", "a list of words is expected"),
        ("kernels", ["gaussian", "cubic"], "choose gaussian or laplacian at place 1."),
        ("root", "hal", "choose none or half. Did you mean 'half'?"),
        ("bias", 1, "true or false is expected"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_its_name(setting, value, message):
    with pytest.raises(UsageError) as refusal:
        Machine(**{setting: value}).check_settings()
    assert str(refusal.value) == f"Machine: {setting} = {value!r}: {message}"


@pytest.mark.parametrize(
    "settings",
    [
        {"clip": None, "bandwidth": "median", "passes": "rule"},
        {"clip": 2, "bandwidth": 1, "passes": np.int64(3), "bias": np.False_},
        {"widths": [0.5, 1], "share": 1.0, "width": math.inf},
        {"widths": np.array([1.0, 3.0]), "width": np.float32(2.0)},
    ],
)
def test_values_within_the_bounds_are_taken(settings):
    Machine(**settings).check_settings()


def test_a_field_gives_the_declared_type_and_keeps_what_was_given():
    given = np.int32(3)
    learner = RBP(width=given, budget=np.int64(7))
    assert (type(learner.width), type(learner.budget)) == (float, int)
    assert learner.get_params()["width"] is given
    kept = clone(learner).get_params()["width"]
    assert (kept, type(kept)) == (given, np.int32)
    assert repr(RBP(width=3)) == "RBP(width=3)"


def test_a_class_has_the_fields_of_its_bases_with_its_own_defaults():
    assert list(fields_of(Narrow)) == [*fields_of(Machine), "decay"]
    assert (Narrow().width, Machine().width) == (1.0, 8.0)
    assert meanings_of(Narrow) == {"width": "width of the kernel"}
    with pytest.raises(UsageError, match=r"^Narrow: width = 0: it must be above 0$"):
        Narrow(width=0).check_settings()


def test_the_constructor_takes_the_settings_by_name_alone():
    parameters = inspect.signature(NOGD).parameters
    assert {one.kind for one in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert parameters["rank"].default == 20
    with pytest.raises(TypeError, match=r"FOGD has no setting 'widht'\. Did you mean 'width'\?"):
        FOGD(widht=2.0)
    with pytest.raises(TypeError, match="positional"):
        FOGD(400)


def test_a_constructor_of_one_s_own_stays():
    class Own(RBP):
        def __init__(self, budget=5):
            self.budget = budget

    assert list(settings_of(Own)) == ["budget"]
    assert (Own().budget, Own(budget=3).budget, Own().width) == (5, 3, 8.0)


@pytest.mark.parametrize("entry", OURS, ids=lambda entry: entry.name)
def test_names_and_defaults_in_the_source_are_those_of_the_class(entry):
    settings = settings_of(entry.load())
    assert declared_defaults(entry.target) == {n: one.default for n, one in settings.items()}
    assert meanings_of(entry.load()).keys() == settings.keys()
