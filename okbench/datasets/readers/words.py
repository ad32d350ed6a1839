"""The words of a column, as numbers."""

from __future__ import annotations

from collections.abc import Iterable

from okbench.base.errors import DataError
from okbench.datasets.readers.missing import is_missing

MOST_WORDS = 10_000  # of a column, each of which becomes a column
MOST_KEPT = 1 << 20  # different words of a column: about 150 MB


class Words(dict[str, int]):
    """The words of a column, each with its number in the order of their first use."""

    _missing: str | None = None

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """Words in the order of their first use."""
        return cls((word, number) for number, word in enumerate(words))

    def number(self, word: str) -> int:
        """The number of a word, which is the next one if it is new."""
        return self.setdefault(word, len(self))

    def number_of_missing(self, word: str) -> int:
        """The number of a missing word, which is the same in all spellings."""
        if self._missing is None:
            self._missing = next(filter(is_missing, self), word)
        return self.number(self._missing)

    def refuse_too_many(self, where: str) -> None:
        """Raise DataError for a column whose words are too many to be kept in memory."""
        if len(self) > MOST_KEPT:
            raise DataError(
                f"{where} holds more than {MOST_KEPT:,} different words, which are too many to be "
                "columns or classes; leave it out (--drop), or choose a different target (--target)"
            )
