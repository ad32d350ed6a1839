"""Write a trial as a record that any implementation can run.

Nothing in it refers to okbench's generators: it holds rows, order and draws as numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okbench.base.errors import OkbenchError, StoreError, UsageError
from okbench.base.whole_files import make_folder, replacing
from okbench.datasets.dataset_types import Dataset
from okbench.learners.registry import find
from okbench.papers.table_types import Table
from okbench.protocols.contract import RowCounts
from okbench.protocols.registry import ONE_PASS, PROTOCOLS
from okbench.trials.plan.options import Options
from okbench.trials.plan.planning import Load, trials_by_cell
from okbench.trials.plan.seeds import draws, row_order, with_seed
from okbench.trials.replay.record import SCHEMA, Record, Tolerance
from okbench.trials.replay.replaying import Replayed, replay
from okbench.trials.run.block_sizes import ticks
from okbench.trials.store.outcome_json import setting_json, to_bytes
from okbench.trials.trial_types import Outcome, Trial

Place = Callable[[str, NDArray[Any]], Any]  # an array's name and numbers → what stands for it


def chosen_trial(
    table: Table,
    load: Load,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    repetition: int,
    seed: int = 0,
) -> tuple[str, Trial]:
    """The one trial of these names, and its learner's label; the repetition counts from 0."""
    if repetition < 0:
        raise UsageError(f"trial: 0 or more, not {repetition}")
    options = Options(datasets=datasets, learners=learners, repetitions=(repetition,), seed=seed)
    cells = trials_by_cell(table, load, options)
    if len(cells) > 1:
        known = ", ".join(f"{row} × {label}" for row, label in cells)
        raise UsageError(f"{table.name}: a record is of one trial, and this names several: {known}")
    (((_, label), (trial,)),) = cells.items()
    return label, trial


def file_name(table: Table, label: str, trial: Trial) -> str:
    """What a record is called when nobody says otherwise."""
    words = f"{table.name}-{trial.dataset}-{label}-{trial.repetition}"
    return re.sub(r"[^\w.+=-]+", "-", words) + ".json"


def ran(trial: Trial, dataset: Dataset, path: Path) -> Replayed:
    """The run of a trial, to be written to that path."""
    kind = PROTOCOLS[trial.protocol]
    if not kind.is_one_pass and not kind.needs_test_rows:
        raise UsageError(
            f"only {ONE_PASS} trials and those with test rows can be recorded, not {kind.name}"
        )
    if path.suffix != ".json":
        raise UsageError(
            f"{path}: a record's name ends in .json; its arrays go to a .npz beside it"
        )
    settings = with_seed(find(trial.learner).load(), trial)
    order = row_order(trial, dataset)[:]
    test = None
    if kind.needs_test_rows:
        learned = kind.shuffled(RowCounts(dataset.n_rows, dataset.n_train))
        order, test = order[:learned], order[learned:]
    return replay(
        Record(
            path=path,
            dataset=dataset,
            order=order,
            learner=trial.learner,
            settings=tuple(sorted(settings.items())),
            draws=draws(trial),
            ticks=tuple(ticks(len(order), dataset.task)) if test is None else (),
            test=test,
        )
    )


def refuse_other(run: Replayed, outcome: Outcome | None) -> None:
    """Refuse a run that is not as the stored outcome of its trial says."""
    path = run.record.path
    if outcome is None or outcome.status != "done":
        ended = "was not run" if outcome is None else f"ended as {outcome.status}"
        raise StoreError(f"{path}: not written: the trial {ended} in these results")
    stored = outcome.total or 0
    bound = Tolerance().loss * abs(stored) if run.is_regression else 0
    if abs(run.total - stored) > bound or outcome.support != run.support_size:
        raise OkbenchError(
            f"{path}: not written: {run.total!r} with {run.support_size} supports now, stored "
            f"{stored!r} with {outcome.support}"
        )


