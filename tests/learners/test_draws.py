"""Draws: from a seed by name and kind, and from a record."""

from __future__ import annotations

import hashlib
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okbench.base.errors import DataError, UsageError
from okbench.learners.contract import Draws, RecordedDraws
from okbench.learners.draws import KINDS, fault_of
from okbench.trials.replay.replaying import NotedDraws

SEEDS = st.integers(0, 2**64) | st.lists(st.integers(0, 2**64), min_size=1, max_size=4)
NAMES = st.sampled_from(["noise", "map", "a-1", "normals", "0"])
SIZES = {
    "normals": st.tuples(st.integers(0, 4), st.integers(0, 4)),
    "uniforms": st.tuples(st.integers(0, 5)),
    "choice": st.tuples(st.integers(3, 6), st.integers(0, 3)),
    "permutation": st.tuples(st.integers(0, 6)),
    "orthogonal": st.tuples(st.integers(1, 4)),
}
CALLS = st.lists(
    st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(NAMES, st.just(kind), SIZES[kind])),
    max_size=12,
)


def drawn(draws, calls):
    """What calls draw, in their order."""
    return [getattr(draws.stream(name), kind)(*size) for name, kind, size in calls]


@given(SEEDS, CALLS)
def test_the_streams_without_a_name_are_those_of_the_seed(seed, calls):
    draws = Draws(seed)
    drawn(draws, calls)
    normals, uniforms = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
    np.testing.assert_array_equal(draws.normals(3, 2), normals.standard_normal((3, 2)))
    np.testing.assert_array_equal(draws.look_ahead(4), uniforms.random(4))


@given(SEEDS, CALLS)
def test_a_stream_is_shifted_by_no_other_name_or_kind(seed, calls):
    together = drawn(Draws(seed), calls)
    for name, kind in {(name, kind) for name, kind, _ in calls}:
        own = [place for place, call in enumerate(calls) if call[:2] == (name, kind)]
        alone = drawn(Draws(seed), [calls[place] for place in own])
        for place, numbers in zip(own, alone, strict=True):
            np.testing.assert_array_equal(together[place], numbers)


@settings(max_examples=30)
@given(SEEDS)
def test_streams_of_other_names_and_kinds_hold_other_numbers(seed):
    draws = Draws(seed)
    names = ["a", "b", "ab", "normals", "uniforms"]
    firsts = [draws.stream(name).normals(1, 3).tolist() for name in names]
    assert all(
        one != other for one, other in combinations([*firsts, draws.normals(1, 3).tolist()], 2)
    )
    uniforms = [tuple(draws.stream(name).uniforms(3)) for name in names]
    assert len({*uniforms, tuple(draws.look_ahead(3))}) == len(names) + 1


def test_the_numbers_of_a_name_stay_what_they_are():
    """Stored outcomes depend on them: an independent rendering, and the numbers themselves."""
    digest = hashlib.sha256(b"noise/normals").hexdigest()
    words = [bytes.fromhex(digest[i : i + 8])[::-1].hex() for i in range(0, 64, 8)]
    key = tuple(int(word, 16) for word in words)
    generator = np.random.default_rng(np.random.SeedSequence([3, 1], spawn_key=key))
    stream = Draws([3, 1]).stream("noise")
    first = stream.normals(1, 3)
    np.testing.assert_array_equal(first, generator.standard_normal((1, 3)))
    np.testing.assert_allclose(
        first[0], [-0.6732738490238512, 0.6777340352859316, 0.9503833605768595]
    )
    assert stream.choice(100, 4).tolist() == [2, 50, 25, 56]
    assert stream.permutation(6).tolist() == [4, 1, 3, 0, 2, 5]


@given(SEEDS, st.lists(st.integers(0, 4), max_size=5))
def test_uniforms_do_not_depend_on_how_they_are_cut(seed, counts):
    whole, cut = Draws(seed).stream("u"), Draws(seed).stream("u")
    pieces = [cut.uniforms(count) for count in counts]
    np.testing.assert_array_equal(
        np.concatenate([np.empty(0), *pieces]), whole.uniforms(sum(counts))
    )


@given(SEEDS, st.sampled_from(KINDS), st.data())
def test_a_draw_is_what_its_kind_promises(seed, kind, data):
    size = data.draw(SIZES[kind])
    (found,) = drawn(Draws(seed), [("x", kind, size)])
    assert fault_of(kind, found) == ""
    if kind == "choice":
        assert len(found) == size[1]
        assert set(found.tolist()) <= set(range(size[0]))


