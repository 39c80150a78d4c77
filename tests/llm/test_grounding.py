from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel

from flowengine.llm import ChatRequest, GroundingPolicy
from flowengine.llm.grounding import locate
from flowengine.llm.schema import target


def where(quote: str, *texts: str, threshold: float = 0.85) -> tuple[str, str | None]:
    found = locate("p", quote, list(enumerate(texts)), threshold)
    if found.message is None or found.start is None:
        return found.status, None
    return found.status, texts[found.message][found.start : found.end]


@pytest.mark.parametrize(
    ("quote", "text", "status", "span"),
    [
        ("Jane Smith", "it's Jane Smith here", "exact", "Jane Smith"),
        ("jane smith", "it's Jane  Smith.", "normalised", "Jane  Smith"),
        ("Zoe", "I am Zoë", "normalised", "Zoë"),
        ("Jon Smithe", "my name is John Smithe", "fuzzy", "John Smithe"),
        ("36", "I was born in 1936", "ungrounded", None),
        ("36", "aged 36, I think", "exact", "36"),
        ("", "anything", "ungrounded", None),
        ("Grace Hopper", "my name is John", "ungrounded", None),
    ],
)
def test_a_value_is_found_exactly_then_loosely_then_not_at_all(
    quote: str, text: str, status: str, span: str | None
) -> None:
    assert where(quote, text) == (status, span)


def test_spans_count_code_points() -> None:
    assert where("Ada", "😀 é Ada") == ("exact", "Ada")


def test_the_newest_message_wins() -> None:
    found = locate("p", "five", [(0, "five"), (2, "no, five")], 0.85)
    assert (found.message, found.start) == (2, 4)


class Inner(BaseModel):
    name: str


class Facts(BaseModel):
    name: str
    mood: Literal["calm", "angry"]
    sure: bool
    others: list[Inner] = []


VALUE = {"name": "Ada", "mood": "calm", "sure": True, "others": [{"name": "Bob"}]}
REQUEST = ChatRequest(model="m").user("I am Ada").said("Bob, you said?").user("no")


def test_only_values_that_can_be_quoted_are_looked_up_and_only_in_the_users_words() -> None:
    found = GroundingPolicy().evidence(target(Facts).schema, VALUE, REQUEST)
    assert [(e.path, e.status) for e in found] == [
        ("name", "exact"),
        ("others[0].name", "ungrounded"),
    ]


def test_the_fields_may_be_chosen() -> None:
    policy = GroundingPolicy(fields=frozenset({"others[].name"}))
    found = policy.evidence(target(Facts).schema, VALUE, REQUEST)
    assert [e.path for e in found] == ["others[0].name"]
