"""Commands of okbench as messages and pages print them: quoted for the shell, with lists of names
as the options take them, and with the permission that a user-defined learner needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from shlex import join

from okbench.base.shipped import shipped
from okbench.papers.table_catalogue import OWN
from okbench.papers.table_types import Table

Option = str | int | bool | Path | Sequence[str] | None


def command(*words: object, allow: Collection[str] = (), **options: Option) -> str:
    """`command("run", "demo", learners=["FOGD", "RBP"], again=True)` is the command
    `okbench run demo --learners FOGD,RBP --again`. `allow` are user-defined learners.
    """
    found = ["okbench", *map(str, words)]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            found.append(option)
        elif isinstance(value, int | str | Path) and value is not False:
            found += [option, str(value)]
        elif value:
            found += [option, ",".join(value)]
    for learner in allow:
        found += ["--allow-learner", learner]
    return join(found)


def run_command(
    table: Table,
    named: Sequence[str] = (),
    datasets: Sequence[str] = (),
    learners: Sequence[str] = (),
    **options: Option,
) -> str:
    """The command that runs a table, or these datasets and learners of it by their labels. `named`
    is how the table was named in another command, with the options that belong to it."""
    words = named or [name_of(table)]
    run = [one.learner for one in table.learners if not learners or one.label in learners]
    allow = dict.fromkeys(
        name
        for name in run
        if ":" in name and not any(name in word for word in words)  # --with allows what it names
    )
    return command("run", *words, allow=allow, datasets=datasets, learners=learners, **options)


def name_of(table: Table) -> str:
    """How commands name a table: by its name, or by its file if no command finds the name."""
    path = Path(table.where.rpartition(":")[0])
    of_project = shipped("configs") / f"{table.name}.yaml"
    is_file = table.where and not table.name.startswith(f"{OWN}/")
    return str(path) if is_file and path.resolve() != of_project.resolve() else table.name
