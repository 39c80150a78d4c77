"""Records: typed fields read from the caller's words, newest turn first."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from flowengine.errors import FunctionError, GuardError
from flowengine.extract.grounding.meaning import Setting
from flowengine.extract.record.compiled import CompiledRecord, Finding, Hearing, findings
from flowengine.extract.spec import FieldSpec, RecordSpec
from flowengine.transcript import Turn

REF = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def hearing(question: str = "", needed: str | None = None, **known: Any) -> Hearing:
    return Hearing(Setting("en-US", REF, "UTC"), known.get, question.lower(), needed)


def record(window: int = 3, **fields: Any) -> CompiledRecord:
    specs = {name: FieldSpec.model_validate(spec) for name, spec in fields.items()}
    return CompiledRecord("r", RecordSpec(window=window, fields=specs))


def read(made: CompiledRecord, *said: str, heard: Hearing | None = None) -> dict[str, Finding]:
    """What it finds in turns that are given oldest first, as people say them."""
    turns = tuple(Turn(number, words) for number, words in enumerate(said, start=1))
    found = made.read(turns[::-1], heard or hearing())
    return {finding.field: finding for finding in found}


def test_a_finding_says_where_it_was_heard() -> None:
    found = read(record(sum={"recognize": "money"}), "hello", "I pay two hundred dollars")["sum"]
    assert (str(found.value), found.speaker, found.turn) == ("200", "caller", 2)
    assert found.span is not None
    assert "I pay two hundred dollars"[slice(*found.span)] == "two hundred dollars"


def test_the_newest_turn_is_read_first() -> None:
    made = record(sum={"recognize": "money"})
    assert read(made, "five dollars", "no, six dollars", "please")["sum"].value == "6"


def test_a_day_counts_from_when_it_was_said() -> None:
    before_midnight = int(datetime(2026, 3, 3, 23, 59, tzinfo=UTC).timestamp() * 1000)
    made = record(day={"recognize": "datetime"})
    (found,) = made.read((Turn(1, "I can pay tomorrow", at=before_midnight),), hearing())
    assert found.value == "2026-03-04"


def test_what_was_read_ahead_is_read_the_same() -> None:
    made = record(sum={"recognize": "money"}, sure={"recognize": "yes_no", "when_asked": True})
    turn = Turn(1, "yes, five no wait six dollars", at=1)
    made.read_ahead(turn, hearing(needed="sure"))
    found = made.read((turn,), hearing())
    assert [(one.field, one.value) for one in found] == [("sum", "6")]


def test_the_models_words_are_never_read() -> None:
    turn = Turn(1, "", "That is five dollars")
    assert record(sum={"recognize": "money"}).read((turn,), hearing()) == ()


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


@pytest.mark.parametrize(
    ("kind", "valid", "said", "not_said"),
    [
        ("money", "5 <= value <= 100", "twenty dollars", "nine hundred dollars"),
        ("date", 'value >= "2026-03-10"', "march twelfth", "march fifth"),
        ("time", 'value < "12:00"', "at nine thirty am", "at two pm"),
        ("duration", 'value <= "P7D"', "five days", "two weeks"),
        ("percent", "value < 50", "ten percent", "eighty percent"),
        ("one_of", 'value in ["red"]', "red", "blue"),
        ("datetime", 'value >= "2026-03-10"', "march twelfth", "march fifth"),
    ],
)
def test_a_value_is_compared_as_what_it_is(kind: str, valid: str, said: str, not_said: str) -> None:
    recognize = {"one_of": ["red", "blue"]} if kind == "one_of" else kind
    made = record(it={"recognize": recognize, "valid": valid})
    assert list(read(made, said)) == ["it"]
    assert read(made, not_said) == {}


def test_a_validator_is_given_the_value_as_python_has_it() -> None:
    seen: list[Any] = []

    def is_working_day(day: date) -> bool:
        seen.append(day)
        return day.weekday() < 5

    spec = FieldSpec.model_validate({"recognize": "date", "valid": "custom(is_working_day)"})
    record = RecordSpec(fields={"day": spec})
    made = CompiledRecord("r", record, validators={"is_working_day": is_working_day})
    assert read(made, "on march sixth")["day"].value == "2026-03-06"
    assert read(made, "on march seventh") == {}
    assert seen == [date(2026, 3, 6), date(2026, 3, 7)]


def test_a_guard_function_sees_the_value_as_a_key() -> None:
    spec = FieldSpec.model_validate({"recognize": "integer", "valid": "custom(even)"})
    even = {"even": lambda state: state["value"] % 2 == 0}
    made = CompiledRecord("r", RecordSpec(fields={"size": spec}), functions=even)
    assert read(made, "four")["size"].value == 4
    assert read(made, "five") == {}


async def _slow(_: Any) -> bool:
    return True


def _raises(_: Any) -> bool:
    raise KeyError("the caller's words")


def test_a_validator_that_is_missing_or_async_is_refused_by_its_name() -> None:
    spec = RecordSpec(
        fields={"a": FieldSpec.model_validate({"recognize": "integer", "valid": "custom(even)"})}
    )
    with pytest.raises(GuardError, match=r"'even'.*there are: evn.*Did you mean 'evn'"):
        CompiledRecord("r", spec, validators={"evn": bool})
    with pytest.raises(GuardError, match="'even' is async"):
        CompiledRecord("r", spec, validators={"even": _slow})  # pyright: ignore[reportArgumentType]


def test_a_validator_that_raises_is_named_and_nobody_is_quoted() -> None:
    spec = FieldSpec.model_validate({"recognize": "integer", "valid": "custom(odd)"})
    made = CompiledRecord("r", RecordSpec(fields={"a": spec}), validators={"odd": _raises})
    with pytest.raises(FunctionError, match="'odd' raised KeyError") as raised:
        read(made, "four")
    assert "words" not in str(raised.value)


ASKED = {"recognize": "yes_no", "asks": ["do you agree"]}


@pytest.mark.parametrize(
    ("when_asked", "question", "needed", "is_read"),
    [
        (False, "Nice weather.", None, True),
        (True, "Do you agree?", None, True),
        (True, "Nice weather.", "agreed", True),
        (True, "Nice weather.", None, False),
        ("by_words", "Do you agree?", None, True),
        ("by_words", "Nice weather.", "agreed", False),
        ("by_words", "", "agreed", False),
    ],
)
def test_by_words_takes_the_models_question_alone(
    when_asked: bool | str, question: str, needed: str | None, is_read: bool
) -> None:
    made = record(agreed={**ASKED, "when_asked": when_asked})
    assert bool(read(made, "yes", heard=hearing(question, needed))) is is_read


def test_by_words_the_field_asked_for_last_gets_the_answer() -> None:
    made = record(
        agreed={**ASKED, "when_asked": "by_words"},
        member={"recognize": "yes_no", "when_asked": "by_words", "asks": ["a member"]},
    )
    heard = hearing("Do you agree? And are you a member?")
    assert list(read(made, "yes", heard=heard)) == ["member"]


def test_by_words_needs_the_words() -> None:
    with pytest.raises(ValueError, match="`when_asked: by_words` needs `asks`"):
        FieldSpec(recognize="yes_no", when_asked="by_words")
