"""Where a file can come from: the addresses of its entry, or a mirror instead of them.

A mirror is a folder or an address laid out like the data folder, or a folder with all files side by
side. It may hold a file plain or compressed, or the archive the file is a member of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from okbench.base.errors import FetchError
from okbench.datasets.catalogue.specs import FileSource, FileSpec, is_plain_name
from okbench.datasets.data_folder import PACKED, at_home
from okbench.datasets.fetch.answer import Answer, Patience, TryAgainError

MANIFEST = "manifest.json"
MOST_MANIFEST = 16 << 20  # bytes; a bundle of every set has 20 kB


@dataclass(frozen=True)
class Place:
    """A local path or an address, and what is known of the bytes there."""

    source: FileSource  # its url is a path when `local`
    local: bool = False
    official: bool = False
    promised: str = ""  # sha256 in the manifest of a bundle

    @property
    def address(self) -> str:
        return self.source.url

    @property
    def path(self) -> Path:
        return Path(self.source.url)


@dataclass(frozen=True)
class Mirror:
    """A folder or an address, and the hashes its manifest promises, if it has one."""

    root: str
    promised: Mapping[str, str]

    @property
    def local(self) -> bool:
        return not self.root.startswith(("http://", "https://"))

    def places(self, file: FileSpec) -> Iterator[Place]:
        """Every place of the mirror where the file could be, the most likely first."""
        names = [(f"{file.name}{suffix}", FileSource("")) for suffix in self._suffixes(file)]
        names += [
            (source.name, source)
            for source in file.sources
            if source.member and is_plain_name(source.name)
        ]
        for folder in (f"{file.folder}/", ""):
            for name, source in names:
                key = folder + name
                if self.promised and key not in self.promised:
                    continue
                url = self._join(key)
                if self.local and not Path(url).is_file():
                    continue
                promised = self.promised.get(key, "")
                yield Place(replace(source, url=url), local=self.local, promised=promised)

    def _suffixes(self, file: FileSpec) -> tuple[str, ...]:
        """Endings to look for, those of the official addresses first."""
        served = [suffix for suffix in PACKED if any(s.url.endswith(suffix) for s in file.sources)]
        first = [suffix for suffix in served if suffix]
        return tuple(dict.fromkeys([*first, *PACKED]))

    def _join(self, key: str) -> str:
        if self.local:
            return str(Path(self.root) / key)
        return f"{self.root.rstrip('/')}/{quote(key)}"


def open_mirror(root: str, patience: Patience) -> Mirror:
    """A mirror by folder or address; its manifest is read when there is one."""
    if root.startswith(("http://", "https://")):
        return Mirror(root, _promised(_manifest_at(root, patience), root))
    folder = at_home(root, "mirror")
    try:
        if not folder.is_dir():
            raise FetchError(
                f"mirror '{root}': no such folder; give a folder or an http(s):// address"
            )
        manifest = folder / MANIFEST
        content = _bounded(manifest, root) if manifest.is_file() else b""
    except OSError as error:
        raise FetchError(f"mirror '{root}': cannot be read ({error.strerror})") from error
    return Mirror(str(folder), _promised(content, root))


def official_places(file: FileSpec) -> Iterator[Place]:
    """The addresses of the entry, in its order."""
    return (Place(source, official=True) for source in file.sources)


def _promised(manifest: bytes, root: str) -> dict[str, str]:
    if not manifest:
        return {}
    try:
        files = json.loads(manifest.decode("utf-8"))["files"]
        return {str(key): str(about["sha256"]) for key, about in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FetchError(
            f"mirror '{root}': its {MANIFEST} is damaged; copy the bundle again"
        ) from error


def _bounded(manifest: Path, root: str) -> bytes:
    with manifest.open("rb") as file:
        content = file.read(MOST_MANIFEST + 1)
    return _not_too_long(content, root)


def _manifest_at(root: str, patience: Patience) -> bytes:
    content = b""
    address = f"{root.rstrip('/')}/{MANIFEST}"
    try:
        with Answer(address, {"User-Agent": "okbench"}, patience) as answer:
            if answer.status == 200:
                for piece in answer.pieces():
                    content = _not_too_long(content + piece, root)
    except TryAgainError as error:
        raise FetchError(f"mirror '{root}': its {MANIFEST} is not reached ({error})") from error
    return content


def _not_too_long(content: bytes, root: str) -> bytes:
    if len(content) > MOST_MANIFEST:
        raise FetchError(f"mirror '{root}': its {MANIFEST} is longer than {MOST_MANIFEST:,} bytes")
    return content
