"""Offline bundles: held files and a manifest in a folder that serves as a mirror elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from okbench.base.errors import FetchError
from okbench.base.locks import locked
from okbench.base.quantities import now
from okbench.base.whole_files import make_folder, replacing
from okbench.datasets.catalogue.specs import FileSpec
from okbench.datasets.data_folder import record_of
from okbench.datasets.fetch.places import MANIFEST

_PIECE = 1 << 20


def add_to_bundle(file: FileSpec, path: Path, bundle: Path, check_stop: Callable[[], None]) -> Path:
    """Copy a held file, check the copy, and enter it in the bundle's manifest."""
    record = record_of(file)
    assert record is not None, f"{path} was verified"
    target = bundle / file.folder / path.name
    make_folder(target.parent)
    if not (target.is_file() and _sha256(target, check_stop) == record.sha256):
        _copy_checked(path, target, record.sha256, check_stop)
    about = {
        "sha256": record.sha256,
        "bytes": record.bytes,
        "content_sha256": record.content_sha256,
    }
    with locked(bundle / f".{MANIFEST}.lock", check_stop):
        _enter(bundle / MANIFEST, f"{file.folder}/{path.name}", about)
    return target


def _copy_checked(path: Path, target: Path, sha256: str, check_stop: Callable[[], None]) -> None:
    with path.open("rb") as read, replacing(target) as copy:
        while piece := read.read(_PIECE):
            check_stop()
            copy.write(piece)
        copy.flush()
        if _sha256(Path(copy.name), check_stop) != sha256:
            raise FetchError(f"{path}: changed since it was verified; fetch it again")


def _enter(manifest: Path, key: str, about: dict[str, Any]) -> None:
    try:
        known = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
        files = {**known.get("files", {}), key: about}
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise FetchError(f"{manifest}: damaged; delete it, then make the bundle again") from error
    bundle = {"made_by": "okbench", "changed": now(), "files": dict(sorted(files.items()))}
    with replacing(manifest) as file:
        file.write((json.dumps(bundle, indent=1) + "\n").encode())


def _sha256(path: Path, check_stop: Callable[[], None]) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            check_stop()
            digest.update(piece)
    return digest.hexdigest()
