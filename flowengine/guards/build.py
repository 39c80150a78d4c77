"""The words that build guards in Python; operators on `key(...)` and its like make comparisons."""

from __future__ import annotations

from typing import NoReturn

from flowengine.guards.atoms import (
    Compare,
    Decided,
    Guard,
    all_of,
    any_of,
    atom,
    comparison,
    decision,
    membership,
    not_,
)
from flowengine.guards.terms import Read, Term, constant, read

__all__ = [
    "Operand", "all_of", "always", "any_of", "arg", "called_ok", "caller_spoke", "captured",
    "compare", "confidence", "corrected", "custom", "decided", "done", "elapsed", "eq", "failed",
    "grounded", "in_phase", "is_set", "is_true", "key", "not_", "one_of", "resolved",
    "turns_in_phase",
]  # fmt: skip


class Operand:
    """One side of a comparison; `== != < <= > >=` with a value or another make a guard."""

    __slots__ = ("term",)
    __hash__ = None  # pyright: ignore[reportAssignmentType]  # == makes a guard, so no set can hold it

    def __init__(self, term: Read) -> None:
        self.term = term

    def __eq__(self, other: object) -> Guard:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compared("==", other)

    def __ne__(self, other: object) -> Guard:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Guard:
        return self._compared("<", other)

    def __le__(self, other: object) -> Guard:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Guard:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Guard:
        return self._compared(">=", other)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} has no value yet; compare it, as in {self!r} >= 3")

    def __repr__(self) -> str:
        return repr(self.term)

    def in_(self, *choices: object) -> Guard:
        """One of the choices; a single list, or operand that reads one, is the choices."""
        one = len(choices) == 1 and type(choices[0]) in (list, Operand)
        return self._compared("in", choices[0] if one else list(choices))

    def matches(self, pattern: str) -> Guard:
        """Text in which the RE2 pattern occurs; the first 10,000 characters are looked at."""
        return self._compared("matches", pattern)

    def between(self, low: object, high: object) -> Guard:
        """The chain `low <= this <= high`."""
        return compare(low, "<=", self, "<=", high)

    def _compared(self, op: str, other: object) -> Guard:
        return compare(self, op, other)


def compare(*parts: object) -> Compare:
    """Terms and operators in turn: `compare(1, "<=", key("x"), "<=", 20)`."""
    return comparison([_term(part) for part in parts[::2]], [str(op) for op in parts[1::2]])


def key(name: str) -> Operand:
    """A key of State, or a path into one: `key("identity.verified")`."""
    return Operand(read("key", name))


def arg(name: str) -> Operand:
    """An argument of the tool call that is being judged."""
    return Operand(read("arg", name))


def confidence(key: str) -> Operand:
    """How sure the key's evidence is, 0 to 1."""
    return Operand(read("confidence", key))


def turns_in_phase() -> Operand:
    """Closed turns with caller words since the guard's phase was entered."""
    return Operand(read("turns_in_phase"))


def elapsed() -> Operand:
    """Time since the guard's phase was entered; compare it with `"30s"`."""
    return Operand(read("elapsed"))


def always() -> Guard:
    return atom("always")


def caller_spoke() -> Guard:
    """A turn with caller words has closed since the guard's phase was entered."""
    return atom("caller_spoke")


def is_true(key: str) -> Guard:
    """The key holds exactly true."""
    return atom("is_true", key)


def is_set(key: str) -> Guard:
    return atom("is_set", key)


def captured(*keys: str) -> Guard:
    """Every one of the keys is set."""
    return atom("captured", *keys)


def grounded(key: str) -> Guard:
    """The key's value was located in the caller's words."""
    return atom("grounded", key)


def corrected(key: str) -> Guard:
    """The key changed by what the caller said in the newest turn."""
    return atom("corrected", key)


def resolved(name: str) -> Guard:
    """The resolver's last run succeeded, with the arguments it would have now."""
    return atom("resolved", name)


def failed(name: str) -> Guard:
    """The resolver's last run failed."""
    return atom("failed", name)


def called_ok(tool: str) -> Guard:
    return atom("called_ok", tool)


def done(phase: str) -> Guard:
    return atom("done", phase)


def in_phase(phase: str) -> Guard:
    return atom("in_phase", phase)


def custom(name: str) -> Guard:
    """A registered pure function over a read-only view of State."""
    return atom("custom", name)


def decided(
    id: str,
    answer: bool | str | None = None,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Decided:
    """A fresh answer: yes or chosen (the default), False for no or none, an option's name, or a
    score within bounds.
    """
    return decision(id, answer, at_least, at_most)


def eq(key: str, value: object) -> Guard:
    """`key(k) == value`: equality of whole JSON values."""
    return membership("eq", key, value)


def one_of(key: str, *values: object) -> Guard:
    """`key(k).in_(...)`."""
    return membership("one_of", key, *values)


def _term(part: object) -> Term:
    return part.term if isinstance(part, Operand) else constant(part)
