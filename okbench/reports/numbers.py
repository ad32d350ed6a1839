"""Numbers as text: they are rounded here and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

from okbench.protocols.metrics import METRICS, magnitude

if TYPE_CHECKING:
    from okbench.reports.tables.cells import Cell

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ζ": "zeta", "η": "eta",
    "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
ASCII = {
    **GREEK,
    "±": "+/-", "−": "-", "—": "--", "–": "-", "×": "x", "…": "...", "→": "->", "ε": "eps",
    "²": "^2", "³": "^3", "·": "*", "√": "sqrt", "≤": "<=", "≥": ">=", "↓": "v", "↑": "^",
}  # fmt: skip
_PRINTED_PLACES = re.compile(r"\d[\d,]*(?:\.(\d+))?[^±\d]*(?:±\s*\d[\d,]*(?:\.(\d+))?)?")
_POWER_OF_TEN = re.compile(r"\d[eE][-+]?\d")


def decimals(metric: str, mean: float) -> int:
    """The places to which a value of the metric is given."""
    return METRICS[metric].decimals(mean)


def mean_and_std(metric: str, mean: float, std: float | None) -> str:
    """`29.48 ± 0.51`, or the mean alone when there is no deviation."""
    places = decimals(metric, mean)
    spread = "" if std is None else f" ± {_fixed(std, places)}"
    return f"{_fixed(mean, places)}{spread}"


def of_cell(cell: Cell, mean: float) -> str:
    """A mean and its deviation to the places their metric has."""
    return mean_and_std(cell.metric, mean, cell.std)


def like_paper(cell: Cell, mean: float) -> str:
    """The same, to the places the paper prints in that cell: `35.2 ± 0.9`."""
    text = cell.printed.text if cell.printed else ""
    found = _PRINTED_PLACES.search(text)
    if not found or _POWER_OF_TEN.search(text):
        return of_cell(cell, mean)
    of_mean, of_std = (len(part or "") for part in found.groups())
    spread = "" if cell.std is None else f" ± {_fixed(cell.std, of_std or of_mean)}"
    return f"{_fixed(mean, of_mean)}{spread}"


def signed(metric: str, difference: float, mean: float) -> str:
    """A difference to the places its mean is given to, with its sign."""
    words = _fixed(abs(difference), decimals(metric, mean))
    if not any(digit in "123456789" for digit in words):
        return words
    return f"{'+' if difference > 0 else '−'}{words}"


def seconds(value: float) -> str:
    """Three significant digits."""
    return _fixed(value, max(0, 2 - magnitude(value)))


def duration(total: float, parts: Sequence[float] = ()) -> str:
    """Seconds in the unit that suits them, with the parts they are the sum of in the same unit:
    `1.44 h (1.42 + 0.02)`."""
    unit, size = ("s", 1) if total < 90 else ("min", 60) if total < 5400 else ("h", 3600)
    listed = " + ".join(f"{part / size:.2f}" for part in parts)
    return f"{total / size:.2f} {unit}" + (f" ({listed})" if listed else "")


def encodable(text: str, encoding: str | None) -> bool:
    """Whether an encoding (UTF-8 when none is named) has every character of a text."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def in_ascii(text: str) -> str:
    """The text with ASCII stand-ins for its signs, and letters without their accents."""
    for sign, stand_in in ASCII.items():
        text = text.replace(sign, stand_in)
    bare = (letter for letter in normalize("NFKD", text) if not combining(letter))
    return "".join(bare).encode("ascii", "replace").decode("ascii")


def _fixed(value: float, places: int) -> str:
    outsized = abs(value) >= 1e9 or places > 9
    return f"{value:.3e}" if outsized else f"{value:.{places}f}"
