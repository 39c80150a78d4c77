"""Whether two values are the same thing said in two ways: a re-stated value corrects nothing."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flowengine.extract.grounding.meaning import Meaning, Setting, read_whole, written
from flowengine.extract.grounding.plain import normal
from flowengine.extract.recognizers import utterance
from flowengine.extract.recognizers.text import LONGEST_TEXT
from flowengine.inputs import Json
from flowengine.llm.data import Schema, is_array, is_object

_SOME_DAYS = (datetime(2001, 2, 7, 10), datetime(2003, 9, 19, 10))
"""With no reference time, "tomorrow" is compared as of two unlike days; both must agree."""
_MARKED = 7
"""Digits from which an id is the same with and without its spaces and dashes."""


def same(
    a: Json,
    b: Json,
    schema: Schema | None = None,
    *,
    locale: str = "en-US",
    ref: datetime | None = None,
    timezone: str | None = None,
) -> bool:
    """Equal but for case, spacing, punctuation and accents, or read as the same value.

    "tomorrow at 7:00 PM" is "tomorrow at 7 pm", "fifty dollars" is "$50", 5 is 5.0; "at seven" is
    not "7 pm", because it may be the morning. Where `schema` is an enum or a const, only equal
    values are the same.
    """
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if schema and ("enum" in schema or "const" in schema):
        return a == b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    refs = _SOME_DAYS if ref is None else (ref,)
    settings = [Setting(locale, one, timezone) for one in refs]
    if is_object(a) and is_object(b):
        return a.keys() == b.keys() and all(
            same(a[key], b[key], locale=locale, ref=ref, timezone=timezone) for key in a
        )
    if is_array(a) and is_array(b):
        return len(a) == len(b) and all(
            same(one, other, locale=locale, ref=ref, timezone=timezone)
            for one, other in zip(a, b, strict=True)
        )
    if isinstance(a, str | int | float) and isinstance(b, str | int | float):
        return _same_text(str(a), str(b), settings)
    return False


def _same_text(a: str, b: str, settings: list[Setting]) -> bool:
    if a == b:
        return True
    if len(a) > LONGEST_TEXT or len(b) > LONGEST_TEXT:
        return False
    if normal(a) == normal(b):
        return True
    a, b = a.strip(), b.strip()
    return all(bool(_meanings(a, one) & _meanings(b, one)) for one in settings)


def _meanings(text: str, setting: Setting) -> frozenset[Meaning]:
    found = written(text, setting)
    found = found or read_whole(utterance(text, setting.locale), setting, sure=True)
    return frozenset(meaning for meaning in found if _is_told_apart(meaning, text))


def _is_told_apart(meaning: Meaning, text: str) -> bool:
    """Whether the meaning holds all that tells such a text from others.

    It does not where "007" is read as 7, "3.10" as 3.1, or "1-11" and "11-1" both as 111.
    """
    what, value = meaning
    stripped = text.strip()
    written = not any(char.isalpha() for char in stripped)
    if what == "number" and written:
        return not (stripped.lstrip("+-").startswith("0") and len(stripped) > 1) and (
            "." not in stripped or "," in stripped
        )
    if what == "digits":
        return _is_told_apart_by_digits(stripped, value, written)
    return True


def _is_told_apart_by_digits(text: str, digits: Any, written: bool) -> bool:
    if not written:
        return len(digits) >= 4 and not any(char.isdigit() for char in text)
    groups = text.strip("+").replace("(", "").replace(")", "").replace("-", " ").split()
    if any(not group.isdigit() for group in groups) or text.startswith("+"):
        return False
    if len(groups) == 1:
        return True
    return len(digits) >= 9 or (len(digits) >= _MARKED and all(len(group) >= 3 for group in groups))
