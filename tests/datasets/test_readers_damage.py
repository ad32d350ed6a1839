"""Damaged and hostile files of arrays: every outcome is rows or a DataError with the file."""

from __future__ import annotations

import gzip
import io
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from okbench.base.config_nodes import parse_json
from okbench.base.errors import ConfigError, DataError
from okbench.datasets.catalogue.specs import DatasetSpec, FileSpec, ReaderSpec, VariantSpec
from okbench.datasets.prepare.preparation import prepare
from okbench.datasets.readers import parquet as parquet_reader
from okbench.datasets.readers.files import read_files
from okbench.datasets.readers.matlab import read_mat
from okbench.datasets.readers.multi_file_rows import MultiFileRows
from okbench.datasets.readers.numpy_files import array_of_npy, read_npy, read_npz
from okbench.datasets.user.user_rows import read_user_rows
from okbench.trials.replay.record_arrays import read_array
from tests.shared import SHARED

X = np.random.default_rng(0).standard_normal((6, 3))
Y = np.array([1, -1, 1, -1, 1, -1])
WORDS = np.array(["good", "bad", "good", "bad", "good", "ugly"])
VARIANTS = 400  # of each sound file; a sound file takes about a millisecond


def saved(save: Callable[..., None], *args: Any, **arrays: Any) -> bytes:
    box = io.BytesIO()
    save(box, *args, **arrays)
    return box.getvalue()


def parquet() -> bytes:
    frame = pd.DataFrame({"a": X[:, 0], "b": WORDS, "c": [1, 2, 3, 4, 5, 6], "y": Y})
    box = io.BytesIO()
    frame.to_parquet(box)
    return box.getvalue()


SOUND: dict[str, bytes] = {
    "dense.npy": saved(np.save, np.column_stack([X, Y])),
    "fortran.npy": saved(np.save, np.asfortranarray(np.column_stack([X, Y]).astype(">f4"))),
    "whole.npy": saved(np.save, np.column_stack([Y, Y, Y]).astype(np.int32)),
    "stored.npz": saved(np.savez, X=X, y=Y),
    "packed.npz": saved(np.savez_compressed, X=X, y=WORDS),
    "mixed.parquet": parquet(),
    "dense.mat": saved(scipy.io.savemat, {"X": X, "y": Y[:, None]}),
    "packed.mat": saved(scipy.io.savemat, {"X": X, "y": Y[:, None]}, do_compression=True),
    "sparse.mat": saved(scipy.io.savemat, {"X": sp.csc_matrix(np.round(X)), "y": Y[:, None]}),
    "old.mat": saved(scipy.io.savemat, {"X": X, "y": Y[:, None]}, format="4"),
}


def mutated(sound: bytes, draws: random.Random) -> bytes:
    """Bytes changed, cut, put in, left out, repeated, or numbers in the text made long."""
    content = bytearray(sound)
    for _ in range(draws.choice((1, 1, 1, 2, 5))):
        place = draws.randrange(len(content) + 1)
        span = draws.choice((1, 2, 4, 8, 40))
        match draws.randrange(8):
            case 0:
                content[place : place + 1] = bytes([draws.randrange(256)])
            case 1:
                content[place : place + 1] = bytes(
                    byte ^ (1 << draws.randrange(8)) for byte in content[place : place + 1]
                )
            case 2:
                del content[place:]
            case 3:
                content[place:place] = draws.randbytes(span)
            case 4:
                del content[place : place + span]
            case 5:
                content[place : place + span] = bytes(len(content[place : place + span]))
            case 6:
                content[place:place] = content[place : place + span]
            case 7:
                content[place : place + span] = b"\xff" * len(content[place : place + span])
        if not content:
            return b""
    return bytes(content)


def read_as_user(path: Path) -> None:
    read_user_rows(path)


def read_as_entry(path: Path) -> None:
    """A .mat file as an entry of the catalogue names its variables, prepared as well."""
    file = FileSpec("all", path.name, ".", ReaderSpec("mat", X="X", y="y"), path=str(path))
    entry = DatasetSpec("set", "binary", None, 2, {"all": file}, {})
    rows = MultiFileRows(read_files(entry, ["all"], lambda _: path))
    variant = VariantSpec("all", ("all",), task="multiclass", scale="[0,1]")
    list(prepare(path.name, rows, variant).blocks())


