from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from trial_material import Picky, trial

from okbench.base.errors import ConfigError
from okbench.papers.table_types import Setting
from okbench.papers.values import Value
from okbench.trials.plan.resolve_settings import resolve_settings


def settled(cls: type = Picky, shared: bool = False, **given: Value) -> dict[str, Any]:
    settings = {
        name: Setting(value, where="lsokl/table5.yaml:12", shared=shared)
        for name, value in given.items()
    }
    return dict(resolve_settings(cls, "RBP", settings, "lsokl/table5.yaml:9"))


def test_every_setting_goes_in_sorted_with_its_default() -> None:
    found = settled(budget=100, width=8)
    assert list(found) == ["budget", "decay", "flag", "loss", "width"]
    assert found["decay"] is None
    assert found["flag"] is False


def test_a_whole_number_given_for_a_float_is_a_float_and_a_float_that_is_whole_an_int() -> None:
    found = settled(budget=20.0, width=8, decay=1)
    assert [type(found[name]) for name in ("budget", "width", "decay")] == [int, float, float]


def test_infinity_is_a_number() -> None:
    assert settled(budget=1, width=math.inf)["width"] == math.inf


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 3.5}, "budget is a whole number, not 3.5"),
        ({"budget": True}, "budget is a whole number, not True"),
        ({"budget": math.inf}, "budget is a whole number, not inf"),
        ({"width": "wide"}, "width is a number, not 'wide'"),
        ({"width": False}, "width is a number, not False"),
        ({"decay": "0.1"}, "decay is a number or nothing, not '0.1'"),
        ({"loss": 1}, "loss is text, not 1"),
        ({"flag": 1}, "flag is true or false, not 1"),
    ],
)
def test_a_setting_of_the_wrong_type_is_refused_with_its_place(
    given: dict[str, Value], said: str
) -> None:
    with pytest.raises(ConfigError) as refusal:
        settled(**{"budget": 1, "width": 1.0, **given})
    assert str(refusal.value) == f"lsokl/table5.yaml:12: RBP: {said}"


def test_an_unknown_setting_is_refused_with_a_suggestion() -> None:
    with pytest.raises(
        ConfigError, match=r"table5.yaml:12: RBP has no setting 'bugdet'. Did you mean 'budget'"
    ):
        settled(bugdet=1, width=1.0)


def test_a_shared_setting_the_learner_does_not_take_is_dropped() -> None:
    found = resolve_settings(
        Picky,
        "RBP",
        {
            "budget": Setting(5),
            "width": Setting(2.0, shared=True),
            "components": Setting(400, shared=True),
        },
        "here",
    )
    assert "components" not in dict(found)
    assert dict(found)["width"] == 2.0


def test_a_shared_setting_the_learner_takes_is_still_checked() -> None:
    with pytest.raises(ConfigError, match="budget is a whole number"):
        settled(shared=True, budget=0.5, width=1.0)


def test_a_setting_nobody_gives_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"table5.yaml:9: RBP needs the setting 'width'"):
        settled(budget=1)


def test_a_choice_takes_its_words_only() -> None:
    class Chooser:
        def __init__(self, rule: Literal["oldest", "random"] = "oldest") -> None: ...

    Chooser.__init__.__annotations__["rule"] = Literal["oldest", "random"]
    assert settled(Chooser, rule="random") == {"rule": "random"}
    with pytest.raises(ConfigError, match="rule is one of oldest, random, not 'newest'"):
        settled(Chooser, rule="newest")


def test_a_default_of_another_type_than_announced_is_kept() -> None:
    class Loose:
        def __init__(self, width: float = None) -> None: ...  # type: ignore[assignment]  # noqa: RUF013

    Loose.__init__.__annotations__["width"] = float
    assert settled(Loose) == {"width": None}


def test_annotations_that_cannot_be_resolved_bind_nobody() -> None:
    class Foreign:
        def __init__(self, width: Elsewhere = 1) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert settled(Foreign, width=2.5) == {"width": 2.5}


