"""`key=value` from a command line as values for State."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from flowengine.cli.misuse import Misuse
from flowengine.errors import did_you_mean
from flowengine.flow.model import Flow
from flowengine.inputs import Json

_JSON_TYPES = ("boolean", "integer", "number", "object", "array")


def state_of(flow: Flow, texts: Iterable[str]) -> dict[str, Json]:
    """Values as the flow declares them: `zip=02139` stays text where `zip` is a string.

    Raises:
        Misuse: a text is no assignment, or its key looks misspelt.
    """
    kinds = {key: spec.type for key, spec in flow.state.items()}
    found: dict[str, Json] = {}
    for text in texts:
        key, value = _split(text)
        if key not in kinds and (guess := did_you_mean(key, kinds)):
            raise Misuse(f"the flow has no key {key!r}.{guess}")
        found[key] = _value(value, kinds.get(key))
    return found


def arguments_of(
    schemas: Mapping[str, Mapping[str, Json]], texts: Iterable[str]
) -> dict[str, Json]:
    """Arguments of a tool whose parameters have these JSON Schemas."""
    pairs = (_split(text) for text in texts)
    return {key: _value(value, schemas.get(key, {}).get("type")) for key, value in pairs}


def _split(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key:
        raise Misuse(f"{text!r} sets nothing: write KEY=VALUE, such as party_size=4")
    return key, value


def _value(text: str, kind: Json) -> Json:
    """JSON where the type is written in JSON or is not known; text is text without quotes."""
    if kind is not None and kind not in _JSON_TYPES:
        return text
    return json_or_text(text)


def json_or_text(text: str) -> Json:
    """`4`, `true`, `[a]`: JSON if it can be read as such, else the text itself."""
    try:
        return json.loads(text, parse_constant=lambda name: name)
    except (ValueError, RecursionError):
        return text
