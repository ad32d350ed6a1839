"""The functions that read what others wrote, each with small valid inputs to start from."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from okbench.base.config_nodes import parse_yaml, read_yaml
from okbench.base.shipped import shipped
from okbench.datasets.catalogue.entries import read_catalogue
from okbench.datasets.readers.binary import read_cifar, read_idx, read_norb
from okbench.datasets.readers.matlab import read_mat
from okbench.datasets.user.user_rows import read_user_rows
from okbench.papers.table_file import read_table
from okbench.reports.claims.claims_file import read_claims
from okbench.reports.guard.check import check
from okbench.reports.guard.merge import merge
from okbench.reports.tables.export import export
from okbench.trials.replay.record import read_record
from okbench.trials.store.files import Store
from okbench.trials.store.outcome_json import trial_of
from tests.chaos.mutations import mutated_bytes, mutated_json, to_text

_RESULTS = Path(__file__).parents[1] / "reports" / "results_files"


@dataclass(frozen=True)
class Target:
    """A reader. `mutant` makes one of the inputs into another, of the same kind or not."""

    name: str
    suffix: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    mutant: Callable[[random.Random, bytes, tuple[bytes, ...]], bytes] = mutated_bytes


def targets() -> tuple[Target, ...]:
    """All of them, in the order in which they take turns."""
    return (*_stored(), *_configured(), *_rows_as_text(), *_rows_in_binary())


def _stored() -> Iterator[Target]:
    files = tuple(_few_lines(_RESULTS / f"schema{schema}.jsonl") for schema in (1, 2))
    yield Target("store-bytes", ".jsonl", files, _read_store)
    yield Target("store-values", ".jsonl", files, _read_store, _line_mutant)
    yield Target("reports", ".jsonl", files, _report_store, _line_mutant)
    folder = shipped("configs") / "conformance"
    names = ("perceptron-binary", "fogd-regression", "rrf-binary")
    records = tuple(_small_record(folder / f"{name}.json") for name in names)
    yield Target("record-bytes", ".json", records, read_record)
    yield Target("record-values", ".json", records, read_record, _json_mutant)


def _configured() -> Iterator[Target]:
    folder = shipped("configs")
    tables = ("demo.yaml", "lsokl/figure3.yaml", "lsokl/table1.yaml", "rrf/figure1.yaml")
    texts = tuple((folder / name).read_bytes() for name in tables)
    yield Target("table-bytes", ".yaml", texts, lambda path: read_table(path, "made"))
    values = tuple(map(_as_json, texts))
    yield Target(
        "table-values", ".yaml", values, lambda path: read_table(path, "made"), _json_mutant
    )
    entries = read_yaml(shipped("datasets.yaml")).plain()
    catalogues = tuple(
        json.dumps({**entries, "datasets": {name: entries["datasets"][name]}}).encode()
        for name in list(entries["datasets"])[::6]
    )
    yield Target("datasets-bytes", ".yaml", catalogues, read_catalogue)
    yield Target("datasets-values", ".yaml", catalogues, read_catalogue, _json_mutant)
    claims = tuple((folder / "claims" / f"{paper}.yml").read_bytes() for paper in ("raker", "bkm"))
    yield Target("claims-bytes", ".yml", claims, read_claims)
    yield Target("claims-values", ".yml", tuple(map(_as_json, claims)), read_claims, _json_mutant)


def _rows_as_text() -> Iterator[Target]:
    libsvm = (b"+1 1:0.5 3:-2e-1\n-1 2:1\n+1 1:1 2:1 3:1 # x\n", b"1 0:1\n2 1:2.5\n3 qid:1 2:1\n")
    csv = (
        b"a,b,y\n1,2.5,yes\n-3,4e2,no\n0,0,yes\n",
        b"1 2 1\n3 4 -1\n5 6 1\n",
        b'"a";"b c";y\n1;red;0\n2;"blue";1\n3;red;1\n',
    )
    arff = (
        b"@relation r\n@attribute a numeric\n@attribute 'b c' {x,y}\n@attribute y {0,1}\n@data\n"
        b"1.5,x,0\n2,y,1\n% c\n3,x,1\n",
    )
    yield Target("libsvm", ".txt", libsvm, read_user_rows)
    yield Target("csv", ".csv", csv, read_user_rows)
    yield Target("csv-scaled", ".csv", csv, _read_scaled)
    yield Target("arff", ".arff", arff, read_user_rows)
    yield Target("packed", ".csv.gz", csv, read_user_rows, _packed_mutant)


def _rows_in_binary() -> Iterator[Target]:
    X = np.round(np.linspace(-1, 1, 24).reshape(8, 3), 2)
    y = np.array([1, -1, 1, 1, -1, 1, -1, -1])
    table = np.column_stack([X, y])
    npy = tuple(_saved(np.save, array) for array in (table, table.astype("f4"), X.T.copy()))
    words = np.where(y > 0, "a", "b")
    npz = tuple(
        _saved(save, X=X, y=of) for save, of in ((np.savez, y), (np.savez_compressed, words))
    )
    yield Target("npy", ".npy", npy, read_user_rows)
    yield Target("npz-bytes", ".npz", npz, read_user_rows)
    yield Target("npz-members", ".npz", npy, read_user_rows, _archive_mutant)
    mat = tuple(
        _saved(scipy.io.savemat, {"X": X, "y": y}, do_compression=packed)
        for packed in (False, True)
    )
    yield Target("mat", ".mat", mat, lambda path: read_mat(path, "X", "y"))
    idx = (b"\0\0\x08\x02\0\0\0\x04\0\0\0\x02" + bytes(range(8)),)
    yield Target("idx", ".idx", idx, read_idx)
    norb = (bytes.fromhex("554c3d1e 02000000 04000000 02000000 01000000") + bytes(range(8)),)
    yield Target("norb", ".mat", norb, read_norb)
    yield Target("cifar", ".bin", ((b"\x01" + bytes(3072)) * 2,), read_cifar)
    import pandas as pd

    frame = pd.DataFrame({"a": X[:, 0], "w": words, "y": y})
    parquet = (_saved(lambda file: frame.to_parquet(file, engine="pyarrow", index=False)),)
    yield Target("parquet", ".parquet", parquet, read_user_rows)


def _read_store(path: Path) -> object:
    contents = Store(path).read()
    return contents.standing(), contents.distinct_plans(), contents.disputed()


def _report_store(path: Path) -> None:
    """What is done with a results file from elsewhere, once it could be read."""
    contents = Store(path).read()
    merge([path], path.parent / "merged")
    export([path], "csv", path.parent / "made.csv")
    export([path], "parquet", path.parent / "made.parquet")
    export([path], "csv", path.parent / "made.csv", curves=True)
    if contents.standing():
        check("made", contents, contents)


def _read_scaled(path: Path) -> object:
    return read_user_rows(path, missing="mean", scale="running standard")


def _few_lines(path: Path) -> bytes:
    """The header, what stands before the outcomes, and one outcome with a short curve."""
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "outcome" in record:
            record["outcome"]["curve"] = record["outcome"]["curve"][:2]
            kept.append(json.dumps(record))
            break
        kept.append(line)
    return "\n".join([*kept, ""]).encode()


def _small_record(path: Path) -> bytes:
    record = json.loads(path.read_text(encoding="utf-8"))
    return json.dumps(record).encode()


def _as_json(text: bytes) -> bytes:
    """YAML as JSON, which is YAML as well and whose values are easily changed."""
    return json.dumps(parse_yaml(text.decode(), "").plain()).encode()


def _saved(save: Callable[..., object], *given: Any, **named: Any) -> bytes:
    file = io.BytesIO()
    save(file, *given, **named)
    return file.getvalue()


_LABELS = _saved(np.save, np.array([1, -1, 1, 1, -1, 1, -1, -1]))


def _json_mutant(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    return to_text(draw, mutated_json(draw, data))


def _line_mutant(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """One line changed as JSON; half of the changed trials get the id that belongs to them."""
    lines = data.splitlines()
    at = draw.randrange(len(lines))
    record = mutated_json(draw, lines[at])
    if draw.random() < 0.5:
        with suppress(Exception):  # a trial that nothing can be said of
            record["outcome"]["id"] = trial_of(record["outcome"]["trial"]).id
    lines[at] = to_text(draw, record)
    return b"\n".join([*lines, b""])


def _packed_mutant(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    packed = gzip.compress(data, mtime=0)
    return mutated_bytes(draw, packed, (packed,))


def _archive_mutant(draw: random.Random, data: bytes, others: tuple[bytes, ...]) -> bytes:
    """An archive that is whole, of members that are not."""
    import zipfile

    file = io.BytesIO()
    with zipfile.ZipFile(
        file, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as made:
        for name in ("X", "y"):
            ending = draw.choice((".npy", ".npy", ".npy", ".npy", "", ".txt"))
            member = data if name == "X" else _LABELS
            if draw.random() < 0.6:
                member = mutated_bytes(draw, member, others)
            made.writestr(name + ending, member)
    return file.getvalue()