def read_as_record(path: Path) -> None:
    """As a record to be replayed names the array of a file beside it."""
    key = "" if path.suffix == ".npy" else ', "key": "X"'
    read_array(parse_json(f'{{"file": "{path.name}"{key}}}', "r.json", path.parent / "r.json"), 2)


READERS: dict[str, tuple[Callable[[Path], None], ...]] = {
    ".npy": (read_as_user, read_as_record),
    ".npz": (read_as_user, read_as_record),
    ".parquet": (read_as_user,),
    ".mat": (read_as_entry, read_as_record),
}


@pytest.mark.parametrize("name", SOUND)
def test_every_damaged_file_is_rows_or_a_data_error(tmp_path: Path, name: str) -> None:
    path, draws = tmp_path / name, random.Random(name)
    path.write_bytes(SOUND[name])
    for read in READERS[path.suffix]:
        read(path)
    messages = []
    for _ in range(VARIANTS):
        path.write_bytes(mutated(SOUND[name], draws))
        for read in READERS[path.suffix]:
            try:
                read(path)
            except DataError as error:
                messages.append(str(error))
    assert len(messages) > VARIANTS / 10
    assert [
        message for message in messages if name not in message and "r.json" not in message
    ] == []
    assert [message for message in messages if not message.isprintable()] == []


@pytest.mark.parametrize("count", [10**12, 10**30, -1])
@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_a_header_that_promises_more_than_the_file_holds_is_refused_with_both(
    tmp_path: Path, kind: str, count: int
) -> None:
    """Before anything is allocated: the process does not grow."""
    path = tmp_path / f"rows.{kind}"
    box = io.BytesIO()
    np.lib.format.write_array_header_2_0(
        box, {"descr": "<f8", "fortran_order": False, "shape": (count, 3)}
    )
    claims = box.getvalue() + bytes(48)
    if kind == "npz":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("X.npy", claims)
            archive.writestr("y.npy", SOUND["whole.npy"])
    else:
        path.write_bytes(claims)
    with pytest.raises(DataError, match=r"promises .* 48 follow"):
        read_as_user(path)
    with pytest.raises(DataError, match=r"promises .* 48 follow"):
        read_as_record(path)


HEADERS = {
    "no end of a bracket": b"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3",
    "no end of a text": b"{'descr': '<f8",
    "no Python": b"{'descr': <f8}",
    "a bad indentation": b"{'descr':\n  '<f8'}\n    x\n  y",
    "too many brackets": b"(" * 5000,
    "no dictionary": b"3",
    "another key": b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'x': 1}",
    "no such type": b"{'descr': '<q9', 'fortran_order': False, 'shape': (3,)}",
    "objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "values of no length": b"{'descr': '<U0', 'fortran_order': False, 'shape': (10000000000, 2)}",
    "a truth value": b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 3)}",
    "a byte that is no character": b"{'descr': '\xff'}",
    "a null byte": b"{'descr': '\x00'}",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_that_is_none_is_a_data_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rows.npy"
    header = HEADERS[kind] + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(99))
    for read in (read_as_user, read_as_record):
        with pytest.raises((DataError, ConfigError), match=r"rows\.npy"):
            read(path)


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    content = bytearray(SOUND["stored.npz"])
    for place in (content.find(b"PK\x03\x04") + 6, content.find(b"PK\x01\x02") + 8):
        content[place] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="is encrypted"):
        read_npz(path)


def test_a_member_that_is_no_array_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X", b"1 2 3")
        archive.writestr("y.npy", SOUND["whole.npy"])
    with pytest.raises(DataError, match="arrays X and y are needed; it holds y"):
        read_npz(path)
    with pytest.raises(DataError, match="holds no 'X'"):
        read_as_record(path)


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as member,
    ):
        for _ in range(1100):
            member.write(bytes(1 << 20))
    with pytest.raises(DataError, match="are the most"):
        read_as_record(path)


def test_a_parquet_file_of_too_many_equal_values_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    table = pa.table({f"x{n}": np.zeros(1 << 20, dtype=np.int8) for n in range(4)})
    pq.write_table(table, path)
    monkeypatch.setattr(parquet_reader, "_MOST_VALUES", 1 << 21)
    with pytest.raises(DataError, match="1,048,576 rows × 4 columns take"):
        read_as_user(path)


