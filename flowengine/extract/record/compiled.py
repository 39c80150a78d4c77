"""Records: typed fields filled from the caller's words by recognizers, without a model.

The newest turn is read first; a turn that has been read is not read again, so an old "yes" never
answers a new question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, NamedTuple, TypeAlias

from flowengine.extract.grounding.meaning import Setting
from flowengine.extract.recognizers import (
    Context,
    Recognition,
    Recognizer,
    recognizer,
)
from flowengine.extract.recognizers.text import heard
from flowengine.extract.record.value_types import typed, value_key, value_types
from flowengine.extract.spec import FieldSpec, RecordSpec
from flowengine.guards import CompiledGuard, compile_guard
from flowengine.inputs import Json
from flowengine.state.keys import KeyTable, json_value
from flowengine.transcript import Turn

Named: TypeAlias = Mapping[str, Callable[[Any], bool]]
"""Registered functions by name."""


class Finding(NamedTuple):
    """One field as it was found, and where."""

    field: str
    value: Json
    speaker: str = "caller"
    turn: int = 0
    span: tuple[int, int] | None = None
    confidence: float = 1.0
    rule: str = ""


class Hearing(NamedTuple):
    """What is known when a turn is read, besides its words."""

    setting: Setting
    find: Callable[[str], Json]
    """The present value of a key."""
    question: str = ""
    """The model's words just before the caller spoke, in lower case."""
    needed: str | None = None
    """The key that the phase asks for next."""


@dataclass(frozen=True, slots=True)
class CompiledField:
    """A field with its recognizer; `key` is where its value goes."""

    name: str
    key: str
    spec: FieldSpec
    recognizer: Recognizer | None
    valid: CompiledGuard | None
    asks: tuple[str, ...]

    def accepts(self, value: Json) -> bool:
        """Whether the value is valid: else it counts as not said.

        Raises:
            FunctionError: a registered function raised.
        """
        return self.valid is None or self.valid.test(_Value(value))  # pyright: ignore[reportArgumentType]


class CompiledRecord:
    """A record made ready to read turns."""

    __slots__ = ("asked_by_words", "fields", "keys", "name", "order", "spec")

    def __init__(
        self,
        name: str,
        spec: RecordSpec,
        order: int = 0,
        functions: Named | None = None,
        validators: Named | None = None,
    ) -> None:
        """`functions` are the guards that `valid` may ask, which see the value as the key `value`;
        `validators` are given the value itself, typed: an amount as a Decimal, a day as a date.
        """
        self.name, self.spec, self.order = name, spec, order
        self.fields = {
            name: _field(name, field, functions or {}, validators or {})
            for name, field in spec.fields.items()
        }
        self.keys = frozenset(field.key for field in self.fields.values())
        self.asked_by_words = any(f.asks for f in self.fields.values())

    def read(self, turns: Sequence[Turn], hearing: Hearing) -> tuple[Finding, ...]:
        """What the caller's words of these turns, newest first, say about each field; one finding
        a field at most."""
        asked = self.asked(hearing)
        found = (
            _read(field, turns, hearing, asked)
            for field in self.fields.values()
            if field.recognizer is not None
        )
        return tuple(finding for finding in found if finding is not None)

    def read_ahead(self, turn: Turn, hearing: Hearing) -> None:
        """Let the recognizers look at a turn early; what they work out stays with its words."""
        asked = self.asked(hearing)
        for field in self.fields.values():
            if field.recognizer is not None and _is_asked_for(field, hearing, asked):
                _recognized(field, turn, hearing, asked)

    def asked(self, hearing: Hearing) -> CompiledField | None:
        """The field that the question was about: by the model's words, else by what is needed."""
        named = self.named(hearing)
        if named is not None:
            return named
        return next((f for f in self.fields.values() if f.key == hearing.needed), None)

    def named(self, hearing: Hearing) -> CompiledField | None:
        """The field whose `asks` the model's words hold; of several, the one asked for last."""
        if not self.asked_by_words or not hearing.question:
            return None
        hits = [
            (hearing.question.rfind(phrase), field)
            for field in self.fields.values()
            for phrase in field.asks
        ]
        at, field = max(hits, key=lambda hit: hit[0])
        return field if at >= 0 else None


