"""Outside the process nobody reads a private value, whoever said it and however."""

from __future__ import annotations

import asyncio
from typing import Any

from flowengine import Functions, Session, loads

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
