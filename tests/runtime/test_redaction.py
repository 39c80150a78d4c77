"""Outside the process nobody reads a private value, whoever said it and however."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flowengine import FlowError, Functions, Session, loads

FLOW = loads("""
flow: private
state:
  dob: {type: date, pii: true}
  last_four: {type: string, pii: true}
  name: {type: string, pii: true}
  size: {type: integer}
records:
  identity:
    fields:
      dob: {recognize: date_of_birth}
      last_four: {recognize: digits, length: 4}
      size: {recognize: {integer_near: [table, people]}}
tools: {look: {respond: {dob: "1984-03-05"}}}
phases: {a: {initial: true}}
""")


def transcript(*turns: tuple[str, str], **state: Any) -> list[str]:
    async def body() -> list[str]:
        async with Session(FLOW, functions=Functions(), state=state) as call:
            for user, model in turns:
                await call.turn(user, model)
            await call.tool("look", {"dob": "1984-03-05"})
            return [line for t in call.transcript() for line in (t.user, t.model, str(t.calls))]

    return asyncio.run(body())


def test_spoken_dates_and_digits_are_masked_in_the_words_of_both() -> None:
    lines = " ".join(transcript(
        ("born march fifth nineteen eighty four", "So that is March 5, 1984?"),
        ("yes and my last four are four four one seven", "Thank you, 4417."),
        ("a table for four", "Four people."),
    ))  # fmt: skip
    for told in ("march", "1984", "eighty", "4417", "one seven", "March 5"):
        assert told not in lines
    assert "a table for four" in lines
    assert "Four people." in lines


def test_what_was_corrected_is_masked_too() -> None:
    lines = " ".join(transcript(
        ("born march fifth nineteen eighty four", ""),
        ("sorry, march sixth nineteen eighty four", "The sixth of March 1984, not the fifth."),
    ))  # fmt: skip
    for told in ("fifth nineteen", "sixth", "1984"):
        assert told not in lines.replace("not the fifth", "")


def test_a_name_is_masked_everywhere_it_is_said() -> None:
    lines = transcript(("this is jane smith, J. Smith", "Hello Jane Smith, Jane Smith!"),
                       name="Jane Smith")  # fmt: skip
    assert lines[1] == "Hello •••, •••!"
    assert "jane smith" not in lines[0]


def test_a_long_number_is_masked_though_no_key_holds_it() -> None:
    lines = transcript(
        ("my card is 4242 4242 4242 4242 and my size is 5", "So it is 4242 4242 4242 4242?")
    )
    assert lines[:2] == ["my card is ••• and my size is 5", "So it is •••?"]


HELD = loads("""
flow: held
state:
  name: {type: string, pii: true}
  "turn:name": {type: string, pii: true}
  "phase:name": {type: string, pii: true}
  person: {type: object, pii: true}
records:
  plain: {fields: {name: {recognize: {one_of: {Zebulon: [zeb], Jane: [], Ann: []}}}}}
  brief: {fields: {a: {recognize: {one_of: [Barnaby]}, to: "turn:name"}}}
  local: {fields: {b: {recognize: {one_of: [Cordula]}, to: "phase:name"}}}
  part: {fields: {c: {recognize: {one_of: [Domenica]}, to: person.name}}}
phases:
  a: {initial: true, transitions: [{to: b, on: go}]}
  b: {on_enter: [{clear: [name, person.name]}]}
