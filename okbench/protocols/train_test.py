"""train-test: learn the training rows, in the trial's permutation; score `predict` on the others.

A learner with `fit(X, y, clock)` is given all training rows in one call; its `clock` says when to
stop (`should_stop`, `time_left`) and takes the progress that becomes the curve (`mark`). An online
learner is given them in blocks, and its curve shows what `learn` returns.
"""

from __future__ import annotations

from okbench.protocols.contract import BATCH, ONLINE, ProtocolKind, Role, RowCounts, Stage


def _stages(role: Role, rows: RowCounts, detail: float) -> tuple[Stage, ...]:
    train = rows.n_train or 0
    verb = "fit" if role is BATCH else "learn"
    training = Stage(0, train, (verb,), drawn=True, training=True)
    return (training, Stage(train, rows.count, ("predict",), counted=True))


def _training_rows(rows: RowCounts) -> int:
    return rows.count if rows.n_train is None else rows.n_train


TRAIN_TEST = ProtocolKind(
    "train-test",
    roles=(BATCH, ONLINE),
    stages=_stages,
    shuffled=_training_rows,
    needs_test_rows=True,
    folds_by="train-test",
    curve_note="Drawn while training; the table holds what was scored on the test rows.",
)
