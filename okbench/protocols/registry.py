"""Every protocol, by its name."""

from __future__ import annotations

from typing import Any

from okbench.protocols.approximation import APPROXIMATION
from okbench.protocols.block_stream import BLOCK_STREAM
from okbench.protocols.contract import Named
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


def kinds_for(learner: Any) -> str:
    """How a table can have this learner, or its class: "; kind: train-test takes it". Empty where
    no protocol that predicts rows does."""
    kinds = [kind.name for kind in (SINGLE_PASS, TRAIN_TEST, BLOCK_STREAM) if kind.role_of(learner)]
    return f"; kind: {' or '.join(kinds)} takes it" if kinds else ""
