"""User-defined rows: `user_rows` reads them from a file, `user_entry` gives them a name.

`running_scale` holds the scalings that look at no later row.
"""

__all__ = ["running_scale", "user_entry", "user_rows"]
