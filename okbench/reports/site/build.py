"""From a results folder to a site: pages, style, script, and the outcomes themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import StoreError, UsageError
from okbench.base.whole_files import write_whole
from okbench.papers.table_types import Table
from okbench.reports.site.index_page import index_page
from okbench.reports.site.table_page import page_of, raw_of, table_page
from okbench.reports.site.table_views import TableView, exhibits
from okbench.trials.store.match_outcomes import Versions

LIST = "okbench-site.json"  # what was written, so that the next time knows what is ours
_ASSETS = Path(__file__).parent / "assets"
_SHARED = ("site.css", "site.js")


@dataclass(frozen=True)
class Site:
    """A site that was written: its first page, its tables, and its size."""

    index: Path
    tables: tuple[str, ...]
    files: int
    bytes: int


def build(
    results: Path, to: Path, tables: Sequence[Table] = (), versions: Versions | None = None
) -> Site:
    """Write the site of these tables, or of all that the folder holds.

    A site written there before is replaced, and only its own files; a folder with an index.html of
    another hand is refused.
    """
    if not results.is_dir():
        raise UsageError(f"nothing is measured yet: no folder {results}  (okbench run demo)")
    if to.resolve().is_relative_to(results.resolve()):
        raise UsageError(f"--to {to} lies in the results themselves; choose another folder")
    before = _written_before(to)
    found = exhibits(results, tables, versions)
    if not found:
        raise UsageError(f"nothing is measured yet: no results in {results}  (okbench run demo)")
    written: dict[str, int] = {}
    for name, content in _files(found):
        write_whole(to / name, content)
        written[name] = len(content)
    for path in before - {to / name for name in written}:
        _remove(path)
    listed = {"okbench": "site", "schema": 1, "files": sorted(written)}
    write_whole(to / LIST, (json.dumps(listed, indent=1) + "\n").encode())
    names = tuple(exhibit.table.name for exhibit in found)
    return Site(to / "index.html", names, len(written), sum(written.values()))


def _files(found: Sequence[TableView]) -> Iterator[tuple[str, bytes]]:
    """Every file of the site, each made when its turn comes."""
    yield from shared_files()
    for exhibit in found:
        raw = raw_of(exhibit.table.trials_of)
        yield raw, exhibit.path.read_bytes()
        yield page_of(exhibit.table.name), _encoded(table_page(exhibit, raw))
    yield "index.html", _encoded(index_page(found))


def shared_files() -> Iterator[tuple[str, bytes]]:
    """The files that every page loads."""
    for name in _SHARED:
        yield f"assets/{name}", (_ASSETS / name).read_bytes()


def _encoded(page: str) -> bytes:
    return page.encode("utf-8")


def _written_before(to: Path) -> set[Path]:
    """The files of the site that stands there, by the list it came with."""
    path = to / LIST
    if not path.is_file():
        if (to / "index.html").exists() or (to.exists() and not to.is_dir()):
            raise UsageError(f"{to} holds what okbench did not write; choose another with --to")
        return set()
    try:
        names = json.loads(path.read_text(encoding="utf-8"))["files"]
        found = {to / name for name in names}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); choose another with --to") from error
    return {one for one in found if one.resolve().is_relative_to(to.resolve()) and one.is_file()}


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise StoreError(f"{path}: cannot be removed: {error.strerror}") from error
