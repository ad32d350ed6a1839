"""Parquet files, by way of pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from okbench.base.errors import DataError, UsageError
from okbench.datasets.readers.table import Table


def read_parquet(path: Path, *, missing: bool = False) -> Table:
    """A table; columns that hold no numbers become words. A number may be `missing`, no word."""
    try:
        import pyarrow.parquet
        from pyarrow import types
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    try:
        table = pyarrow.parquet.read_table(path)
        for place, field in enumerate(table.schema):
            if types.is_decimal(field.type):
                table = table.set_column(place, field.name, table.column(place).cast("float64"))
        frame = table.to_pandas()
    except (OSError, ValueError, NotImplementedError) as error:
        raise DataError(f"{path}: not a Parquet file that can be read ({error})") from error
    values = np.empty(frame.shape)
    words: dict[int, tuple[str, ...]] = {}
    for place, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, place]
        values[:, place], found = _column(path, name, column)
        if found is not None:
            words[place] = found
        refused = np.isinf(values[:, place])
        if found is not None or not missing:
            refused |= column.isna().to_numpy()
        if refused.any():
            raise DataError(
                f"{path}: row {np.argmax(refused)}, column '{name}' has no finite value"
            )
    return Table(path, tuple(map(str, frame.columns)), values, words, header=True)


def _column(path: Path, name: str, column: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Numbers, or places in the words beside them."""
    if column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64, na_value=np.nan), None
    try:
        codes, found = column.factorize()
    except TypeError as error:
        raise DataError(
            f"{path}: column '{name}' holds neither numbers nor words ({error})"
        ) from error
    return codes, tuple(map(str, found))
