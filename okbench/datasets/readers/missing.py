"""What a missing value is: one rule for every format, for numbers, words and targets alike."""

from __future__ import annotations

# as `pandas.read_csv` reads them, in these spellings alone, and the ? of ARFF
MISSING_WORDS = frozenset(
    {
        *("", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NULL", "null", "None"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    }
)


def is_missing(word: str) -> bool:
    """Whether a field with this text holds no value; blanks around it do not count."""
    return word.strip() in MISSING_WORDS


def no_value(column: str, word: str = "", *, is_target: bool = False) -> str:
    """What a message says of a missing value, and what can be done; `word` is how it is written."""
    written = f" ({word!a} is read as none)" if word.strip() else ""
    if is_target:
        return (
            f"column {column}, the target, has no value here{written}; delete the rows without a "
            "target from the file, or choose a different target (--target)"
        )
    return (
        f"column {column} has no value here{written}; leave the column out (--drop), or fill it "
        "(--missing mean: numbers by the mean of the rows before, words by a value of their own)"
    )
