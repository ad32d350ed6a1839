from __future__ import annotations

import pytest

from okbench.papers.expressions import evaluate, is_expression, names_in

KNOWN = {"budget": 100.0, "rows": 1000.0, "nought": 0.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4 * budget", 400),
        ("0.2 * budget", 20),
        ("budget / 8", 12.5),
        ("1 / rows ** 2", 1e-6),
        ("(budget + 20) / 3", 40),
        ("-budget - 1", -101),
    ],
)
def test_arithmetic_has_its_value(text: str, value: float) -> None:
    found = evaluate(text, KNOWN.__getitem__)
    assert found == value
    assert type(found) is type(value)


def test_a_whole_result_is_whole_in_spite_of_rounding() -> None:
    assert evaluate("0.1 * 30", KNOWN.__getitem__) == 3
    assert isinstance(evaluate("0.1 * 30", KNOWN.__getitem__), int)


@pytest.mark.parametrize(
    "text",
    [
        "budget / nought",
        "10 ** 400",
        "(-1) ** 0.5 * 1",
        "budget * ",
        "budget * open('x')",
        "budget * rows.real",
        "budget * 'a'",
        "budget * [1]",
        "9 ** 9 ** 9 ** 9",
    ],
)
def test_what_has_no_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'"):
        evaluate(text, KNOWN.__getitem__)


def test_only_spaced_operators_make_arithmetic() -> None:
    assert is_expression("4 * budget")
    assert not is_expression("additive-chi2")
    assert not is_expression("my/module:Learner")


def test_names_are_those_referred_to() -> None:
    assert set(names_in("budget * 2 / rows")) == {"budget", "rows"}


@pytest.mark.parametrize(
    "text",
    [
        *("1 + " * 5000 + "1", "(" * 5000 + "1 + 1" + ")" * 5000, "- " * 5000 + "1"),
        *("2 ** " * 5000 + "2", "1 + " + "9" * 5000, "1 + \0", "1 + " * 49 + "1 + ("),
        *("- " * 98 + "(", "(" * 99 + "1 + 1", "a" * 5000 + " + 1"),
    ],
)
def test_an_expression_of_any_length_or_depth_is_a_message(text: str) -> None:
    with pytest.raises(ValueError, match=r"expression|value"):
        evaluate(text, KNOWN.__getitem__)
    with pytest.raises(ValueError, match="expression"):
        names_in(text)


@pytest.mark.parametrize("text", ["1 + " * 49 + "1", "- " * 99 + "1", "1 ** " * 39 + "1"])
def test_an_expression_as_long_as_may_be_has_its_value(text: str) -> None:
    assert evaluate(text, KNOWN.__getitem__) == eval(text)
