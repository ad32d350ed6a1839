"""Every protocol, by its name."""

from __future__ import annotations

from typing import Any

from okbench.protocols.approximation import APPROXIMATION
from okbench.protocols.block_stream import BLOCK_STREAM
from okbench.protocols.contract import Named, ProtocolKind
from okbench.protocols.kernel_surface import KERNEL_SURFACE
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.protocols.train_test import TRAIN_TEST

PROTOCOLS = Named(
    "protocol",
    SINGLE_PASS,
    TRAIN_TEST,
    BLOCK_STREAM,
    APPROXIMATION,
    KERNEL_SURFACE,
)

ONE_PASS = " and ".join(kind.name for kind in PROTOCOLS.values() if kind.is_one_pass)
"""The protocols of one stream of rows, whose tables can be tuned and whose trials can be recorded,
in words; so can those with test rows."""


def other_kinds(kind: ProtocolKind, learner: Any) -> str:
    """Which protocols take a learner, or its class, that this one cannot run: "; kind: train-test
    takes it". Empty where none does, or where this one predicts no rows."""
    predicting = (SINGLE_PASS, TRAIN_TEST, BLOCK_STREAM)
    names = [one.name for one in predicting if one.role_of(learner)]
    return f"; kind: {' or '.join(names)} takes it" if names and kind in predicting else ""
