"""Compare the speed of this tree with that of another commit, in turns, in one job.

    python -m benchmarks.compare REF [--learners NAME …] [--rows NAME …] [--rounds 9]
    python -m benchmarks.compare REF --cold
    python -m benchmarks.compare REF --commands "report table5; claims ik"

The first form times learners that are compiled and loaded before the clock starts, the second the
first call of a learner in a process that finds no compiled code, the third commands. Seconds are
CPU seconds. A speed above 1 says that this tree (head) is faster than the other commit (base).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.clock import machine
from benchmarks.compare import rows, sides, turns
from benchmarks.compare.ratios import FEWEST
from benchmarks.compare.report import Compared
from benchmarks.compare.rows import Rows
from benchmarks.compare.sides import Side


def main() -> None:
    """Measure, print a table, and write the seconds of all rounds to a file."""
    asked = _arguments()
    try:
        commit = sides.commit_of(asked.ref)
        base, head = sides.python_of(commit), Path(sys.executable)
        print(f"{machine()}\nbase: {commit[:12]}, head: this tree; {asked.rounds} rounds\n")
        measure = _commands if asked.commands else _cold if asked.cold else _learners
        found = measure(asked, base, head)
    except sides.Trouble as trouble:
        raise SystemExit(f"Error: {trouble}") from trouble
    print(found.table())
    record = {"base": commit, "machine": machine(), **found.record()}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"\nThe seconds of all rounds are in {asked.out}.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("ref", metavar="REF", help="the other commit, as git names it")
    parser.add_argument("--learners", nargs="+", metavar="NAME", help="only these learners")
    parser.add_argument("--rows", nargs="+", choices=rows.NAMES, default=rows.NAMES)
    parser.add_argument("--rounds", type=_rounds, default=9, metavar="N")
    parser.add_argument("--cold", action="store_true", help="time first calls on an empty cache")
    parser.add_argument("--commands", metavar="TEXT", help="commands of okbench, with ; between")
    parser.add_argument("--out", type=Path, default=sides.BUILT / "compare.json", metavar="FILE")
    return parser.parse_args()


def _rounds(word: str) -> int:
    number = int(word)
    if number < FEWEST:
        raise argparse.ArgumentTypeError(f"at least {FEWEST}, or there is no interval of 95 %")
    return number


def _learners(asked: argparse.Namespace, base: Path, head: Path) -> Compared:
    found = Compared()
    with (
        tempfile.TemporaryDirectory() as folder,
        sides.started(base) as first,
        sides.started(head) as second,
    ):
        _check_versions(first, second)
        for name, each in _chosen(first, second, asked.learners, asked.rows, Path(folder)):
            _watch(f"{name} on {each.name}")
            with found.noting(name, each.name):
                found.pairs.append(turns.learner(name, each, first, second, asked.rounds))
    return found


def _cold(asked: argparse.Namespace, base: Path, head: Path) -> Compared:
    found, names = Compared(), asked.learners or turns.COLD
    with tempfile.TemporaryDirectory() as folder:
        with sides.started(base) as first, sides.started(head) as second:
            _check_versions(first, second)
            chosen = [*_chosen(first, second, names, asked.rows[:1], Path(folder))]
        for name, each in chosen:
            _watch(f"{name}, compiled anew")
            with found.noting(name):
                found.pairs.append(turns.cold(name, each, base, head, asked.rounds))
    return found


def _commands(asked: argparse.Namespace, base: Path, head: Path) -> Compared:
    found = Compared()
    for words in filter(None, map(str.strip, asked.commands.split(";"))):
        _watch(words)
        with found.noting(words):
            found.pairs.append(turns.command(words, base, head, asked.rounds))
    return found


def _chosen(
    base: Side, head: Side, names: Sequence[str] | None, kinds: Sequence[str], folder: Path
) -> Iterator[tuple[str, Rows]]:
    """Learners with the rows that they can learn; both sides are asked for one that only one has,
    which is how the reason is known."""
    tasks = {**base.hello["learners"], **head.hello["learners"]}
    for name in names or tasks:
        for kind in kinds:
            each = rows.rows_for(kind, tasks.get(name, ["binary"]), folder)
            if each is not None:
                yield name, each


def _check_versions(base: Side, head: Side) -> None:
    """Say so if the dependencies differ, because the ratios are then not those of okbench."""
    if base.hello["versions"] != head.hello["versions"]:
        print(f"base has {base.hello['versions']}, head has {head.hello['versions']}\n")


def _watch(words: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
