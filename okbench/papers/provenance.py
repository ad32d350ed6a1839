"""Where a number's ingredients come from, and what a cell made of them rests on.

    printed    the paper's text or table gives it
    found      the authors' files hold it for this dataset, beside the rows or in its demonstration
    searched   chosen by the paper's own search (`okbench tune`, written as `tuned` or `searched`)
    default    a program's default, or the usual choice, taken without a look at the printed results
    fitted     chosen, or confirmed, by looking at the printed result of a cell

`inferred` without one of these words counts as fitted, since nothing shows that the print was not
looked at. Settings and the preparation of rows follow the same rule, and a cell rests on the
weakest of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast, get_args

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.shipped import shipped

Source = Literal["printed", "found", "searched", "tuned", "default", "fitted", "inferred"]
Basis = Literal["printed", "found", "searched", "default", "fitted"]
SOURCES: tuple[Source, ...] = get_args(Source)
BASES: tuple[Basis, ...] = get_args(Basis)  # the strongest first
OPEN = frozenset(SOURCES) - {"printed", "found"}  # neither the paper nor its authors give these
_AS: Mapping[str, Basis] = {"tuned": "searched", "inferred": "fitted"}


@dataclass(frozen=True)
class Ingredient:
    """A setting, or the preparation of the rows, with its source and the reason."""

    name: str
    source: Source
    reason: str = ""

    @property
    def basis(self) -> Basis:
        return basis_of(self.source)

    @property
    def words(self) -> str:
        return f"{self.name} {self.basis}" + (f": {self.reason}" if self.reason else "")


AS_DESCRIBED = Ingredient("rows", "printed")


def basis_of(source: Source) -> Basis:
    """What a source counts as."""
    return _AS.get(source) or cast(Basis, source)


def weakest(ingredients: Iterable[Ingredient]) -> Basis:
    """What a cell made of these rests on."""
    return BASES[max((BASES.index(one.basis) for one in ingredients), default=0)]


def read_source(fields: Mapping[str, Node]) -> tuple[Source, str]:
    """Where something comes from and why: `fitted: the reason` among its fields, or printed."""
    given = [name for name in SOURCES if name in fields]
    if len(given) > 1:
        raise fields[given[1]].error(f"a setting has one source, not {' and '.join(given)}")
    return (given[0], fields[given[0]].text()) if given else ("printed", "")


def read_preparation(node: Node) -> Ingredient:
    """The `prepared:` of a variant in datasets.yaml: `{fitted: the reason}`."""
    return Ingredient("rows", *read_source(node.fields(SOURCES)))


def preparation_of(dataset: str, variant: str = "", file: Path | None = None) -> Ingredient:
    """Where the preparation of a dataset's rows comes from; the first variant is the default.
    The rows are as the paper describes them where datasets.yaml does not say otherwise."""
    found = _preparations(file or shipped("datasets.yaml")).get(dataset.casefold(), {})
    return found.get(variant or next(iter(found), ""), AS_DESCRIBED)


@cache
def _preparations(file: Path) -> dict[str, dict[str, Ingredient]]:
    """By dataset and variant. The other keys of an entry are not looked at: `datasets` reads
    those."""
    entries = dict(dict(read_yaml(file).items())["datasets"].items())
    found: dict[str, dict[str, Ingredient]] = {}
    for name, entry in entries.items():
        variants = dict(entry.items()).get("variants")
        found[name.casefold()] = {
            key: _of_variant(node) for key, node in (variants.items() if variants else ())
        }
    return found


def _of_variant(node: Node) -> Ingredient:
    fields = dict(node.items()) if node.kind == "mapping" else {}
    if "prepared" in fields:
        return read_preparation(fields["prepared"])
    return AS_DESCRIBED
