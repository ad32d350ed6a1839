"""Parquet files, by way of pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from okbench.base.errors import DataError, UsageError
from okbench.datasets.readers.damage import refusing_damage
from okbench.datasets.readers.table import ColumnTable

_MOST_VALUES = 1 << 31


def read_parquet(path: Path, *, missing: bool = False) -> ColumnTable:
    """A table; columns that hold no numbers become words. A number may be `missing`, no word."""
    try:
        import pyarrow.parquet
        from pyarrow import types
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    with refusing_damage(path, "Parquet"):
        _check_size(path, pyarrow.parquet.read_metadata(path))
        table = pyarrow.parquet.read_table(path)
        for place, field in enumerate(table.schema):
            if types.is_decimal(field.type):
                table = table.set_column(place, field.name, table.column(place).cast("float64"))
        return _table(path, table.to_pandas(), missing)


def _check_size(path: Path, about: Any) -> None:
    """A few bytes can stand for any number of equal values."""
    if about.num_rows * about.num_columns > _MOST_VALUES:
        raise DataError(
            f"{path}: {about.num_rows:,} rows × {about.num_columns:,} columns take "
            f"{about.num_rows * about.num_columns * 8 >> 30:,} GB; {_MOST_VALUES * 8 >> 30} GB of "
            "a Parquet file are read; write it as several files, or as LIBSVM text"
        )


def _table(path: Path, frame: Any, missing: bool) -> ColumnTable:
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
    return ColumnTable(path, tuple(map(str, frame.columns)), values, words, header=True)


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
