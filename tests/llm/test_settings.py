"""A setting that cannot be meant is refused at once, before it costs a call or goes unnoticed."""

from __future__ import annotations

from typing import Any

import pytest

from flowengine.llm import ExtractionMode, Extractor, RepairLevel


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"retries": -1}, "retries is a count"),
        ({"mode": "natve"}, "Did you mean 'native'"),
        ({"repair": "lots"}, "repair is one of off, syntax, align"),
        ({"undeclared": "ignored"}, "Did you mean 'ignore'"),
        ({"truncation": "growing"}, "truncation is one of fail, grow"),
        ({"on_exhausted": "partiall"}, "Did you mean 'partial'"),
        ({"on_item_error": "skip"}, "on_item_error is one of raise, drop"),
    ],
)
def test_a_setting_of_another_kind_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Extractor(**settings)
    with pytest.raises(ValueError, match=told):
        Extractor().with_(**settings)


def test_names_are_taken_for_what_they_name() -> None:
    named: dict[str, Any] = {"mode": "native", "repair": "align"}
    extractor = Extractor(**named)
    assert extractor.mode is ExtractionMode.NATIVE
    assert extractor.repair_level is RepairLevel.ALIGN


@pytest.mark.parametrize(
    ("repair", "level"), [(False, RepairLevel.OFF), (True, RepairLevel.SYNTAX)]
)
def test_repair_as_yes_or_no_means_syntax_or_nothing(repair: bool, level: RepairLevel) -> None:
    assert Extractor(repair=repair).repair_level is level
