"""Protocols: what they do with rows, whom they run, and that nothing else knows their names."""

from __future__ import annotations

import ast
import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import okbench
from okbench.base.errors import ConfigError
from okbench.papers.table_file import read_table
from okbench.protocols.contract import BATCH, KERNEL, ONLINE, RowCounts, UnknownName
from okbench.protocols.metrics import METRICS
from okbench.protocols.registry import PROTOCOLS

SOURCE = Path(okbench.__file__).parent


@pytest.mark.parametrize("name", list(PROTOCOLS))
@pytest.mark.parametrize("rows", [RowCounts(600, 400), RowCounts(601, 400), RowCounts(600)])
def test_stages_follow_each_other_and_one_of_them_is_counted(name: str, rows: RowCounts) -> None:
    kind = PROTOCOLS[name]
    if kind.needs_test_rows and rows.n_train is None:
        return
    for role in kind.roles:
        stages = kind.stages(role, rows, 50)
        assert stages[0].begin == 0
        assert all(a.end == b.begin for a, b in itertools.pairwise(stages))
        assert stages[-1].end == rows.count - (rows.count % stages[-1].together)
        assert sum(stage.counted for stage in stages) == 1
        assert sum(stage.drawn for stage in stages) == 1
        assert 0 < kind.shuffled(rows) <= rows.count
        assert any(metric.answer == kind.answer for metric in METRICS.values())


def test_only_train_test_keeps_test_rows_in_their_places() -> None:
    kept = {name for name, kind in PROTOCOLS.items() if kind.shuffled(RowCounts(600, 400)) == 400}
    assert kept == {"train-test"}


class _Online:
    def learn(self, X: Any, y: Any) -> Any: ...
    def predict(self, X: Any) -> Any: ...


class _Estimator(_Online):
    def fit(self, X: Any, y: Any) -> Any: ...


class _Batch:
    def fit(self, X: Any, y: Any, clock: Any) -> Any: ...
    def predict(self, X: Any) -> Any: ...


class _Both(_Online):
    def fit(self, X: Any, y: Any, clock: Any) -> Any: ...


class _Gaps:
    def kernel_gaps(self, X: Any) -> Any: ...


@pytest.mark.parametrize("made", [lambda cls: cls, lambda cls: cls()])
@pytest.mark.parametrize(
    ("cls", "single_pass", "train_test", "approximation"),
    [
        (_Online, ONLINE, ONLINE, None),
        (_Estimator, ONLINE, ONLINE, None),
        (_Batch, None, BATCH, None),
        (_Both, ONLINE, BATCH, None),
        (_Gaps, None, None, KERNEL),
    ],
)
def test_a_role_follows_from_the_methods_of_a_class_or_an_object(
    cls: Any, single_pass: Any, train_test: Any, approximation: Any, made: Any
) -> None:
    found = [
        PROTOCOLS[n].role_of(made(cls)) for n in ("single-pass", "train-test", "approximation")
    ]
    assert found == [single_pass, train_test, approximation]


def test_a_protocol_says_what_a_learner_lacks() -> None:
    assert PROTOCOLS["train-test"].lack == (
        "does not learn block by block: kind: train-test asks for the methods fit(X, y, clock) and "
        "predict, or learn and predict"
    )


def test_a_name_that_no_protocol_has_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no protocol 'singlepass'\. Did you mean 'single-pass'"):
        PROTOCOLS["singlepass"]


TABLE = """\
title: A table
protocol: {kind: bandit, metric: regret, runs: 2}
learners: {RBP: {}}
datasets: {breast-cancer: {}}
"""


def test_a_protocol_and_a_metric_that_are_registered_can_be_used_in_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(TABLE, encoding="utf-8")
    with pytest.raises(ConfigError, match="'bandit' is not one of"):
        read_table(path, "t")
    bandit = replace(PROTOCOLS["single-pass"], name="bandit", answer="arm")
    regret = replace(METRICS["accuracy"], name="regret", answer="arm")
    monkeypatch.setitem(PROTOCOLS, "bandit", bandit)
    monkeypatch.setitem(METRICS, "regret", regret)
    table = read_table(path, "t")
    assert (table.protocol.kind, table.protocol.metric) == ("bandit", "regret")
    assert not table.lower_is_better


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_other_module_knows_the_name_of_a_protocol_or_a_metric() -> None:
    names = [*PROTOCOLS, *METRICS]
    telling = [name for name in names if "-" in name or "_" in name]  # that are no common words
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text}"
        for path in sorted(SOURCE.rglob("*.py"))
        if SOURCE / "protocols" not in path.parents
        for line, text in _texts(path)
        if text in names or any(name in text for name in telling)
    ]
    assert found == []


def test_protocols_are_light_to_import() -> None:
    code = (
        "import sys, okbench.protocols.registry, okbench.protocols.metrics; "
        "print(*{'numpy', 'okbench.papers', 'okbench.learners'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
