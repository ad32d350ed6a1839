"""A value of a record's JSON that knows its file and key, so that each refusal can name them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.lib.format import read_array
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from okbench.base.errors import ConfigError, DataError, did_you_mean

_KINDS = {
    "iu": "whole numbers",
    "iuf": "numbers",
    "iuUS": "whole numbers or words",
    "iufUS": "numbers or words",
}
_MOST = 2**53  # from here on not every whole number has a float


@dataclass(frozen=True)
class Value:
    """A JSON value, the record it stands in, and its key (`rows.X`)."""

    value: Any
    path: Path
    key: str = ""

    @property
    def where(self) -> str:
        """`file: key`, as messages begin."""
        return f"{self.path}: {self.key}" if self.key else str(self.path)

    def fields(self, known: Collection[str], required: Collection[str] = ()) -> dict[str, Value]:
        """The members of an object; unknown and missing keys are refused."""
        if not isinstance(self.value, dict):
            self.refuse(f"an object with {', '.join(known)} is expected, not {_shown(self.value)}")
        for key in self.value:
            if key not in known:
                self.refuse(f"no key '{key}'.{did_you_mean(key, known)} Known: {', '.join(known)}")
        for key in required:
            if key not in self.value:
                self.refuse(f"the key '{key}' is missing")
        return self.members()

    def members(self) -> dict[str, Value]:
        """The members of an object of any keys."""
        if not isinstance(self.value, dict):
            self.refuse(f"an object is expected, not {_shown(self.value)}")
        return {key: self._under(key, value) for key, value in self.value.items()}

    def elements(self) -> list[Value]:
        """The elements of a list; of anything else, itself."""
        if not isinstance(self.value, list):
            return [self]
        return [self._under(str(place), value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.refuse(f"text is expected, not {_shown(self.value)}")
        return str(self.value)

    def whole(self, at_least: int = 0) -> int:
        """A whole number."""
        if type(self.value) is not int or self.value < at_least:
            self.refuse(f"a whole number from {at_least} on is expected, not {_shown(self.value)}")
        return int(self.value)

    def number(self) -> float:
        """A number; a whole one is a number too."""
        if type(self.value) not in (int, float):
            self.refuse(f"a number is expected, not {_shown(self.value)}")
        return float(self.value)

    def array(self, axes: int, kinds: str = "iuf") -> NDArray[Any]:
        """Numbers written here, or those of `{"file": ..., "key": ..., "index": ...}`."""
        found = self._inline() if isinstance(self.value, list) else self._from_file()
        if kinds == "iu":
            found = whole_where_whole(found)
        if found.dtype.kind not in kinds and found.size:
            self.damaged(f"{_KINDS[kinds]} are expected, not {found.dtype}")
        if found.ndim != axes:
            self.damaged(f"an array of {axes} axes is expected, not one of shape {found.shape}")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            place = np.argwhere(~np.isfinite(found))[0].tolist()
            self.damaged(f"the number at {place} is not finite")
        return found

    def file(self) -> Path:
        """The path of a file named beside the record."""
        path = self.path.parent / self.text()
        if not path.is_file():
            self.damaged(f"{path} is not here")
        return path

    def refuse(self, message: str) -> NoReturn:
        """The record is not what it should be."""
        raise ConfigError(f"{self.where}: {message}")

    def damaged(self, message: str) -> NoReturn:
        """The numbers it names are not what they should be."""
        raise DataError(f"{self.where}: {message}")

    def _under(self, key: str, value: Any) -> Value:
        return Value(value, self.path, f"{self.key}.{key}" if self.key else key)

    def _inline(self) -> NDArray[Any]:
        try:
            found = np.array(self.value)
        except ValueError:
            self.refuse("the lists in it are of different lengths")
        if found.dtype.kind not in "iufUS":
            self.refuse("numbers, or words, are expected in the list")
        return found

    def _from_file(self) -> NDArray[Any]:
        fields = self.fields(("file", "key", "index"), required=("file",))
        path = fields["file"].file()
        found = _read(fields["file"], path, fields.get("key"))
        if "index" not in fields:
            return found
        index = fields["index"].whole()
        if index >= len(found):
            self.damaged(f"no index {index}: {path} holds {len(found)} of them")
        return np.asarray(found[index])


def whole_where_whole(values: NDArray[Any]) -> NDArray[Any]:
    """Floating values as whole numbers if they all are; MATLAB keeps its whole numbers so."""
    if values.dtype.kind != "f" or not (np.abs(values) < _MOST).all():
        return values
    return values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values


def read_json(path: Path) -> Value:
    """The whole of a JSON file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start})"
        ) from error
    try:
        told = json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_json, parse_int=_not_too_large
        )
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error
    return Value(told, path)


def _once(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(k for k in keys if keys.count(k) > 1)}' stands twice")
    return members


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number in JSON")


def _not_too_large(digits: str) -> int:
    number = int(digits)
    if abs(number) > _MOST:
        raise ValueError(f"{digits[:20]} is too large a whole number")
    return number


def _read(named: Value, path: Path, key: Value | None) -> NDArray[Any]:
    """An array of a .npy, .npz or .mat file; only the last two have keys."""
    if path.suffix not in (".npy", ".npz", ".mat"):
        named.refuse(f"{path}: arrays come from .npy, .npz and .mat files")
    if path.suffix == ".npy" and key is not None:
        key.refuse(f"{path} is one array; only .npz and .mat files have keys")
    if path.suffix != ".npy" and key is None:
        named.refuse(f"the key of the array in {path} is missing beside it")
    if path.suffix == ".mat" and key:
        return _read_mat(path, key)
    try:
        with path.open("rb") as file:
            return _read_npz(path, file, key) if key else read_array(file, allow_pickle=False)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{named.where}: {path} cannot be read ({error})") from error


def _read_npz(path: Path, file: BinaryIO, key: Value) -> NDArray[Any]:
    with NpzFile(file, allow_pickle=False) as held:
        if key.text() not in held.files:
            hint = did_you_mean(key.text(), held.files)
            key.damaged(f"{path} holds no '{key.text()}'.{hint} It holds {', '.join(held.files)}")
        return np.asarray(held[key.text()])


def _read_mat(path: Path, key: Value) -> NDArray[Any]:
    from okbench.datasets.readers.matlab import read_mat

    try:
        (found,) = read_mat(path, key.text())
    except DataError as error:
        key.damaged(str(error))
    return found if isinstance(found, np.ndarray) else np.asarray(found.toarray())


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 40 else f"{text[:36]} …"
