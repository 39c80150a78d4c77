"""The nodes of a guard: frozen and hashable, spelled as text, as JSON and as Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NoReturn, cast

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from flowengine.errors import GuardError, did_you_mean
from flowengine.guards.decided_json import parts_of_decided
from flowengine.guards.field import field_json_schema, field_schema
from flowengine.guards.operands import checked_bound, checked_terms, is_elapsed
from flowengine.guards.parse import BARE_ATOMS, MAX_DEPTH, parse
from flowengine.guards.spelling import (
    MAX_TEXT,
    canonical,
    checked_name,
    is_list,
    listed,
    name_text,
    pattern_text,
    python,
)
from flowengine.guards.terms import Constant, Read, Term, constant, read, term_from_json
from flowengine.guards.words import ATOMS
from flowengine.inputs import Json


class Guard:
    """A yes/no question about State and progress, as data.

    `str(guard)` is its text, `repr(guard)` the Python that builds it; both read back as an equal
    guard. Join guards by `&`, `|` and `~`.
    """

    __slots__ = ()
    _binding: ClassVar[int] = 9
    """How tightly the text holds together: any 1, all 2, not 3, comparisons 4, calls 9."""

    @staticmethod
    def parse(text: str) -> Guard:
        """Read expression text.

        Raises:
            GuardError: with text, offset and length of what is wrong, and the cure.
        """
        return parse(text, guard_from_json)

    @staticmethod
    def from_json(form: object) -> Guard:
        """Read the JSON form; text and `true` (always) are forms too.

        Raises:
            GuardError: the form is none of a guard's.
        """
        return guard_from_json(form)

    def to_json(self) -> Json:
        raise NotImplementedError

    def __and__(self, other: object) -> Guard:
        return all_of(self, other) if isinstance(other, Guard) else NotImplemented

    def __or__(self, other: object) -> Guard:
        return any_of(self, other) if isinstance(other, Guard) else NotImplemented

    def __invert__(self) -> Guard:
        return not_(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a guard is a question, not an answer: join guards by & | ~ instead of and, or, not, "
            "and write a chain such as 1 <= x <= 20 as key('x').between(1, 20)"
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return field_schema(guard_from_json, _serialised)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return field_json_schema()


@dataclass(frozen=True, slots=True, repr=False)
class Atom(Guard):
    """One of the words of `ATOMS` with the names it asks about."""

    kind: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.kind in BARE_ATOMS:
            return self.kind
        names = ", ".join(map(name_text, self.names))
        return f"{self.kind}([{names}])" if len(self.names) > 1 else f"{self.kind}({names})"

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(canonical, self.names))})"

    def to_json(self) -> Json:
        if self.kind == "captured":
            return {"captured": list(self.names)}
        return {self.kind: self.names[0] if self.names else True}


@dataclass(frozen=True, slots=True, repr=False)
class Decided(Guard):
    """A decision was answered this turn: yes or chosen (True), no or none (False), an option, or
    a score within bounds.
    """

    id: str
    answer: bool | str | None = True
    at_least: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        return f"decided({', '.join([name_text(self.id), *self._rest(canonical)])})"

    def __repr__(self) -> str:
        return f"decided({', '.join([canonical(self.id), *self._rest(python)])})"

    def to_json(self) -> Json:
        given = {"answer": self.answer, "at_least": self.at_least, "at_most": self.at_most}
        form: dict[str, Json] = {name: v for name, v in given.items() if v is not None}
        return {"decided": self.id if form == {"answer": True} else {"id": self.id, **form}}

    def _rest(self, spell: Callable[[object], str]) -> list[str]:
        answer = [] if self.answer is None or self.answer is True else [spell(self.answer)]
        bounds = (("at_least", self.at_least), ("at_most", self.at_most))
        return answer + [f"{name}={spell(value)}" for name, value in bounds if value is not None]


@dataclass(frozen=True, slots=True, repr=False)
class Compare(Guard):
    """A chain of comparisons, `terms[0] ops[0] terms[1] ops[1] ...`; made by `comparison`."""

    terms: tuple[Term, ...]
    ops: tuple[str, ...]
    _binding: ClassVar[int] = 4

    def __str__(self) -> str:
        if self.ops == ("matches",):
            return f"{self.terms[0]} matches {pattern_text(self.pattern)}"
        timed = any(is_elapsed(term) for term in self.terms)
        spelled = [str(t.value if timed and isinstance(t, Constant) else t) for t in self.terms]
        rest = zip(self.ops, spelled[1:], strict=True)
        return " ".join([spelled[0], *(f"{op} {term}" for op, term in rest)])

    def __repr__(self) -> str:
        first, second = self.terms[:2]
        if isinstance(first, Read) and len(self.ops) == 1:
            if self.ops == ("matches",):
                return f"{first!r}.matches({second!r})"
            if self.ops == ("in",):
                return f"{first!r}.in_({second!r})"
            return f"{first!r} {self.ops[0]} {second!r}"
        rest = zip(self.ops, self.terms[1:], strict=True)
        return f"compare({first!r}{''.join(f', {canonical(op)}, {term!r}' for op, term in rest)})"

    @property
    def pattern(self) -> str:
        """What follows `matches`; empty for other comparisons."""
        last = self.terms[-1]
        return str(last.value) if self.ops == ("matches",) and isinstance(last, Constant) else ""

    def to_json(self) -> Json:
        parts: list[Json] = [self.terms[0].to_json()]
        for op, term in zip(self.ops, self.terms[1:], strict=True):
            parts += [op, term.to_json()]
        return {"compare": parts}


@dataclass(frozen=True, slots=True, repr=False)
class _Joined(Guard):
    guards: tuple[Guard, ...]
    _word: ClassVar[str] = ""
    _sign: ClassVar[str] = ""
    _tag: ClassVar[str] = ""

    def __str__(self) -> str:
        return f" {self._word} ".join(_within(self._binding, guard) for guard in self.guards)

    def __repr__(self) -> str:
        return f" {self._sign} ".join(map(_python_part, self.guards))

    def to_json(self) -> Json:
        return {self._tag: [guard.to_json() for guard in self.guards]}


@dataclass(frozen=True, slots=True, repr=False)
class AllOf(_Joined):
    """Every one of two or more guards; made by `all_of`, which keeps it flat."""

    _binding, _word, _sign, _tag = 2, "and", "&", "all"


@dataclass(frozen=True, slots=True, repr=False)
class AnyOf(_Joined):
    """At least one of two or more guards; made by `any_of`, which keeps it flat."""

    _binding, _word, _sign, _tag = 1, "or", "|", "any"


@dataclass(frozen=True, slots=True, repr=False)
class Not(Guard):
    """The contrary of a guard; made by `not_`, which drops a double one."""

    guard: Guard
    _binding: ClassVar[int] = 3

    def __str__(self) -> str:
        return f"not {_within(5, self.guard)}"

    def __repr__(self) -> str:
        return f"~{_python_part(self.guard)}"

    def to_json(self) -> Json:
        return {"not": self.guard.to_json()}


def atom(kind: str, *names: object) -> Atom:
    if ATOMS[kind] and not names:
        raise GuardError(f"{kind} needs a name, as in {kind}(x)")
    if len(names) > 1 and kind != "captured":
        raise GuardError(f"{kind} takes one name; join two by and")
    return Atom(kind, tuple(checked_name(name, f"what {kind} asks about") for name in names))


def decision(
    id: object, answer: object = None, at_least: object = None, at_most: object = None
) -> Decided:
    bounds = tuple(checked_bound(value) for value in (at_least, at_most))
    if answer is not None and not isinstance(answer, bool | str):
        raise GuardError("decided expects true, false or the name of an option")
    if answer is not None and bounds != (None, None):
        raise GuardError("decided expects an answer or bounds on a score, not both")
    if isinstance(answer, str):
        checked_name(answer, "an option")
    fallback = True if bounds == (None, None) else None
    return Decided(checked_name(id, "a decision"), fallback if answer is None else answer, *bounds)


def comparison(terms: Sequence[Term], ops: Sequence[str]) -> Compare:
    """A comparison that can hold; one that never could is an error with the cure."""
    return Compare(checked_terms(terms, ops), tuple(ops))


def links(chain: Compare) -> tuple[Compare, ...]:
    """The single comparisons that a chain joins by and."""
    pairs = zip(pairwise(chain.terms), chain.ops, strict=True)
    return tuple(Compare(pair, (op,)) for pair, op in pairs)


def all_of(*guards: Guard) -> Guard:
    """Every one of them; of none: always."""
    flat = [part for g in guards for part in (g.guards if isinstance(g, AllOf) else (g,))]
    return (AllOf(tuple(flat)) if len(flat) > 1 else flat[0]) if flat else Atom("always")


def any_of(*guards: Guard) -> Guard:
    """At least one of them; of none: never."""
    flat = [part for g in guards for part in (g.guards if isinstance(g, AnyOf) else (g,))]
    return (AnyOf(tuple(flat)) if len(flat) > 1 else flat[0]) if flat else Not(Atom("always"))


def not_(guard: Guard) -> Guard:
    return guard.guard if isinstance(guard, Not) else Not(guard)


def guard_from_json(form: object, depth: int = 0) -> Guard:
    """What `Guard.from_json` promises; guards already built may stand in the form."""
    if isinstance(form, Guard):
        return form
    if isinstance(form, str):
        return Guard.parse(form)
    if form is True:
        return Atom("always")
    if depth > MAX_DEPTH:
        raise GuardError(f"a guard nests at most {MAX_DEPTH} deep; use a computed key")
    items = list(cast("dict[str, object]", form).items()) if isinstance(form, dict) else []
    if len(items) != 1:
        raise GuardError(
            'a guard is text, true, or an object with one word, such as {"captured": ["a"]}; '
            "what never holds is left out"
        )
    tag, body = items[0]
    if tag in ("all", "any"):
        guards = [guard_from_json(part, depth + 1) for part in listed(tag, body)]
        return all_of(*guards) if tag == "all" else any_of(*guards)
    return not_(guard_from_json(body, depth + 1)) if tag == "not" else _leaf(tag, body)


def _leaf(tag: str, body: object) -> Guard:
    if tag in ATOMS:
        names = body if tag == "captured" else [body] if ATOMS[tag] else []
        return atom(tag, *listed(tag, names))
    if tag == "decided":
        return decision(**parts_of_decided(body))
    if tag in ("eq", "one_of"):
        return membership(tag, *listed(tag, body))
    if tag == "compare":
        parts = listed(tag, body)
        return comparison([term_from_json(p) for p in parts[::2]], [str(p) for p in parts[1::2]])
    known = [*ATOMS, "decided", "eq", "one_of", "compare", "all", "any", "not"]
    raise GuardError(f"a guard has no word {tag!r}.{did_you_mean(str(tag), known)}")


def membership(word: str, *parts: object) -> Compare:
    """`eq(k, v)` and `one_of(k, a, b)`: short words for `==` and `in`; one list is the choices."""
    name, *values = parts or ("",)
    key = read("key", checked_name(name, f"the first in {word}"))
    if word == "eq":
        if len(values) != 1:
            raise GuardError("eq takes a key and one value, as in eq(status, 3)")
        return comparison([key, constant(values[0])], ["=="])
    if not values:
        raise GuardError('one_of takes a key and the values it may hold, as in one_of(x, "a")')
    choices = values[0] if len(values) == 1 and is_list(values[0]) else values
    return comparison([key, constant(choices)], ["in"])


def _within(binding: int, guard: Guard) -> str:
    return str(guard) if guard._binding > binding else f"({guard})"  # pyright: ignore[reportPrivateUsage]


def _python_part(guard: Guard) -> str:
    """Python's & | ~ bind tighter than its comparisons, and & tighter than |."""
    return repr(guard) if isinstance(guard, Atom | Decided | Not) else f"({guard!r})"


def _serialised(guard: Guard) -> Json:
    text = str(guard)
    return text if len(text) <= MAX_TEXT else guard.to_json()
