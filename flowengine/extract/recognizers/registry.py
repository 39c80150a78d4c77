"""Kinds by name: making a recognizer with checked options, and reading one text at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from flowengine.errors import did_you_mean
from flowengine.extract.recognizers.base import (
    Context,
    Prefer,
    Recognition,
    Recognizer,
    RecognizerError,
)
from flowengine.extract.recognizers.birth import DateOfBirthRecognizer
from flowengine.extract.recognizers.choice import OneOfRecognizer
from flowengine.extract.recognizers.contact import EmailRecognizer, PhoneRecognizer
from flowengine.extract.recognizers.digits import DigitsRecognizer, LettersRecognizer
from flowengine.extract.recognizers.duration import DurationRecognizer, QuantityRecognizer
from flowengine.extract.recognizers.moment import (
    DateRecognizer,
    DatetimeRecognizer,
    TimeRecognizer,
)
from flowengine.extract.recognizers.money import MoneyRecognizer
from flowengine.extract.recognizers.names import FuzzyRecognizer
from flowengine.extract.recognizers.near import IntegerNearRecognizer
from flowengine.extract.recognizers.number import (
    IntegerRecognizer,
    NumberRecognizer,
    OrdinalRecognizer,
    PercentRecognizer,
)
from flowengine.extract.recognizers.option_types import check_option
from flowengine.extract.recognizers.pattern import RegexRecognizer
from flowengine.extract.recognizers.postal import PostalCodeRecognizer
from flowengine.extract.recognizers.text import utterance
from flowengine.extract.recognizers.tongue import LanguageRecognizer
from flowengine.extract.recognizers.yes_no import YesNoRecognizer

_TYPES: tuple[type[Recognizer], ...] = (
    IntegerRecognizer,
    IntegerNearRecognizer,
    NumberRecognizer,
    OrdinalRecognizer,
    PercentRecognizer,
    MoneyRecognizer,
    YesNoRecognizer,
    OneOfRecognizer,
    FuzzyRecognizer,
    RegexRecognizer,
    DatetimeRecognizer,
    DateRecognizer,
    TimeRecognizer,
    DateOfBirthRecognizer,
    DurationRecognizer,
    QuantityRecognizer,
    DigitsRecognizer,
    LettersRecognizer,
    PhoneRecognizer,
    EmailRecognizer,
    PostalCodeRecognizer,
    LanguageRecognizer,
)
KINDS: Mapping[str, type[Recognizer]] = {type_.kind: type_ for type_ in _TYPES}


def recognizer(kind: str, /, *args: Any, **options: Any) -> Recognizer:
    """Makes a recognizer; an unknown kind or option raises `RecognizerError` with its near miss.

    `recognizer("integer_near", ["want", "get"])`, `recognizer("datetime", prefer="future")`.
    """
    type_ = KINDS.get(kind)
    if type_ is None:
        raise RecognizerError(
            f"there is no recognizer {kind!r}: the kinds are {', '.join(KINDS)}."
            + did_you_mean(kind, KINDS)
        )
    if args:
        options = _with_positional(type_, args, options)
    known = [field.name for field in fields(type_) if field.init]  # pyright: ignore[reportArgumentType]
    for name in options:
        if name not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no options"
            raise RecognizerError(
                f"{kind} has no option {name!r}: it {takes}." + did_you_mean(name, known)
            )
    for name, given in options.items():
        check_option(type_, name, given)
    return type_(**options)


def warm_up(locale: str = "en-US") -> None:
    """Compiles a locale's rules now, some 0.5 s once a process, instead of in the first turn."""
    ref = datetime(2000, 1, 1)
    readers = [type_() for type_ in _TYPES if type_.positional is None]
    for text in ("on the second of may at three thirty dollars", "four no wait five"):
        said = utterance(text, locale)
        for reader in readers:
            for focus in (None, True):
                reader.recognize(said, Context(focus=focus, ref=ref, locale=locale))


def _with_positional(
    type_: type[Recognizer], args: Sequence[Any], options: dict[str, Any]
) -> dict[str, Any]:
    if type_.positional is None:
        raise RecognizerError(f"{type_.kind} takes no argument, only named options.")
    if type_.positional in options:
        raise RecognizerError(f"{type_.kind}: {type_.positional} is given twice.")
    value = args[0] if len(args) == 1 else list(args)
    return {type_.positional: value, **options}


def recognize(
    kind: str,
    text: str,
    *,
    asked: str | bool | None = None,
    current: Any = None,
    ref: datetime | None = None,
    tz: str | None = None,
    locale: str = "en-US",
    prefer: Prefer | None = None,
    alternatives: Sequence[str] = (),
    **options: Any,
) -> list[Recognition]:
    """Reads one value from one text: best first, empty when nothing was said.

    `asked` is True when the question was about this value, or the kind that was asked for.
    """
    one = recognizer(kind, **options)
    context = Context(
        asked=kind if asked is True else asked or None,
        focus=_focus(kind, asked),
        current=current,
        ref=ref,
        tz=tz,
        locale=locale,
        prefer=prefer,
        alternatives=tuple(utterance(other, locale) for other in alternatives),
    )
    return one.recognize(utterance(text, locale), context)


def _focus(kind: str, asked: str | bool | None) -> bool | None:
    if asked is None or isinstance(asked, bool):
        return asked
    family = next((group for group in _FAMILIES if kind in group), (kind,))
    return asked in family


_FAMILIES = (
    ("integer", "integer_near", "number"),
    ("datetime", "date", "time"),
)
"""Kinds that ask for the same thing: a question for a date is answered by a datetime."""
