"""The arrays of a record: written in it as lists, or in a file of NumPy or MATLAB beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.config_nodes import Node
from okbench.base.errors import DataError, did_you_mean
from okbench.datasets.readers.damage import printable
from okbench.datasets.readers.numpy_files import array_of_npy, arrays_of_npz

_KINDS = {
    "iu": "whole numbers",
    "iuf": "numbers",
    "iuUS": "whole numbers or words",
    "iufUS": "numbers or words",
}
_MOST = 2**53  # from here on not every whole number has a float


def read_array(node: Node, axes: int, kinds: str = "iuf") -> NDArray[Any]:
    """The numbers of a list, or those of `{"file": ..., "key": ..., "index": ...}`."""
    return checked(node, _inline(node) if node.kind == "list" else _from_file(node), axes, kinds)


def checked(node: Node, found: NDArray[Any], axes: int, kinds: str = "iuf") -> NDArray[Any]:
    """The array that stands at a node, refused if it is of another shape or type."""
    if kinds == "iu":
        found = whole_where_whole(found)
    if found.dtype.kind not in kinds and found.size:
        raise node.data_error(f"{_KINDS[kinds]} are expected, not {found.dtype}")
    if found.ndim != axes:
        raise node.data_error(
            f"an array of {axes} axes is expected, not one of shape {found.shape}"
        )
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        place = np.argwhere(~np.isfinite(found))[0].tolist()
        raise node.data_error(f"the number at {place} is not finite")
    return found


def array_of_file(named: Node, key: Node | None) -> NDArray[Any]:
    """An array of a .npy, .npz or .mat file; only the last two have keys."""
    path = file_beside(named)
    if path.suffix not in (".npy", ".npz", ".mat"):
        raise named.error(f"{path}: arrays come from .npy, .npz and .mat files")
    if path.suffix == ".npy" and key is not None:
        raise key.error(f"{path} is one array; only .npz and .mat files have keys")
    if path.suffix != ".npy" and key is None:
        raise named.error(f"the key of the array in {path} is missing beside it")
    try:
        if key is None:
            return array_of_npy(path)
        return _read_mat(path, key) if path.suffix == ".mat" else _read_npz(path, key)
    except DataError as error:
        raise (key or named).data_error(str(error)) from error


def file_beside(node: Node) -> Path:
    """The path of a file that is named beside the record."""
    path = node.path.parent / node.text()
    if not path.is_file():
        raise node.data_error(f"{path} is not here")
    return path


def whole_where_whole(values: NDArray[Any]) -> NDArray[Any]:
    """Floating values as whole numbers if they all are; MATLAB keeps its whole numbers so."""
    if values.dtype.kind != "f" or not (np.abs(values) < _MOST).all():
        return values
    return values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values


def _inline(node: Node) -> NDArray[Any]:
    try:
        found = np.array(node.plain())
    except ValueError as error:
        raise node.error("the lists in it are of different lengths") from error
    if found.dtype.kind not in "iufUS":
        raise node.error("numbers, or words, are expected in the list")
    return found


def _from_file(node: Node) -> NDArray[Any]:
    fields = node.fields(("file", "key", "index"), required=("file",))
    found = array_of_file(fields["file"], fields.get("key"))
    if "index" not in fields:
        return found
    index = fields["index"].integer(0)
    if index >= len(found):
        raise node.data_error(f"no index {index}: the array holds {len(found)} of them")
    return np.asarray(found[index])


def _read_npz(path: Path, key: Node) -> NDArray[Any]:
    found, held = arrays_of_npz(path, key.text())
    if not found:
        names = printable(", ".join(held))
        hint = did_you_mean(key.text(), held)
        raise DataError(f"{path} holds no '{key.text()}'.{hint} It holds {names}")
    return found[key.text()]


def _read_mat(path: Path, key: Node) -> NDArray[Any]:
    from okbench.datasets.readers.matlab import read_mat

    (found,) = read_mat(path, key.text())
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())
