"""Compressed files and archives as streams."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from okbench.base.errors import FetchError
from okbench.datasets.unpack import limit, measure, open_unpacked, packing
from okbench.datasets.unpack_z import CompressError, open_z
from tests.shared import SHARED

TEXT = b"".join(b"%d 1:%d\n" % (row % 2, row * row) for row in range(3000))


def compress_z(content: bytes, widest: int = 16, clear_at: int | None = None) -> bytes:
    """Unix compress, written down from its format: codes in groups of eight."""
    table = {bytes([value]): value for value in range(256)}
    out, group, bits, used = bytearray(b"\x1f\x9d" + bytes([0x80 | widest])), [], 9, 257

    def flush() -> None:
        packed = sum(code << place * bits for place, code in enumerate(group))
        size = bits if len(group) == 8 else -(-len(group) * bits // 8)
        out.extend(packed.to_bytes(size, "little"))
        group.clear()

    def pad_and_widen(to: int) -> None:
        nonlocal bits
        if group:
            group.extend([0] * (8 - len(group)))
            flush()
        bits = to

    def emit(code: int) -> None:
        group.append(code)
        if len(group) == 8:
            flush()

    word, first = b"", True
    for place in range(len(content)):
        longer = word + content[place : place + 1]
        if longer in table:
            word = longer
            continue
        emit(table[word])
        if not first and used < 1 << widest:
            used += 1
        first = False
        if used >= 1 << bits and bits < widest:
            pad_and_widen(bits + 1)
        if len(table) + 1 < 1 << widest:
            table[longer] = len(table) + 1
        word = content[place : place + 1]
        if clear_at is not None and place == clear_at:
            emit(256)
            pad_and_widen(9)
            table = {bytes([value]): value for value in range(256)}
            used, first = 257, True
    if word:
        emit(table[word])
    if group:
        flush()
    return bytes(out)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".bz2": bz2.compress,
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".Z": compress_z,
    "": bytes,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_content_and_packing_are_told_by_the_first_bytes(tmp_path: Path, suffix: str) -> None:
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


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz", ".Z"])
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


@given(content=st.binary(max_size=2000), widest=st.integers(10, 16))
@example(content=bytes(range(256)) * 40, widest=10)
@example(content=bytes(5000), widest=12)
def test_unix_compress_round_trip(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, widest: int
) -> None:
    path = tmp_path_factory.mktemp("z") / "rows.Z"
    path.write_bytes(compress_z(content, widest))
    with open_z(path) as file:
        assert file.read() == content


def test_unix_compress_starts_afresh_at_a_clear_code(tmp_path: Path) -> None:
    path = tmp_path / "rows.Z"
    path.write_bytes(compress_z(TEXT, clear_at=20_000))
    with open_z(path) as file:
        assert file.read() == TEXT


@given(damage=st.binary(min_size=1, max_size=300))
def test_a_damaged_z_file_raises_or_ends(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes
) -> None:
    path = tmp_path_factory.mktemp("z") / "rows.Z"
    path.write_bytes(b"\x1f\x9d\x90" + damage)
    with open_z(path) as file, contextlib.suppress(CompressError):
        assert len(file.read()) < 1 << 24


def test_a_z_file_with_impossible_codes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.Z"
    path.write_bytes(b"\x1f\x9d\x9f" + b"rows")
    with open_z(path) as file, pytest.raises(CompressError, match=r"not a \.Z file"):
        file.read()


@pytest.mark.shared("UCI's own .Z file")
def test_a_published_z_file_has_its_published_hash() -> None:
    got = measure(SHARED / "data" / "shuttle" / "shuttle.trn.Z", 2_000_000)
    expected = "87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a"
    assert got.content_sha256 == expected
