"""Guards with parameters in them: read with placeholders, then filled with what was given."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import cast

from flowengine.flow.parameters import MENTION, NAMES, Values, mentioned, value_text
from flowengine.flow.source import Node
from flowengine.guards import (
    AllOf,
    AnyOf,
    Atom,
    Compare,
    Constant,
    Decided,
    Guard,
    Not,
    Read,
    all_of,
    always,
    any_of,
    not_,
)
from flowengine.guards.terms import Term, constant

_PIECES = re.compile(rf"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(args\.)?{MENTION.pattern}""")


class Absent(Exception):
    """A condition asks about a parameter for which nothing was given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class GuardFiller:
    """Reads guards of a fragment and fills them; `types` are those of its parameters."""

    def __init__(self, types: Mapping[str, str], values: Values) -> None:
        self._types, self._values = types, values

    def read(self, text: str) -> Guard:
        """The guard with placeholders for names and conditions; plain values are in place.

        Raises:
            GuardError: it cannot be read; offsets are those of `plain`.
        """
        return Guard.parse(_PIECES.sub(self._placeholder, text))

    def _placeholder(self, found: re.Match[str]) -> str:
        if found[1]:
            is_name = self._types.get(mentioned(found[1][1:-1]) or "") in {*NAMES, "guard"}
            return found[1] if is_name else MENTION.sub(self._inside_quotes, found[1])
        name = found[3] or found[4]
        kind = self._types.get(name)
        if found[2]:
            return f'arg("${name}")'
        if kind == "guard":
            return f'custom("${name}")'
        if kind is None or kind in NAMES:
            return f"`${name}`"
        node = self._value(name)
        if kind == "duration" and node.kind == "scalar":
            return str(node.value)
        return json.dumps(node.plain(), ensure_ascii=False)

    def _inside_quotes(self, found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in self._types:
            return found[0]
        return json.dumps(value_text(self._value(name)), ensure_ascii=False)[1:-1]

    def _value(self, name: str) -> Node:
        node = self._values.get(name)
        if node is None:
            raise Absent(name)
        return node

    def fill(self, guard: Guard) -> Guard | None:
        """The guard with what was given; what compares a list holds for each of its names.

        A condition that was not given is left out of `and` and `or`; None if nothing is left.
        """
        match guard:
            case AllOf(guards) | AnyOf(guards):
                given = [g for g in map(self.fill, guards) if g is not None]
                join = all_of if isinstance(guard, AllOf) else any_of
                return join(*given) if given else None
            case Not(inner):
                filled = self.fill(inner)
                return None if filled is None else not_(filled)
            case Atom("custom", (name,)) if parameter := self._parameter(name):
                node = self._values.get(parameter)
                return Guard.from_json(node.plain()) if node else None
            case Atom(word, names):
                given = [each for name in names for each in self._names(name)]
                if word == "captured" or not names:
                    return Atom(word, tuple(given))
                return all_of(*(Atom(word, (name,)) for name in given))
            case Decided(id, answer, low, high):
                return all_of(*(Decided(n, answer, low, high) for n in self._names(id)))
            case Compare(terms, ops):
                return self._compare(terms, ops)
            case _:
                return guard

    def _compare(self, terms: tuple[Term, ...], ops: tuple[str, ...]) -> Guard:
        columns = [self._terms(term) for term in terms]
        most = max(map(len, columns))
        if not min(map(len, columns)):
            return always()
        even = [column if len(column) == most else column * most for column in columns]
        return all_of(*(Compare(row, ops) for row in zip(*even, strict=False)))

    def _terms(self, term: Term) -> list[Term]:
        if isinstance(term, Constant):
            name = self._parameter(str(term.value))
            return [constant(value_text(self._value(name)))] if name else [term]
        return [Read(term.kind, name) for name in self._names(term.name)]

    def _names(self, name: str) -> list[str]:
        parameter = self._parameter(name)
        if parameter is None:
            return [name]
        value = self._value(parameter).plain()
        return cast("list[str]", value) if isinstance(value, list) else [str(value)]

    def _parameter(self, name: str) -> str | None:
        parameter = mentioned(name)
        return parameter if parameter in self._types else None
