"""kernel-surface: learn nothing; hand over all rows at once, and score each by the kernel that
`kernel_surface` gives it with a point among them. The learner keeps the kernel on a grid as
`surface`, from which contours are drawn."""

from __future__ import annotations

from okbench.protocols.contract import SURFACE, ProtocolKind, Role, RowCounts, Stage


def _stages(role: Role, rows: RowCounts, detail: float) -> tuple[Stage, ...]:
    together = max(1, rows.count)
    return (Stage(0, rows.count, ("kernel_surface",), counted=True, drawn=True, block=together),)


KERNEL_SURFACE = ProtocolKind(
    "kernel-surface",
    roles=(SURFACE,),
    stages=_stages,
    answer="kernel value",
)