def test_places_outside_a_sparse_matrix_do_not_reach_compiled_code(tmp_path: Path) -> None:
    wrong = sp.csc_matrix(np.round(X))
    wrong.indices[0] = 2_000_000_000
    scipy.io.savemat(tmp_path / "rows.mat", {"X": wrong, "y": Y[:, None]})
    with pytest.raises(DataError, match=r"rows\.mat: not a \.mat file"):
        read_as_entry(tmp_path / "rows.mat")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_sparse_matrix_with_a_value_that_is_not_finite_is_refused(
    tmp_path: Path, value: float
) -> None:
    scipy.io.savemat(tmp_path / "rows.mat", {"X": sp.csc_matrix(X * value), "y": Y[:, None]})
    with pytest.raises(DataError, match="not a finite number"):
        read_as_entry(tmp_path / "rows.mat")


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_mat_files_are_read_as_scipy_reads_them(
    tmp_path: Path, compressed: bool, order: Any
) -> None:
    path, draws = tmp_path / "rows.mat", np.random.default_rng(1)
    made: dict[str, Any] = {
        f"{dtype}_{rows}_{columns}": np.array(
            draws.integers(0, 100, (rows, columns)).astype(dtype), order=order
        )
        for dtype in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1")
        for rows, columns in ((1, 1), (3, 4), (50, 1), (0, 2))
    }
    made |= {
        "sparse": sp.random(30, 20, 0.1, "csc", rng=draws),
        "empty": sp.csc_matrix((4, 5)),
        "truth": sp.random(30, 20, 0.1, "csc", rng=draws) > 0.5,
    }
    others = {"text": "words", "complex": np.eye(2) * 1j, "cube": np.zeros((2, 2, 2))}
    others |= {"cell": np.array([1, "a"], dtype=object), "struct": {"a": 1}}
    scipy.io.savemat(path, made | others, do_compression=compressed)
    (tmp_path / "rows.mat.gz").write_bytes(gzip.compress(path.read_bytes()))
    known = scipy.io.loadmat(path)
    for name in made:
        for found in (*read_mat(path, name), *read_mat(tmp_path / "rows.mat.gz", name)):
            assert found.dtype == np.float64
            if sp.issparse(found):
                assert (found != sp.csr_array(known[name])).nnz == 0
            else:
                assert np.array_equal(found, known[name])
    for name in others:
        with pytest.raises(DataError, match=f"'{name}' is no matrix of numbers"):
            read_mat(path, name)
    with pytest.raises(DataError, match=r"no variable 'spars'\. Did you mean 'sparse'\?"):
        read_mat(path, "spars")


@pytest.mark.shared("MATLAB's own files")
def test_the_published_mat_files_are_read_as_scipy_reads_them() -> None:
    compared = 0
    for path in sorted((SHARED / "data").rglob("*.mat")):
        try:
            held = scipy.io.whosmat(path)
        except ValueError:  # of another format under this name
            continue
        for name, _, kind in held:
            if kind == "struct":
                continue
            (found,) = read_mat(path, name)
            known = scipy.io.loadmat(path, variable_names=[name])[name]
            known = sp.csr_array(known) if sp.issparse(known) else known
            same = (found != known).nnz == 0 if sp.issparse(known) else (found == known).all()
            assert same, f"{path}: {name}"
            compared += 1
    assert compared > 20


def test_labels_may_be_a_sparse_matrix(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "rows.mat", {"X": X, "y": sp.csc_matrix(Y[:, None])})
    read_as_entry(tmp_path / "rows.mat")


def test_arrays_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    for dtype in ("<f8", ">f4", "<i2", ">u8", "|b1", "<U5", ">U3", "|S4", "<f2"):
        for array in (np.arange(6).reshape(2, 3), np.arange(6), np.array(3), np.empty((0, 2))):
            for order in ("C", "F"):
                made = np.array(array.astype(dtype), order=order)
                np.save(path, made)
                found = array_of_npy(path)
                assert found.dtype == made.dtype
                assert found.shape == made.shape
                assert np.array_equal(found, made)
                assert found.flags.writeable
    np.save(path, np.eye(3))
    assert read_npy(path).values.tolist() == np.eye(3).tolist()
