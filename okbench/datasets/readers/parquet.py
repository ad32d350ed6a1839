"""Parquet files, by way of pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import DataError, UsageError
from okbench.datasets.readers.chunks import Position
from okbench.datasets.readers.damage import refusing_damage
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.missing import is_missing, no_value
from okbench.datasets.readers.table import Column, ColumnTable, place_of
from okbench.datasets.readers.words import Words

_MOST_VALUES = 1 << 31
_BATCH_ROWS = 1 << 14


def read_parquet(
    path: Path,
    *,
    missing: bool = False,
    named: Sequence[Column] = (),
    drop: Sequence[Column] = (),
    target: Column | None = None,
    arrays: DiskArrays | None = None,
) -> ColumnTable:
    """A table, read one group of rows after the other; it stays on disk (as `arrays`). Columns that
    hold no numbers become words. Values may be `missing`, not in the `target`, and those of columns
    to `drop` are not looked at. Columns in `named` must be there, and are looked for first."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'okbench[parquet]'") from None
    with refusing_damage(path, "Parquet"), parquet.ParquetFile(path) as file:
        _check_size(path, file.metadata)
        names = tuple(map(str, file.schema_arrow.names))
        for wanted in named:
            place_of(path, wanted, names, len(names))
        with arrays or DiskArrays() as held:
            width = len(names)
            table = _Table(
                path,
                file.schema_arrow,
                missing,
                {place_of(path, column, names, width) for column in drop},
                None if target is None else place_of(path, target, names, width),
                held.found,
            )
            values = held.new(np.float64, "values")
            done, next_group = held.position.byte, held.position.line - 1
            for group in range(next_group, 0 if held.ended else file.num_row_groups):
                for batch in file.iter_batches(_BATCH_ROWS, row_groups=[group]):
                    values.append(table.numbers(batch.to_pandas()))
                done += file.metadata.row_group(group).total_byte_size
                held.keep(Position(done, group + 2), table.state)
            held.end()
            found = values.finish((table.rows, len(table.names)))
    words = {place: tuple(known) for place, known in table.words.items()}
    return ColumnTable(path, table.names, found, words, header=True)


def _check_size(path: Path, about: Any) -> None:
    """A few bytes can stand for any number of equal values."""
    if about.num_rows * about.num_columns > _MOST_VALUES:
        raise DataError(
            f"{path}: {about.num_rows:,} rows × {about.num_columns:,} columns take "
            f"{about.num_rows * about.num_columns * 8 >> 30:,} GB; {_MOST_VALUES * 8 >> 30} GB of "
            "a Parquet file are read; write it as several files, or as LIBSVM text"
        )


class _Table:
    """What is read of a table so far."""

    def __init__(
        self,
        path: Path,
        schema: Any,
        missing: bool,
        dropped: set[int],
        target: int | None,
        found: Mapping[str, Any],
    ) -> None:
        self._path, self._missing, self._target = path, missing, target
        self._dropped = dropped - {target}
        self.names = tuple(map(str, schema.names))
        known = found.get("words", {})
        self.words = {
            place: Words.of(known.get(str(place), ()))
            for place, field in enumerate(schema)
            if place not in self._dropped and not _is_number(field.type)
        }
        self.rows: int = found.get("rows", 0)

    def state(self) -> dict[str, Any]:
        """What must be known to go on behind the last group of rows."""
        words = {str(place): list(found) for place, found in self.words.items()}
        return {"rows": self.rows, "words": words}

    def numbers(self, frame: Any) -> NDArray[np.float64]:
        """The next rows as numbers, or the numbers of their words."""
        values = np.zeros(frame.shape)
        for place, name in enumerate(self.names):
            if place in self._dropped:
                continue
            column = frame.iloc[:, place]
            if place in self.words:
                values[:, place], gaps = self._of_words(name, column, self.words[place])
            else:
                values[:, place] = column.astype("float64").to_numpy(na_value=np.nan)
                gaps = np.isnan(values[:, place])
            if gaps.any() and (place == self._target or not self._missing):
                row = self.rows + np.argmax(gaps)
                said = no_value(f"'{name}'", is_target=place == self._target)
                raise DataError(f"{self._path}: row {row}: {said}")
            infinite = np.isinf(values[:, place])
            if infinite.any():
                row = self.rows + np.argmax(infinite)
                raise DataError(f"{self._path}: row {row}: column '{name}' is not finite")
        self.rows += len(frame)
        return values

    def _of_words(
        self, name: str, column: Any, words: Words
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The numbers of the words of a column, and where they are missing."""
        where = f"{self._path}: column '{name}'"
        try:
            codes, found = column.factorize()
        except TypeError as error:
            raise DataError(f"{where} holds neither numbers nor words ({error})") from error
        spelled = [*map(str, found), ""]  # the last one for a code of -1, which is none
        gaps = np.array([is_missing(word) for word in spelled])[codes]
        used = spelled if (codes < 0).any() else spelled[:-1]
        numbers = [
            words.number_of_missing(word) if is_missing(word) else words.number(word)
            for word in used
        ]
        words.refuse_too_many(where)
        return np.array(numbers, dtype=np.int64)[codes], gaps


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal
    return any(test(kind) for test in tests)
