"""The wheel carries the baselines of the project without their curves, which only drawings need.

`okbench report` and `okbench claims` read them where nothing was run. The source archive and
the checkout have the whole files in results/.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

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
    """The line with the checksum of what is left (okbench/trials/store/lines.py), if it had one.

    Nothing is imported from the package, whose dependencies are not there when a wheel is built.
    """
    record = json.loads(line)
    is_sealed = record.pop("crc", None) is not None
    if "outcome" in record:
        record["outcome"]["curve"] = []
    content = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8")[:-1]
    return (b'%b,"crc":"%08x"}\n' % (content, crc32(content))) if is_sealed else content + b"}\n"
