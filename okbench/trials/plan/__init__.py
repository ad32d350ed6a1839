"""From a table to its trials. `cells`, `options` and `available` know neither learners nor rows, so
that reports may use them; `planning`, `resolve_settings` and `user_table` need their classes.
"""

__all__ = ["available", "cells", "options", "planning", "resolve_settings", "seeds", "user_table"]
