"""Flights of the ASA Data Expo 2009, joined with the year each aircraft was built."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from okbench.datasets.readers.delimited import Layout, read_delimited
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.table import ColumnTable

FEATURES = (
    "Month", "DayofMonth", "DayOfWeek", "plane_age", "AirTime", "Distance", "ArrTime", "DepTime",
)  # fmt: skip
TARGET = "ArrDelay"

_READ = (
    *(name for name in FEATURES if name != "plane_age"),
    *(TARGET, "Year", "TailNum", "Cancelled", "Diverted"),
)
_BLOCK_ROWS = 1 << 18


def read_airlines(
    flights: Path, planes: Path, arrays: DiskArrays | None = None, folder: Path | None = None
) -> ColumnTable:
    """The eight features and the delay in minutes, of flights that have them all.

    The recipe of Hensman, Fusi and Lawrence 2013: no cancelled or diverted flights; the age is the
    year of the flight less the year the aircraft was built, which must be known and not 0.
    """
    layout = Layout(header=True, words=("TailNum",), keep=_READ, missing=True)
    table = read_delimited(flights, layout, arrays)
    built = _years_built(planes)
    words = table.words[table.place("TailNum")]
    built_by_word = np.array([built.get(word, np.nan) for word in words] or [np.nan])
    names, rows = (*FEATURES, TARGET), 0
    with DiskArrays(folder) as disk_arrays:
        values = disk_arrays.new(np.float64, "flights")
        for start in range(0, len(table.values), _BLOCK_ROWS):
            block = table.values[start : start + _BLOCK_ROWS]
            found = _complete_flights(table, block, built_by_word)
            values.append(found)
            rows += len(found)
        return ColumnTable(flights, names, values.finish((rows, len(names))), header=True)


def _complete_flights(
    table: ColumnTable, block: NDArray[np.float64], built_by_word: NDArray[np.float64]
) -> NDArray[np.float64]:
    columns = {name: block[:, table.place(name)] for name in _READ}
    built = built_by_word[columns["TailNum"].astype(np.int64)]
    columns["plane_age"] = columns["Year"] - built
    found = np.column_stack([columns[name] for name in (*FEATURES, TARGET)])
    flown = (columns["Cancelled"] == 0) & (columns["Diverted"] == 0) & (built != 0)
    complete: NDArray[np.float64] = found[flown & np.isfinite(found).all(axis=1)]
    return complete


def _years_built(planes: Path) -> dict[str, float]:
    layout = Layout(header=True, words=("tailnum",), keep=("tailnum", "year"), missing=True)
    table = read_delimited(planes, layout)
    words = table.words[table.place("tailnum")]
    places, years = table.values[:, table.place("tailnum")], table.values[:, table.place("year")]
    return {words[int(place)]: float(year) for place, year in zip(places, years, strict=True)}
