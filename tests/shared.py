"""Where the recorded runs, the papers' cells and the real files lie, if they do."""

from __future__ import annotations

import os
from pathlib import Path

SHARED = Path(os.environ.get("OKBENCH_SHARED", Path(__file__).parents[2] / "shared"))
