"""Placeholders: `{args.x}` and `{state.y}` in a request, `{key}` in a prompt, all with fields.

A placeholder without a value is an error that names it, except in `{key?yes:no}`, which asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flowengine.errors import SourceError
from flowengine.facts import canonical_json
from flowengine.guards.lookup import look_up
from flowengine.inputs import NOTHING, Json
from flowengine.state.types import json_form

PLACEHOLDER = re.compile(r"\{(args|state)\.([^{}\s]+)\}")
_SLOT = re.compile(r"\{(\w[\w:.-]*)(?:\?([^{}\n]*?):([^{}\n]*))?\}")
"""A slot of a prompt, in which other braces are the prompt's own, such as those of JSON."""


class Values(NamedTuple):
    """What placeholders read: the arguments of a call, and State."""

    args: Mapping[str, Any] = NOTHING
    state: Mapping[str, Any] = NOTHING

    def require(self, source: str, name: str) -> Json:
        """The value behind `{source.name}`.

        Raises:
            SourceError: `missing_value`; the message names the placeholder.
        """
        values = self.args if source == "args" else self.state
        value = look_up(name, values.get)
        if value is None:
            cure = "pass the argument" if source == "args" else "set the key before"
            raise SourceError(f"{{{source}.{name}}} has no value: {cure}", code="missing_value")
        return json_form(value)


def fill(text: str, values: Values, spell: Callable[[str], str] = str) -> str:
    """The text with its placeholders replaced by their values' spelling.

    Raises:
        SourceError: `missing_value`
    """
    return PLACEHOLDER.sub(lambda match: spell(shown(values.require(*match.groups()))), text)


def filled(template: Json, values: Values) -> Json:
    """The JSON with its texts filled; a text that is one placeholder becomes the value itself.

    Raises:
        SourceError: `missing_value`
    """
    match template:
        case str():
            whole = PLACEHOLDER.fullmatch(template)
            return values.require(*whole.groups()) if whole else fill(template, values)
        case list():
            return [filled(part, values) for part in template]
        case dict():
            return {name: filled(part, values) for name, part in template.items()}
        case _:
            return template


def state_reads(template: Any) -> tuple[str, ...]:
    """The names that follow `state.` in its placeholders, each once, in order."""
    return _reads(template, "state")


def argument_reads(template: Any) -> tuple[str, ...]:
    """The arguments that its placeholders read, each once, in order."""
    return tuple(dict.fromkeys(name.partition(".")[0] for name in _reads(template, "args")))


def _reads(template: Any, source: str) -> tuple[str, ...]:
    found = PLACEHOLDER.findall(canonical_json(template))
    return tuple(dict.fromkeys(name for read, name in found if read == source))


def fill_prompt(text: str, values: Values) -> str:
    """The prompt with its slots filled from the arguments, else from State.

    Raises:
        SourceError: `missing_value`
    """

    def slot(match: re.Match[str]) -> str:
        key, yes, no = match.groups()
        value = look_up(key, values.args.get)
        value = look_up(key, values.state.get) if value is None else value
        if yes is not None:
            return no if value is None or value is False or value in (0, "") else yes
        if value is None:
            raise SourceError(f"{{{key}}} has no value: set the key before", code="missing_value")
        return shown(json_form(value))

    return _SLOT.sub(slot, text)


def prompt_keys(text: str) -> tuple[str, ...]:
    """The keys that a prompt shows or asks, each once, in order."""
    return tuple(dict.fromkeys(match[1] for match in _SLOT.finditer(text)))


def shown(value: Json) -> str:
    """A value as text: strings bare, other JSON compact."""
    return value if isinstance(value, str) else canonical_json(value)
