"""What a table may be called, since files are named after it.

`lsokl/table5` has its outcomes in `runs/lsokl/table5.jsonl`. A name may come from a file that
somebody else wrote, so it never leads out of the folder that it is put in.
"""

from __future__ import annotations

import re
from pathlib import Path

from okbench.base.errors import UsageError

_PART = re.compile(r"(?!\.{1,2}$)[^/\\\x00-\x1f\x7f]+")
_DRIVE = re.compile(r"[A-Za-z]:")
_LONGEST = 200  # bytes of a part, of which most disks take 255


def checked_name(name: object, where: str = "") -> str:
    """The name of a table, refused when it is none; `where` says where it stands."""
    if isinstance(name, str) and not _DRIVE.match(name) and all(map(_is_part, name.split("/"))):
        return name
    shown = repr(name) if len(repr(name)) <= 80 else f"{repr(name)[:76]} …"
    raise UsageError(
        f"{where}{': ' if where else ''}{shown} cannot be the name of a table: a name is "
        f"words with a / between them, none of which is . or .. or over {_LONGEST} bytes"
    )


def file_of(folder: Path, table: str, ending: str) -> Path:
    """The file of a table in a folder: the name of the table, and the ending."""
    return folder / f"{checked_name(table)}{ending}"


def _is_part(part: str) -> bool:
    return bool(_PART.fullmatch(part)) and len(part.encode("utf-8", "replace")) <= _LONGEST
