"""The orders of growth a paper states, read from the words it prints: `O(B^2)`, `O(kB)`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from okbench.base.config_nodes import Node
from okbench.papers.table_types import StatedComplexity

_ORDER = re.compile(r"O\(((?:[A-Za-z](?:\^\d{1,3})?)+)\)")
_POWER = re.compile(r"([A-Za-z])(?:\^(\d+))?")


def read_stated(node: Node, symbols: Mapping[str, str]) -> StatedComplexity:
    """What is stated of a learner: `{strategy: Removal, time: O(B), space: O(B)}`.

    `symbols` gives the setting each letter stands for.
    """
    fields = node.fields({"strategy", "time", "space"}, required=["strategy", "time", "space"])
    time, space = fields["time"], fields["space"]
    return StatedComplexity(
        fields["strategy"].text(),
        (time.text(), space.text()),
        time=_powers(time, symbols),
        space=_powers(space, symbols),
    )


def _powers(node: Node, symbols: Mapping[str, str]) -> dict[str, int]:
    written = _ORDER.fullmatch(node.text())
    if not written:
        raise node.error(f"an order such as O(B^2) or O(kB) is expected, not '{node.text()}'")
    powers: dict[str, int] = {}
    for letter, power in _POWER.findall(written.group(1)):
        if letter not in symbols:
            raise node.error(f"no setting stands for '{letter}'; add it to 'symbols'")
        powers[symbols[letter]] = int(power or 1)
    return powers
