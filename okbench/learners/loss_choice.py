"""Losses that are chosen by name, for learners that leave the choice open."""

from __future__ import annotations

from typing import Any

from okbench.learners.contract import SettingsError, Task
from okbench.learners.numeric.losses import HINGE, LOGISTIC, RESIDUAL, SIGN

CLASSIFICATION = {"hinge": HINGE, "logistic": LOGISTIC}
REGRESSION = {"eps_insensitive": SIGN, "l1": SIGN, "l2": RESIDUAL}
LOSSES = (*CLASSIFICATION, *REGRESSION)


def check_loss(learner: Any, task: Task) -> None:
    """Refuse a loss that the task does not know; None is the first that it does."""
    known = _known(task)
    if learner.loss is not None and learner.loss not in known:
        raise SettingsError(
            f"{learner.name}: loss = {learner.loss!r}: choose {' or '.join(known)} for {task}."
        )


def chosen_loss(learner: Any, task: Task) -> tuple[int, float]:
    """The code of the learner's loss, and the residual up to which it is silent."""
    known = _known(task)
    name = learner.loss or next(iter(known))
    return known[name], learner.epsilon if name == "eps_insensitive" else 0.0


def _known(task: Task) -> dict[str, int]:
    return REGRESSION if task == "regression" else CLASSIFICATION
