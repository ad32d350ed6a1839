"""Files of many formats as rows; use `files` for an entry, or the reader of one format.

A reader returns labelled rows, or a `table.Table` where the target is still one of the columns.
"""

__all__ = [
    "airlines",
    "arff",
    "binary",
    "delimited",
    "files",
    "libsvm",
    "matlab",
    "multi_file_rows",
    "numpy_files",
    "parquet",
    "table",
]
