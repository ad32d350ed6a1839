"""Two commands on one results file at the same time: whatever their order, a command with the exit
code 0 keeps what it promised, and nothing that was stored before is lost."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from okbench.base.errors import OkbenchError
from tests.chaos.commands import Command, survivors
from tests.chaos.findings import Finding, Tally
from tests.chaos.world import COMPILED, TABLE, Figures, World, doubled, figures, read, run_words

_DELAY = 1.2  # seconds between the two starts at most


@dataclass(frozen=True)
class _Writer:
    """A command, the trials in `place` if its exit code is 0, and the codes it may have."""

    words: list[str]
    place: str
    promised: frozenset[str]
    codes: tuple[int, ...] = (0, 4)


def interleavings(world: World, tally: Tally, seed: int, count: int, jobs: int) -> None:
    """Try `count` pairs of commands."""
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda case: one_case(world, tally, seed, case), range(count)))


def one_case(world: World, tally: Tally, seed: int, case: int) -> None:
    """One pair, started one after the other with a random delay, each stopped now and then."""
    name = f"interleavings:{case}"
    draw = random.Random(f"{seed}:{name}")
    folder = world.case(f"interleavings-{case}")
    if draw.random() < 0.5:  # the file is there already, or both want to make it
        _give(world, 2, folder / "runs")
    before = figures(read(folder / "runs"))
    pair = list(_PAIRS[case % len(_PAIRS)](world, folder))
    draw.shuffle(pair)
    faults = _together(pair, folder, draw, tally)
    faults += _promises_kept(pair, folder, before, world)
    if left := survivors(folder):
        faults.append(("a process outlives its run", "\n".join(left)))
    again = Command(_run(world).words, folder)
    again.wait()
    if fault := again.fault((0,)):
        faults.append((f"the next run: {fault}", again.message))
    elif not world.undisturbed_of(COMPILED).items() <= figures(read(folder / "runs")).items():
        faults.append(("the next run is not complete", again.message))
    shown = " beside ".join(writer.words[0] for writer in pair)
    for what, detail in faults:
        tally.find(Finding(name, f"{shown}: {what}", detail))
    tally.count(tried=1, recovered=not faults)


def _together(
    pair: list[_Writer], folder: Path, draw: random.Random, tally: Tally
) -> list[tuple[str, str]]:
    """Run both, and say how they ended in `codes`; what is wrong with that."""
    first = Command(pair[0].words, folder)
    first.wait(draw.random() * _DELAY)
    second = Command(pair[1].words, folder)
    for _ in range(draw.randint(0, 4)):
        time.sleep(draw.random() * 0.2)
        draw.choice((first, second)).pause(draw.random() * 0.4)
    faults = []
    for place, (writer, command) in enumerate(zip(pair, (first, second), strict=True)):
        code = command.wait()
        if fault := command.fault(writer.codes):
            faults.append((fault, command.message))
            command.kill()
        if code:
            tally.count(refused=1)
            pair[place] = _Writer(writer.words, writer.place, frozenset())
    return faults


def _promises_kept(
    pair: list[_Writer], folder: Path, before: dict[str, Figures], world: World
) -> list[tuple[str, str]]:
    faults = []
    promised = [("runs", frozenset(before)), *((writer.place, writer.promised) for writer in pair)]
    true = {id_: one for run in world.undisturbed.values() for id_, one in run.items()}
    for place, ids in promised:
        try:
            contents = read(folder / place)
        except OkbenchError as error:
            faults.append(("the results file cannot be read", str(error)))
            continue
        found = figures(contents)
        if lost := sorted(ids - found.keys()):
            faults.append((f"{len(lost)} outcomes vanished from {place}", ", ".join(lost)))
        compared = 3 if contents.blessed else None  # a baseline has no curves
        if any(found[id_][:compared] != true[id_][:compared] for id_ in found):
            faults.append(("outcomes differ from those of an undisturbed run", ""))
        if twice := doubled(contents):
            faults.append(("outcomes are doubled", ", ".join(twice)))
    return faults


def _give(world: World, seed: int, place: Path) -> None:
    shutil.copytree(world.results(seed), place)


def _run(world: World) -> _Writer:
    ids = frozenset(world.undisturbed_of(COMPILED))
    return _Writer(run_words("runs", "--learners", COMPILED), "runs", ids)


def _merge(world: World, seed: int) -> _Writer:
    source = str(world.results(seed))
    ids = frozenset(world.undisturbed[seed])
    return _Writer(["merge", source, "--into", "runs"], "runs", ids, (0, 3, 4))


def _run_and_run(world: World, folder: Path) -> tuple[_Writer, _Writer]:
    return _run(world), _run(world)


def _run_and_merge(world: World, folder: Path) -> tuple[_Writer, _Writer]:
    return _run(world), _merge(world, 1)


def _run_and_bless(world: World, folder: Path) -> tuple[_Writer, _Writer]:
    """The baseline is made of what is complete already: the trials of seed 2."""
    if not (folder / "runs").exists():
        _give(world, 2, folder / "runs")
    words = ["bless", f"{TABLE}.yaml", "--into", "kept", "--learners", COMPILED, "--seed", "2"]
    blessing = _Writer([*words, "--reason", "chaos"], "kept", frozenset(world.undisturbed[2]))
    return _run(world), blessing


def _merge_and_merge(world: World, folder: Path) -> tuple[_Writer, _Writer]:
    return _merge(world, 0), _merge(world, 1)


def _check_and_run(world: World, folder: Path) -> tuple[_Writer, _Writer]:
    baseline = str(world.results(2))
    checking = _Writer(["check", baseline, "runs"], "runs", frozenset(), (0, 1, 2, 3, 4))
    return checking, _run(world)


_PAIRS: tuple[Callable[[World, Path], tuple[_Writer, _Writer]], ...] = (
    *(_run_and_merge, _run_and_run, _merge_and_merge, _run_and_bless, _run_and_merge),
    *(_check_and_run, _merge_and_merge),
)