def test_orthogonal_matrices_are_uniform():
    """Over Haar's measure every entry has mean 0 and variance 1/n, and the trace has variance 1;
    QR without its signs has negative diagonals alone."""
    stream = Draws(0).stream("q")
    found = np.array([stream.orthogonal(3) for _ in range(4000)])
    np.testing.assert_allclose(found @ found.transpose(0, 2, 1), np.eye(3) + 0 * found, atol=1e-12)
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose((found**2).mean(axis=0), 1 / 3, atol=0.03)
    assert np.trace(found, axis1=1, axis2=2).var() == pytest.approx(1.0, abs=0.1)
    assert np.linalg.det(found).mean() == pytest.approx(0.0, abs=0.1)


def test_a_pickle_goes_on_where_it_was():
    draws = Draws(5)
    draws.stream("a").normals(2, 2)
    copy = pickle.loads(pickle.dumps(draws))
    np.testing.assert_array_equal(copy.stream("a").normals(1, 2), draws.stream("a").normals(1, 2))


@given(SEEDS, CALLS)
def test_a_record_gives_back_every_draw(seed, calls):
    noted = NotedDraws(Draws(seed))
    once = drawn(noted, calls)
    for numbers in once:
        numbers[...] = 0  # what a learner does with its draws changes no record
    again = drawn(RecordedDraws(named=noted.drawn_named), calls)
    for expected, found in zip(drawn(Draws(seed), calls), again, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_recorded_uniforms_may_be_cut_otherwise():
    record = RecordedDraws(named={("u", "uniforms"): [np.array([0.1, 0.2]), np.array([0.3])]})
    assert record.stream("u").uniforms(1).tolist() == [0.1]
    assert record.stream("u").uniforms(2).tolist() == [0.2, 0.3]
    with pytest.raises(DataError, match="holds 0 more uniforms named 'u'; 1 are needed"):
        record.stream("u").uniforms(1)


@pytest.mark.parametrize("name", ["", "noise"])
def test_tables_are_filled_with_what_one_call_draws(name, monkeypatch):
    monkeypatch.setattr("okbench.learners.draws.STRETCH", 20)

    def source(made):
        return made.stream(name) if name else made

    expected = source(Draws(3)).normals(11, 7)
    wide, single = np.zeros((4, 9)), np.zeros((7, 7), np.float32)
    source(Draws(3)).fill_normals(wide[:, :7], single)
    assert (wide[:, :7] == expected[:4]).all()
    assert (single == expected[4:].astype(np.float32)).all()
    recorded = RecordedDraws(expected, named={("noise", "normals"): [expected]})
    again = np.zeros((2, 7)), np.zeros((9, 7))
    source(recorded).fill_normals(*again)
    assert (np.vstack(again) == expected).all()


def test_one_recorded_matrix_serves_every_call_and_several_serve_one_each():
    one = RecordedDraws(np.ones((3, 4)))
    assert one.normals(3, 4).shape == (3, 4)
    assert one.normals(2, 2).shape == (2, 2)
    several = RecordedDraws([np.zeros((1, 2)), np.ones((1, 2))])
    assert [several.normals(1, 2).tolist() for _ in range(2)] == [[[0, 0]], [[1, 1]]]
    with pytest.raises(DataError, match="the record holds 0 × 0 normals; 1 × 2 are needed"):
        several.normals(1, 2)


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("normals", (2, 3), "holds normals named 'x' of size 2 × 2; 2 × 3 is needed"),
        ("permutation", (4,), "holds no more permutation named 'x'; one of size 4 is needed"),
        ("choice", (2, 2), "holds choice named 'x' with 2, not below 2"),
        ("uniforms", (1,), "holds 0 more uniforms named 'x'"),
    ],
)
def test_a_record_that_lacks_a_draw_is_refused(kind, size, message):
    held = {("x", "normals"): [np.eye(2)], ("x", "choice"): [np.array([2, 0])]}
    with pytest.raises(DataError, match=message):
        drawn(RecordedDraws(named=held), [("x", kind, size)])


def test_impossible_draws_are_refused():
    with pytest.raises(UsageError, match="draws 'x': 4 different ones of 3 do not exist"):
        Draws(0).stream("x").choice(3, 4)
    for name in ("", "a b", "a/b", "a.b", "é"):
        with pytest.raises(UsageError, match="cannot name draws"):
            Draws(0).stream(name)


@pytest.mark.parametrize(
    ("kind", "numbers", "message"),
    [
        ("uniforms", [0.5, 1.0], "from 0 to below 1"),
        ("permutation", [0, 2], "each whole number from 0 to 1 once"),
        ("choice", [3, 3], "different whole numbers"),
        ("choice", [-1], "different whole numbers"),
        ("orthogonal", [[1.0, 0.1], [0.0, 1.0]], "not orthogonal"),
        ("orthogonal", [[1.0, 0.0]], "not orthogonal"),
    ],
)
def test_an_array_that_is_no_such_draw_is_known(kind, numbers, message):
    assert message in fault_of(kind, np.array(numbers))
