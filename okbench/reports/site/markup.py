"""Markup that cannot be broken into: whatever is not markup already is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_SIGNS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_VOID = {"meta", "link", "input", "br"}
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_CHANGED = re.compile(f"[&<>\"']|{_NO_TEXT.pattern}")  # what most texts have nothing of


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child = Any  # Markup, a text or a number to be escaped, None for nothing, or several of these


def tag(name: str, /, *children: Child, **attributes: Any) -> Markup:
    """An element. `class_` means class, `data_key` means data-key; None and False leave an
    attribute out, True gives it no value.
    """
    written = _attributes(attributes) if attributes else ""
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{siblings(*children)}</{name}>")


def _attributes(attributes: Mapping[str, Any]) -> str:
    return "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escape(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )


def siblings(*children: Child) -> Markup:
    """Children one after the other, as markup."""
    return Markup("".join(map(_spelled, children)))


def escape(value: Any) -> str:
    """A text or number as it may stand in markup; characters that no page may have become �."""
    text = str(value)
    if _CHANGED.search(text) is None:
        return text
    return _NO_TEXT.sub("\ufffd", text).translate(_SIGNS)


def _spelled(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str) or not isinstance(child, Iterable):
        return escape(child)
    return siblings(*child)
