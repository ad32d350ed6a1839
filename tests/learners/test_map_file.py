"""Files of isolation maps: what is read is what was written, and nothing else is taken."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from okbench.base.errors import DataError, OkbenchError
from okbench.learners.contract import Draws, NotBegun
from okbench.learners.isolation.map_file import load_map, save_map
from okbench.learners.isolation.maps import IsolationMap
from tests.learners.isolation_material import rows

PAGE = Path(__file__).parents[2] / "docs" / "ik.md"
MAPS = pytest.mark.parametrize("map", ["iforest", "nearest"])
FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def changed(path, **parts):
    """Write a file with other arrays, or with other parts of its head."""
    with np.load(path) as archive:
        arrays = dict(archive)
    head = json.loads(str(arrays["head"]))
    for name, value in parts.items():
        if name in arrays:
            arrays[name] = value(arrays[name])
        else:
            head[name] = value
    arrays["head"] = np.array(json.dumps(head))
    with path.open("wb") as file:
        np.savez(file, **arrays)


@MAPS
@FORMS
@pytest.mark.parametrize("n_rows", [150, 1])
@pytest.mark.parametrize("kind", ["real", "thirds", "repeated", "wide", "largest"])
def test_a_map_that_was_saved_has_the_same_cells(tmp_path, kind, n_rows, form, map):
    """With few rows and with points that are one row in several partitionings."""
    X = rows(kind)
    for psi in (4, 50):
        made = IsolationMap(partitionings=7, psi=psi, map=map).fit(form(X[:n_rows]), Draws(0))
        save_map(made, tmp_path / "made.npz")
        found = load_map(tmp_path / "made.npz")
        assert (found.size, found.remark, found.device) == (made.size, made.remark, made.device)
        assert vars(found).keys() | {"seconds"} == vars(made).keys()  # reading counts none
        assert found.partitionings == 7
        for asked in (np.asarray, sp.csr_array):
            np.testing.assert_array_equal(found.transform(asked(X)), made.transform(X))
        save_map(found, tmp_path / "again.npz")
        assert load_map(tmp_path / "again.npz").nbytes == made.nbytes


@MAPS
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"schema": 2}, "schema 2 of isolation maps; this okbench reads 1"),
        ({"what": "a model"}, "this is no file of an isolation map"),
        ({"map": "voronoi"}, "map: 'voronoi' is not one of iforest, nearest"),
        ({"psi": 1}, "psi: 1 is too small"),
        ({"size": 5000}, "a damaged map: size is above psi"),
        ({"size": 4}, "a damaged map: .* have the shape"),
        ({"partitionings": 3}, "a damaged map: .* have the shape"),
        ({"partitionings": "7"}, "partitionings: a whole number is expected"),
        ({"seed": 0}, "'seed' is not a key here"),
    ],
)
def test_a_file_of_another_schema_or_a_damaged_one_is_refused(tmp_path, map, parts, said):
    path = tmp_path / "map.npz"
    save_map(IsolationMap(partitionings=7, psi=16, map=map).fit(rows("real"), Draws(0)), path)
    changed(path, **parts)
    with pytest.raises(OkbenchError, match=said):
        load_map(path)


@pytest.mark.parametrize(
    ("map", "kind", "parts"),
    [
        ("nearest", "real", {"lines": lambda lines: lines + 10_000}),
        ("nearest", "real", {"lines": lambda lines: -lines}),
        ("nearest", "real", {"lines": lambda lines: lines.astype(float)}),
        ("nearest", "real", {"rows": lambda rows: rows * np.nan}),
        ("nearest", "real", {"rows": lambda rows: rows[:, 1:]}),
        ("nearest", "wide", {"indices": lambda indices: indices + 10_000}),
        ("nearest", "wide", {"starts": lambda starts: starts * 3}),
        ("nearest", "wide", {"lines": lambda lines: lines[:, 1:]}),
        ("iforest", "real", {"columns": lambda columns: columns + 6}),
        ("iforest", "real", {"leaves": lambda leaves: leaves + 16}),
        ("iforest", "wide", {"columns": lambda columns: columns - 2000}),
        ("iforest", "wide", {"thresholds": lambda thresholds: thresholds * np.nan}),
        ("iforest", "wide", {"thresholds": lambda thresholds: thresholds[:, 1:]}),
        ("iforest", "wide", {"thresholds": lambda thresholds: thresholds.astype(np.float32)}),
    ],
)
def test_arrays_that_would_lead_out_of_bounds_are_refused(tmp_path, map, kind, parts):
    path = tmp_path / "map.npz"
    save_map(
        IsolationMap(partitionings=7, psi=16, map=map).fit(sp.csr_array(rows(kind)), Draws(0)), path
    )
    changed(path, **parts)
    with pytest.raises(DataError, match=r"map\.npz.*: a damaged map"):
        load_map(path)


def test_what_is_no_map_is_refused(tmp_path):
    path = tmp_path / "map.npz"
    with pytest.raises(NotBegun, match="fit\\(\\) it first"):
        save_map(IsolationMap(), path)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        load_map(path)
    save_map(IsolationMap().fit(rows("real"), Draws(0)), path)
    whole = path.read_bytes()
    for data in (b"", b"psi = 16", whole[:1000], whole[:400] + bytes(400) + whole[800:]):
        path.write_bytes(data)
        with pytest.raises(DataError, match="no file of an isolation map, or a damaged one"):
            load_map(path)
    with path.open("wb") as file:
        np.save(file, rows("real"))
    with pytest.raises(DataError, match="no file of an isolation map, or a damaged one"):
        load_map(path)
    with path.open("wb") as file:
        np.savez(file, rows=rows("real"))
    with pytest.raises(DataError, match="this is no file of an isolation map"):
        load_map(path)


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    """The map before linear learners, and its file."""
    monkeypatch.chdir(tmp_path)
    found = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL):
        exec(block, found)
    np.testing.assert_array_equal(found["again"], found["cells"])
    for learner in (found["machine"], found["online"]):
        assert learner.score(found["features"], found["labels"]) > 0.85
