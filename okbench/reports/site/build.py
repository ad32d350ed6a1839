"""From a results folder to a site: pages, style, script, and the outcomes themselves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import StoreError, UsageError
from okbench.base.whole_files import copy_whole, write_whole
from okbench.papers.table_types import Table
from okbench.reports.site.about import About
from okbench.reports.site.site_files import SiteFiles
from okbench.reports.site.table_views import table_views
from okbench.trials.store.match_outcomes import Versions

LIST = "okbench-site.json"  # what was written, so that the next time knows what is ours


@dataclass(frozen=True)
class Site:
    """A site that was written: its first page, its tables, and its size."""

    index: Path
    tables: tuple[str, ...]
    files: int
    bytes: int


def build(
    results: Path,
    to: Path,
    tables: Sequence[Table] = (),
    versions: Versions | None = None,
    about: About | None = None,
) -> Site:
    """Write the site of these tables, or of all that the folder holds.

    A site written there before is replaced, and only its own files; a folder with an index.html of
    another hand is refused. Every file is written as soon as it is made: what is kept grows with
    the cells of the tables, not with their trials.
    """
    if not results.is_dir():
        raise UsageError(f"nothing is measured yet: no folder {results}  (okbench run demo)")
    if to.resolve().is_relative_to(results.resolve()):
        raise UsageError(f"--to {to} lies in the results themselves; choose another folder")
    before = _written_before(to)
    made = SiteFiles(results, table_views(results, tables, versions), about or About())
    written: dict[str, int] = {}
    for name, content in made.files():
        if isinstance(content, Path):
            copy_whole(content, to / name)
        else:
            write_whole(to / name, content.encode("utf-8"))
        written[name] = (to / name).stat().st_size
    for path in before - {to / name for name in written}:
        _remove(path)
    listed = {"okbench": "site", "schema": 1, "files": sorted(written)}
    write_whole(to / LIST, (json.dumps(listed, indent=1) + "\n").encode())
    names = tuple(entry.name for entry in made.entries)
    return Site(to / "index.html", names, len(written), sum(written.values()))


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
