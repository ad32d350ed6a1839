"""The words of a column, as numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class Words(dict[str, int]):
    """The words of a column, each with its number in the order of their first use."""

    @classmethod
    def of(cls, words: Iterable[str]) -> Words:
        """Words in the order of their first use."""
        return cls((word, number) for number, word in enumerate(words))

    def number(self, word: str) -> int:
        """The number of a word, which is the next one if it is new."""
        return self.setdefault(word, len(self))

    def numbers(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of several words."""
        return np.fromiter(map(self.number, words), dtype=np.int64)
