"""User-defined rows: `user_rows` reads them from a file, `user_entry` gives them a name.

`running_scale` holds the scalings that look at no later row, `fitted_scale` those that are fitted
on a sample of the rows.
"""

__all__ = ["fitted_scale", "running_scale", "user_entry", "user_rows"]
