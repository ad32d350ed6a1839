"""Losses that are chosen by name, for learners that leave the choice open."""

from __future__ import annotations

from typing import Any

from okbench.learners.compiled.losses import HINGE, LOGISTIC, RESIDUAL, SIGN
from okbench.learners.contract import Task
from okbench.learners.settings import check_choice, check_number

CLASSIFICATION = {"hinge": HINGE, "logistic": LOGISTIC}
REGRESSION = {"eps_insensitive": SIGN, "l1": SIGN, "l2": RESIDUAL}


def check_loss(learner: Any, task: Task) -> None:
    """Refuse a loss that the task does not know; None is the first that it does."""
    check_number(learner, "epsilon", at_least=0.0)
    if learner.loss is not None:
        check_choice(learner, "loss", _known(task))


def chosen_loss(learner: Any, task: Task) -> tuple[int, float]:
    """The code of the learner's loss, and the residual up to which it is silent."""
    known = _known(task)
    name = learner.loss or next(iter(known))
    return known[name], float(learner.epsilon) if name == "eps_insensitive" else 0.0


def _known(task: Task) -> dict[str, int]:
    return REGRESSION if task == "regression" else CLASSIFICATION