""")


def shown(*turns: tuple[str, str], names: int = 0, after: str = "") -> str:
    """The transcript of these turns, after more names and another phase; then the model speaks."""

    async def body() -> str:
        async with Session(HELD, functions=Functions()) as call:
            for user, model in turns:
                await call.turn(user, model)
            for n in range(names):
                await call.set("name", f"Other{n}")
            await call.event("go")
            await call.turn("well", after)
            assert not {"name", "turn:name", "phase:name", "person.name"} & set(call.state)
            return " ".join(f"{turn.user} {turn.model}" for turn in call.transcript())

    return asyncio.run(body())


@pytest.mark.parametrize("name", ["Zebulon", "Barnaby", "Cordula", "Domenica"])
def test_a_value_that_is_gone_stays_masked_whoever_said_it_and_says_it_again(name: str) -> None:
    words = shown((f"it is {name}", f"Hello {name}."), ("fine", ""), after=f"Goodbye, {name}!")
    assert name not in words
    assert words.count("•••") == 3
    assert "it is" in words


def test_the_words_of_a_value_that_is_gone_stay_masked_however_it_was_said() -> None:
    words = shown(("it is zeb", ""), ("no, it is Jane", ""), ("no, it is Ann", ""), names=10)
    assert not [name for name in ("zeb", "Jane", "Ann") if name in words]
    assert words.count("it is •••") == 3


def test_more_values_than_are_kept_hide_all_words() -> None:
    words = shown(("it is zeb", "Hello Zebulon."), names=100, after="Goodbye Other3")
    assert set(words.split()) == {"•••"}


def test_a_value_is_masked_where_it_is_denied() -> None:
    words = transcript(("I am not Jane Smith, never was JANE SMITH", "So not Jane Smith?"),
                       name="Jane Smith")  # fmt: skip
    assert not [line for line in words if "jane" in line.casefold()]


LONG = "well " * 250


def test_a_long_text_is_masked_to_its_end() -> None:
    lines = " ".join(transcript(
        ("my last four are four four one seven", ""),
        (f"{LONG}four four one seven", f"{LONG}that is four four one seven"),
        (f"{LONG}four two four two four two four two four two", f"{LONG}{LONG}4242 4242 4242"),
    ))  # fmt: skip
    for told in ("four one", "one seven", "four two", "4242"):
        assert told not in lines
    assert lines.count("•••") >= 4


@pytest.mark.parametrize("at", range(690, 1010, 4))
def test_a_value_at_any_place_of_a_long_text_is_masked(at: int) -> None:
    words = ("well " * 400)[:at] + " four four one seven " + "well " * 100
    (line,) = [one for one in transcript(("hello", words), last_four="4417") if "well" in one]
    assert "one seven" not in line
    assert "•••" in line


def test_words_of_the_language_of_the_call_are_masked() -> None:
    lines = " ".join(transcript(
        ("son cuatro cuatro uno siete", "Cuatro cuatro uno siete, gracias."),
        **{"session:locale": "es-US"},
    ))  # fmt: skip
    assert "siete" not in lines
    assert "gracias" in lines


def test_an_unknown_language_hides_what_the_flow_can_read() -> None:
    state = {"session:timezone": "Mars/Base", "last_four": "4417"}
    said = ("", "That is four four one seven.")
    assert "seven" not in " ".join(transcript(said, **state))


def test_a_day_is_masked_where_it_is_told_from_the_day_of_the_call() -> None:
    flow = loads("""
flow: days
state: {visit: {type: date, pii: true}}
records: {r: {fields: {visit: {recognize: date}}}}
phases: {a: {initial: true}}
""")

    async def body() -> str:
        async with Session(flow) as call:
            await call.turn("tomorrow", "So you come tomorrow.")
            return call.transcript()[0].model

    assert asyncio.run(body()) == "So you come •••."


@pytest.mark.parametrize("name", ["山田太郎", "محمد علي", "สมชาย"])
def test_a_value_is_masked_where_its_script_writes_words_together(name: str) -> None:
    assert name not in " ".join(transcript(("hello", f"私{name}さん"), name=name))


def hidden(user: str, model: str, *patterns: Any) -> list[str]:
    async def body() -> list[str]:
        async with Session(FLOW, functions=Functions(), state={"last_four": "4417"}) as call:
            await call.turn(user, model)
            return [line for t in call.transcript(hide=patterns) for line in (t.user, t.model)]

    return asyncio.run(body())


def test_what_a_pattern_matches_is_masked_in_the_words_of_both_and_the_rest_stays() -> None:
    shown = hidden("é, Project Apollo or project mars, yes", "Project Mars!", r"\bproject \w+")
    assert shown == ["é, ••• or •••, yes", "•••!"]


def test_a_pattern_sees_the_words_as_they_were_said() -> None:
    assert hidden("my code is 4417 blue", "ok", r"code is \d+ \w+") == ["my •••", "ok"]


def test_a_pattern_looks_at_the_end_of_a_long_turn_too() -> None:
    assert hidden("well " * 4_000 + "secret", "", "secret")[0].endswith("well •••")


@pytest.mark.parametrize("pattern", ["x*", r"\d*?"])
def test_a_pattern_that_matches_nothing_masks_nothing(pattern: str) -> None:
    assert hidden("four people", "", pattern) == ["four people", ""]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("ab(", r"hide\[1\] \('ab\('\): this pattern is not RE2"), (r"(a)\1", "no back-references"),
     (7, r"hide\[1\] \(7\): give a pattern as text"), ("", "give a pattern as text")],
)  # fmt: skip
def test_a_bad_pattern_is_an_error_that_names_it(pattern: Any, told: str) -> None:
    with pytest.raises(FlowError, match=told):
        hidden("four people", "", "fine", pattern)


def test_one_pattern_instead_of_a_list_is_an_error_with_the_cure() -> None:
    async def body() -> None:
        async with Session(FLOW) as call:
            with pytest.raises(FlowError, match=r"write hide=\['AB'\]"):
                call.transcript(hide="AB")

    asyncio.run(body())
