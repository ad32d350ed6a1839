"""The memory of this machine, and how much of it rows may take."""

from __future__ import annotations

from pathlib import Path

import psutil

SHARE = 0.5  # of the memory that rows may take

_LIMIT = Path("/sys/fs/cgroup/memory.max")


def machine_memory() -> int:
    """The bytes of this machine, or of the container that this process is in."""
    whole = int(psutil.virtual_memory().total)
    try:
        return min(whole, int(_LIMIT.read_text(encoding="ascii")))
    except (OSError, ValueError):  # no such limit here
        return whole
