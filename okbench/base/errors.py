"""Every error that a user can see, and the exit code with which it ends the command.

    OkbenchError                 1   the base: something the user can act on
    ├── UsageError               2   an unknown name, a wrong option or setting
    │   └── ConfigError          2   a YAML file with a mistake; the message has file and line
    ├── DataError                3   rows that are missing, damaged or not what was expected
    │   └── FetchError           3   a download that did not give the right bytes
    └── StoreError               4   results or caches that cannot be read or written

Click ends a command with 130 on Ctrl-C; SIGTERM ends it with 143. Exit code 1 is also how `run`
reports that trials failed, and `check` that a result got worse.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class OkbenchError(Exception):
    """Something the user can act on; the message states what is wrong, where, and what to do."""

    exit_code = 1


class UsageError(OkbenchError):
    """Raised for an unknown table, dataset or learner, and for a bad option or setting."""

    exit_code = 2


class ConfigError(UsageError):
    """Raised for a YAML file that cannot be read or holds a mistake."""


class DataError(OkbenchError):
    """Raised when rows are missing, damaged, or not the expected rows."""

    exit_code = 3


class FetchError(DataError):
    """Raised when a download fails or gives the wrong bytes."""


class StoreError(OkbenchError):
    """Raised when results or caches cannot be read or written."""

    exit_code = 4


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """' Did you mean 'x'?' for the closest known name, or nothing."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return f" Did you mean '{by_folded[close[0]]}'?" if close else ""


def safe_to_show(text: str) -> str:
    """A text from elsewhere without the control characters that a terminal would obey."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)
