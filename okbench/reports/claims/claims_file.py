"""What a paper claims, and the comparisons that would bear it out, read from a YAML file.

    paper: lsokl
    claims:
      claim3:
        says: FOGD outperforms even non-budget OGD on w7a, w8a and ijcnn1
        where: section 7.2.2, Table 5
        tests:                      # all of them must hold
          - in: lsokl/table5        # the table whose outcomes are looked at
            compare: score          # score (as the table's metric), seconds as the table shows
                                    # them, those of training alone or without map, or bytes
            of: [FOGD, NOGD]        # the best of these; `each of: […]` means every one
            beats: [OGD, RBP]       # every one of these
            on: [w7a, w8a]          # all datasets of the table if left out
            for: most               # of these datasets: all, most, or how many; all if left out
            ours: half of its time    # what of this is not in the sentence (optional)
      claim7:
        says: …
        configured:                 # it follows from a table's settings
          - {in: rrf/table1, setting: components, of: FOGD, over: RRF-Hinge, is: [20, 40]}
      claim18:
        says: …
        undecidable: why no table can decide it
        command: okbench run …        # the command that would, if any

`beats` means a difference that is decided; `matches` also takes equality; `is near` goes with
`within`, a margin in the metric's unit. `times: 100` with `beats` asks for a factor, of seconds,
bytes or a score that is better low.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from okbench.base.config_nodes import Node, read_yaml
from okbench.base.shipped import shipped

Measure = Literal["score", "seconds", "training", "without map", "bytes"]
Verb = Literal["beats", "matches", "is near"]
Needed = int | Literal["all", "most"]

CLOCKS: frozenset[Measure] = frozenset({"seconds", "training", "without map"})
_VERBS = get_args(Verb)
_KEYS = {"in", "compare", "of", "each of", *_VERBS, "on", "for", "times", "within", "ours"}


@dataclass(frozen=True)
class ClaimTest:
    """Learners compared with others on datasets of one table."""

    table: str
    measure: Measure
    learners: tuple[str, ...]
    every: bool  # every one of the learners, not the best of them
    verb: Verb
    others: tuple[str, ...]
    on: tuple[str, ...] = ()
    needed: Needed = "all"
    times: float = 1.0
    within: float = 0.0
    ours: str = ""

    @property
    def reading(self) -> str:
        """What of the comparison is our choice and not the sentence's."""
        tolerance = f"the tolerance of {self.within:g}" if self.verb == "is near" else ""
        return "; ".join(part for part in (tolerance, self.ours) if part)


@dataclass(frozen=True)
class Ratio:
    """A setting of a learner over that of another, as the table configures both."""

    table: str
    setting: str
    learner: str
    other: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper: comparisons of outcomes, or ratios of settings. Without either,
    `undecidable` says why no table can decide it.
    """

    id: str  # lsokl/claim3
    says: str
    where: str
    tests: tuple[ClaimTest, ...] = ()
    configured: tuple[Ratio, ...] = ()
    undecidable: str = ""
    command: str = ""


def claims_of(paper: str) -> tuple[Claim, ...]:
    """The claims of a paper; none for a paper without a file."""
    found = [path for path in _files() if path.stem == paper]
    return read_claims(found[0]) if found else ()


def papers_with_claims() -> tuple[str, ...]:
    """The papers whose claims are written down."""
    return tuple(path.stem for path in _files())


def _files() -> list[Path]:
    # .yml, because every .yaml below configs/ is a table
    return sorted((shipped("configs") / "claims").glob("*.yml"))


def read_claims(path: Path) -> tuple[Claim, ...]:
    """The claims in a file."""
    fields = read_yaml(path).fields({"paper", "claims"}, ["paper", "claims"])
    paper = fields["paper"].text()
    return tuple(_claim(f"{paper}/{name}", node) for name, node in fields["claims"].items())


def _claim(id_: str, node: Node) -> Claim:
    kinds = ("tests", "configured", "undecidable")
    fields = node.fields({"says", "where", "command", *kinds}, ["says", "where"])
    if sum(kind in fields for kind in kinds) != 1:
        raise node.error(
            "a claim has either tests, configured, or undecidable: why no table can decide it"
        )
    return Claim(
        id_,
        fields["says"].text(),
        fields["where"].text(),
        tests=tuple(map(_comparison, fields["tests"].elements())) if "tests" in fields else (),
        configured=tuple(map(_ratio, fields["configured"].elements()))
        if "configured" in fields
        else (),
        undecidable=fields["undecidable"].text() if "undecidable" in fields else "",
        command=fields["command"].text() if "command" in fields else "",
    )


def _comparison(node: Node) -> ClaimTest:
    fields = node.fields(_KEYS, ["in"])
    verb = _only(node, fields, _VERBS)
    who = _only(node, fields, ("of", "each of"))
    if ("within" in fields) != (verb == "is near"):
        raise node.error("'within' goes with 'is near', and only with it")
    if verb == "is near" and "compare" in fields and fields["compare"].text() != "score":
        raise node.error("'is near' goes with scores")
    if "times" in fields and verb != "beats":
        raise node.error("'times' goes with 'beats'")
    return ClaimTest(
        table=fields["in"].text(),
        measure=cast(Measure, fields["compare"].choice(get_args(Measure)))
        if "compare" in fields
        else "score",
        learners=_names(fields[who]),
        every=who == "each of",
        verb=cast(Verb, verb),
        others=_names(fields[verb]),
        on=_names(fields["on"]) if "on" in fields else (),
        needed=_needed(fields["for"]) if "for" in fields else "all",
        times=float(fields["times"].number()) if "times" in fields else 1.0,
        within=float(fields["within"].number()) if "within" in fields else 0.0,
        ours=fields["ours"].text() if "ours" in fields else "",
    )


def _ratio(node: Node) -> Ratio:
    keys = ("in", "setting", "of", "over", "is")
    fields = node.fields(keys, keys)
    return Ratio(
        table=fields["in"].text(),
        setting=fields["setting"].text(),
        learner=fields["of"].text(),
        other=fields["over"].text(),
        values=tuple(float(one.number()) for one in fields["is"].elements()),
    )


def _only(node: Node, fields: dict[str, Node], keys: tuple[str, ...]) -> str:
    found = [key for key in keys if key in fields]
    if len(found) != 1:
        raise node.error(f"exactly one of {', '.join(keys)} is needed")
    return found[0]


def _names(node: Node) -> tuple[str, ...]:
    names = tuple(element.text() for element in node.elements())
    if not names:
        raise node.error("name one or more")
    return names


def _needed(node: Node) -> Needed:
    if isinstance(node.scalar(), int):
        return node.integer(at_least=1)
    return cast(Needed, node.choice(["all", "most"]))
