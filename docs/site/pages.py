"""Pages of the documentation site that are made of other files: the README as the first page, and
the reference of commands and settings, from the commands and the classes themselves.

MkDocs calls the functions `on_…` (hooks in mkdocs.yml).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

from okbench.cli import okbench
from okbench.learners.registry import catalogue, settings_of
from okbench.learners.settings import meanings_of

ROOT = Path(__file__).parents[2]
# Files outside docs/ by their pages.
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}
ELSEWHERE = {"results/README.md": "reading-results.md"}
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]*)(#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made here."""
    made = {page: (ROOT / source).read_text("utf-8") for source, page in PAGES.items()}
    made["reference/commands.md"] = commands_page()
    made["reference/settings.md"] = settings_page()
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links to files outside docs/ lead to their pages."""
    path = page.file.src_uri
    source = next((name for name, made in PAGES.items() if made == path), f"docs/{path}")
    return _LINK.sub(lambda link: f"]({place(link[1], source, path)}{link[2] or ''})", markdown)


def place(target: str, source: str, path: str) -> str:
    """Where a link of a source file leads in the site, seen from the page at `path`."""
    full = (ROOT / source).parent.joinpath(target).resolve().relative_to(ROOT).as_posix()
    found = PAGES.get(full) or ELSEWHERE.get(full) or full.removeprefix("docs/")
    return "../" * path.count("/") + found


def commands_page() -> str:
    """The help of every command, as it is printed."""
    top = click.Context(
        okbench, info_name="okbench", terminal_width=100, **okbench.context_settings
    )
    return "\n".join(["# Commands", "", *_helps(okbench, top)])


def _helps(group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, context, name)
        path = inner.command_path.removeprefix("okbench ")
        yield from (f"## {path}", "", "```text", command.get_help(inner), "```", "")
        if isinstance(command, click.Group):
            yield from _helps(command, inner)


def settings_page() -> str:
    """Every learner with its class, rule, tasks, and the settings that its constructor takes."""
    parts = [
        "# Learners and their settings",
        "",
        "This page is generated from the classes. In a table a setting is a key of the learner; on "
        "the command line it is `--set FOGD.width=2` or `FOGD[width=2]`; in Python it is an "
        "argument of the class.",
        "",
    ]
    for entry in catalogue().values():
        cls = entry.load()
        parts += [
            f"## {entry.name}",
            "",
            entry.summary,
            "",
            f"`from {cls.__module__} import {cls.__name__}` · tasks: {', '.join(entry.tasks)} · "
            f"version {entry.version}",
            "",
            *_settings_of(cls),
            "",
        ]
    return "\n".join(parts)


def _settings_of(cls: type) -> Iterator[str]:
    found, meanings = settings_of(cls), meanings_of(cls)
    if not found:
        yield "It has no settings."
        return
    yield "| setting | default | meaning |"
    yield "| --- | --- | --- |"
    for name, parameter in found.items():
        default = parameter.default
        shown = "required" if default is inspect.Parameter.empty else f"`{default!r}`"
        yield f"| `{name}` | {shown} | {meanings.get(name, '').replace('|', chr(92) + '|')} |"
