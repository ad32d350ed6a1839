"""Settings that follow from others: `4 * budget`, `1 / rows ** 2`."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator
from functools import cache

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,  # of floats: a whole power of a whole number may be endlessly long
}

# Python's parser and the functions below go one level deeper for nearly every sign
_LONGEST = 200


def is_expression(text: str) -> bool:
    """Whether a text is arithmetic: an operator stands between two spaces."""
    return any(f" {sign} " in text for sign in ("+", "-", "*", "/", "**"))


def names_in(text: str) -> tuple[str, ...]:
    """The settings an expression refers to. ValueError when it is not one."""
    return tuple(node.id for node in ast.walk(_parsed(text)) if isinstance(node, ast.Name))


def evaluate(text: str, known: Callable[[str], float]) -> int | float:
    """The value of an expression; a whole result is an int. ValueError when it has none."""
    try:
        result = _value(_parsed(text), known)
    except (ArithmeticError, ValueError) as error:
        raise ValueError(f"'{text}' has no value: {error}") from error
    if not math.isfinite(result):
        raise ValueError(f"'{text}' has no finite value")
    whole = round(result)
    # 0.1 * 30 is 3.0000000000000004, and three is meant
    near = abs(whole) < 2**53 and math.isclose(result, whole, rel_tol=1e-12)
    return whole if near else result


@cache
def _parsed(text: str) -> ast.expr:
    if len(text) > _LONGEST:
        raise ValueError(
            f"'{text[:40]} …' has {len(text):,} signs; an expression has {_LONGEST} at most"
        )
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"'{text}' is not an expression") from error
    for node in _operands(parsed):
        number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
        if not number and not isinstance(node, ast.Name):
            raise ValueError(f"'{text}' is not made of numbers, settings and + - * / ** alone")
    return parsed


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _operands(node.operand)
    else:
        yield node


def _value(node: ast.expr, known: Callable[[str], float]) -> float:
    if isinstance(node, ast.BinOp):
        return _OPERATIONS[type(node.op)](_value(node.left, known), _value(node.right, known))
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand, known)
    if isinstance(node, ast.Name):
        return known(node.id)
    return float(ast.literal_eval(node))
