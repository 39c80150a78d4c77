"""Records: typed fields read from the caller's words, newest turn first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from flowengine.extract.record import CompiledRecord, Finding, Hearing, Words, findings
from flowengine.extract.spec import FieldSpec, RecordSpec
from flowengine.transcript import Turn

REF = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def hearing(question: str = "", needed: str | None = None, **known: Any) -> Hearing:
    return Hearing(REF, "UTC", "en-US", known.get, question.lower(), needed)


def record(window: int = 3, **fields: Any) -> CompiledRecord:
    specs = {name: FieldSpec.model_validate(spec) for name, spec in fields.items()}
    return CompiledRecord("r", RecordSpec(window=window, fields=specs))


def read(made: CompiledRecord, *said: str, heard: Hearing | None = None) -> dict[str, Finding]:
    """What it finds in turns that are given oldest first, as people say them."""
    turns = tuple(Turn(number, words) for number, words in enumerate(said, start=1))
    found = made.read(Words(turns[::-1], "en-US"), heard or hearing())
    return {finding.field: finding for finding in found}


def test_a_finding_says_where_it_was_heard() -> None:
    found = read(record(sum={"recognize": "money"}), "hello", "I pay two hundred dollars")["sum"]
    assert (str(found.value), found.speaker, found.turn) == ("200", "caller", 2)
    assert found.span is not None
    assert "I pay two hundred dollars"[slice(*found.span)] == "two hundred dollars"


def test_the_newest_turn_is_read_first() -> None:
    made = record(sum={"recognize": "money"})
    assert read(made, "five dollars", "no, six dollars", "please")["sum"].value == "6"


def test_the_models_words_are_never_read() -> None:
    turn = Turn(1, "", "That is five dollars")
    assert record(sum={"recognize": "money"}).read(Words((turn,), "en-US"), hearing()) == ()


def test_what_is_not_valid_counts_as_not_said() -> None:
    made = record(size={"recognize": "integer", "valid": "1 <= value <= 20"})
    assert read(made, "500") == {}
    assert read(made, "5")["size"].value == 5
    assert read(made, "5", "500")["size"].value == 5


def test_a_bare_yes_answers_only_its_own_question() -> None:
    made = record(
        agreed={"recognize": "yes_no", "when_asked": True, "asks": ["do you agree"]},
        member={"recognize": "yes_no", "when_asked": True, "asks": ["are you a member"]},
    )
    assert read(made, "yes") == {}
    found = read(made, "yes", heard=hearing("Are you a member?"))
    assert {name: f.value for name, f in found.items()} == {"member": True}


def test_the_last_question_asked_is_the_one_answered() -> None:
    made = record(a={"recognize": "yes_no", "asks": ["first"]},
                  b={"recognize": "yes_no", "asks": ["second"]})  # fmt: skip
    asked = made.asked(hearing("The first thing, and then the second?"))
    assert asked is not None
    assert asked.name == "b"


def test_without_words_of_its_own_the_needed_key_is_the_one_asked() -> None:
    made = record(a={"recognize": "integer"}, b={"recognize": "integer", "to": "order:b"})
    asked = made.asked(hearing("Well?", needed="order:b"))
    assert asked is not None
    assert asked.name == "b"
    assert made.asked(hearing("Well?")) is None


@pytest.mark.parametrize("values", [{}, {"a": None}])
def test_nulls_of_an_object_say_nothing(values: dict[str, Any]) -> None:
    assert list(findings(values, 1)) == []
    assert [f.field for f in findings({"b": False, **values}, 1)] == ["b"]
