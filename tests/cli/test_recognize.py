"""`flowengine recognize`."""

from __future__ import annotations

import json
from typing import Any

import pytest


def test_a_value_comes_with_its_words_span_rule_and_alternatives(run: Any) -> None:
    done = run("recognize", "time", "at half past five, no wait six")
    assert done.code == 0
    value, *rest = done.out.splitlines()
    assert value.startswith("18:00  “six” 27-30  time")
    assert rest == ["  or 06:00", "  taken back: 17:30"]


def test_without_a_text_each_line_of_stdin_is_an_utterance(run: Any) -> None:
    done = run("recognize", "integer", "--json", stdin="twenty two\n\nnothing here\n")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["text"] for row in rows] == ["twenty two", "nothing here"]
    assert [[one["value"] for one in row["found"]] for row in rows] == [[22], []]
    assert rows[0]["found"][0]["span"] == [0, 10]


def test_nothing_in_it_is_no_failure(run: Any) -> None:
    assert run("recognize", "money", "hello") == (0, "", "no money in it\n")
    assert run("recognize", "time", "seven").out == ""  # nobody asked for a time
    assert run("recognize", "time", "seven", "--asked", "false", "--ref", "2026-03-04").out == ""


def test_a_day_seen_from_nowhere_asks_for_the_reference_time(run: Any) -> None:
    done = run("recognize", "date", "tomorrow")
    assert (done.code, done.out) == (0, "")
    assert done.err == (
        "no date in it; words such as tomorrow need the reference time: --ref 2026-03-04T10:30\n"
    )


def test_lines_of_stdin_are_printed_as_they_are_read(run: Any) -> None:
    done = run("recognize", "money", "--locale", "en-GB", stdin="forty quid\nhalf a pound\n")
    assert [line.split("  ")[0] for line in done.out.splitlines()] == ['"40"', '"0.50"']


@pytest.mark.parametrize(
    ("args", "value"),
    [
        (("date", "tomorrow", "--ref", "2019-03-01T09:00"), "2019-03-02"),
        (("date", "friday", "--ref", "2019-03-02T09:00", "--prefer", "past"), "2019-03-01"),
        (("date", "03/04/2019", "--locale", "en-GB"), "2019-04-03"),
        (("one_of", "the second one", "--options", "pizza,salad"), "salad"),
        (("one_of", "a pie", "--options", '{"pizza": ["pie"]}'), "pizza"),
        (("integer", "seven and thirty", "--options", "min=10"), 30),
        (("integer", "siete", "--locale", "es-ES"), 7),
        (("money", "two hundred dollars"), "200"),
        (("time", "seven", "--asked", "time"), "07:00"),
        (("time", "seven", "--asked", "true"), "07:00"),
        (("integer_near", "seven", "--asked", "number", "--options", "people"), 7),
        (("time", "half seven", "--locale", "en-GB"), "07:30"),
        (("date", "memorial day", "--ref", "2026-03-04", "--options", "holidays=US"), "2026-05-25"),
        (
            ("phone", "two one two five five five two three six eight", "--options", "format=e164"),
            "+12125552368",
        ),
        (
            ("date", "today", "--ref", "2026-03-05T02:00+00:00", "--tz", "America/New_York"),
            "2026-03-04",
        ),
        (
            (
                "datetime",
                "march eighth at two thirty in the morning",
                "--ref",
                "2026-03-04T10:30",
                "--tz",
                "America/New_York",
            ),
            "2026-03-08T03:30",
        ),
        (("datetime", "at eight", "--options", "hours=[18, 23]"), "20:00"),
    ],
)
def test_options_set_the_context(run: Any, args: tuple[str, ...], value: Any) -> None:
    done = run("recognize", *args, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["found"][0]["value"] == value


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("tim", "x"), "Did you mean 'time'?"),
        (("time", "x", "--asked", "tim"), "Did you mean 'time'?"),
        (("date", "x", "--prefer", "sideways"), "future"),
        (("integer", "x", "--options", "max=abc"), "option max"),
        (("integer", "x", "--options", "5"), "NAME=VALUE"),
        (("time", "x", "--ref", "soon"), "2026-03-04T10:30"),
        (("time", "x", "--tz", "Mars/Base"), "America/New_York"),
    ],
)
def test_what_cannot_be_read_is_wrong_usage(run: Any, args: tuple[str, ...], says: str) -> None:
    done = run("recognize", *args)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("fuzzy", "x", "--options", "treshold=3"), "Did you mean 'threshold'?"),
        (("time", "x", "--locale", "xx-XX"), "no locale"),
        (("regex", "x", "--options", "("), "RE2"),
    ],
)
def test_what_a_recognizer_refuses_is_a_message(run: Any, args: tuple[str, ...], says: str) -> None:
    done = run("recognize", *args)
    assert done.code in (1, 2)
    assert says in done.err
