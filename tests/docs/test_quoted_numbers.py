"""Every number that a document quotes is what the named command prints from `results/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.quotes import ROOT, Quoted, code_blocks, faults, paragraphs, printed

DOCUMENTS = [
    ROOT / "docs" / name
    for name in ("lsokl.md", "rrf.md", "ik.md", "drift.md", "reading-results.md")
]


def _named(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("path", DOCUMENTS, ids=_named)
def test_every_number_is_what_its_command_prints(path: Path) -> None:
    quoted = paragraphs(path.read_text(encoding="utf-8"))
    assert [fault for paragraph in quoted for fault in faults(paragraph)] == []
    assert any(paragraph.values for paragraph in quoted)


def test_the_tables_of_the_bayesian_kernel_machine_are_what_their_command_prints() -> None:
    """Other numbers of this page were measured apart, and name no command."""
    text = (ROOT / "docs/bkm.md").read_text(encoding="utf-8")
    tied = [quoted for quoted in paragraphs(text) if quoted.values]
    assert [fault for paragraph in tied for fault in faults(paragraph)] == []
    assert len(tied) == 4


def test_the_tables_of_several_kernels_are_what_their_commands_print() -> None:
    """Other numbers of this page are those of benchmarks, and name no command."""
    text = (ROOT / "docs/raker.md").read_text(encoding="utf-8")
    tied = [quoted for quoted in paragraphs(text) if quoted.values]
    assert [fault for paragraph in tied for fault in faults(paragraph)] == []
    assert len(tied) == 4


@pytest.mark.parametrize("path", DOCUMENTS, ids=_named)
def test_every_quoted_output_is_printed(path: Path) -> None:
    for command, lines in code_blocks(path.read_text(encoding="utf-8")):
        output = iter(printed(command).splitlines())
        assert lines
        for line in lines:
            assert line in output, f"{command} prints no such line, or not in this place: {line}"


COMMAND = "okbench report table5 --results results --format json"


@pytest.mark.parametrize(
    ("text", "items", "count"),
    [
        ("OGD makes 29.58 ± 0.58 on german.", "german/OGD/{mean,std}", 0),
        ("OGD makes 29.59 ± 0.58 on german.", "german/OGD/{mean,std}", 2),
        ("OGD makes 0.58 ± 29.58 on german.", "german/OGD/{mean,std}", 2),
        ("It makes 29.58 on german, and 3.14.", "german/OGD/mean", 1),
        ("It is within.", "german/OGD/outcome", 1),
        ("It is as printed.", "german/OGD/outcome", 0),
        ("The difference is 0.08.", "german/OGD/difference", 0),
        ("OGD makes 295.8 in a thousand.", "10 * german/OGD/mean", 0),
        ("OGD makes 29.58 in a thousand.", "10 * german/OGD/mean", 2),
        ("The difference is −0.08.", "german/OGD/difference", 2),
    ],
)
def test_a_wrong_or_unnamed_number_is_found(text: str, items: str, count: int) -> None:
    (quoted,) = paragraphs(f"{text}\n\n<!-- numbers: {COMMAND}\n{items} -->\n")
    assert len(faults(quoted)) == count, faults(quoted)


def test_decimals_in_code_are_settings_and_need_no_command() -> None:
    assert faults(Quoted("with a step of `0.02` and the version 1.2", [])) != []
    assert faults(Quoted("with a step of `0.02`", [])) == []
