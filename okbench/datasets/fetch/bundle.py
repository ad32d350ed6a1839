"""Offline bundles: held files and a manifest in a folder that serves as a mirror elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from okbench.base.errors import FetchError
from okbench.datasets.cache import locked, now, record_of, write_text
from okbench.datasets.catalogue.specs import FileSpec
from okbench.datasets.fetch.places import MANIFEST

_PIECE = 1 << 20


def add_to_bundle(file: FileSpec, path: Path, bundle: Path, tick: Callable[[], None]) -> Path:
    """Copy a held file, check what was written, and enter it in the bundle's manifest."""
    record = record_of(file)
    assert record is not None, f"{path} was verified"
    target = bundle / file.folder / path.name
    target.parent.mkdir(parents=True, exist_ok=True)
    if not (target.is_file() and _sha256(target, tick) == record.sha256):
        _copy_checked(path, target, record.sha256, tick)
    about = {
        "sha256": record.sha256,
        "bytes": record.bytes,
        "content_sha256": record.content_sha256,
    }
    with locked(bundle / f".{MANIFEST}.lock", tick):
        _enter(bundle / MANIFEST, f"{file.folder}/{path.name}", about)
    return target


def _copy_checked(path: Path, target: Path, sha256: str, tick: Callable[[], None]) -> None:
    new = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        with path.open("rb") as read, new.open("wb") as write:
            while piece := read.read(_PIECE):
                tick()
                write.write(piece)
        if _sha256(new, tick) != sha256:
            raise FetchError(f"{path}: changed since it was checked; fetch it again")
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)


def _enter(manifest: Path, key: str, about: dict[str, Any]) -> None:
    try:
        known = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
        files = {**known.get("files", {}), key: about}
    except (ValueError, AttributeError, TypeError) as error:
        raise FetchError(f"{manifest}: damaged; delete it, then make the bundle again") from error
    bundle = {"made_by": "okbench", "changed": now(), "files": dict(sorted(files.items()))}
    write_text(manifest, json.dumps(bundle, indent=1) + "\n")


def _sha256(path: Path, tick: Callable[[], None]) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            tick()
            digest.update(piece)
    return digest.hexdigest()
