"""Files of fitted isolation maps.

A file is NumPy's archive of arrays, with a text of JSON that says what they are. Of a map by
nearest points it has the points as rows, of which the map is made anew. All of a file is checked
when it is read, because the compiled loops look at no bounds.
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.config_nodes import Node, parse_json
from okbench.base.errors import DataError
from okbench.base.whole_files import write_whole
from okbench.learners.isolation.array_libraries import LIBRARIES
from okbench.learners.isolation.forest import Forest
from okbench.learners.isolation.maps import KINDS, FittedMap, IsolationMap
from okbench.learners.isolation.nearest import Points, SparsePoints, points_of
from okbench.learners.rows import Block

WHAT, SCHEMA = "isolation map of okbench", 1
NUMBERS = {"partitionings": 1, "psi": 2, "size": 1, "n_features": 0}  # the least of each
Arrays = Mapping[str, NDArray[Any]]
_NO_ARCHIVE = (ValueError, TypeError, EOFError, NotImplementedError, BadZipFile, zlib.error)


def save_map(isolation_map: IsolationMap, path: str | Path) -> None:
    """Write a fitted map to a file."""
    made = isolation_map.made()
    kind = "iforest" if isinstance(made.partitions, Forest) else "nearest"
    head = {"what": WHAT, "schema": SCHEMA, "map": kind, "library": made.library}
    head |= {name: getattr(made, name) for name in NUMBERS}
    file, arrays = io.BytesIO(), _arrays_of(made.partitions)
    np.savez(file, head=np.array(json.dumps(head)), **arrays)
    write_whole(Path(path), file.getvalue())


def load_map(path: str | Path) -> IsolationMap:
    """Read a map from a file; a DataError says why one cannot be read."""
    try:
        content = io.BytesIO(Path(path).read_bytes())
        with np.load(content, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error
    except _NO_ARCHIVE as error:
        raise DataError(f"{path}: this is no file of an isolation map, or a damaged one") from error
    head = parse_json(str(arrays.pop("head", np.array("{}"))), str(path))
    found = dict(head.items())
    if "what" not in found or found["what"].plain() != WHAT:
        raise DataError(f"{path}: this is no file of an isolation map")
    if "schema" not in found or found["schema"].plain() != SCHEMA:
        given = found["schema"].plain() if "schema" in found else None
        raise DataError(f"{path}: schema {given} of isolation maps; this okbench reads {SCHEMA}")
    return _map_of(head, arrays)


def _map_of(head: Node, arrays: Arrays) -> IsolationMap:
    known = ("what", "schema", "map", "library", *NUMBERS)
    found = head.fields(known, known)
    kind, library = found["map"].choice(KINDS), found["library"].choice(LIBRARIES)
    numbers = {name: found[name].integer(least) for name, least in NUMBERS.items()}
    try:
        made = FittedMap(_partitions_of(kind, numbers, arrays), library=library, **numbers)
    except KeyError as error:
        raise head.data_error(f"the array {error} is missing") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise head.data_error(f"a damaged map: {error}") from error
    isolation_map = IsolationMap(
        partitionings=made.partitionings, psi=made.psi, map=kind, library=library
    )
    isolation_map.fitted = made
    return isolation_map


def _arrays_of(partitions: Any) -> dict[str, Any]:
    """What the partitionings are made of. `lines` has the rows that are the points of each."""
    if isinstance(partitions, Forest):
        columns, is_wide = partitions.columns, np.array(len(partitions.places) > 0)
        thresholds, leaves = partitions.thresholds, partitions.leaves
        return {"columns": columns, "thresholds": thresholds, "leaves": leaves, "is_wide": is_wide}
    if isinstance(partitions, SparsePoints):
        values, indices, starts = partitions.by_point
        places, count = partitions.places, partitions.partitionings
        points = places if len(places) else np.arange(len(starts) - 1)
        lines = points.reshape(-1, count).T
        return {"values": values, "indices": indices, "starts": starts, "lines": lines}
    return {"rows": partitions.table.points, "lines": partitions.lines}


def _partitions_of(kind: str, numbers: Mapping[str, int], arrays: Arrays) -> Forest | Points:
    """The partitionings that arrays describe. A ValueError says what is wrong with them."""
    count, size, width = (numbers[name] for name in ("partitionings", "size", "n_features"))
    _require(size <= numbers["psi"], "size is above psi")
    if kind == "iforest":
        return _forest_of(count, size, width, arrays)
    if "rows" in arrays:
        block = Block.of(arrays["rows"], width)
    else:
        parts = arrays["values"], arrays["indices"], arrays["starts"]
        block = Block.of(sp.csr_array(parts, shape=(len(parts[2]) - 1, width)))
    lines = _within(arrays["lines"], (count, size), len(block), "lines").astype(np.int64)
    return points_of(block, lines)


def _forest_of(count: int, size: int, width: int, arrays: Arrays) -> Forest:
    depth = (size - 1).bit_length()
    inner = 2**depth - 1
    thresholds = arrays["thresholds"]
    _require(thresholds.dtype == np.float64, "thresholds are doubles")
    _require(thresholds.shape == (count, inner), f"thresholds have the shape {thresholds.shape}")
    _require(not np.isnan(thresholds).any(), "a threshold is no number")
    forest = Forest(
        depth,
        _within(arrays["columns"], (count, inner), max(1, width), "columns"),
        np.ascontiguousarray(thresholds),
        _within(arrays["leaves"], (count, inner + 1), size, "leaves"),
        np.empty(0, dtype=np.int32),
    )
    return forest.numbered(width) if arrays["is_wide"].any() else forest


def _within(values: NDArray[Any], shape: tuple[int, int], end: int, name: str) -> NDArray[np.int32]:
    """Whole numbers from 0 up to `end`, in a table of this shape."""
    _require(values.dtype.kind in "iu", f"{name} are whole numbers")
    _require(values.shape == shape, f"{name} have the shape {values.shape}, not {shape}")
    is_within = bool(np.all((values >= 0) & (values < end)))
    _require(is_within, f"{name} are from 0 to {end - 1}")
    return np.ascontiguousarray(values, dtype=np.int32)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