def write_record(run: Replayed, note: str) -> None:
    """Write the record to its path, and its arrays to a .npz file of the same name beside it. An
    old record is removed when both new files are on the disk, before one of them gets its name, so
    that the text of a record never stands beside the arrays of another one."""
    path = run.record.path
    companion = path.with_suffix(".npz")
    arrays: dict[str, NDArray[Any]] = {}

    def beside(name: str, numbers: NDArray[Any]) -> dict[str, str]:
        arrays[name] = numbers
        return {"file": companion.name, "key": name}

    text = record_text(run, note, beside)
    try:
        make_folder(path.parent)
        with replacing(path) as text_file, replacing(companion) as array_file:
            text_file.write(text.encode())
            np.savez_compressed(array_file, **arrays)  # type: ignore[arg-type]
            for file in (text_file, array_file):
                file.flush()
                os.fsync(file.fileno())
            path.resolve().unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror or error})") from error


def record_text(run: Replayed, note: str, place: Place) -> str:
    """A run as the JSON text of a record that expects just that run."""
    record = run.record
    drawn = _drawn(run, place)
    page: dict[str, Any] = {
        "okbench": "record",
        "schema": SCHEMA,
        "note": note,
        "task": record.dataset.task,
        **({"classes": list(record.dataset.classes)} if record.dataset.classes else {}),
        "rows": _rows(record.dataset, place),
        "order": place("order", record.order),
        **({} if record.test is None else {"test": place("test", record.test)}),
        "learner": record.learner,
        "settings": {name: setting_json(value) for name, value in record.settings},
        **({"draws": drawn} if drawn else {}),
        **({"ticks": list(record.ticks)} if record.test is None else {}),
        "expect": _expected(run, place),
        **({"tolerance": other} if (other := _tolerance(record.tolerance)) else {}),
    }
    members = (to_bytes({key: value}).decode("utf-8").strip()[1:-1] for key, value in page.items())
    return "{\n  " + ",\n  ".join(members) + "\n}\n"


def _tolerance(tolerance: Tolerance) -> dict[str, int | float]:
    """What is not as usual."""
    usual = vars(Tolerance())
    return {name: value for name, value in vars(tolerance).items() if value != usual[name]}


def _drawn(run: Replayed, place: Place) -> dict[str, Any]:
    """The draws of a run. Of several matrices of normals each stands for one call; uniforms run on
    from call to call."""
    drawn: dict[str, Any] = {}
    if len(run.normals) == 1:
        drawn["normals"] = place("normals", run.normals[0])
    elif run.normals:
        drawn["normals"] = [place(f"normals.{i}", each) for i, each in enumerate(run.normals)]
    if len(run.uniforms):
        drawn["uniforms"] = place("uniforms", run.uniforms)
    for (name, kind), arrays in sorted(run.named.items()):
        each_call = [np.concatenate(arrays)] if kind == "uniforms" else arrays
        drawn.setdefault("named", {}).setdefault(name, {})[kind] = [
            place(f"draws.{name}.{kind}.{i}", array) for i, array in enumerate(each_call)
        ]
    return drawn


def _rows(dataset: Dataset, place: Place) -> Mapping[str, Any]:
    y = dataset.y if dataset.y.dtype.kind != "O" else dataset.y.astype(str)
    X: Any = dataset.X
    if isinstance(X, np.ndarray):
        return {"X": place("X", X), "y": place("y", y)}
    sparse = {"values": X.data, "columns": X.indices, "starts": X.indptr}
    held = {name: place(f"X_{name}", numbers) for name, numbers in sparse.items()}
    return {"X": {**held, "width": X.shape[1]}, "y": place("y", y)}


def _expected(run: Replayed, place: Place) -> Mapping[str, Any]:
    total = "summed_squared_loss" if run.is_regression else "mistakes"
    expected: dict[str, Any] = {total: run.total}
    if run.support_size is not None:
        expected["support_size"] = run.support_size
        if run.record.test is None:
            expected["support_curve"] = list(run.supports)
    if run.updates is not None:
        expected["updates"] = run.updates
    if run.record.test is None:
        expected["curve"] = list(run.curve)
    if len(run.uniforms) and run.removal_slots is not None:
        expected["removal_slots"] = place("removal_slots", run.removal_slots)
    if run.scores is not None:
        one_column = run.record.dataset.task != "multiclass"
        expected |= run.sums()
        expected["scores"] = place("scores", run.scores[:, 0] if one_column else run.scores)
    return expected