def test_an_annotated_setting_and_one_of_two_kinds_are_checked() -> None:
    class Fancy:
        def __init__(self, rank: Any = 1, rate: Any = "auto") -> None: ...

    Fancy.__init__.__annotations__.update(rank=Annotated[int, "rows"], rate=str | float)
    assert settled(Fancy, rank=3.0, rate=0.5) == {"rank": 3, "rate": 0.5}
    with pytest.raises(ConfigError, match="rank is a whole number"):
        settled(Fancy, rank=0.5)


class Lists:
    def __init__(
        self,
        widths: list[float] = [1, 2],  # noqa: B006
        ranks: Sequence[int] = (),
        pair: tuple[float, str] = (1.0, "a"),
        names: tuple[str, ...] | None = None,
        bare: list = [[1]],  # type: ignore[type-arg]  # noqa: B006
        flags: list[bool] | float = 0.5,
        free: Any = (1, 2.0, "a"),
        odd: Any = (None, 1.0),
    ) -> None: ...


def test_lists_are_fitted_element_by_element() -> None:
    found = settled(
        Lists, widths=(8, 0.5), ranks=(3.0,), pair=(2, "b"), names=("a",), bare=(1, "b")
    )
    assert repr(found["widths"]) == "(8.0, 0.5)"
    assert repr(found["ranks"]) == "(3,)"
    assert repr(found["pair"]) == "(2.0, 'b')"
    assert (found["names"], found["bare"], found["flags"]) == (("a",), (1, "b"), 0.5)


def test_a_default_that_is_a_list_of_plain_values_goes_in_and_no_other() -> None:
    found = settled(Lists)
    assert found["widths"] == (1.0, 2.0)
    assert repr(found["free"]) == "(1, 2.0, 'a')"
    assert found.keys() == {"widths", "ranks", "pair", "names", "flags", "free"}
    hash(tuple(found.items()))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"widths": 8}, "widths is a list of numbers, not 8"),
        ({"widths": "a"}, "widths is a list of numbers, not 'a'"),
        ({"widths": (1, "a")}, "widths is a list of numbers, not [1, 'a']"),
        ({"ranks": (1, 0.5)}, "ranks is a list of whole numbers, not [1, 0.5]"),
        ({"pair": (1,)}, "pair is a list of 2 values, not [1]"),
        ({"names": (1,)}, "names is a list of texts or nothing, not [1]"),
        ({"bare": 3}, "bare is a list, not 3"),
        ({"flags": (1,)}, "flags is a list of truth values or a number, not [1]"),
    ],
)
def test_a_list_of_the_wrong_type_is_refused(given: dict[str, Value], message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        settled(Lists, **given)
    assert str(refusal.value) == f"lsokl/table5.yaml:12: RBP: {message}"


def test_a_list_is_refused_where_one_value_is_asked_for() -> None:
    with pytest.raises(ConfigError, match=r"width is a number, not \[0.5, 1\]"):
        settled(budget=1, width=(0.5, 1))


def test_a_list_stands_in_the_id_as_it_is_written() -> None:
    before = trial(settings=(("width", 8.0), ("word", "a b")))
    assert " width=8.0 word='a b' | " in before.spelled
    found = {
        trial(settings=(("widths", value),)).id for value in [(8,), (8.0,), (True,), ("8",), 8]
    }
    assert len(found) == 5
    assert " widths=[0.5, 8] | " in trial(settings=(("widths", (0.5, 8)),)).spelled


class Kind(IntEnum):
    ONE = 1


def test_a_default_that_a_line_of_json_would_change_stays_with_the_class() -> None:
    class Numbers:
        def __init__(self, a=np.float64(0.5), b=Kind.ONE, c: float = np.float64(2), d=3) -> None:  # type: ignore[no-untyped-def]  # noqa: B008
            pass

    found = resolve_settings(Numbers, "N", {}, "here")
    assert found == (("c", 2.0), ("d", 3))
    assert [type(value) for _, value in found] == [float, int]


@pytest.mark.parametrize("annotation", ["not valid!", "1 / 0", "Missing"])
def test_whatever_an_annotation_raises_binds_nobody(annotation: str) -> None:
    class Odd:
        def __init__(self, depth: Any = 1) -> None:
            pass

    Odd.__init__.__annotations__["depth"] = annotation
    assert resolve_settings(Odd, "N", {"depth": Setting("deep")}, "here") == (("depth", "deep"),)
