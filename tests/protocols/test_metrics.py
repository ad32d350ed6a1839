"""Metrics against plain arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.protocols.contract import Named, UnknownName
from okbench.protocols.costs import BadAnswer
from okbench.protocols.metrics import FADING, METRICS, WINDOW, default_metric
from okbench.trials.run.curve_totals import totals_of


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mistake_rate", 25.0),
        ("accuracy", 75.0),
        ("mean_squared_loss", 0.25),
        ("rmse", 0.5),
        ("exceedance", 25.0),
    ],
)
def test_a_total_becomes_the_value_that_tables_show(name: str, value: float) -> None:
    metric = METRICS[name]
    assert metric.value(2, 8) == value
    assert metric.value(None, 8) is None
    assert metric.value(0, 0) is None
    assert metric.value(math.nan, 8) is None
    assert metric.value(1e160, 1) is None
    assert metric.best([3.0, 1.0, 2.0]) == (3.0 if name == "accuracy" else 1.0)


def test_each_task_has_one_default_metric() -> None:
    for task, name in (
        ("binary", "mistake_rate"),
        ("multiclass", "mistake_rate"),
        ("regression", "rmse"),
    ):
        defaults = [m.name for m in METRICS.values() if m.is_default and task in m.tasks]
        assert defaults == [default_metric(task).name] == [name]


def test_a_name_that_no_metric_has_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no metric 'rsme'\. Did you mean 'rmse'.* exceedance"):
        METRICS["rsme"]
    assert isinstance(METRICS, Named)


def test_labels_are_compared_as_they_are() -> None:
    cost = METRICS["mistake_rate"].costs(["a", "b", "b"], np.array(["a", "a", "b"]), 0.0)
    assert cost.rows.tolist() == [0.0, 1.0, 0.0]
    with pytest.raises(BadAnswer, match="type int64 where labels like <U1"):
        METRICS["mistake_rate"].costs([1, 2], np.array(["a", "b"]), 0.0)


class _Equal:
    """An object that is equal to everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "1"


