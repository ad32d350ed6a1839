"""What learners state of their runs, and what of it is written down."""

from __future__ import annotations

from typing import Any

import pytest

from okbench.trials.store.facts import facts_of, is_fact

SURFACE = {"x": [0.0, 1.0, 2.0], "y": [0, 1], "values": [[0.1, 1.0, 0.2], [0, 0.5, 0]]}


class Stating:
    def __init__(self, **stated: Any) -> None:
        vars(self).update(stated)


class Raising:
    @property
    def device(self) -> str:
        raise RuntimeError("no such thing")


def test_a_device_and_a_surface_are_taken() -> None:
    assert facts_of(Stating(device="torch 2.13.0 on cpu")) == {"device": "torch 2.13.0 on cpu"}
    assert facts_of(Stating(surface=SURFACE, other=1)) == {"surface": SURFACE}


@pytest.mark.parametrize("seconds", [-1.0, float("inf"), float("nan"), "1", True])
def test_what_is_no_time_is_no_seconds(seconds: object) -> None:
    assert facts_of(Stating(map_seconds=0.25)) == {"map_seconds": 0.25}
    assert not is_fact("map_seconds", seconds)


@pytest.mark.parametrize("learner", [object(), Raising(), Stating(device=None, surface=None)])
def test_a_learner_may_state_nothing(learner: object) -> None:
    assert facts_of(learner) == {}


@pytest.mark.parametrize("device", ["", "a\nb", "x" * 201, 5, ["cpu"]])
def test_what_is_no_short_line_is_no_device(device: object) -> None:
    assert not is_fact("device", device)


@pytest.mark.parametrize(
    "changed",
    [
        {"x": []},
        {"x": [0.0, 1.0]},
        {"y": [0]},
        {"values": [[0.1, 1.0, 0.2]]},
        {"values": [[0.1, 1.0], [0.1, 1.0]]},
        {"values": [[0.1, 1.0, float("nan")], [0, 0, 0]]},
        {"values": [[0.1, 1.0, True], [0, 0, 0]]},
        {"values": ["abc", "abc"]},
        {"z": [1.0]},
        {"x": [0.0] * 1001},
    ],
)
def test_what_is_no_grid_of_numbers_is_no_surface(changed: dict[str, Any]) -> None:
    assert is_fact("surface", SURFACE)
    assert not is_fact("surface", SURFACE | changed)
