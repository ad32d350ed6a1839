"""Every tutorial is walked from an empty folder with the wheel installed: what a newcomer enters
works, and prints what the tutorial shows."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from filelock import FileLock

from tests.docs.executed import Command, File, differs, steps, walk

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [*TUTORIALS, ROOT / "docs/own-data.md", ROOT / "docs/traps.md"]


def _python(*arguments: str | Path, interpreter: str | Path = sys.executable) -> None:
    done = subprocess.run(
        [interpreter, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _install(place: Path) -> None:
    """Build the wheel, and install it where the packages that it needs are seen, not okbench's
    sources: a .pth file in a folder that is added by another .pth file is not read."""
    _python("-m", "hatchling", "build", "--target", "wheel", "--directory", place / "wheel")
    _python("-m", "venv", place / "venv")
    interpreter = place / "venv/bin/python"
    (wheel,) = (place / "wheel").glob("*.whl")
    _python("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel,
            "--disable-pip-version-check", interpreter=interpreter)  # fmt: skip
    (packages,) = (place / "venv/lib").glob("python*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of one installation, which the processes of pytest-xdist share."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "installation"
    with FileLock(f"{place}.lock"):
        if not (place / "done").exists():
            _install(place)
            (place / "done").touch()
    return place / "venv/bin"


@pytest.fixture
def newcomer(installed: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of somebody who has installed okbench and done nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OKBENCH_")}
    return {
        **kept,
        "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}",
        "OKBENCH_DATA": str(tmp_path / "data"),
        "COLUMNS": "100",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": "",
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_its_commands_print(
    page: Path, newcomer: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    if page.stem == "own-data":  # it uses the learner of the README
        (learner,) = (one for one in steps(README) if isinstance(one, File))
        (folder / learner.name).write_text(learner.text, encoding="utf-8")
    walk(page.read_text(encoding="utf-8"), folder, newcomer)


@pytest.mark.slow
def test_the_command_of_a_walk_is_that_of_the_wheel(
    newcomer: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        ["python", "-c", "import okbench; print(okbench.__file__)"],
        cwd=tmp_path, env=newcomer, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not Path(done.stdout.strip()).is_relative_to(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_commands_and_shows_what_they_print(page: Path) -> None:
    commands = [one for one in steps(page.read_text("utf-8")) if isinstance(one, Command)]
    assert sum(bool(one.shown) for one in commands) >= 3


PAGE = """\
```python title="a.py"
print(1)
```

```console
$ python a.py
1
$ false
$ echo $?
1
```
"""


def test_the_steps_of_a_page_are_its_files_and_commands(tmp_path: Path) -> None:
    assert list(steps(PAGE)) == [
        File("a.py", "print(1)\n"), Command("python a.py", ("1",)), Command("false", ()),
        Command("echo $?", ("1",)),
    ]  # fmt: skip
    walk(PAGE, tmp_path, os.environ)


@pytest.mark.parametrize(
    "wrong",
    [
        PAGE.replace("print(1)", "print(2)"),  # prints something else
        PAGE.replace("$ echo $?\n1\n", ""),  # fails
        PAGE.replace("print(1)", "print('1\\n2')"),  # prints more
        PAGE.replace("print(1)", "pass"),  # prints nothing
    ],
)
def test_a_page_that_is_wrong_is_noticed(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        walk(wrong, tmp_path, os.environ)


@pytest.mark.parametrize(
    ("shown", "printed", "agrees"),
    [
        (["a  …", "--  ---"], ["a 1.5 ms", "----  -"], False),
        (["a  …", "--  ---"], ["a 1.5 ms", "----  ------"], True),
        (["…", "b"], ["a", "a", "b"], True),
        (["…", "b"], ["a", "b", "c"], False),
        (["a", "…"], ["a"], True),
        (["a … c"], ["a b d"], False),
    ],
)
def test_an_ellipsis_stands_for_anything(
    shown: list[str], printed: list[str], agrees: bool
) -> None:
    assert (differs(tuple(shown), printed) is None) == agrees
