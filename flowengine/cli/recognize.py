"""`flowengine recognize`: one value from one utterance, or from each line of stdin."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, get_origin, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import TypeAdapter, ValidationError

from flowengine.cli.assignments import json_or_text
from flowengine.cli.misuse import Misuse
from flowengine.cli.output import complain
from flowengine.errors import did_you_mean
from flowengine.extract.recognizers import KINDS, Recognition, recognize

_OF_TIME = ("datetime", "date", "time", "date_of_birth")
_NEEDS_REF = "; words such as tomorrow need the reference time: --ref 2026-03-04T10:30"


def recognize_words(
    kind: str,
    text: str | None,
    as_json: bool,
    options: Sequence[str],
    context: Mapping[str, Any],
) -> int:
    """Print what each utterance says, best first; nothing is not a failure."""
    given: dict[str, Any] = {
        **context,
        **_options(kind, options),
        "ref": _instant(context["ref"]),
        "tz": _zone(context["tz"]),
        "asked": _asked(context["asked"]),
    }
    needs_ref = kind in _OF_TIME and given["ref"] is None
    for words in [text] if text is not None else _lines():
        found = recognize(kind, words, **given)
        if as_json:
            print(json.dumps(_as_json(words, found), ensure_ascii=False, default=str))
        elif found:
            _print(words, found)
        else:
            complain(f"no {kind} in it{_NEEDS_REF if needs_ref else ''}")
    return 0


def _lines() -> Iterator[str]:
    for line in sys.stdin:
        if words := line.strip():
            yield words


def _as_json(words: str, found: Sequence[Recognition]) -> dict[str, Any]:
    return {"text": words, "found": [asdict(recognition) for recognition in found]}


def _print(words: str, found: Sequence[Recognition]) -> None:
    """`value  "its words" 5-10  rule  confidence`; then what else the words may mean."""
    for one in found:
        start, end = one.span
        print(
            f"{_shown(one.value)}  “{words[start:end]}” {start}-{end}  {one.rule}  "
            f"{one.confidence:g}"
        )
        if one.alternatives:
            print(f"  or {', '.join(map(_shown, one.alternatives))}")
        if one.superseded:
            print(f"  taken back: {', '.join(map(_shown, one.superseded))}")


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


# -- options --------------------------------------------------------------------------------------


def _options(kind: str, texts: Sequence[str]) -> dict[str, Any]:
    """A kind's own options, of the types that it takes; a bare value is its main one."""
    recognizer = KINDS.get(kind)
    if recognizer is None:
        kinds = ", ".join(KINDS)
        raise Misuse(f"there is no kind {kind!r}: {kinds}.{did_you_mean(kind, KINDS)}")
    types = get_type_hints(recognizer)
    found: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign and recognizer.positional is None:
            raise Misuse(f"{kind} takes only named options: write NAME=VALUE instead of {text!r}")
        name, value = (name, value) if sign else (recognizer.positional or "", text)
        found[name] = _fitting(name, _value(value), types.get(name, Any))
    return found


def _value(text: str) -> Any:
    """JSON, or words between commas."""
    value = json_or_text(text)
    if isinstance(value, str) and "," in value:
        return [part.strip() for part in value.split(",")]
    return value


def _fitting(name: str, value: Any, type_: Any) -> Any:
    if get_origin(type_) is tuple and not isinstance(value, list):
        value = [value]  # one word is a list of one
    try:
        return TypeAdapter[Any](type_).validate_python(value)
    except ValidationError as error:
        raise Misuse(f"option {name}: {error.errors()[0]['msg'].lower()}") from None


def _asked(text: str | None) -> str | bool | None:
    """A kind; or true and false, for whether this value was asked for."""
    if text in ("true", "false"):
        return text == "true"
    if text is None or text in KINDS:
        return text
    kinds = ", ".join(KINDS)
    raise Misuse(f"--asked {text!r} is no kind: {kinds}.{did_you_mean(text, KINDS)}")


def _instant(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        raise Misuse(f"--ref {text!r} is no instant: write 2026-03-04T10:30") from None


def _zone(name: str | None) -> str | None:
    try:
        return name and ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Misuse(f"--tz {name!r} is no time zone: write America/New_York") from None
