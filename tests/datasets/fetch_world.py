"""A data folder of its own, with one dataset whose file is served as the test says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from okbench.datasets.fetch import fetching
from tests.datasets.server import LyingServer, Page

ROWS = b"".join(b"%d 1:%d 2:0.5\n" % (1 - 2 * (row % 2), row) for row in range(4000))
QUICK = fetching.Patience(connect=2.0, silence=0.3, tries=3, pause=0.01)


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class World:
    """`data` is the data folder, `server` an HTTP server on this machine."""

    data: Path
    server: LyingServer

    def serve(self, content: bytes, *moods: str, path: str = "/rows") -> Page:
        """Serve a file in these moods, one a request."""
        self.server.pages[path] = Page(content, list(moods) or ["honest"])
        return self.server.pages[path]

    def describe(self, **file: Any) -> None:
        """Make the dataset 'rows' one file; without `from` it is at /rows."""
        file = {"name": "rows.txt", "from": self.server.url("/rows"), **file}
        self.describe_all({"all": file})

    def describe_all(self, files: dict[str, Any], **entry: Any) -> None:
        """Make the dataset 'rows' these files."""
        rows = {"task": "binary", "features": 2, "reader": "libsvm", "files": files, **entry}
        # YAML takes JSON as it is
        text = json.dumps({"datasets": {"rows": rows}}, indent=1)
        self.data.mkdir(exist_ok=True)
        (self.data / "user-datasets.yaml").write_text(text, encoding="utf-8")

    def fetch(self, **options: Any) -> fetching.FetchResult:
        """Fetch 'rows'; the result of its only file."""
        (result,) = self.fetch_all(**options)
        return result

    def fetch_all(self, **options: Any) -> list[fetching.FetchResult]:
        return fetching.fetch(["rows"], **{"patience": QUICK, **options})

    @property
    def held(self) -> list[str]:
        """Every file a person would see in the dataset's folder."""
        folder = self.data / "rows"
        found = folder.iterdir() if folder.is_dir() else []
        return sorted(path.name for path in found if path.name != ".okbench")

    @property
    def parts(self) -> list[str]:
        """Downloads under way."""
        return sorted(path.name for path in self.data.rglob("*.part"))
