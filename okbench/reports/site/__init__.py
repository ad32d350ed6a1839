"""Results as a folder of pages that need no network."""
