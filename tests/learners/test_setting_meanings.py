"""Every setting of every learner is described, and nothing else is."""

from __future__ import annotations

from okbench.learners import setting_meanings
from okbench.learners.registry import catalogue, settings_of
from okbench.learners.setting_meanings import meaning_of


def test_every_setting_has_a_meaning_and_every_meaning_a_setting() -> None:
    taken = {
        (entry.name, setting)
        for entry in catalogue().values()
        for setting in settings_of(entry.load())
    }
    assert {pair for pair in taken if not meaning_of(*pair)} == set()
    assert set(setting_meanings._MEANINGS) == {setting for _, setting in taken}
    assert set(setting_meanings._OF_LEARNERS) <= taken


def test_a_setting_of_another_learner_is_not_described() -> None:
    assert meaning_of("mine:Mine", "depth") == ""
    assert meaning_of("Forgetron", "root") != meaning_of("BKM", "root")
