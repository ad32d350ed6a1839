"""The documents: their commands exist, their examples work, and they use the terms of the field."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import yaml

from okbench.cli import okbench
from okbench.papers.table_file import read_table
from tests.docs.executed import Command, steps

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CHANGELOG.md", "results/README.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name != "architecture.md"),
]
CONFIGS = [
    ROOT / "datasets.yaml",
    *(
        path
        for path in sorted((ROOT / "configs").rglob("*.y*ml"))
        if not path.name.endswith(".tuned.yaml")  # written by okbench tune
    ),
]
SOURCES = sorted((ROOT / "okbench").rglob("*.py"))
# Keys and anchors of the claims' files are names, not text.
KEYS = re.compile(r"^\s*says:|[&*]rivals", re.MULTILINE)
PRIVATE_WORDS = re.compile(
    r"\b(told|tells?|reckon(s|ed)?|strangers?|held (to|against)|door|nouns?|row orders?|"
    r"one a (trial|row|class|table|pair)|at hand|rivals?|says yes)\b",
    re.IGNORECASE,
)


def _named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _blocks(text: str, language: str) -> list[str]:
    """The blocks of a language, with the name of a file (tests/docs/executed.py) or without."""
    return re.findall(
        rf'^```{language}(?: title="[^"]*")?\n(.*?)^```', text, re.DOTALL | re.MULTILINE
    )


def _command_lines() -> Iterator[tuple[str, str]]:
    """Every `okbench …` in a code block or in a code span, with the document it is in."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        fenced = "\n".join(_blocks(text, ""))
        indented = "\n".join(re.findall(r"^ {4}(okbench .*)$", text, re.MULTILINE))
        listed = re.findall(r"^okbench .*$", f"{fenced}\n{indented}", re.MULTILINE)
        entered = [step.line for step in steps(text) if isinstance(step, Command)]
        listed += [line for line in entered if line.startswith("okbench ")]
        without_blocks = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        spans = re.findall(r"`(okbench [^`]*)`", without_blocks)
        for line in [*listed, *spans]:
            command = re.split(r" {2,}", line.replace("\n", " "))[0]
            yield _named(path), command


def _parse(words: list[str]) -> None:
    """Raise what click raises at a command or an option that does not exist."""
    group: click.Command = okbench
    context = click.Context(okbench)
    while isinstance(group, click.Group) and words:
        name, *words = words
        if name.startswith("-"):
            break
        found = group.get_command(context, name)
        if found is None:
            raise click.UsageError(f"no command {name}")
        group = found
        context = click.Context(found, info_name=name, parent=context)
    if not isinstance(group, click.Group):
        group.make_parser(context).parse_args(args=list(words))


LINES = sorted(set(_command_lines()))


def test_the_documents_have_commands() -> None:
    assert len(LINES) > 60


@pytest.mark.parametrize(("document", "line"), LINES)
def test_a_command_of_the_documents_exists_with_its_options(document: str, line: str) -> None:
    words = shlex.split(line.split(" > ")[0])[1:]
    shown = [word for word in words if word not in ("[NEW]", "[PAPER]")]
    _parse([word.strip("[]") for word in shown])


@pytest.mark.parametrize("line", ["okbench rum demo", "okbench run demo --tirals 3"])
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises(click.UsageError):
        _parse(line.split()[1:])


@pytest.mark.parametrize("path", DOCUMENTS, ids=_named)
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    made = {ROOT / "docs/reference" / name for name in ("commands.md", "settings.md")}
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if target.startswith("http"):
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        if linked in made:  # by docs/site/pages.py; `make docs` checks links to them
            continue
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {
                re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
            }
            assert anchor in anchors, target


@pytest.mark.parametrize("path", DOCUMENTS, ids=_named)
def test_every_yaml_block_parses(path: Path) -> None:
    for block in _blocks(path.read_text(encoding="utf-8"), "yaml"):
        assert isinstance(yaml.safe_load(block), dict)


