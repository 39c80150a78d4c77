"""Ladders and verbatim phases have what they need."""

from __future__ import annotations

from typing import Any


def test_a_step_for_silence_says_how_long_it_waits(found: Any, cured: Any) -> None:
    text = (
        "flow: x\nphases:\n  a:\n    no_input:\n      - after: 5s\n        do: [{say: Hello?}]\n"
        "      - do: [{say: Are you there?}]\n"
    )
    [diagnostic] = found(text)
    assert (diagnostic.code, diagnostic.path) == ("no_after", "/phases/a/no_input/1")
    assert cured(text) == text.replace("- do: [{say: Are", "- after: 10s\n        do: [{say: Are")


def test_steps_of_no_match_know_no_time(codes: Any) -> None:
    text = "flow: x\nphases: {a: {no_match: [{after: 3s, do: [{say: Again?}]}]}}\n"
    assert codes(text) == ["unused_after /phases/a/no_match/0/after"]


def test_verbatim_needs_words(codes: Any) -> None:
    text = "flow: x\nphases: {a: {verbatim: 0.9, done: is_true(verbatim:a)}}\n"
    assert codes(text) == ["verbatim_without_say /phases/a/verbatim"]
    assert codes(text.replace("0.9,", "0.9, say: This call is recorded.,")) == []
