"""Whatever a library raises for a damaged file, as a DataError that names the file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from okbench.base.errors import DataError, OkbenchError, safe_to_show

_LONGEST = 200


@contextmanager
def refusing_damage(path: Path, kind: str) -> Iterator[None]:
    """A DataError for any exception of the block; `kind` is what the file should be.

    zipfile, NumPy, SciPy and pyarrow raise nearly every exception there is for damaged bytes, and
    warn about those they can read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except OkbenchError:
        raise
    except MemoryError as error:
        raise DataError(f"{path}: larger than the memory of this machine") from error
    except Exception as error:
        raise DataError(f"{path}: not a {kind} file that can be read ({_reason(error)})") from error


def printable(text: str) -> str:
    """A text out of a file, in one line, not too long, and safe to show on a terminal."""
    shown = safe_to_show(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]} …"


def _reason(error: Exception) -> str:
    return printable(str(error)) or type(error).__name__
