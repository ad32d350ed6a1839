"""Settings that no paper states, chosen by trials on a part of the rows: use `tuning`.

`search_grid` lists the candidates, `subsample` takes the rows, `tuned_file` writes what was chosen.
"""

__all__ = ["search_grid", "subsample", "tuned_file", "tuning"]
