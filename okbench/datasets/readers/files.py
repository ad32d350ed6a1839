"""The files of an entry as labelled rows, each read by the reader of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, ReaderSpec
from okbench.datasets.readers.airlines import read_airlines
from okbench.datasets.readers.arff import read_arff
from okbench.datasets.readers.binary import read_cifar, read_idx, read_norb
from okbench.datasets.readers.delimited import Layout, read_delimited
from okbench.datasets.readers.disk_array import DiskArrays
from okbench.datasets.readers.libsvm import read_libsvm
from okbench.datasets.readers.matlab import read_mat
from okbench.datasets.readers.missing import is_missing
from okbench.datasets.readers.multi_file_rows import FileRows, csr_of, starts_of
from okbench.datasets.readers.numpy_files import finite_matrix, read_npy
from okbench.datasets.readers.parquet import read_parquet
from okbench.datasets.readers.table import ColumnTable, place_of
from okbench.datasets.readers.words import MOST_WORDS

Locate = Callable[[FileSpec], Path]
ArraysOf = Callable[[FileSpec, Path], DiskArrays]
Vocabulary = Mapping[int, tuple[str, ...]]

_BLOCK_ROWS = 1 << 14


def read_files(
    entry: DatasetSpec,
    keys: Sequence[str],
    locate: Locate,
    folder: Path | None = None,
    arrays_of: ArraysOf | None = None,
) -> list[FileRows]:
    """The files of those keys, in order; columns of words get the same columns in every file.

    What is read stays on disk in `folder`, and of text and Parquet as `arrays_of` a file says.
    """

    def of(file: FileSpec, path: Path) -> DiskArrays:
        return arrays_of(file, path) if arrays_of else DiskArrays(folder)

    read = [_read(entry, entry.files[key], locate, of, folder) for key in keys]
    vocabulary = _vocabulary(
        [(entry.files[key].reader, found) for key, found in zip(keys, read, strict=True)]
    )
    return [
        found
        if isinstance(found, FileRows)
        else rows_of_table(
            found, entry.files[key].reader, vocabulary, _labels(entry, key, locate), folder
        )
        for key, found in zip(keys, read, strict=True)
    ]


def _read(
    entry: DatasetSpec, file: FileSpec, locate: Locate, arrays_of: ArraysOf, folder: Path | None
) -> FileRows | ColumnTable:
    path, reader = locate(file), file.reader
    match reader.format:
        case "libsvm":
            rows = read_libsvm(
                path,
                width=entry.features,
                index_base=reader.index_base,
                arrays=arrays_of(file, path),
            )
            return FileRows(rows.X, rows.y, file.name)
        case "csv":
            return read_delimited(path, _layout(reader), arrays_of(file, path))
        case "arff":
            table = read_arff(path, **_columns(reader), arrays=arrays_of(file, path))
            return table.with_words(reader.categorical, folder)
        case "parquet":
            table = read_parquet(path, **_columns(reader), arrays=arrays_of(file, path))
            return table.with_words(reader.categorical, folder)
        case "mat":
            return _read_mat(path, file)
        case "npy":
            return read_npy(path, **_columns(reader)).with_words(reader.categorical, folder)
        case "cifar":
            pixels, labels = read_cifar(path)
            return FileRows(pixels, labels, file.name)
        case "airlines":
            planes = locate(entry.files[reader.joined_with])
            return read_airlines(path, planes, arrays_of(file, path), folder)
    read = {"idx": read_idx, "norb": read_norb}[reader.format]
    labels = read(locate(entry.files[reader.labels]))[:, reader.label_column]
    pixels = read(path)
    if len(pixels) != len(labels):
        raise DataError(f"{path}: {len(pixels):,} rows for {len(labels):,} labels")
    return FileRows(pixels, labels, file.name)


def _layout(reader: ReaderSpec) -> Layout:
    return Layout(
        delimiter=reader.delimiter,
        header=reader.header,
        words=reader.categorical,
        **_columns(reader),
    )


def _columns(reader: ReaderSpec) -> dict[str, Any]:
    """What every reader of a table must know of its columns."""
    target = None if reader.labels else reader.target
    return {"missing": reader.filled, "drop": reader.drop, "target": target}


def _read_mat(path: Path, file: FileSpec) -> FileRows | ColumnTable:
    reader = file.reader
    matrices = read_mat(path, *filter(None, (reader.X, reader.y)))
    X = matrices[0].T if reader.transposed else matrices[0]
    if not reader.y:
        return ColumnTable(path, (), _array(path, X))
    y = _array(path, matrices[1]).ravel()
    if len(y) != X.shape[0]:
        raise DataError(f"{path}: {X.shape[0]:,} rows in '{reader.X}', {len(y):,} in '{reader.y}'")
    return FileRows(sp.csr_array(X) if sp.issparse(X) else _array(path, X), y, file.name)


def _array(path: Path, values: Any) -> NDArray[np.float64]:
    return finite_matrix(path, values.toarray() if sp.issparse(values) else values)


def _labels(entry: DatasetSpec, key: str, locate: Locate) -> NDArray[Any] | None:
    """The labels of a table that are kept in another file."""
    reader = entry.files[key].reader
    if not reader.labels:
        return None
    other = entry.files[reader.labels]
    table = read_delimited(locate(other), _layout(other.reader))
    return _column(table, reader.label_column)


def _vocabulary(read: Sequence[tuple[ReaderSpec, FileRows | ColumnTable]]) -> Vocabulary:
    """The words of each categorical column over all files, sorted; numbers by size."""
    found: dict[int, set[str]] = {}
    for reader, table in read:
        if isinstance(table, ColumnTable):
            for column in reader.categorical:
                place = table.place(column)
                found.setdefault(place, set()).update(table.words.get(place, ()))
    return {place: words_in_order(words) for place, words in found.items()}


def words_in_order(words: Iterable[str]) -> tuple[str, ...]:
    """Numbers by size, then words by letters."""
    return tuple(sorted(words, key=_by_size))


def _by_size(word: str) -> tuple[float, str]:
    try:
        return np.inf if is_missing(word) else float(word), word
    except ValueError:
        return np.inf, word


def rows_of_table(
    table: ColumnTable,
    reader: ReaderSpec,
    vocabulary: Vocabulary,
    labels: NDArray[Any] | None = None,
    folder: Path | None = None,
) -> FileRows:
    """A table without its target and dropped columns; a categorical one is one column per word."""
    left_out = {table.place(column) for column in reader.drop}
    if labels is None:
        target = table.place(reader.target)
        left_out.add(target)
        labels = _column(table, target, folder)
    if len(labels) != len(table.values):
        raise DataError(f"{table.path}: {len(table.values):,} rows for {len(labels):,} labels")
    kept = [column for column in range(table.width) if column not in left_out]
    for column in kept:
        if column in table.words and column not in vocabulary:
            name = table.names[column] if table.names else column
            word = table.words[column][0]
            raise DataError(
                f"{table.path}: column {name} holds words ('{word}'); "
                "name it as categorical, or drop it"
            )
    if any(column in vocabulary for column in kept):
        X: Any = _spread(table, kept, vocabulary, folder)
    elif kept and kept == list(range(kept[0], kept[-1] + 1)):
        X = table.values[:, kept[0] : kept[-1] + 1]
    else:
        X = _picked(table, kept, folder)
    return FileRows(X, labels, table.path.name)


def _picked(table: ColumnTable, kept: Sequence[int], folder: Path | None) -> NDArray[np.float64]:
    """Some columns of a table; they stay on disk as it does."""
    with DiskArrays(folder) as disk_arrays:
        values = disk_arrays.new(np.float64, "picked")
        for start in range(0, len(table.values), _BLOCK_ROWS):
            values.append(table.values[start : start + _BLOCK_ROWS, kept])
        return values.finish((len(table.values), len(kept)))


def _column(table: ColumnTable, place: int, folder: Path | None = None) -> NDArray[Any]:
    """A column, or the words that its numbers stand for; they stay on disk as the table does."""
    column = place_of(table.path, place, table.names, table.width)
    words = np.array(table.words[place]) if place in table.words else None
    with DiskArrays(folder) as disk_arrays:
        found = disk_arrays.new(np.float64 if words is None else words.dtype, "column")
        for _, block in table.blocks():
            values = block[:, column]
            found.append(values if words is None else words[values.astype(np.int64)])
        return found.finish()


def _spread(
    table: ColumnTable, kept: Sequence[int], vocabulary: Vocabulary, folder: Path | None
) -> sp.csr_array:
    """Columns of words as one column per word, in the place of the column."""
    counts_of = [len(vocabulary.get(column, (None,))) for column in kept]
    first = np.cumsum([0, *counts_of])
    places = {column: _places(table, column, vocabulary[column]) for column in vocabulary}
    with DiskArrays(folder) as disk_arrays:
        counts, indices = disk_arrays.new(np.int64, "counts"), disk_arrays.new(np.int32, "columns")
        values = disk_arrays.new(np.float64, "values")
        for start in range(0, len(table.values), _BLOCK_ROWS):
            found = table.values[start : start + _BLOCK_ROWS, kept]
            columns = np.tile(first[:-1], (len(found), 1))
            for number, column in enumerate(kept):
                if column in places:
                    columns[:, number] += places[column][found[:, number].astype(np.int64)]
                    found[:, number] = 1.0
            filled = found != 0.0
            counts.append(filled.sum(axis=1))
            indices.append(columns[filled])
            values.append(found[filled])
        starts = starts_of(counts.finish())
        return csr_of(values.finish(), indices.finish(), starts, int(first[-1]))


def _places(table: ColumnTable, column: int, words: Sequence[str]) -> NDArray[np.int64]:
    """Where each word of a table's column stands in the vocabulary."""
    if len(words) > MOST_WORDS:
        name = table.names[column] if table.names else column
        raise DataError(
            f"{table.path}: column {name} holds {len(words):,} different words, more than the "
            f"{MOST_WORDS:,} that become columns; drop it"
        )
    place = {word: number for number, word in enumerate(words)}
    return np.array([place[word] for word in table.words.get(column, ())], dtype=np.int64)
