"""block-stream: learn the training rows, if the rows have a part of that name; then predict a
block, score it, learn it, and so on. The size of the blocks is part of the result.

A learner that has `fit(X, y, clock)` besides `learn` is given the training rows in one call, so
that it can choose from all of them what it keeps, such as the rows of a map.
"""

from __future__ import annotations

from okbench.base.config_nodes import Node
from okbench.protocols.contract import FITTED, ONLINE, Key, ProtocolKind, Role, RowCounts, Stage
from okbench.protocols.train_test import TRAIN_TEST


def _stages(role: Role, rows: RowCounts, block: float) -> tuple[Stage, ...]:
    train = rows.n_train or 0
    stream = Stage(
        train, rows.count, ("predict", "learn"), counted=True, drawn=True, block=int(block)
    )
    verb = "fit" if role is FITTED and train else "learn"
    return (Stage(0, train, (verb,)), stream)


def _read(node: Node) -> int:
    return node.integer(at_least=1)


BLOCK_STREAM = ProtocolKind(
    "block-stream",
    roles=(FITTED, ONLINE),
    stages=_stages,
    folds_by=TRAIN_TEST.name,
    key=Key(
        "block",
        place="protocol",
        read=_read,
        missing="'block' (rows at a time) goes with kind: block-stream, and only with it",
        needs="block: 1 or more rows",
    ),
)
