"""The recognizers by name, to say in Python what fills a field: `integer_near("want", "get")`.

Import the module itself, `from flowengine.extract import kinds`, where Python's own `date` and
`time` are needed beside `kinds.date()`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack, cast

from flowengine.errors import did_you_mean
from flowengine.extract.recognizers import RecognizerError, recognizer
from flowengine.extract.recognizers.base import Prefer
from flowengine.extract.record.parts import Part
from flowengine.state.types import json_form

__all__ = [
    "date", "date_of_birth", "datetime", "digits", "duration", "email", "fuzzy", "integer",
    "integer_near", "language", "letters", "money", "number", "one_of", "ordinal", "percent",
    "phone", "postal_code", "quantity", "regex", "time", "yes_no",
]  # fmt: skip


class Bounds(TypedDict, total=False):
    """What lies outside is not what the caller means."""

    min: float
    max: float


class Near(Bounds, total=False):
    window: int
    """Words between the number and its anchor."""


class Amount(Bounds, total=False):
    currency: str
    full: Any
    """What "half of it" is half of."""
    minimum: Any


class Moment(TypedDict, total=False):
    prefer: Prefer
    form: Literal["value", "parts"]
    hours: Sequence[int]
    """Business hours, which decide a bare "at four"."""
    holidays: str


class Choice(TypedDict, total=False):
    fuzzy: bool
    """Whether a word that sounds like an option may stand for it."""


class Likeness(TypedDict, total=False):
    threshold: float
    margin: float


class Check(TypedDict, total=False):
    checksum: Literal["luhn"]


class Dialled(TypedDict, total=False):
    format: Literal["digits", "e164"]
    region: str


class Country(TypedDict, total=False):
    country: str | Sequence[str]


def integer(**options: Unpack[Bounds]) -> Part:
    """Whole numbers only."""
    return _kind("integer", options)


def integer_near(*anchors: str, **options: Unpack[Near]) -> Part:
    """The whole number nearest to one of some words."""
    return _kind("integer_near", options, list(anchors))


def number(**options: Unpack[Bounds]) -> Part:
    """Any number: "two and a half"."""
    return _kind("number", options)


def ordinal() -> Part:
    """A place in a list: "the second one" is 2, "the last one" -1."""
    return _kind("ordinal", {})


def percent() -> Part:
    """A share of a hundred: "a quarter of it" is 25."""
    return _kind("percent", {})


def money(**options: Unpack[Amount]) -> Part:
    """Amounts of money, as Decimal."""
    return _kind("money", options)


def yes_no() -> Part:
    """True, False, or nothing when the caller is unsure."""
    return _kind("yes_no", {})


def one_of(*options: str | Mapping[str, Sequence[str]], **synonyms: Sequence[str] | bool) -> Part:
    """One of the options; `one_of("pizza", small=["tiny"])` gives one of them other names.

    Options that are no Python names go into a mapping, `one_of({"large pizza": ["big one"]})`.
    `fuzzy=False` refuses what only sounds like an option.
    """
    named: dict[str, list[str]] = {}
    for option in options:
        several = {option: ()} if isinstance(option, str) else option
        named |= {name: _synonyms(name, words) for name, words in several.items()}
    settings = {name: synonyms.pop(name) for name in _settings(synonyms)}
    named |= {name: _synonyms(name, words) for name, words in synonyms.items()}
    return _kind("one_of", settings, named if any(named.values()) else list(named))


def fuzzy(*options: str, **how: Unpack[Likeness]) -> Part:
    """One of some names, as speech recognition may have misheard it."""
    return _kind("fuzzy", how, list(options))


def regex(pattern: str) -> Part:
    """The first capture group of a pattern, else its whole match; RE2 syntax."""
    return _kind("regex", {}, pattern)


def datetime(**options: Unpack[Moment]) -> Part:
    """Dates, times and both: "tomorrow at half past three"."""
    return _kind("datetime", options)


def date(**options: Unpack[Moment]) -> Part:
    """Only the day."""
    return _kind("date", options)


def time(**options: Unpack[Moment]) -> Part:
    """Only the time of day."""
    return _kind("time", options)


def date_of_birth() -> Part:
    """The caller's birthday."""
    return _kind("date_of_birth", {})


def duration() -> Part:
    """A length of time: "two weeks" is P2W."""
    return _kind("duration", {})


def quantity() -> Part:
    """An amount with its unit: "two puffs" is "2 puff"."""
    return _kind("quantity", {})


def digits(length: int | Sequence[int] | None = None, **options: Unpack[Check]) -> Part:
    """A string of digits of this length, or of one of these: "double five oh"."""
    return _kind("digits", options, length)


def letters(length: int | Sequence[int] | None = None) -> Part:
    """Letters and digits spelled out: "b as in boy"."""
    return _kind("letters", {}, length)


def phone(**options: Unpack[Dialled]) -> Part:
    """A telephone number."""
    return _kind("phone", options)


def email() -> Part:
    """An address, written or said."""
    return _kind("email", {})


def postal_code(**options: Unpack[Country]) -> Part:
    """A postal code in its country's form."""
    return _kind("postal_code", options)


def language() -> Part:
    """An ISO 639 code, asked for or heard."""
    return _kind("language", {})


def _kind(kind: str, options: Mapping[str, Any], argument: Any = None) -> Part:
    """The part in the words of a flow file; raises RecognizerError for what does not fit."""
    plain = cast("dict[str, Any]", json_form(options))
    given = () if argument is None else (json_form(argument),)
    recognizer(kind, *given, **plain)
    return Part({"recognize": {kind: given[0]} if given else kind, **plain})


def _settings(given: Mapping[str, object]) -> list[str]:
    """Options of one_of itself among the synonyms: those that are no words."""
    return [
        name for name in given if name in Choice.__annotations__ and isinstance(given[name], bool)
    ]


def _synonyms(option: str, words: object) -> list[str]:
    if isinstance(words, str):
        return [words]
    if not isinstance(words, Sequence):
        raise RecognizerError(
            f"one_of: synonyms of {option!r} are a list of words, not {words!r}."
            + did_you_mean(option, Choice.__annotations__)
        )
    return list(cast("Sequence[str]", words))
