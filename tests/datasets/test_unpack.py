"""Compressed files and archives as streams."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from okbench.base.errors import FetchError
from okbench.datasets.unpack import limit, measure, open_unpacked, packing

TEXT = b"".join(b"%d 1:%d\n" % (row % 2, row * row) for row in range(3000))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    "": bytes,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_content_and_packing_show_in_the_first_bytes(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "rows"
    path.write_bytes(PACKERS[suffix](TEXT))
    assert packing(path) == suffix
    with open_unpacked(path) as file:
        assert file.read() == TEXT


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_file_is_measured_packed_and_unpacked(tmp_path: Path, suffix: str) -> None:
    path, packed = tmp_path / "rows", PACKERS[suffix](TEXT)
    path.write_bytes(packed)
    got = measure(path, limit(len(packed)))
    assert (got.bytes, got.content_bytes) == (len(packed), len(TEXT))
    assert got.sha256 == hashlib.sha256(packed).hexdigest()
    assert got.content_sha256 == hashlib.sha256(TEXT).hexdigest()
    assert got.md5 == hashlib.md5(packed).hexdigest()


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
def test_no_more_is_unpacked_than_the_limit(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[suffix](b"0" * 3_000_000))
    with pytest.raises(FetchError, match="more than the 1,000 bytes expected"):
        measure(path, 1000)


def test_two_compressed_streams_in_a_row_are_one_content(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(bz2.compress(b"one\n") + bz2.compress(b"two\n"))
    with open_unpacked(path) as file:
        assert file.read() == b"one\ntwo\n"
