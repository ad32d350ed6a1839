from __future__ import annotations

import math
from enum import IntEnum
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from trial_material import Picky

from okbench.base.errors import ConfigError
from okbench.papers.table_types import Setting, Value
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