def _field(name: str, spec: FieldSpec, functions: Named, validators: Named) -> CompiledField:
    made = recognizer(spec.kind, *spec.argument, **spec.options) if spec.recognize else None
    valid = None
    if spec.valid is not None:
        types = value_types(spec)
        own = {name: _of_value(function, types) for name, function in validators.items()}
        keys = KeyTable(value_key(spec))
        valid = compile_guard(spec.valid, keys, functions={**functions, **own})
    asks = tuple(phrase.lower() for phrase in spec.asks)
    return CompiledField(name, spec.to or name, spec, made, valid, asks)


def _of_value(function: Callable[[Any], bool], types: tuple[str, ...]) -> Callable[[Any], bool]:
    """A validator as a guard's function."""

    def valid(state: Mapping[str, Json]) -> bool:
        return function(typed(types, state["value"]))

    return function if _is_async(function) else valid


def _is_async(function: object) -> bool:
    """Then it is given to the guard as it is, which refuses it by its name."""
    return iscoroutinefunction(function)


def _read(
    field: CompiledField, turns: Sequence[Turn], hearing: Hearing, asked: CompiledField | None
) -> Finding | None:
    if not _is_asked_for(field, hearing, asked):
        return None
    for turn in turns:
        if not turn.user:
            continue
        for recognition in _recognized(field, turn, hearing, asked if turn is turns[0] else None):
            value = _value(field, recognition)
            if value is not None and field.accepts(value):
                return Finding(
                    field.name, value, "caller", turn.number, recognition.span,
                    recognition.confidence, recognition.rule,
                )  # fmt: skip
    return None


def _is_asked_for(field: CompiledField, hearing: Hearing, asked: CompiledField | None) -> bool:
    when = field.spec.when_asked
    if when and asked is not field:
        return False
    return when != "by_words" or any(phrase in hearing.question for phrase in field.asks)


def _recognized(
    field: CompiledField, turn: Turn, hearing: Hearing, asked: CompiledField | None
) -> list[Recognition]:
    """What the recognizer finds in a turn; kept with its words, for whoever reads it again."""
    assert field.recognizer is not None
    said = heard(turn.user, hearing.setting.locale, turn.at)
    context = _context(field, hearing, turn, asked)
    known = said.memo.get(id(field))
    if known is None or known[0] is not field or known[1] != context:
        found = field.recognizer.recognize(said, context)
        known = said.memo[id(field)] = (field, context, found)
    return known[2]


def _context(
    field: CompiledField, hearing: Hearing, turn: Turn, asked: CompiledField | None
) -> Context:
    setting = hearing.setting.of(turn)
    return Context(
        asked=asked.spec.kind if asked else None,
        focus=None if asked is None else asked is field,
        current=hearing.find(field.key),
        ref=setting.ref,
        tz=setting.timezone,
        locale=setting.locale,
        alternatives=tuple(heard(other, setting.locale, turn.at) for other in turn.alternatives),
    )


def _value(field: CompiledField, recognition: Recognition) -> Json:
    return json_value(field.key, recognition.value)


class _Value:
    """The view of a validator: the value alone."""

    __slots__ = ("args", "evidence", "holding", "state", "values")

    def __init__(self, value: Json) -> None:
        self.values: dict[str, Json] = {"value": value}
        self.evidence: dict[str, Any] = {}
        self.args: dict[str, Json] = {}
        self.holding = ()
        self.state = self.values


def findings(value: Mapping[str, Json], turn: int, speaker: str = "model") -> Iterable[Finding]:
    """The fields of an object that a model extractor returned; nulls say nothing."""
    for name, item in value.items():
        if item is not None:
            yield Finding(name, item, speaker, turn)
