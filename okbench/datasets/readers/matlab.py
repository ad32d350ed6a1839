"""Matrices of MATLAB .mat files (up to version 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from okbench.base.errors import DataError, did_you_mean
from okbench.datasets.readers.chunks import opened


def read_mat(path: Path, *names: str) -> tuple[Any, ...]:
    """The named matrices as float64, dense or CSR; small integers are converted before any use."""
    import scipy.io

    try:
        with opened(path) as file:
            found = scipy.io.loadmat(file, variable_names=list(names))
            held = () if all(name in found for name in names) else _names(file)
    except NotImplementedError as error:
        raise DataError(
            f"{path}: written by MATLAB 7.3 or later; save it again with '-v7'"
        ) from error
    except DataError:
        raise
    except Exception as error:  # scipy raises nearly anything for a damaged file
        raise DataError(f"{path}: not a .mat file that can be read ({error})") from error
    for name in names:
        if name not in found:
            known = ", ".join(held) or "none"
            raise DataError(
                f"{path}: no variable '{name}'.{did_you_mean(name, held)}  (it holds: {known})"
            )
    return tuple(_matrix(path, name, found[name]) for name in names)


def _names(file: Any) -> tuple[str, ...]:
    import scipy.io

    file.seek(0)
    return tuple(name for name, _, _ in scipy.io.whosmat(file))


def _matrix(path: Path, name: str, value: Any) -> Any:
    if sp.issparse(value):
        return sp.csr_array(value, dtype=np.float64)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf" or value.ndim != 2:
        raise DataError(f"{path}: '{name}' is no matrix of numbers")
    return np.ascontiguousarray(value, dtype=np.float64)
