"""The rows of a record and the order they are met in."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from okbench.base.errors import DataError, OkbenchError, UsageError
from okbench.datasets import load
from okbench.datasets.dataset_types import Dataset, fingerprint
from okbench.datasets.user import user_rows
from okbench.learners.contract import Task
from okbench.protocols.metrics import default_metric
from okbench.protocols.single_pass import SINGLE_PASS
from okbench.trials.plan.seeds import row_order
from okbench.trials.replay.record_value import Value, whole_where_whole
from okbench.trials.trial_types import Trial

_NAMED = re.compile(r"(?P<kind>published|seeded)/(?P<number>[0-9]{1,15})")
_SPARSE = ("values", "columns", "starts", "width")


def read_rows(told: Value, task: Task | None, classes: Value | None) -> Dataset:
    """A dataset of okbench, a file of any format it reads, or arrays."""
    fields = told.fields(("dataset", "variant", "fingerprint", "file", "key", "target", "X", "y"))
    ways = [way for way in ("dataset", "file", "X") if way in fields]
    if len(ways) != 1:
        told.refuse("say where the rows are: 'dataset', or 'file', or 'X' and 'y'")
    if ways == ["dataset"]:
        return _of_okbench(told, task, classes)
    if task is None:
        told.refuse("these rows need a 'task' beside them: binary, multiclass or regression")
    if ways == ["X"]:
        X, y = _arrays(told)
    else:
        X, y = _one_matrix(told) if "key" in fields else _own_file(told, task)
    return _dataset(told, X, y, task, classes)


def read_order(told: Value | None, rows: Value, dataset: Dataset) -> NDArray[np.int64]:
    """Row numbers from 0 in the order they are met; a row may be left out, or met again."""
    if told is None:
        return np.arange(dataset.n_rows)
    if isinstance(told.value, str):
        return _named_order(told, rows, dataset)
    order = told.array(1, "iu").astype(np.int64)
    if not len(order):
        told.damaged("no row is in it")
    outside = np.flatnonzero((order < 0) | (order >= dataset.n_rows))
    if len(outside):
        told.damaged(
            f"{order[outside[0]]} at place {outside[0]} is none of the {dataset.n_rows} rows; "
            "rows are counted from 0"
        )
    return order


def _named_order(told: Value, rows: Value, dataset: Dataset) -> NDArray[np.int64]:
    """`published/3` or `seeded/0`, as a trial on a dataset of okbench meets its rows."""
    named = _NAMED.fullmatch(told.text())
    if not named:
        told.refuse(f"'{told.value}' is no order: write published/3, seeded/0, or row numbers")
    if "dataset" not in rows.value:
        told.refuse(f"only a dataset of okbench has an order such as '{told.value}'")
    trial = Trial(
        dataset=rows.value["dataset"],
        variant=rows.value.get("variant", ""),
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
        return row_order(trial, dataset)
    except OkbenchError as error:
        told.damaged(str(error))


def _of_okbench(told: Value, task: Task | None, classes: Value | None) -> Dataset:
    fields = told.fields(("dataset", "variant", "fingerprint"))
    name, variant = fields["dataset"], fields.get("variant")
    try:
        dataset = load(name.text(), variant.text() if variant else "")
    except UsageError as error:
        name.refuse(str(error))
    except DataError as error:
        name.damaged(str(error))
    if task not in (None, dataset.task):
        told.refuse(f"{dataset.name} is {dataset.task}, not {task}")
    if classes is not None:
        classes.refuse("a dataset of okbench has its own")
    print_ = fields.get("fingerprint")
    if print_ and print_.text() != dataset.fingerprint:
        print_.damaged(f"the rows here are others: {dataset.fingerprint}, not {print_.text()}")
    return dataset


def _own_file(told: Value, task: Task) -> tuple[Any, NDArray[Any]]:
    """LIBSVM text, CSV and the like, with their labels."""
    fields = told.fields(("file", "target"))
    path, target = fields["file"].file(), fields.get("target")
    try:
        dataset = user_rows.read_user_rows(path, _column(target) if target else None, task).dataset
    except OkbenchError as error:
        told.damaged(str(error))
    return dataset.X, dataset.y


def _column(told: Value) -> int | str:
    return told.value if isinstance(told.value, str) else told.whole()


def _one_matrix(told: Value) -> tuple[Any, NDArray[Any]]:
    """A matrix of which one column is the target, the last unless `target` says another."""
    fields = told.fields(("file", "key", "target"))
    whole = Value({k: told.value[k] for k in ("file", "key")}, told.path, told.key).array(2)
    target = fields["target"].whole() if "target" in fields else whole.shape[1] - 1
    if target >= whole.shape[1]:
        fields["target"].damaged(f"the columns are 0 to {whole.shape[1] - 1}")
    return np.delete(whole, target, axis=1), whole[:, target]


def _arrays(told: Value) -> tuple[Any, NDArray[Any]]:
    fields = told.fields(("X", "y"), required=("X", "y"))
    X, y = fields["X"], fields["y"].array(1, "iufUS")
    is_sparse = isinstance(X.value, dict) and "values" in X.value
    rows = _sparse(X) if is_sparse else X.array(2)
    if rows.shape[0] != len(y):
        told.damaged(f"X has {rows.shape[0]} rows and y {len(y)}")
    return rows, y


def _sparse(told: Value) -> sp.csr_array:
    """Compressed sparse rows: row i has values[starts[i]:starts[i + 1]] in those columns."""
    fields = told.fields(_SPARSE, required=_SPARSE)
    values = fields["values"].array(1).astype(np.float64)
    columns, starts = fields["columns"].array(1, "iu"), fields["starts"].array(1, "iu")
    width = fields["width"].whole(1)
    try:
        matrix = sp.csr_array((values, columns, starts), shape=(len(starts) - 1, width))
        matrix.check_format()
    except ValueError as error:
        told.damaged(f"these are no sparse rows: {error}")
    matrix.sum_duplicates()
    return matrix


def _dataset(told: Value, X: Any, y: NDArray[Any], task: Task, classes: Value | None) -> Dataset:
    """Rows as every learner takes them."""
    X = X if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
    if not min(X.shape):
        told.damaged(f"rows of shape {X.shape} hold nothing")
    if task != "regression":
        y, names = _labelled(told, y, task, classes)
    elif classes is not None:
        classes.refuse("regression has no classes")
    elif y.dtype.kind not in "iuf":
        told.damaged(f"the targets are words ('{y[0]}'), not numbers")
    else:
        y, names = y.astype(np.float64), ()
    return Dataset("", X, y, task, names, fingerprint(X, y, names))


def _labelled(
    told: Value, y: NDArray[Any], task: Task, classes: Value | None
) -> tuple[NDArray[Any], tuple[Any, ...]]:
    """Labels, whole numbers where they can be, and their classes: those named, else those met."""
    y = whole_where_whole(y)
    if classes is None:
        names = tuple(np.unique(y).tolist())
    else:
        names = tuple(classes.array(1, "iuUS").tolist())
        strange = np.flatnonzero(~np.isin(y, names))
        if len(strange):
            row = strange[0]
            told.damaged(f"row {row}: label {y[row].item()!r} is none of the classes")
    if len(set(names)) < 2 or (task == "binary" and len(names) > 2):
        met = ", ".join(map(str, names[:8]))
        (classes or told).damaged(f"classes {met} do not make a {task} problem")
    return y, names
