"""Results as a folder of pages that need no network: `build` writes it from `table_views`."""

__all__ = ["build", "frontier", "table_views"]
