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