def test_the_table_of_adding_is_a_table(tmp_path: Path) -> None:
    text = (ROOT / "docs/adding.md").read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(_blocks(text, "yaml")[0], encoding="utf-8")
    table = read_table(file, "mine")
    assert [column.label for column in table.learners] == ["OGD", "RBP", "FOGD", "mine"]
    settings = table.settings["breast-cancer", "FOGD"]
    assert settings["components"].value == 200
    assert settings["step"].source == "found"


def _examples() -> Iterator[tuple[str, str, str]]:
    """(document, class, source) of every class that the documents print."""
    for name in ("README.md", "docs/adding.md"):
        for block in _blocks((ROOT / name).read_text(encoding="utf-8"), "python"):
            for cls in re.findall(r"^class (\w+)(?!\(NamedTuple|\w)", block, re.MULTILINE):
                yield name, cls, block


@pytest.mark.parametrize(("document", "cls", "source"), list(_examples()))
def test_a_learner_passes_its_checks_as_printed(
    document: str, cls: str, source: str, tmp_path: Path
) -> None:
    (tmp_path / "printed_example.py").write_text(source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "from okbench.cli import main; main()",
         "check-learner", f"printed_example:{cls}"],
        cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed" not in done.stdout


def test_every_base_class_of_adding_has_an_example() -> None:
    assert [cls for name, cls, _ in _examples() if name == "docs/adding.md"] == [
        "LinearGD", "KernelPA", "WindowOGD", "ScaledFOGD", "GuardedProjectron", "BSGDTable",
    ]  # fmt: skip


def test_the_readme_prints_what_is_stored() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from okbench.cli import main; main()", "report", "table5",
         "--results", str(ROOT / "results")],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    (excerpt,) = [
        block
        for block in _blocks((ROOT / "README.md").read_text(encoding="utf-8"), "")
        if block.startswith("lsokl/table5")
    ]
    printed = done.stdout.splitlines()
    for line in excerpt.splitlines():
        assert line in printed
        assert len(line) <= 110


def test_the_readme_names_the_test_command_of_ci() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert _blocks(readme, "")[0].splitlines() == ["make demo", "make test"]
    assert "timed make test" in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("path", [*DOCUMENTS, *CONFIGS], ids=_named)
def test_the_words_are_those_of_the_field(path: Path) -> None:
    text = KEYS.sub("", path.read_text(encoding="utf-8"))
    found = PRIVATE_WORDS.search(text)
    assert found is None, f"line {text[: found.start()].count(chr(10)) + 1}: {found.group()}"


def test_every_table_of_the_page_on_own_rows_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands are executed by tests/docs/test_walks.py."""
    text = (ROOT / "docs/own-data.md").read_text(encoding="utf-8")
    (tmp_path / "my.csv").write_text("id,a,b,y\n0,1,2,in\n1,2,1,out\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(_blocks(text, "yaml")):
        file = tmp_path / f"t{number}.yaml"
        file.write_text(block, encoding="utf-8")
        assert read_table(file, "t").learners


def _prose(source: str) -> Iterator[str]:
    """The comments and the strings of more than one word, without the code in them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING) and " " in token.string:
            yield re.sub(r"`[^`]*`|\{[^}]*\}", "", KEYS.sub("", token.string))


def test_the_words_of_the_sources_are_those_of_the_field() -> None:
    found = [
        f"{_named(path)}: {match.group()} in {text[:80]!r}"
        for path in SOURCES
        for text in _prose(path.read_text(encoding="utf-8"))
        for match in PRIVATE_WORDS.finditer(text)
    ]
    assert found == []


def test_a_private_word_in_a_source_is_found() -> None:
    (comment,) = _prose("door = 1  # a noun is told")
    assert [match.group() for match in PRIVATE_WORDS.finditer(comment)] == ["noun", "told"]
