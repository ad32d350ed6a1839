"""datasets.yaml as specs. Every bad entry is refused with its file and line.

    bases:      {libsvm: https://…/}            # short names for addresses: `libsvm:binary/a9a`
    redirects:  [host, …]                       # hosts a download may be redirected to
    datasets:
      a9a:
        task: binary                            # features, classes, cite, licence, page, aliases
        reader: libsvm                          # or {format: csv, header: true, target: -1, …}
        files:
          train: {name: a9a, rows: 32561, content_sha256: …, from: libsvm:binary/a9a}
        variants:                               # the first is the default
          lsokl: {use: [train], scale: none}

`default_named: true` says that tables write the name of the default variant; of all other datasets
they leave it out. The same rows by a different name have different permutations.
`hash: 2^18` in a variant hashes its columns to so many, with signs.
`prepared: {fitted: reason}` in a variant says where its preparation comes from, with a source of
`okbench.papers.provenance`; without it the rows are as the paper describes them.
`from` is an address, or `{url, member, sha256, md5, bytes}` with the checksum of what is served
there, or a list of either in order of preference. `content_sha256` is of the unpacked file;
`copies` are contents known to hold the same values in other bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.errors import ConfigError
from okbench.base.shared_types import Task
from okbench.datasets.catalogue.specs import (
    FORMATS,
    SCALES,
    TASKS,
    DatasetSpec,
    FileSource,
    FileSpec,
    Format,
    Label,
    PublishedOrders,
    ReaderSpec,
    Scale,
    Split,
    VariantSpec,
    is_plain_name,
)
from okbench.papers.provenance import AS_DESCRIBED, read_preparation
from okbench.papers.rows_file import read_buckets

_FILE_KEYS = (
    *("name", "folder", "from", "path", "reader", "rows"),
    *("content_sha256", "content_bytes", "copies"),
)
_ENTRY_KEYS = (
    *("task", "features", "classes", "aliases", "cite", "licence", "page", "by_hand"),
    *("embedded", "parameters", "reader", "folder", "files", "variants", "default_named"),
)
_VARIANT_KEYS = (
    *("use", "distinct", "first", "above", "labels", "scale", "split", "orders", "hash"),
    *("task", "features", "classes", "rows", "train", "note", "prepared"),
)
_READER_KEYS = tuple(option.name for option in fields(ReaderSpec))
_OWN_NAME = re.compile(r"[^/\\\0]+")  # of a user's own file, which stays where it is


@dataclass(frozen=True)
class Catalogue:
    """What one datasets file holds."""

    datasets: Mapping[str, DatasetSpec]
    redirects: frozenset[str] = frozenset()


def read_catalogue(path: Path, user_defined: bool = False) -> Catalogue:
    """Read a datasets file; `user_defined` marks entries that a user added."""
    return parse_catalogue(read_yaml(path), user_defined)


def parse_catalogue(node: Node, user_defined: bool = False) -> Catalogue:
    """The same for the content of a datasets file."""
    top = node.fields(("bases", "redirects", "datasets"), required=("datasets",))
    bases = {key: node.text() for key, node in top["bases"].items()} if "bases" in top else {}
    hosts = _texts(top.get("redirects"))
    entries = {
        name: _dataset(name, node, bases, user_defined) for name, node in top["datasets"].items()
    }
    _check_aliases(entries)
    return Catalogue(entries, frozenset(hosts))


def _check_aliases(entries: Mapping[str, DatasetSpec]) -> None:
    taken = {name.casefold(): name for name in entries}
    for name, entry in entries.items():
        for alias in entry.aliases:
            other = taken.setdefault(alias.casefold(), name)
            if other != name:
                raise ConfigError(f"{entry.where}: the alias '{alias}' already means '{other}'")


def _dataset(name: str, node: Node, bases: Mapping[str, str], user_defined: bool) -> DatasetSpec:
    if not is_plain_name(name):
        raise node.error(f"'{name}' is no name of a dataset: it names a folder as well")
    entry = node.fields(_ENTRY_KEYS, required=("task",))
    task = cast(Task, entry["task"].choice(TASKS))
    spec = DatasetSpec(
        name=name,
        task=task,
        features=_count(entry.get("features")),
        classes=_count(entry.get("classes")) or _usual_classes(task),
        files=_files(name, entry, bases),
        variants={},
        aliases=_texts(entry.get("aliases")),
        cite=_text(entry.get("cite")),
        licence=_text(entry.get("licence")),
        page=_text(entry.get("page")),
        by_hand=_texts(entry.get("by_hand")),
        embedded=_text(entry.get("embedded")),
        parameters=(
            {key: value.finite() for key, value in entry["parameters"].items()}
            if "parameters" in entry
            else {}
        ),
        user_defined=user_defined,
        default_named="default_named" in entry and entry["default_named"].boolean(),
        where=node.where,
    )
    if spec.embedded:
        return replace(spec, variants={"all": _whole(spec)})
    for file in spec.files.values():
        _known_files(
            [key for key in (file.reader.labels, file.reader.joined_with) if key], node, spec
        )
    if not spec.files:
        raise node.error(f"'{name}' has no files; add 'files: {{all: {{name: …, from: …}}}}'")
    if "variants" not in entry:
        return replace(spec, variants={"all": _variant("all", None, spec)})
    variants = {key: _variant(key, value, spec) for key, value in entry["variants"].items()}
    if not variants:
        raise entry["variants"].error("no variant stands here; add one, or remove the key")
    return replace(spec, variants=variants)


def _usual_classes(task: Task) -> int:
    return 2 if task == "binary" else 0


def _whole(spec: DatasetSpec) -> VariantSpec:
    return VariantSpec(
        "all",
        (),
        task=spec.task,
        features=spec.features,
        classes=spec.classes,
        rows=int(spec.parameters["rows"]) if "rows" in spec.parameters else None,
        where=spec.where,
    )


def _files(
    dataset: str, entry: Mapping[str, Node], bases: Mapping[str, str]
) -> dict[str, FileSpec]:
    if "files" not in entry:
        return {}
    reader = _reader(entry["reader"], None) if "reader" in entry else None
    folder = _name(entry["folder"]) if "folder" in entry else dataset
    return {key: _file(key, node, folder, reader, bases) for key, node in entry["files"].items()}


def _file(
    key: str, node: Node, folder: str, usual: ReaderSpec | None, bases: Mapping[str, str]
) -> FileSpec:
    found = node.fields(_FILE_KEYS, required=("name",))
    reader = _reader(found["reader"], usual) if "reader" in found else usual
    if reader is None:
        raise node.error(f"'{key}' has no reader; add 'reader: libsvm' or another")
    return FileSpec(
        key=key,
        name=_own_name(found["name"]) if "path" in found else _name(found["name"]),
        folder=_name(found["folder"]) if "folder" in found else folder,
        reader=reader,
        sources=_sources(found.get("from"), bases),
        content_sha256=_digest(found.get("content_sha256"), 64),
        content_bytes=_count(found.get("content_bytes")),
        copies=tuple(_digest(copy, 64) for copy in _several(found.get("copies"))),
        rows=_count(found.get("rows")),
        path=_text(found.get("path")),
        where=node.where,
    )


def _reader(node: Node, usual: ReaderSpec | None) -> ReaderSpec:
    if node.kind == "scalar":
        return ReaderSpec(cast(Format, node.choice(FORMATS)))
    found = node.fields(_READER_KEYS)
    if "format" not in found and usual is None:
        raise node.error(f"'format' is missing; one of {', '.join(FORMATS)}")
    options: dict[str, object] = {}
    for key, value in found.items():
        if key == "format":
            options[key] = value.choice(FORMATS)
        elif key in ("header", "transposed", "filled"):
            options[key] = value.boolean()
        elif key == "target":
            options[key] = _column(value)
        elif key in ("drop", "categorical"):
            options[key] = tuple(_column(column) for column in _several(value))
        elif key in ("index_base", "label_column"):
            options[key] = value.integer(at_least=0)
        else:
            options[key] = value.text()
    base = usual if usual and found.keys().isdisjoint({"format"}) else None
    return replace(base or ReaderSpec(cast(Format, options.get("format"))), **options)  # type: ignore[arg-type]


def _sources(node: Node | None, bases: Mapping[str, str]) -> tuple[FileSource, ...]:
    return tuple(_source(each, bases) for each in _several(node))


def _source(node: Node, bases: Mapping[str, str]) -> FileSource:
    if node.kind == "scalar":
        return FileSource(_address(node, bases))
    found = node.fields(("url", "member", "sha256", "md5", "bytes"), required=("url",))
    return FileSource(
        url=_address(found["url"], bases),
        member=_text(found.get("member")),
        sha256=_digest(found.get("sha256"), 64),
        md5=_digest(found.get("md5"), 32),
        bytes=_count(found.get("bytes")),
    )


def _address(node: Node, bases: Mapping[str, str]) -> str:
    text = node.text()
    base, colon, rest = text.partition(":")
    address = bases[base] + rest if colon and base in bases else text
    if not address.startswith(("https://", "http://")):
        known = ", ".join(f"{base}:" for base in bases)
        raise node.error(f"'{text}' is no address: begin with https:// or a base ({known})")
    try:
        parts = urlsplit(address)
        named = parts.hostname and parts.port != 0  # reading the port checks it
    except ValueError as error:
        raise node.error(f"'{text}' is no address: {error}") from error
    if not named:
        raise node.error(f"'{text}' is no address: it names no host")
    return address


def _variant(name: str, node: Node | None, spec: DatasetSpec) -> VariantSpec:
    found = node.fields(_VARIANT_KEYS) if node else {}
    use = _texts(found.get("use")) or tuple(spec.files)
    _known_files(use, found.get("use") or node, spec)
    task = cast(Task, found["task"].choice(TASKS)) if "task" in found else spec.task
    split = _split(found["split"]) if "split" in found else None
    scale = cast(Scale, found["scale"].choice(SCALES)) if "scale" in found else "none"
    into = _buckets(found["hash"]) if "hash" in found else None
    variant = VariantSpec(
        name=name,
        use=use,
        distinct=found["distinct"].boolean() if "distinct" in found else False,
        first=_count(found.get("first")),
        above=float(found["above"].number()) if "above" in found else None,
        labels={key: _label(value) for key, value in found["labels"].items()}
        if "labels" in found
        else {},
        scale=scale,
        split=split,
        orders=_orders(found["orders"], spec) if "orders" in found else None,
        task=task,
        features=_count(found.get("features")) or into or spec.features,
        hash=into or 0,
        classes=_count(found.get("classes"))
        or (spec.classes if task == spec.task else _usual_classes(task)),
        train=split.train if split else _count(found.get("train")),
        note=_text(found.get("note")),
        prepared=read_preparation(found["prepared"]) if "prepared" in found else AS_DESCRIBED,
        where=node.where if node else spec.where,
    )
    counts = [spec.files[key].rows for key in use]
    in_files = None if None in counts else sum(cast(list[int], counts))
    rows = _count(found.get("rows")) or variant.first or in_files
    _check_rows(rows, in_files, variant, node)
    return replace(variant, rows=rows)


def _buckets(node: Node) -> int:
    try:
        return read_buckets(node.text())
    except ValueError as error:
        raise node.error(str(error)) from error


def _check_rows(
    rows: int | None, in_files: int | None, variant: VariantSpec, node: Node | None
) -> None:
    if node is None or rows is None:
        return
    if in_files is not None and rows > in_files:
        raise node.error(f"{rows:,} rows are promised, the files hold {in_files:,}")
    if variant.train is not None and variant.train >= rows:
        raise node.error(f"{variant.train:,} training rows leave no test rows of {rows:,}")


def _known_files(keys: Sequence[str], node: Node | None, spec: DatasetSpec) -> None:
    for key in keys:
        if key not in spec.files and node:
            raise node.error(f"no file '{key}' in this entry (files: {', '.join(spec.files)})")


def _split(node: Node) -> Split:
    found = node.fields(("train", "seed"), required=("train", "seed"))
    return Split(found["train"].integer(at_least=1), found["seed"].integer(at_least=0))


def _orders(node: Node, spec: DatasetSpec) -> PublishedOrders:
    found = node.fields(("file", "variable"), required=("file", "variable"))
    orders = PublishedOrders(found["file"].text(), found["variable"].text())
    _known_files((orders.file,), found["file"], spec)
    return orders


def _label(node: Node) -> Label:
    value = node.scalar()
    if value is None or isinstance(value, bool):
        raise node.error("a label is a number or a text")
    return value


def _column(node: Node) -> int | str:
    value = node.scalar()
    return value if isinstance(value, int) and not isinstance(value, bool) else node.text()


def _digest(node: Node | None, digits: int) -> str:
    if node is None:
        return ""
    text = node.text()
    if not re.fullmatch(f"[0-9a-f]{{{digits}}}", text):
        raise node.error(f"{digits} hexadecimal digits are expected, not '{text}'")
    return text


def _name(node: Node) -> str:
    text = node.text()
    if not is_plain_name(text):
        raise node.error(f"'{text}' is no plain file name")
    return text


def _own_name(node: Node) -> str:
    text = node.text()
    if not _OWN_NAME.fullmatch(text) or text in (".", ".."):
        raise node.error(f"'{text}' is no file name")
    return text


def _several(node: Node | None) -> tuple[Node, ...]:
    if node is None:
        return ()
    return node.elements() if node.kind == "list" else (node,)


def _texts(node: Node | None) -> tuple[str, ...]:
    return tuple(each.text() for each in _several(node))


def _text(node: Node | None) -> str:
    return node.text() if node else ""


def _count(node: Node | None) -> int | None:
    return node.integer(at_least=1) if node else None
