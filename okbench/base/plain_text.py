"""Text that others wrote, made fit to be stored and printed: of bounded length, and without the
control characters with which a text can move the cursor, hide itself or forge lines of a terminal.
"""

from __future__ import annotations

import json
import re
import unicodedata

MESSAGE = 2000  # characters that are kept of a message
_BEGINNING = 3 / 4  # of what is kept of a longer text; the rest is its end
_GAP = " […] "
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_NOT_ASCII_PRINTABLE = re.compile(r"[^\n\t\x20-\x7e]")


def plain(text: str, most: int = MESSAGE) -> str:
    """The text with its control characters escaped and, where it is longer than `most`, without
    its middle. A plain text is given back as it is."""
    return _cut(escaped(_cut(text, most)), most)


def escaped(text: str) -> str:
    """The text with its control characters, line breaks and tabs excepted, written as in JSON,
    `\\u001b`, so that JSON stays JSON."""
    return _NOT_ASCII_PRINTABLE.sub(_visible, text)


def _visible(found: re.Match[str]) -> str:
    sign = found.group()
    unseen = unicodedata.category(sign) in _UNSEEN
    return json.dumps(sign)[1:-1] if unseen else sign


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    beginning = int(most * _BEGINNING)
    return text[:beginning] + _GAP + text[len(text) - (most - beginning - len(_GAP)) :]
