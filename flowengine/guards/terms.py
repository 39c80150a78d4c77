"""What a comparison is made of: something read, or a plain value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias, cast

from flowengine.errors import GuardError, did_you_mean
from flowengine.guards.spelling import canonical, checked_name, is_word, key_text, name_text, python
from flowengine.guards.words import TERMS
from flowengine.inputs import Json


@dataclass(frozen=True, slots=True)
class Read:
    """Something read when the guard is asked: a key, a call argument, confidence, time, turns."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        if self.kind == "key":
            return key_text(self.name)
        if self.kind == "arg" and is_word(self.name):
            return f"args.{self.name}"
        return f"{self.kind}({name_text(self.name)})" if self.name else self.kind

    def __repr__(self) -> str:
        return f"{self.kind}({canonical(self.name) if self.name else ''})"

    def to_json(self) -> Json:
        return {self.kind: self.name or True}


@dataclass(frozen=True, slots=True)
class Constant:
    """A plain value, kept as canonical JSON text: so it is frozen, hashable, and 1 is not true."""

    text: str

    @property
    def value(self) -> Json:
        return json.loads(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return python(self.value)

    def to_json(self) -> Json:
        value = self.value
        return {"value": value} if isinstance(value, dict) else value


Term: TypeAlias = Read | Constant


def constant(value: object) -> Constant:
    return Constant(canonical(value))


def read(kind: str, name: str = "") -> Read:
    return Read(kind, checked_name(name, f"what {kind} reads") if TERMS[kind] else "")


def term_from_json(form: object) -> Term:
    """A term from `{"key": name}`, `{"elapsed": true}`, `{"value": {...}}` or a plain value."""
    if not isinstance(form, dict):
        return constant(form)
    items = list(cast("dict[str, object]", form).items())
    tag, body = items[0] if len(items) == 1 else ("", None)
    if tag == "value":
        return constant(body)
    if tag not in TERMS:
        raise GuardError(
            f"a comparison reads one of {', '.join(TERMS)}; an object as a value is written "
            f'{{"value": {{...}}}}.{did_you_mean(str(tag), TERMS)}'
        )
    return read(tag, checked_name(body, f"what {tag} reads") if TERMS[tag] else "")
