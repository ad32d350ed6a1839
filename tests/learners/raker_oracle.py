"""The recorded runs of AdaRaker's released program, when ../shared is here."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.io
import scipy.linalg

from okbench.learners.contract import Problem, RecordedDraws
from tests.shared import SHARED

FOLDER = SHARED / "oracle" / "raker"
SETS = {"twitter6000": "TwitterData", "device": "DeviceData", "movement": "MovementData"}
FEATURES_OF_ALL = "ada_twitter6000_s1"


def read(name: str) -> tuple[dict[str, Any], Any, Any, Problem]:
    """A record, its rows and targets in time order, and their problem."""
    record = _held(name)
    kind, dataset = name.split("_")[:2]
    held = scipy.io.loadmat(SHARED / "data" / "adaraker-mat" / f"{SETS[dataset]}.mat")
    X, y = np.ascontiguousarray(held["X"].T), held["y"].ravel().astype(np.float64)
    X, y = X[: len(record["prediction"])], y[: len(record["prediction"])]
    if kind == "adalog":
        return record, X, y, Problem("binary", X.shape[1], (-1, 1), len(y))
    return record, X, y, Problem("regression", X.shape[1], (), len(y))


def drawn(record: dict[str, Any]) -> RecordedDraws:
    """The draws behind the recorded features: directions, completed to orthogonal matrices, and
    lengths without the factor of the width."""
    features = record.get("features", _held(FEATURES_OF_ALL)["features"])
    directions, lengths = [], []
    for rows, width in zip(features, record["sigma"], strict=True):
        norms = np.linalg.norm(rows, axis=1)
        lengths.append((norms / width)[:, np.newaxis])
        for first in range(0, len(rows), rows.shape[1]):
            units = (rows / norms[:, np.newaxis])[first : first + rows.shape[1]]
            if len(units) < rows.shape[1]:
                units = np.vstack([units, scipy.linalg.null_space(units).T])
            directions.append(units)
    return RecordedDraws(
        named={("lengths", "normals"): lengths, ("directions", "orthogonal"): directions}
    )


def curve(costs: Any) -> Any:
    """The mean cost after rounds 1, 11, 21, …"""
    return (np.cumsum(costs) / np.arange(1, len(costs) + 1))[::10]


def _held(name: str) -> dict[str, Any]:
    with np.load(FOLDER / f"{name}.npz") as held:
        return {key: held[key] for key in held.files}
