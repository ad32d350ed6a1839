"""Mutated inputs in worker processes: each ends in a value or in an OkbenchError, within a bound on
its time and on the memory of its process."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import psutil

from okbench.base.errors import OkbenchError
from tests.chaos.findings import Finding, Tally
from tests.chaos.targets import Target, targets

MEMORY = 1 << 30  # bytes that one input may take
LONGEST = 10.0  # CPU seconds that one input may take
_HANGS = 60.0  # seconds after which a worker is ended that its own alarm cannot reach
_TURN = 0.1  # seconds for which a reader is tried before it is the next one's turn
_KEPT = 3  # inputs of one cause that a worker keeps

_TRIED, _REFUSED, _WRONG, _PLACE = 0, 1, 2, 3  # columns of what a worker shares with its parent


class _Hang(BaseException):
    """The alarm; no reader catches it."""


def fuzz(tally: Tally, seed: int, most: int, seconds: float, jobs: int, folder: Path) -> None:
    """Try mutated inputs until there were `most` or the time is over; keep those of findings."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = targets()
    _warm_up(everything)
    context = multiprocessing.get_context("fork")  # a copy has imported and compiled all
    counts = [context.RawArray("q", 4 * len(everything)) for _ in range(jobs)]
    now = [context.RawArray("d", 2) for _ in range(jobs)]  # the reader, and when its input began
    with tempfile.TemporaryDirectory(prefix="okbench-chaos-", dir=_fast_folder()) as scratch:

        def start(worker: int) -> Any:
            given = (worker, jobs, seed, most // jobs, counts[worker], now[worker])
            process = context.Process(target=_work, args=(everything, *given, folder, scratch))
            process.start()
            return process

        for old in folder.glob("worker-*.jsonl"):
            old.unlink()
        workers = [start(worker) for worker in range(jobs)]
        began = time.monotonic()
        while time.monotonic() - began < seconds and any(one.is_alive() for one in workers):
            time.sleep(0.2)
            for worker, process in enumerate(workers):
                hangs = 0 < now[worker][1] < time.monotonic() - _HANGS
                if hangs:
                    process.kill()
                    process.join()
                if hangs or process.exitcode:
                    _died(worker, jobs, everything, counts, now, process.exitcode, hangs, tally)
                    workers[worker] = start(worker)
        for process in workers:
            process.kill()
            process.join()
    _collect(tally, folder)
    _summarise(tally, everything, counts, time.monotonic() - began)


def one_input(seed: int, name: str, number: int, folder: Path) -> bool:
    """Read one mutated input again and print what comes of it; whether that is allowed."""
    target = next(target for target in targets() if target.name == name)
    path = folder / f"{name}-{number}{target.suffix}"
    path.write_bytes(_input(target, seed, number))
    print(path)
    _bound()
    refused, error = _tried(target, path)
    print(traceback.format_exc() if error is None else error or ("refused" if refused else "read"))
    return not error


def _input(target: Target, seed: int, number: int) -> bytes:
    draw = random.Random(f"{seed}:{target.name}:{number}")
    return target.mutant(draw, draw.choice(target.seeds), target.seeds)


def _warm_up(everything: tuple[Target, ...]) -> None:
    """Import and compile what the readers need at their first calls. The reader of Parquet begins
    in each worker, because it starts threads, and a process with threads cannot be copied."""
    with tempfile.TemporaryDirectory(prefix="okbench-chaos-") as scratch:
        for target in everything:
            for data in target.seeds if target.suffix != ".parquet" else ():
                path = Path(scratch) / f"valid{target.suffix}"
                path.write_bytes(data)
                with contextlib.suppress(OkbenchError):  # a part of an archive is none by itself
                    target.read(path)


def _work(
    everything: tuple[Target, ...],
    worker: int,
    jobs: int,
    seed: int,
    most: int,
    counts: Any,
    now: Any,
    folder: Path,
    scratch: str,
) -> None:
    """Try every `jobs`-th input of each reader in turns, from where the last worker stopped."""
    os.chdir(tempfile.mkdtemp(dir=scratch))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    _bound()
    seen: Counter[str] = Counter()
    findings = (folder / f"worker-{worker}.jsonl").open("a", encoding="utf-8")
    while sum(counts[_TRIED::4]) < most:
        for place, target in enumerate(everything):
            end, path = time.monotonic() + _TURN, Path(f"input{target.suffix}")
            while time.monotonic() < end:
                number = worker + jobs * counts[4 * place + _PLACE]
                counts[4 * place + _PLACE] += 1
                data = _input(target, seed, number)
                path.write_bytes(data)
                now[0], now[1] = place, time.monotonic()
                refused, error = _tried(target, path)
                now[1] = 0.0
                counts[4 * place + _TRIED] += 1
                counts[4 * place + _REFUSED] += refused
                counts[4 * place + _WRONG] += bool(error)
                cause = error.splitlines()[0] if error else ""
                if error and seen[f"{target.name} {cause}"] < _KEPT:
                    seen[f"{target.name} {cause}"] += 1
                    kept = folder / f"{target.name}-{number}{target.suffix}"
                    kept.write_bytes(data)
                    case = f"inputs:{target.name}:{number}"
                    found = {"case": case, "what": f"{target.name}: {cause}", "detail": error}
                    findings.write(json.dumps({**found, "file": str(kept)}) + "\n")
                    findings.flush()


def _tried(target: Target, path: Path) -> tuple[bool, str]:
    """Whether an input was refused, and what is wrong with how it ended: the cause, then more."""
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        with warnings.catch_warnings(), contextlib.suppress(OkbenchError):
            warnings.simplefilter("ignore")
            target.read(path)
            return False, ""
        return True, ""
    except _Hang as error:
        return (
            False,
            f"more than {LONGEST:.0f} s of CPU time{_where(error)}\n{traceback.format_exc()}",
        )
    except MemoryError as error:
        return False, f"more than {MEMORY >> 20} MB{_where(error)}\n{traceback.format_exc()}"
    except BaseException as error:
        return False, f"{type(error).__name__}{_where(error)}\n{traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _where(error: BaseException) -> str:
    """The innermost line of okbench that an error came from."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if "/okbench/" in frame.filename]
    if not inside:
        return ""
    place = inside[-1].filename.rpartition("/okbench/")[2]
    return f" in okbench/{place}:{inside[-1].lineno}"


def _bound() -> None:
    """From here on an input may take so much more memory and time than this process has by now."""
    signal.signal(signal.SIGPROF, _alarm)
    most = psutil.Process().memory_info().vms + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEMORY, MEMORY))


def _alarm(number: int, frame: Any) -> NoReturn:
    raise _Hang


def _died(
    worker: int,
    jobs: int,
    everything: Any,
    counts: Any,
    now: Any,
    code: Any,
    hangs: bool,
    tally: Tally,
) -> None:
    """A worker that had to be ended, or that an input ended."""
    place = int(now[worker][0])
    now[worker][1] = 0.0
    number = worker + jobs * (counts[worker][4 * place + _PLACE] - 1)
    name = everything[place].name
    counts[worker][4 * place + _TRIED] += 1
    counts[worker][4 * place + _WRONG] += 1
    what = f"more than {_HANGS:.0f} s in compiled code" if hangs else f"ends the process ({code})"
    tally.find(Finding(f"inputs:{name}:{number}", f"{name}: {what}"))


def _collect(tally: Tally, folder: Path) -> None:
    for path in sorted(folder.glob("worker-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            tally.find(Finding(**json.loads(line)))
        path.unlink()


def _summarise(tally: Tally, everything: Any, counts: Any, seconds: float) -> None:
    for place, target in enumerate(everything):
        tried = sum(one[4 * place + _TRIED] for one in counts)
        refused = sum(one[4 * place + _REFUSED] for one in counts)
        wrong = sum(one[4 * place + _WRONG] for one in counts)
        tally.count(tried=tried, refused=refused, recovered=tried - wrong)
        line = f"{tried:9,} inputs, {refused:9,} refused, {wrong:7,} wrong"
        print(f"  {target.name:16} {line}", file=sys.stderr)
    tally.note = f"{tally.tried / seconds:,.0f} inputs per second with {len(counts)} processes"


def _fast_folder() -> str | None:
    """Memory as a file system, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
