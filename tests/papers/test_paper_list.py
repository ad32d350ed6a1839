"""The five papers as they are cited."""

from __future__ import annotations

from pathlib import Path

import pytest

from okbench.base.errors import ConfigError
from okbench.papers.paper_list import papers
from okbench.papers.table_catalogue import names
from tests.shipped_tables import find

ONE = "one:\n  title: T\n  authors: [A B, C D]\n  venue: V\n  year: 2020\n"


def test_every_table_is_of_a_paper_that_is_listed() -> None:
    known = papers()
    assert len(known) == 5
    for card in names():
        paper = find(card.name).paper
        assert not paper or paper in known


def test_the_authors_and_the_link_are_read(tmp_path: Path) -> None:
    path = tmp_path / "papers.yml"
    path.write_text(ONE + "  link: https://example.org/p\n", encoding="utf-8")
    paper = papers(path)["one"]
    assert (paper.authors, paper.year) == (("A B", "C D"), 2020)
    assert paper.link == "https://example.org/p"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE.replace("  year: 2020\n", ""), "'year' is missing"),
        (ONE + "  link: javascript:alert(1)\n", "begins with https://"),
        (ONE + "  doi: x\n", "'doi' is not a key"),
    ],
)
def test_a_bad_entry_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "papers.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as refused:
        papers(path)
    assert "papers.yml:" in str(refused.value)
