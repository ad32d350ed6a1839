"""The tables and figures of the papers as data, read from YAML files.

`table_catalogue` finds a table by its name, `table_types` says what it holds, and `values` what a
setting may be.
"""

__all__ = ["expressions", "table_catalogue", "table_types", "values"]
