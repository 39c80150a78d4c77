"""Recognizers by name: every kind has its function, and what it says is what a file says."""

from __future__ import annotations

import inspect
from dataclasses import fields
from decimal import Decimal
from typing import Any, get_type_hints

import pytest

from flowengine.extract import kinds
from flowengine.extract.recognizers import KINDS, RecognizerError, recognizer


def test_every_kind_has_a_function_of_its_name() -> None:
    assert set(kinds.__all__) == set(KINDS)
    assert len(kinds.__all__) == 22


def _takes(kind: str) -> set[str]:
    """The options that a function is typed to take, those of its `Unpack` included."""
    function = getattr(kinds, kind)
    named: set[str] = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and kind != "one_of":
            unpacked: Any = get_type_hints(function)[parameter.name]
            named |= set(get_type_hints(unpacked.__args__[0]))
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            named.add(parameter.name)
    return named | (set(kinds.Choice.__annotations__) if kind == "one_of" else set())


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_is_typed_for_the_options_of_its_recognizer(kind: str) -> None:
    made = KINDS[kind]
    options = {each.name for each in fields(made) if each.init}  # pyright: ignore[reportArgumentType]
    by_position = {made.positional} if made.positional else set[str]()
    assert _takes(kind) - by_position == options - by_position


SAID: list[tuple[kinds.Part, dict[str, Any]]] = [
    (kinds.integer(min=1), {"recognize": "integer", "min": 1}),
    (kinds.integer_near("want", "get"), {"recognize": {"integer_near": ["want", "get"]}}),
    (kinds.money(full=Decimal("12.50")), {"recognize": "money", "full": "12.50"}),
    (kinds.one_of("pizza", "salad"), {"recognize": {"one_of": ["pizza", "salad"]}}),
    (
        kinds.one_of("pizza", small=["tiny"], fuzzy=False),
        {"recognize": {"one_of": {"pizza": [], "small": ["tiny"]}}, "fuzzy": False},
    ),
    (
        kinds.one_of({"large pizza": ["big one"]}, "salad"),
        {"recognize": {"one_of": {"large pizza": ["big one"], "salad": []}}},
    ),
    (
        kinds.one_of("a", fuzzy=["fuzzie"]),
        {"recognize": {"one_of": {"a": [], "fuzzy": ["fuzzie"]}}},
    ),
    (kinds.fuzzy("Johnson", margin=0.1), {"recognize": {"fuzzy": ["Johnson"]}, "margin": 0.1}),
    (kinds.regex(r"#(\d+)"), {"recognize": {"regex": r"#(\d+)"}}),
    (kinds.datetime(hours=(9, 17)), {"recognize": "datetime", "hours": [9, 17]}),
    (kinds.digits(4), {"recognize": {"digits": 4}}),
    (kinds.digits((4, 6), checksum="luhn"), {"recognize": {"digits": [4, 6]}, "checksum": "luhn"}),
    (kinds.letters(), {"recognize": "letters"}),
    (
        kinds.postal_code(country=["us", "ca"]),
        {"recognize": "postal_code", "country": ["us", "ca"]},
    ),
]


@pytest.mark.parametrize(("part", "said"), SAID, ids=[str(said["recognize"]) for _, said in SAID])
def test_a_function_says_what_a_file_says(part: kinds.Part, said: dict[str, Any]) -> None:
    assert part.given == said


@pytest.mark.parametrize("kind", [k for k, made in KINDS.items() if made.positional is None])
def test_a_kind_without_options_is_its_name(kind: str) -> None:
    assert getattr(kinds, kind)().given == {"recognize": kind}


@pytest.mark.parametrize(
    ("kind", "args", "options", "cure"),
    [
        ("datetime", (), {"prefr": "future"}, "Did you mean 'prefer'?"),
        ("integer", (), {"minn": 3}, "Did you mean 'min'?"),
        ("fuzzy", ("Jo",), {"treshold": 1.0}, "Did you mean 'threshold'?"),
        ("one_of", ("a",), {"fuzy": False}, "Did you mean 'fuzzy'?"),
        ("one_of", ("a",), {"small": 3}, "synonyms of 'small' are a list of words, not 3"),
        ("one_of", (), {}, "needs options"),
        ("integer_near", (), {}, "needs anchors"),
        ("regex", ("(",), {}, "is no RE2 pattern"),
        ("digits", ("four",), {}, "length"),
        ("yes_no", (), {}, ""),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_written(
    kind: str, args: tuple[Any, ...], options: dict[str, Any], cure: str
) -> None:
    make = getattr(kinds, kind)
    if not cure:
        assert recognizer(make().given["recognize"]) == recognizer(kind)
        return
    with pytest.raises(RecognizerError) as raised:
        make(*args, **options)
    assert cure in str(raised.value)
