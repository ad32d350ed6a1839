"""How trials of the tests are run."""

from tests.shared import in_threads

__all__ = ["in_threads"]