class _EqualText(_Equal, str):
    """Text that is equal to everything and prints as another text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "a"


class _EqualInt(_Equal, int):
    pass


class _Array:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __array__(self, *more: object, **named: object) -> Any:
        raise self._error


_NUMBERS, _WORDS, _REALS = np.array([1, -1, 1]), np.array(["a", "b", "a"]), np.array([0.5, 1, 2])


def _objects(*values: object) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


@pytest.mark.parametrize(
    "answer",
    [
        _objects(1, None, 1),
        [1, None, 1],
        _objects(_Equal(), _Equal(), _Equal()),
        [_Equal()] * 3,
        _objects(1, _Equal(), 1),
        _objects(1, "a", 1),
        _objects(1, 1j, 1),
        _objects(1, Fraction(1, 2), 1),
        _objects(1, 10**400, 1),
        _objects(1, [1], 1),
        np.ma.masked_array([1, -1, 1], mask=[0, 1, 0]),
        np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
        np.array([b"a", b"b", b"a"]),
        np.zeros(3, dtype=[("label", int)]),
        np.array([1, 1, 1], dtype=complex),
        _Array(RuntimeError("no")),
        _Array(SystemExit(0)),
        [[1], [2], [3, 4]],
    ],
    ids=lambda answer: f"{type(answer).__name__} {answer!r}"[:40],
)
@pytest.mark.parametrize(
    ("metric", "truth"),
    [("mistake_rate", _NUMBERS), ("mistake_rate", _WORDS), ("accuracy", _NUMBERS),
     ("rmse", _REALS), ("exceedance", np.zeros(3))],
)  # fmt: skip
def test_an_answer_that_is_neither_all_numbers_nor_all_text_is_refused(
    metric: str, truth: Any, answer: Any
) -> None:
    with pytest.raises(BadAnswer) as refused:
        METRICS[metric].costs(answer, truth, 0.2)
    assert len(str(refused.value)) < 300


def test_an_object_that_is_no_number_is_no_number_and_no_mistake() -> None:
    cost = METRICS["mistake_rate"].costs(_objects(1, math.nan, 1), _NUMBERS, 0.0)
    assert cost.diverged_at == 1
    assert cost.answer.dtype == np.float64


@pytest.mark.parametrize(
    ("answer", "truth", "mistakes"),
    [
        (_objects(1, 1, 1), _NUMBERS, [0, 1, 0]),
        (_objects(1.0, np.int8(1), np.float32(1)), _NUMBERS, [0, 1, 0]),
        (_objects(_EqualInt(1), _EqualInt(2), _EqualInt(3)), _NUMBERS, [0, 1, 1]),
        (_objects("a", "a", "longer"), _WORDS, [0, 1, 1]),
        (["a", "a", "a"], _WORDS, [0, 1, 0]),
        (_objects(_EqualText("z"), _EqualText("b"), "a"), _WORDS, [1, 0, 0]),
        (["a", "b"], _objects("a", "a"), [0, 1]),
    ],
)
def test_objects_that_are_numbers_or_text_count_by_their_value(
    answer: Any, truth: Any, mistakes: list[int]
) -> None:
    cost = METRICS["mistake_rate"].costs(answer, truth, 0.0)
    assert cost.rows.tolist() == mistakes
    assert type(cost.answer) is np.ndarray
    assert cost.answer.dtype.kind in "iufU"


def test_a_subclass_of_arrays_cannot_compare_for_itself() -> None:
    class Lies(np.ndarray):  # type: ignore[type-arg]
        def __ne__(self, other: object) -> Any:
            return np.zeros(len(self), dtype=bool)

    answer = np.array([2, 2, 2]).view(Lies)
    assert METRICS["mistake_rate"].costs(answer, _NUMBERS, 0.0).rows.tolist() == [1, 1, 1]


def test_a_target_costs_the_square_of_its_error_and_a_gap_is_counted_at_the_tolerance() -> None:
    squares = METRICS["rmse"].costs([1.0, 2.0, math.inf], np.array([0.0, 4.0, 1.0]), 0.0)
    assert squares.rows.tolist() == [1.0, 4.0, math.inf]
    assert squares.diverged_at == 2
    gaps = METRICS["exceedance"].costs([0.1, 0.3, 0.2], np.zeros(3), 0.2)
    assert gaps.rows.tolist() == [0.0, 1.0, 1.0]


_BLOCKS = st.lists(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), min_size=1, max_size=9)


@given(_BLOCKS, st.integers(0, 39))
def test_totals_of_rounded_costs_do_not_depend_on_the_blocks(
    blocks: list[list[float]], back: int
) -> None:
    costs = np.array([cost for block in blocks for cost in block])
    totals = totals_of(METRICS["rmse"], len(costs))
    for block in blocks:
        totals.add(np.array(block))
    rows = len(costs) - min(back, len(blocks[-1]))
    assert totals.after(rows) == float(costs[:rows].sum())


@given(st.lists(st.lists(st.booleans(), max_size=40), min_size=1, max_size=9))
def test_totals_of_mistakes_are_exact_at_every_row_of_every_block(blocks: list[list[bool]]) -> None:
    totals, seen = totals_of(METRICS["accuracy"], 0), 0
    met: list[bool] = []
    for block in blocks:
        totals.add(np.array(block, dtype=np.float64))
        met += block
        for rows in range(seen, len(met) + 1):
            total = totals.after(rows)
            assert total == sum(met[:rows])
            assert type(total) is int
        seen = len(met)


@given(st.floats(1e-9, 1e9))
def test_losses_are_given_to_five_digits_and_at_most_five_places_unless_small(
    value: float,
) -> None:
    places = METRICS["mean_squared_loss"].decimals(value)
    assert places >= 0
    unit = Fraction(10) ** -places
    digits = math.floor(Fraction(value) / unit)
    if value >= 1e-3:
        assert places <= 5
        assert digits < 10**5 or places == 0
    else:
        assert 10**3 <= round(Fraction(value) / unit) <= 10**4


def plain_recent(costs: Any, window: int | None, factor: float) -> float:
    """The definitions of Gama et al., row by row."""
    first = 0 if window is None else max(0, len(costs) - window)
    total = weight = 0.0
    for cost in costs[first:].tolist():
        total, weight = factor * total + cost, factor * weight + 1.0
    return total / weight


@given(
    cuts=st.lists(st.integers(1, 400), min_size=1, max_size=8),
    name=st.sampled_from(["prequential_error", "windowed_error", "fading_error"]),
    whole=st.booleans(),
)
def test_windowed_and_fading_errors_are_their_definitions_for_any_cut(
    cuts: list[int], name: str, whole: bool
) -> None:
    metric, rows = METRICS[name], sum(cuts)
    draws = np.random.default_rng(rows)
    costs = draws.integers(0, 2, rows).astype(float) if whole else draws.random(rows)
    window = WINDOW if name == "windowed_error" else None
    factor = FADING if name == "fading_error" else 1.0
    totals, at_once = totals_of(metric, rows), totals_of(metric, rows)
    at_once.add(costs)
    done = 0
    for size in cuts:
        totals.add(costs[done : done + size])
        for after in (done + 1, done + size):
            assert totals.after(after) == at_once.after(after)
            found = metric.value(totals.after(after), after)
            expected = plain_recent(costs[:after], window, factor)
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-15)
        done += size


def test_an_error_is_a_mistake_or_a_squared_difference() -> None:
    error = METRICS["prequential_error"]
    assert error.costs([1, -1], np.array([1, 1]), 0.0).rows.tolist() == [0.0, 1.0]
    assert error.costs(["a", "b"], np.array(["b", "b"]), 0.0).rows.tolist() == [1.0, 0.0]
    assert error.costs([1.0, 0.0], np.array([0.5, 2.0]), 0.0).rows.tolist() == [0.25, 4.0]
    with pytest.raises(BadAnswer, match="type float64 where labels like"):
        error.costs([0.5], np.array(["a"]), 0.0)


def test_a_window_and_a_fading_factor_weigh_the_same_in_the_end() -> None:
    window, fading = METRICS["windowed_error"].forgetting, METRICS["fading_error"].forgetting
    assert window is not None
    assert fading is not None
    assert window.weight(10) == 10
    assert window.weight(10**6) == WINDOW
    assert fading.weight(1) == pytest.approx(1.0)
    assert fading.weight(10**6) == pytest.approx(WINDOW)
