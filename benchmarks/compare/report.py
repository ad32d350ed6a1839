"""What a comparison found: a table for people, a record for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from tabulate import tabulate

from benchmarks.compare.ratios import Ratio, together
from benchmarks.compare.turns import NotCompared, Pair

ALL = "all"


@dataclass
class Compared:
    """Pairs that were measured, and what could not be: rows by name and reason."""

    pairs: list[Pair] = field(default_factory=list)
    lacks: dict[str, list[str]] = field(default_factory=dict)

    @contextmanager
    def noting(self, name: str, rows: str = "") -> Iterator[None]:
        """Keep the reason why a pair was not measured, and go on."""
        try:
            yield
        except NotCompared as error:
            self.lacks.setdefault(f"{name}: {error}", []).append(rows)

    def means(self) -> dict[str, Ratio]:
        """The geometric mean of the speeds, over all rows and over each kind of rows. A learner
        counts once, whatever the number of rows that it was timed on."""
        kinds = dict.fromkeys(pair.rows for pair in self.pairs)
        chosen = {ALL: self.pairs} if len(self.pairs) > 1 else {}
        if len(kinds) > 1:
            chosen |= {kind: [p for p in self.pairs if p.rows == kind] for kind in kinds}
        return {name: Ratio.of(together(_by_name(pairs))) for name, pairs in chosen.items()}

    def table(self) -> str:
        """All pairs, the means, and what was not measured."""
        lines = [
            [
                pair.name,
                pair.rows,
                f"{pair.n_rows:,} × {pair.times}" if pair.n_rows else "",
                f"{1e3 * median(pair.base):.1f}",
                f"{1e3 * median(pair.head):.1f}",
                str(Ratio.of(pair.speeds)),
                "" if pair.same else "other predictions",
            ]
            for pair in self.pairs
        ]
        heads = ["", "rows", "learned", "base, ms", "head, ms", "speed, head against base", ""]
        parts = [tabulate(lines, heads, disable_numparse=True)] if lines else []
        parts += [f"geometric mean, {name}: {ratio}" for name, ratio in self.means().items()]
        parts += [f"not compared: {why}{_places(on)}" for why, on in self.lacks.items()]
        return "\n".join(parts)

    def record(self) -> dict[str, Any]:
        """Everything, the seconds of each round too."""
        return {
            "pairs": [{**asdict(p), "speed": asdict(Ratio.of(p.speeds))} for p in self.pairs],
            "means": {name: asdict(ratio) for name, ratio in self.means().items()},
            "not_compared": self.lacks,
        }


def _by_name(pairs: Sequence[Pair]) -> list[list[list[float]]]:
    names = dict.fromkeys(pair.name for pair in pairs)
    return [[pair.speeds for pair in pairs if pair.name == name] for name in names]


def _places(on: Sequence[str]) -> str:
    return f" (rows: {', '.join(on)})" if any(on) else ""
