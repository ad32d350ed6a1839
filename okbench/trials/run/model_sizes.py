"""What a model holds, computed from rows and settings before it is made.

A model is counted with what its settings make it hold at least. The numbers that learners hold
besides for each column of the rows (places, scales, norms) are few and are not counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from okbench.base.quantities import spoken_bytes
from okbench.datasets.dataset_types import Dataset
from okbench.learners.holdings import Holdings
from okbench.learners.isolation.references import DENSE_COLUMNS
from okbench.papers.values import Value

Part: TypeAlias = tuple[str, int]  # how many of what, and the product

_NUMBER = 8  # bytes of a float64
_SINGLE = 4  # bytes of a number in single precision
_PER_NUMBER = 3  # what is held per number of a particle: itself, its gradient, its running square
_SQUARES = 3  # square matrices at a time while orthogonal directions are drawn
ENTRY = 12  # bytes of a sparse row's entry: a number and its column


def parts_of(cls: type, data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    """What a model of this class holds, in bytes; nothing if no setting bounds it."""
    holdings = getattr(cls, "holdings", Holdings())
    return [
        *_supports(data, settings, holdings),
        *_frequencies(data, settings),
        *_particles(data, settings),
        *_partitionings(data, settings, holdings),
        *_weights(data, holdings),
    ]


def drawn_of(data: Dataset, settings: Mapping[str, Any]) -> Part:
    """The random numbers that are drawn before the first row, for every column, used or not."""
    components, columns = _whole(settings.get("components")), data.X.shape[1]
    maps, prefix = _maps(settings)
    if not components or not _is_orthogonal(settings):
        term = f"{prefix}{components} components × {columns} features"
        return term, maps * components * columns
    squares = maps * -(-components // columns)
    term = f"{squares} × {columns}² for orthogonal directions"
    return term, squares * columns**2


def kernel_cache_of(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    """Of a kernel machine: the rows of the kernel that it keeps, in single precision, and the whole
    matrix where LIBSVM does not compute the kernel. It bounds no model."""
    megabytes = settings.get("cache")
    if not isinstance(megabytes, int | float) or not math.isfinite(megabytes):
        return []
    n_rows = data.n_train or data.X.shape[0]
    cache = min(int(megabytes * 2**20), _SINGLE * n_rows**2)
    parts = [(f"kernel cache of {spoken_bytes(cache)}", cache)]
    if settings.get("kernel", "rbf") != "rbf":
        parts.append((f"{n_rows} × {n_rows} rows × {_NUMBER} B", n_rows**2 * _NUMBER))
    return parts


def _supports(data: Dataset, settings: Mapping[str, Any], holdings: Holdings) -> list[Part]:
    supports = min(_whole(settings.get("budget")), data.X.shape[0])
    if not supports:
        return []
    if holdings.supports == "own":
        return [_entries(data, supports, 1, "supports")]
    if holdings.supports == "all":
        columns, tables = int(data.X.shape[1]), holdings.tables
        prefix = f"{tables} × " if tables > 1 else ""
        term = f"{prefix}{supports} supports × {columns} features × {_NUMBER} B"
        return [(term, tables * supports * columns * _NUMBER)]
    columns = _columns(data, supports)
    term = f"{supports} supports × {columns} features × {_NUMBER} B"
    return [(term, supports * columns * _NUMBER)]


def _frequencies(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    components, n_features = _whole(settings.get("components")), data.X.shape[1]
    if not components:
        return []
    number, (maps, prefix) = _number(settings), _maps(settings)
    term = f"{prefix}{components} components × {n_features} features × {number} B"
    parts = [(term, maps * components * n_features * number)]
    if _is_orthogonal(settings):
        term = f"{_SQUARES} × {n_features}² × {_NUMBER} B for orthogonal directions"
        parts.append((term, _SQUARES * n_features**2 * _NUMBER))
    return parts


def _particles(data: Dataset, settings: Mapping[str, Any]) -> list[Part]:
    particles = _whole(settings.get("particles"))
    if not particles:
        return []
    components, number = _whole(settings.get("components")), _number(settings)
    numbers = 2 * components * len(data.classes) + data.X.shape[1]
    pair = _NUMBER + 2 * number  # a distance, and what the kernel makes of it
    return [
        (
            f"{_PER_NUMBER} × {particles} particles × {numbers} numbers × {number} B",
            _PER_NUMBER * particles * numbers * number,
        ),
        (f"{particles} × {particles} particles × {pair} B", particles**2 * pair),
    ]


def _partitionings(data: Dataset, settings: Mapping[str, Any], holdings: Holdings) -> list[Part]:
    references = _references(data, settings)
    cells = _whole(settings.get("partitionings")) * min(_whole(settings.get("psi")), references)
    if not cells:
        return []
    weights, number = _score_columns(data), holdings.cell_weights
    term = f"{weights} score columns × {cells} cells × {number} B"
    learned = [(term, weights * cells * number)] if number else []
    return [_cells(data, settings, cells, references), *learned]


def _cells(data: Dataset, settings: Mapping[str, Any], cells: int, references: int) -> Part:
    """What the map itself holds."""
    if settings.get("map") != "nearest":
        return f"{cells} cells × {ENTRY} B", cells * ENTRY
    points, columns = min(cells, references), int(data.X.shape[1])
    if not isinstance(data.X, np.ndarray) and columns > DENSE_COLUMNS:
        return _entries(data, points, 2, "points")  # they are held by rows and by columns
    number = _NUMBER + _SINGLE  # points are held in both precisions
    return f"{points} points × {columns} features × {number} B", points * columns * number


def _weights(data: Dataset, holdings: Holdings) -> list[Part]:
    if not holdings.weights:
        return []
    weights, columns = _score_columns(data), data.X.shape[1]
    term = f"{weights} score columns × {columns} features × {_NUMBER} B"
    return [(term, weights * columns * _NUMBER)]


def _score_columns(data: Dataset) -> int:
    return len(data.classes) if len(data.classes) > 2 else 1


def _entries(data: Dataset, count: int, times: int, name: str) -> Part:
    """So many rows that are held with their own values alone, by the mean of all rows."""
    values = int(data.X.size) // max(1, data.X.shape[0])
    prefix = f"{times} × " if times > 1 else ""
    term = f"{prefix}{count} {name} × {values} values × {ENTRY} B"
    return term, times * count * values * ENTRY


def _maps(settings: Mapping[str, Any]) -> tuple[int, str]:
    """How many maps with these components there are, and the factor in words: one for each of
    several kernels or start values."""
    for name, word in (("widths", "kernels"), ("scales", "models")):
        several = settings.get(name)
        if isinstance(several, list | tuple) and len(several) > 1:
            return len(several), f"{len(several)} {word} × "
    return 1, ""


def _is_orthogonal(settings: Mapping[str, Any]) -> bool:
    return settings.get("directions") == "orthogonal"


def _number(settings: Mapping[str, Any]) -> int:
    return _SINGLE if settings.get("precision") == "single" else _NUMBER


def _references(data: Dataset, settings: Mapping[str, Any]) -> int:
    """The rows that an isolation map is made of: the training part, or the first `initial` rows."""
    if data.n_train is not None:
        return data.n_train
    return min(_whole(settings.get("initial")) or data.X.shape[0], data.X.shape[0])


def _columns(data: Dataset, supports: int) -> int:
    """The columns that so many rows use, by the first rows and by the longest one: those of a
    support take memory."""
    X = data.X
    if isinstance(X, np.ndarray):
        return int(X.shape[1])
    longest = int(np.diff(X.indptr).max(initial=0))
    return max(longest, len(np.unique(X.indices[: X.indptr[supports]])))


def _whole(value: Value | None) -> int:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 0
