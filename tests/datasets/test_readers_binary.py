from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from okbench.base.errors import DataError
from okbench.datasets.readers.binary import read_cifar, read_idx, read_norb
from okbench.datasets.readers.matlab import read_mat

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
IDX = b"\0\0\x08\x03" + struct.pack(">3I", 2, 3, 4) + PIXELS.tobytes()
NORB = struct.pack("<2I3I", 0x1E3D4C55, 3, 2, 3, 4) + PIXELS.tobytes()
CIFAR = bytes([3]) + bytes(3072) + bytes([9]) + bytes([255]) * 3072


def held(folder: Path, raw: bytes) -> Path:
    (folder / "file").write_bytes(raw)
    return folder / "file"


def test_idx_images_and_labels_are_read(tmp_path: Path) -> None:
    assert np.array_equal(read_idx(held(tmp_path, gzip.compress(IDX))), PIXELS.reshape(2, 12))
    labels = b"\0\0\x08\x01" + struct.pack(">I", 3) + bytes([7, 0, 9])
    assert read_idx(held(tmp_path, labels)).tolist() == [[7], [0], [9]]


def test_norb_images_and_labels_are_read(tmp_path: Path) -> None:
    assert np.array_equal(read_norb(held(tmp_path, NORB)), PIXELS.reshape(2, 12))
    # a vector still carries three sizes
    labels = struct.pack("<2I3I2i", 0x1E3D4C54, 1, 2, 1, 1, 4, 0)
    assert read_norb(held(tmp_path, labels)).tolist() == [[4], [0]]


def test_cifar_batches_are_read(tmp_path: Path) -> None:
    pixels, labels = read_cifar(held(tmp_path, CIFAR))
    assert labels.tolist() == [3, 9]
    assert (pixels.shape, pixels[1].min()) == ((2, 3072), 255)


@pytest.mark.parametrize(
    ("reader", "raw", "message"),
    [
        (read_idx, b"", "not an IDX file"),
        (read_idx, b"PNG.", "not an IDX file"),
        (read_idx, IDX[:-1], "ends 1 bytes too early"),
        (read_idx, IDX + b"x", "more than the 24 bytes"),
        (read_idx, b"\0\0\x0e\x03" + struct.pack(">3I", *[2**31] * 3), "promises"),
        (read_norb, NORB[:6], "too early"),
        (read_norb, b"x" * 40, "not a NORB matrix"),
        (read_norb, NORB[:-3], "ends 3 bytes too early"),
        (read_cifar, b"", "no whole number of 3073-byte rows"),
        (read_cifar, CIFAR[:-1], "no whole number of 3073-byte rows"),
        (read_cifar, bytes([10]) + bytes(3072), "row 0 has the label 10"),
    ],
)
def test_what_is_wrong_is_reported(
    tmp_path: Path, reader: object, raw: bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        reader(held(tmp_path, raw))  # type: ignore[operator]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(raw=st.binary(max_size=80), head=st.sampled_from([b"", IDX[:4], NORB[:8], b"MATLAB 5.0 "]))
@pytest.mark.filterwarnings("ignore")
def test_any_bytes_are_rows_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, raw: bytes
) -> None:
    path = held(tmp_path_factory.getbasetemp(), head + raw)
    for reader in (read_idx, read_norb, read_cifar, lambda path: read_mat(path, "X")):
        try:
            reader(path)
        except DataError:
            continue


def test_small_integers_of_a_mat_file_become_doubles(tmp_path: Path) -> None:
    path = tmp_path / "rows.mat"
    scipy.io.savemat(path, {"X": np.array([[200, 250]], np.uint8), "y": np.array([[-1]], np.int16)})
    X, y = read_mat(path, "X", "y")
    assert (X.dtype, y.dtype) == (np.float64, np.float64)
    assert (X**2).tolist() == [[40000, 62500]]


def test_a_missing_variable_is_reported_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.mat"
    scipy.io.savemat(path, {"ID_list": np.eye(2), "words": "text"})
    with pytest.raises(DataError, match=r"no variable 'ID_lst'\. Did you mean 'ID_list'"):
        read_mat(path, "ID_lst")
    with pytest.raises(DataError, match="'words' is no matrix of numbers"):
        read_mat(path, "words")
