"""single-pass: learn all rows once, in the trial's permutation; score what `learn` returns, the
answer to each row before that row was learned."""

from __future__ import annotations

from okbench.protocols.contract import ONLINE, ProtocolKind, Role, RowCounts, Stage


def _stages(role: Role, rows: RowCounts, detail: float) -> tuple[Stage, ...]:
    return (Stage(0, rows.count, ("learn",), counted=True, drawn=True),)


SINGLE_PASS = ProtocolKind("single-pass", roles=(ONLINE,), stages=_stages, is_one_pass=True)
