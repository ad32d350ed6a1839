"""The wheel carries the baselines of the project without their curves, which only drawings need.

`okbench report` prints them where nothing has been run yet. The source archive and
the checkout have the whole files in results/.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BaselinesHook(BuildHookInterface):
    """Adds the results files of results/ to the wheel, as okbench/_shipped/results."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the files that the wheel takes; an editable installation reads results/ itself."""
        if version != "editable":
            self._folder = Path(tempfile.mkdtemp())
            results = Path(self.root) / "results"
            for path in sorted(results.rglob("*.jsonl")):
                target = self._folder / path.relative_to(results)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(b"".join(map(_without_curve, path.read_bytes().splitlines())))
            build_data["force_include"][str(self._folder)] = "okbench/_shipped/results"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove them again."""
        if version != "editable":
            shutil.rmtree(self._folder)


def _without_curve(line: bytes) -> bytes:
    record = json.loads(line)
    if "outcome" in record:
        record["outcome"]["curve"] = []
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") + b"\n"
