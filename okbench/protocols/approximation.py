"""approximation: learn nothing; pair the rows off, in the trial's permutation, and score the rows
whose kernel `kernel_gaps` says to be `tolerance` or further from the exact one. An odd last row is
left out."""

from __future__ import annotations

from okbench.base.config_nodes import Node
from okbench.protocols.contract import KERNEL, Key, ProtocolKind, Role, RowCounts, Stage

_FARTHEST = 2.0  # an approximate kernel is from -1 to 1, an exact one above 0 and up to 1


def _stages(role: Role, rows: RowCounts, detail: float) -> tuple[Stage, ...]:
    even = rows.count - rows.count % 2
    return (Stage(0, even, ("kernel_gaps",), counted=True, drawn=True, together=2),)


def _read(node: Node) -> float:
    value = float(node.number())
    if not 0.0 < value < _FARTHEST:
        raise node.error(
            f"a tolerance is above 0 and below {_FARTHEST:g}, for no two kernels are further apart;"
            f" not {value:g}"
        )
    return value


APPROXIMATION = ProtocolKind(
    "approximation",
    roles=(KERNEL,),
    stages=_stages,
    answer="kernel gap",
    key=Key(
        "tolerance",
        place="column",
        read=_read,
        missing="how far may its kernel be from the exact one? add 'tolerance: 0.1'",
        needs="a tolerance above 0",
    ),
    bounds=frozenset({"lemma-1"}),
)
