"""The rows of a record and the order in which they are met."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.config_nodes import Node
from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.datasets import load
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.user import user_rows
from okbench.learners.contract import Task
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.trials.plan.seeds import row_order
from okbench.trials.replay.record_arrays import (
    array_of_file,
    checked,
    file_beside,
    read_array,
    whole_where_whole,
)
from okbench.trials.trial_types import Trial

_NAMED = re.compile(r"(?P<kind>published|seeded)/(?P<number>[0-9]{1,15})")
_SPARSE = ("values", "columns", "starts", "width")


def read_rows(node: Node, task: Task | None, classes: Node | None) -> Dataset:
    """A dataset of okbench, a file of any format it reads, or arrays."""
    fields = node.fields(("dataset", "variant", "fingerprint", "file", "key", "target", "X", "y"))
    ways = [way for way in ("dataset", "file", "X") if way in fields]
    if len(ways) != 1:
        raise node.error("say where the rows are: 'dataset', or 'file', or 'X' and 'y'")
    if ways == ["dataset"]:
        return _of_okbench(node, task, classes)
    if task is None:
        raise node.error("these rows need a 'task' beside them: binary, multiclass or regression")
    if ways == ["X"]:
        X, y = _features_and_targets(node)
    else:
        X, y = _one_matrix(node) if "key" in fields else _user_file(node, task)
    return _dataset(node, X, y, task, classes)


def read_order(node: Node | None, rows: Node, dataset: Dataset) -> NDArray[np.int64]:
    """Row numbers from 0 in the order they are met; a row may be left out, or met again."""
    if node is None:
        return np.arange(dataset.n_rows)
    if node.kind == "scalar":
        return _named_order(node, rows, dataset)
    return read_row_numbers(node, dataset)


def read_row_numbers(node: Node, dataset: Dataset) -> NDArray[np.int64]:
    """Numbers of rows of a dataset, one or more."""
    order = read_array(node, 1, "iu").astype(np.int64)
    if not len(order):
        raise node.data_error("no row is in it")
    outside = np.flatnonzero((order < 0) | (order >= dataset.n_rows))
    if len(outside):
        raise node.data_error(
            f"{order[outside[0]]} at place {outside[0]} is none of the {dataset.n_rows} rows; "
            "rows are counted from 0"
        )
    return order


def _named_order(node: Node, rows: Node, dataset: Dataset) -> NDArray[np.int64]:
    """`published/3` or `seeded/0`, as a trial on a dataset of okbench meets its rows."""
    order = node.text()
    named = _NAMED.fullmatch(order)
    if not named:
        raise node.error(f"'{order}' is no order: write published/3, seeded/0, or row numbers")
    source = dict(rows.items())
    if "dataset" not in source:
        raise node.error(f"only a dataset of okbench has an order such as '{order}'")
    trial = Trial(
        dataset=source["dataset"].text(),
        variant=source["variant"].text() if "variant" in source else "",
        fingerprint=dataset.fingerprint,
        learner="",
        learner_version=0,
        settings=(),
        protocol=SINGLE_PASS.name,
        metric=default_metric(dataset.task).name,
        repetition=int(named["number"]),
        order="published" if named["kind"] == "published" else "seeded",
    )
    try:
        return row_order(trial, dataset)[:]
    except OkbenchError as error:
        raise node.data_error(str(error)) from error


def _of_okbench(node: Node, task: Task | None, classes: Node | None) -> Dataset:
    fields = node.fields(("dataset", "variant", "fingerprint"))
    name, variant = fields["dataset"], fields.get("variant")
    try:
        dataset = load(name.text(), variant.text() if variant else "")
    except UsageError as error:
        raise name.error(str(error)) from error
    except DataError as error:
        raise name.data_error(str(error)) from error
    if task not in (None, dataset.task):
        raise node.error(f"{dataset.name} is {dataset.task}, not {task}")
    if classes is not None:
        raise classes.error("a dataset of okbench has its own")
    print_ = fields.get("fingerprint")
    if print_ and print_.text() != dataset.fingerprint:
        raise print_.data_error(
            f"the rows here are others: {dataset.fingerprint}, not {print_.text()}"
        )
    return dataset


def _user_file(node: Node, task: Task) -> tuple[Any, NDArray[Any]]:
    """LIBSVM text, CSV and the like, with their labels."""
    fields = node.fields(("file", "target"))
    path, target = file_beside(fields["file"]), fields.get("target")
    try:
        dataset = user_rows.read_user_rows(path, _column(target) if target else None, task).dataset
    except OkbenchError as error:
        raise node.data_error(str(error)) from error
    return dataset.X, dataset.y


def _column(node: Node) -> int | str:
    return node.text() if isinstance(node.scalar(), str) else node.integer(0)


def _one_matrix(node: Node) -> tuple[Any, NDArray[Any]]:
    """A matrix of which one column is the target, the last unless `target` says another."""
    fields = node.fields(("file", "key", "target"))
    whole = checked(node, array_of_file(fields["file"], fields["key"]), 2)
    target = fields["target"].integer(0) if "target" in fields else whole.shape[1] - 1
    if target >= whole.shape[1]:
        raise fields["target"].data_error(f"the columns are 0 to {whole.shape[1] - 1}")
    return np.delete(whole, target, axis=1), whole[:, target]


def _features_and_targets(node: Node) -> tuple[Any, NDArray[Any]]:
    fields = node.fields(("X", "y"), required=("X", "y"))
    X, y = fields["X"], read_array(fields["y"], 1, "iufUS")
    is_sparse = X.kind == "mapping" and "values" in dict(X.items())
    rows = _sparse(X) if is_sparse else read_array(X, 2)
    if rows.shape[0] != len(y):
        raise node.data_error(f"X has {rows.shape[0]} rows and y {len(y)}")
    return rows, y


def _sparse(node: Node) -> sp.csr_array:
    """Compressed sparse rows: row i has values[starts[i]:starts[i + 1]] in those columns."""
    fields = node.fields(_SPARSE, required=_SPARSE)
    values = read_array(fields["values"], 1).astype(np.float64)
    columns, starts = read_array(fields["columns"], 1, "iu"), read_array(fields["starts"], 1, "iu")
    width = fields["width"].integer(1)
    try:
        matrix = sp.csr_array((values, columns, starts), shape=(len(starts) - 1, width))
        matrix.check_format()
    except ValueError as error:
        raise node.data_error(f"these are no sparse rows: {error}") from error
    matrix.sum_duplicates()
    return matrix


def _dataset(node: Node, X: Any, y: NDArray[Any], task: Task, classes: Node | None) -> Dataset:
    """Rows as every learner takes them."""
    X = X if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    if not min(X.shape):
        raise node.data_error(f"rows of shape {X.shape} hold nothing")
    if task != "regression":
        y, names = _labelled(node, y, task, classes)
    elif classes is not None:
        raise classes.error("regression has no classes")
    elif y.dtype.kind not in "iuf":
        raise node.data_error(f"the targets are words ('{y[0]}'), not numbers")
    else:
        y, names = y.astype(np.float64), ()
    return Dataset("", X, y, task, names, fingerprint(X, y, names))


def _labelled(
    node: Node, y: NDArray[Any], task: Task, classes: Node | None
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Labels, whole numbers where they can be, and their classes: those named, else those met."""
    y = whole_where_whole(y)
    if classes is None:
        names = tuple(np.unique(y).tolist())
    else:
        names = tuple(read_array(classes, 1, "iuUS").tolist())
        strange = np.flatnonzero(~np.isin(y, names))
        if len(strange):
            row = strange[0]
            raise node.data_error(f"row {row}: label {y[row].item()!r} is none of the classes")
    if len(set(names)) < 2 or (task == "binary" and len(names) > 2):
        met = ", ".join(map(str, names[:8]))
        raise (classes or node).data_error(f"classes {met} do not make a {task} problem")
    return y, names
