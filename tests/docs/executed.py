"""Pages that are executed as they stand: their files are saved, their commands run, and what the
pages print is compared with what the commands print.

A block ```python title="mine.py" is a file to save. A block ```console holds commands, `$ …`, each
followed by what it prints. In a page `…` stands for anything: alone on a line for lines left out,
inside a line for words that differ from machine to machine, such as seconds. How wide the columns
of a table are follows from its seconds, so that the number of spaces does not count.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_FILE_OR_CONSOLE = re.compile(
    r'^```(?:\w+ title="(?P<name>[^"]+)"|console)\n(?P<body>.*?)^```$', re.MULTILINE | re.DOTALL
)
LEFT_OUT = "…"


@dataclass(frozen=True)
class File:
    """A file that the reader saves."""

    name: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that the reader enters, and the lines that the page says it prints."""

    line: str
    shown: tuple[str, ...]

    @property
    def shows_the_exit_code(self) -> bool:
        return self.line == "echo $?"


def steps(text: str) -> Iterator[File | Command]:
    """What a reader of the page does, in its order."""
    for block in _FILE_OR_CONSOLE.finditer(text):
        if block["name"]:
            yield File(block["name"], block["body"])
        else:
            yield from _commands(block["body"])


def _commands(body: str) -> Iterator[Command]:
    first, *parts = re.split(r"^\$ ", body, flags=re.MULTILINE)
    assert not first.strip(), f"printed by no command: {first}"
    for part in parts:
        line, *shown = part.rstrip().splitlines()
        while line.endswith("\\"):
            line = line[:-1] + shown.pop(0)
        yield Command(line, tuple(shown))


def walk(text: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Do in a folder what the page says, and compare what is printed.

    A command must succeed unless the next one shows its exit code.
    """
    done = list(steps(text))
    code = 0
    for number, step in enumerate(done):
        if isinstance(step, File):
            (folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        ended = subprocess.run(
            ["bash", "-c", f"(exit {code}); {step.line}"],
            cwd=folder, env=dict(environment), check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        code = ended.returncode
        following = done[number + 1] if number + 1 < len(done) else None
        may_fail = isinstance(following, Command) and following.shows_the_exit_code
        assert code == 0 or may_fail, f"$ {step.line}\n{ended.stdout}"
        missing = differs(step.shown, ended.stdout.splitlines())
        assert missing is None, f"$ {step.line}\nnot printed: {missing}\n\n{ended.stdout}"


def differs(shown: tuple[str, ...], printed: list[str]) -> str | None:
    """The first line of the page that is not printed where the page says, if there is one."""
    lines = [" ".join(_entries(line)) for line in printed]
    at = 0
    skips = False
    for line in shown:
        if line.strip() == LEFT_OUT:
            skips = True
            continue
        wanted = re.compile(
            ".*".join(re.escape(part) for part in " ".join(_entries(line)).split(LEFT_OUT))
        )
        while skips and at < len(lines) and not wanted.fullmatch(lines[at]):
            at += 1
        if at == len(lines) or not wanted.fullmatch(lines[at]):
            return line
        at += 1
        skips = False
    return None if skips or at == len(lines) else f"{lines[at]!r} is printed, not shown"


def _entries(line: str) -> list[str]:
    """The words of a line; a rule of dashes is as long as its column is wide."""
    return ["--" if set(word) == {"-"} and len(word) > 1 else word for word in line.split()]
