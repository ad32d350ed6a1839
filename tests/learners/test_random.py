"""The learners that a table lists as random are those whose scores depend on their draws."""

from __future__ import annotations

import numpy as np
import pytest

from okbench.learners.contract import Problem, begun
from okbench.learners.draws import Draws
from okbench.learners.registry import find as find_learner
from okbench.learners.registry import settings_of
from tests.shipped_tables import find

TABLES = {"table5": "binary", "table7": "multiclass", "table9": "regression"}


@pytest.mark.parametrize("name", TABLES)
def test_random_learners_are_those_of_the_table(name: str) -> None:
    table = find(name)
    task = TABLES[name]
    noise = np.random.default_rng(7)
    X = noise.uniform(size=(400, 5))
    target = np.round(X.sum(axis=1) + noise.normal(0, 0.6, 400))
    y = {"binary": np.where(target > 2, 1, -1), "multiclass": np.clip(target, 1, 3).astype(int)}
    labels = y.get(task, target / 5)
    classes = () if task == "regression" else tuple(sorted(set(labels.tolist())))
    found = set()
    for column in table.learners:
        cls = find_learner(column.learner).load()
        given = {
            key: setting.value
            for key, setting in table.settings[table.datasets[0].name, column.label].items()
            if key in settings_of(cls)
        }
        given |= {key: 20 for key in ("budget", "components") if key in given}
        given |= {"rank": 4} if "rank" in given else {}
        scores = [
            begun(cls, given, Problem(task, 5, classes), Draws(seed)).learn(X, labels)
            for seed in (1, 2)
        ]
        if not np.array_equal(*scores):
            found.add(column.label)
    assert found == table.random
