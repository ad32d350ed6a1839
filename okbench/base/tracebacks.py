"""Where an exception of a learner comes from: its innermost frame, and the end of its traceback.

The outermost frame is that of the caller within okbench; it says nothing of the learner.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from okbench.base.plain_text import plain

FRAMES, CHARACTERS = 20, 4000  # that are kept of a traceback


def described(error: BaseException, outside: Sequence[Path] = ()) -> str:
    """`ValueError: no room (my_module.py, line 12)`, with the innermost frame.

    Frames in the files and folders of `outside` are the caller's own, and are not named.
    """
    try:
        message = str(error)
    except Exception:  # its __str__ fails as well
        message = "its message cannot be shown"
    place = _innermost(error, outside)
    words = f"{type(error).__name__}: {plain(message)}" if message else type(error).__name__
    return words + (f" ({place})" if place else "")


def full(error: BaseException) -> str:
    """The traceback less its outermost frame; the exception alone if it has no other."""
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    return "".join(traceback.format_exception(type(error), error, frames))


def tail(error: BaseException) -> str:
    """The innermost frames of the same: so many frames and characters at most."""
    frames = error.__traceback__.tb_next if error.__traceback__ else None
    text = "".join(
        traceback.format_exception(type(error), error, frames, limit=-FRAMES, chain=False)
    )
    return plain(text[-CHARACTERS:], CHARACTERS)


def _innermost(error: BaseException, outside: Sequence[Path]) -> str:
    inner = traceback.extract_tb(error.__traceback__)[1:]
    if not inner or any(Path(inner[-1].filename).is_relative_to(path) for path in outside):
        return ""
    return f"{_shown(inner[-1].filename)}, line {inner[-1].lineno}"


def _shown(filename: str) -> str:
    """A file's path from the folder in which Python found it, so that no machine shows."""
    path = Path(filename)
    folders = [Path(entry or ".").resolve() for entry in sys.path]
    within = [path.relative_to(folder) for folder in folders if path.is_relative_to(folder)]
    return str(min(within, key=lambda found: len(found.parts), default=path.name))
