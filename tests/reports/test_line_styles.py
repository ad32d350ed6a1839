"""One look per learner: by its name alone, unlike others, and the same in pictures and on pages."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okbench.papers.table_catalogue import names
from okbench.reports import line_styles
from okbench.reports.figures.draw import MARKERS, look_of
from okbench.reports.line_styles import COLOURS, DASHES, LineStyle, style_of
from okbench.reports.site.markers import colour_rules, dashes, look, marker, style_sample
from tests.shipped_tables import find

NAMED = list(line_styles._NUMBERS)
TABLES = [card.name for card in names()]


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def as_seen(colour: str) -> tuple[float, ...]:
    """By a person without the receptors for green (Viénot et al. 1999), linear light."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    mixed = 0.29275 * red**2.2 + 0.70725 * green**2.2
    return mixed, -0.02234 * red**2.2 + 0.02234 * green**2.2 + blue**2.2


def test_no_two_known_names_look_the_same() -> None:
    looks = {(style_of(name).colour, style_of(name).marker) for name in NAMED}
    assert len(looks) == len(NAMED)


@pytest.mark.parametrize("name", TABLES)
def test_learners_of_one_table_differ_in_colour_as_far_as_ten_suffice(name: str) -> None:
    lines = dict.fromkeys(column.line for column in find(name).learners)
    looks = {(style_of(line).colour, style_of(line).marker, style_of(line).dash) for line in lines}
    assert len(looks) == len(lines)
    known = [line for line in lines if line in NAMED]
    if len(lines) <= len(COLOURS):
        colours = {style_of(line).colour for line in known}
        assert len(colours) == len(known)


def test_a_variant_has_the_colour_of_its_learner_and_another_marker_or_dash() -> None:
    for variant in ("FOGD[width=2]", "FOGD(step=0.1)", "FOGD, small step"):
        assert style_of(variant).colour == style_of("FOGD").colour
        assert style_of(variant) != style_of("FOGD")
    assert style_of("BPAS") == style_of("BPA-S")


@given(st.text(max_size=20))
def test_any_name_has_a_look_that_charts_can_draw(name: str) -> None:
    style = style_of(name)
    assert style == style_of(name)
    assert isinstance(style, LineStyle)
    assert 0 <= style.colour < len(COLOURS)
    assert 0 <= style.dash < len(DASHES)
    ElementTree.fromstring(f"<g>{style_sample(name)}{marker(name, 1, 2)}</g>")
    assert look_of(name)["color"] == COLOURS[style.colour][0]


def test_unknown_names_are_spread_over_the_looks() -> None:
    looks = {style_of(f"Learner{number}") for number in range(60)}
    assert len(looks) > 40


def test_pictures_and_pages_use_the_same_colours_markers_and_dashes() -> None:
    for name in NAMED:
        style, drawn = style_of(name), look_of(name)
        assert look(name) == f"k{style.colour}"
        assert drawn["marker"] == MARKERS[line_styles.MARKERS[style.marker]]
        pattern = () if drawn["linestyle"] == "-" else drawn["linestyle"][1]
        assert (dashes(name) or "") == " ".join(f"{length:g}" for length in pattern)
        assert ("hollow" in marker(name)) == (drawn["markerfacecolor"] == "white")
    assert set(MARKERS) == set(line_styles.MARKERS)


def test_colours_stand_out_from_the_page_and_from_each_other() -> None:
    for light, dark in COLOURS:
        assert contrast(light, "#ffffff") >= 2.5
        assert contrast(dark, "#14171b") >= 4.5
        assert f"light-dark({light}, {dark})" in colour_rules()
    for place in (0, 1):
        for one, other in combinations([pair[place] for pair in COLOURS], 2):
            far = sum(abs(a - b) for a, b in zip(as_seen(one), as_seen(other), strict=True))
            assert far > 0.02, (one, other)
