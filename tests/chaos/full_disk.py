"""Disks that are full, limits on the size of files, folders that cannot be written: one sentence,
files that are old or new, and a next command that succeeds."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from okbench.base.errors import OkbenchError
from tests.chaos.commands import NOBODY, Command, survivors
from tests.chaos.findings import Finding, Tally
from tests.chaos.world import COMPILED, TABLE, World, doubled, figures, read, run_words

_DISK_BYTES = 1 << 20
_LEAST = 4096  # bytes that a file may have: room for the message itself

_COMMANDS = (
    run_words("disk", "--learners", COMPILED),
    ["merge", "other", "--into", "disk"],
    ["bless", f"{TABLE}.yaml", "--results", "whole", "--into", "disk", "--reason", "chaos"],
    ["export", "whole", "-o", "disk/out.csv"],
    ["check", "whole", "whole", "--format", "json", "-o", "disk/check.json"],
)


def full_disks(world: World, tally: Tally, seed: int, count: int, jobs: int) -> None:
    """Try `count` commands that cannot write."""
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda case: one_case(world, tally, seed, case), range(count)))


def one_case(world: World, tally: Tally, seed: int, case: int) -> None:
    """One command with one obstacle, and again without it."""
    name = f"disk:{case}"
    draw = random.Random(f"{seed}:{name}")
    folder = world.case(f"disk-{case}")
    shutil.copytree(world.results(0), folder / "whole")
    shutil.copytree(world.results(1), folder / "other")
    words = _COMMANDS[case % len(_COMMANDS)]
    obstacle = _OBSTACLES[case // len(_COMMANDS) % len(_OBSTACLES)]
    with obstacle(folder, draw) as (limits, remove):
        disk = folder / "disk"
        old = _files(disk)
        command = Command(words, folder, **limits)
        command.wait()
        faults = []
        if fault := command.fault((0, 3, 4)):
            faults.append((fault, command.message))
            command.kill()
        elif len(command.message.strip().splitlines()) > 3 and command.code:
            faults.append(("more than a sentence", command.message))
        faults += _old_or_new(disk, old, words, world)
        if left := survivors(folder):
            faults.append(("a process outlives its command", "\n".join(left)))
        remove()
        again = Command(words, folder)
        again.wait()
        if fault := again.fault((0,)):
            faults.append((f"the next command: {fault}", again.message))
        if words[0] == "run" and not _is_complete(disk, world):
            faults.append(("the next run is not complete", again.message))
    shown = f"{words[0]} with {obstacle.__name__.strip('_').replace('_', ' ')}"
    for what, detail in faults:
        tally.find(Finding(name, f"{shown}: {what}", detail))
    tally.count(tried=1, refused=bool(command.code), recovered=not faults)


def _old_or_new(
    disk: Path, old: dict[str, bytes], words: list[str], world: World
) -> list[tuple[str, str]]:
    """Every file that was there is as it was, or has become longer, or is one whole new file."""
    faults, now = [], _files(disk)
    for path, content in old.items():
        if path not in now:
            faults.append(("a file vanished", path))
        elif words[0] != "merge" and not now[path].startswith(content):
            faults.append(("a file lost its content", path))
    left = [path for path in now if path.endswith(".tmp")]
    if left:
        faults.append(("a temporary file is left", ", ".join(left)))
    if f"{TABLE}.jsonl" not in now:
        return faults
    try:
        contents = read(disk)
    except OkbenchError as error:
        return [*faults, ("the results file cannot be read", str(error))]
    true = {id_: one for run in world.undisturbed.values() for id_, one in run.items()}
    found = figures(contents)
    if doubled(contents):
        faults.append(("outcomes are doubled", ", ".join(doubled(contents))))
    compared = 3 if contents.blessed else None  # a baseline has no curves
    if any(found[id_][:compared] != true[id_][:compared] for id_ in found):
        faults.append(("outcomes differ from those of an undisturbed run", ""))
    return faults


def _is_complete(disk: Path, world: World) -> bool:
    return world.undisturbed_of(COMPILED).items() <= figures(read(disk)).items()


def _files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


# the limits of the command, and what removes the obstacle
_Obstacle = Iterator[tuple[dict[str, int], Callable[[], object]]]


@contextmanager
def _a_full_disk(folder: Path, draw: random.Random) -> _Obstacle:
    """A small file system of its own with little room; where it cannot be made, a limit."""
    disk = folder / "disk"
    disk.mkdir()
    if not _mounted(disk):
        with _a_limit_on_files(folder, draw) as given:
            yield given
        return
    try:
        filler = disk / "filler"
        filler.write_bytes(bytes(_DISK_BYTES - draw.randrange(0, 100_000, 4096)))
        yield {}, filler.unlink
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


@contextmanager
def _a_limit_on_files(folder: Path, draw: random.Random) -> _Obstacle:
    (folder / "disk").mkdir(exist_ok=True)
    yield {"most_bytes": draw.randrange(_LEAST, 60_000)}, lambda: None


@contextmanager
def _a_folder_that_cannot_be_written(folder: Path, draw: random.Random) -> _Obstacle:
    """Read-only for the user; root, for whom nothing is, becomes nobody."""
    disk = folder / "disk"
    disk.mkdir()
    disk.chmod(0o555)
    folder.chmod(0o777)
    user = NOBODY if os.geteuid() == 0 else 0
    try:
        yield {"user": user} if user else {}, lambda: disk.chmod(0o755)
    finally:
        disk.chmod(0o755)


def _mounted(disk: Path) -> bool:
    if os.geteuid() != 0:
        return False
    words = ["mount", "-t", "tmpfs", "-o", f"size={_DISK_BYTES}", "tmpfs", str(disk)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


_OBSTACLES = (_a_full_disk, _a_limit_on_files, _a_folder_that_cannot_be_written)
