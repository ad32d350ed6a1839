"""From verified files to the rows a paper learned; use `loading`.

`preparation` holds the steps, `prepared_files` keeps the result on disk, mapped by every process,
and `checksums` finds what is damaged there.
"""

__all__ = ["loading", "preparation", "prepared_files"]
