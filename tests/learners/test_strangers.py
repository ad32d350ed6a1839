"""Naming a stranger's learner."""

from __future__ import annotations

import pytest

from okbench.base.errors import UsageError
from okbench.learners.registry import find_named, settings_of


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("def (:\n", "{}:X", r"learner '{}:X': SyntaxError: invalid syntax \({}.py, line 1\)"),
        ("1 / 0\n", "{}:X", "learner '{}:X': ZeroDivisionError: division by zero"),
        ("import not_there_1\n", "{}:X", "learner '{}:X': No module named 'not_there_1'"),
        ("raise SystemExit(0)\n", "{}:X", "learner '{}:X': SystemExit: 0"),
        ("X = 3\n", "{}:X", "learner '{}:X' is not a class"),
        ("", "{}:X", "learner '{}:X': no 'X' in {}"),
        ("", "{}:", "'{}:' is not the name of a module, nor module:Class"),
        ("", ":X", "':X' is not the name of a module, nor module:Class"),
        ("", "..{}:X", r"'\.\.{}:X' is not the name of a module, nor module:Class"),
    ],
)
def test_a_class_that_cannot_be_had_is_told_with_the_reason(
    source, name, message, tmp_path, monkeypatch, request
):
    module = f"strange_{abs(hash(request.node.name))}"
    (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=message.replace("{}", module)):
        find_named(name.replace("{}", module)).load()


def test_a_class_that_tells_of_no_arguments_has_no_settings():
    class Untold(dict):
        pass

    assert settings_of(Untold) == {}
