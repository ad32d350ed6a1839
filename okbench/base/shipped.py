"""Where configs/ and datasets.yaml are: in the checkout if there is one, else in the wheel."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def shipped(name: str) -> Path:
    """The path of a top-level file or folder of the project that travels with the package."""
    checkout = _PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / name).exists():
        return checkout / name
    return _PACKAGE / "_shipped" / name
