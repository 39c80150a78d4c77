"""Guards compiled to closures: definitely true or not, and the three values behind that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from operator import methodcaller
from typing import Any, TypeAlias

from flowengine.errors import FunctionError, GuardError, did_you_mean
from flowengine.guards.atoms import AllOf, AnyOf, Atom, Compare, Decided, Guard, Not, links
from flowengine.guards.comparing import compare_truth
from flowengine.guards.logic import Truth3, kleene, negated
from flowengine.guards.lookup import bare, evidence_reader, roots, value_reader
from flowengine.guards.reads import Functions, guard_reads, thresholds
from flowengine.guards.view import Decision, Keys, View
from flowengine.guards.walk import names_of

Test: TypeAlias = Callable[[View], bool]

NO_FUNCTIONS: Functions = {}


@dataclass(frozen=True, slots=True, eq=False)
class CompiledGuard:
    """A guard bound to a flow's keys and functions and to the phase that owns it."""

    guard: Guard
    test: Test
    """Definitely true; anything else, unknown included, is False."""
    truth: Truth3
    """True, False, or None for unknown."""
    reads: frozenset[str]
    """Keys (`derived:x` as `x`) and pseudo-keys such as `@done:greeting` it depends on."""
    thresholds: tuple[int, ...]
    """Milliseconds of `elapsed` at which an answer may change."""

    @property
    def volatile(self) -> bool:
        """Whether time alone can change the answer."""
        return bool(self.thresholds)

    @property
    def text(self) -> str:
        return str(self.guard)


def compile_guard(
    guard: Guard,
    keys: Keys,
    *,
    phase: str | None = None,
    functions: Functions = NO_FUNCTIONS,
) -> CompiledGuard:
    """Bind a guard; `phase` is its owner, None for the flow's own edges.

    Raises:
        GuardError: an unknown custom function, or a literal that its key's type cannot hold.
    """
    compiler = Compiler(keys, phase, functions)
    return CompiledGuard(
        guard,
        compiler.test(guard),
        compiler.truth(guard),
        guard_reads(guard, functions),
        thresholds(guard),
    )


@dataclass(frozen=True, slots=True)
class Compiler:
    keys: Keys
    phase: str | None
    functions: Functions

    def test(self, guard: Guard) -> Test:
        match guard:
            case AllOf(guards):
                return _all_test([self.test(part) for part in guards])
            case AnyOf(guards):
                return _any_test([self.test(part) for part in guards])
            case Not(inner):
                truth = self.truth(inner)
                return lambda view: truth(view) is False
            case Atom("captured" | "is_set", names) if pairs := self._pairs(names):
                return _captured_test(pairs, tuple(map(bare, names)))
            case Atom("is_true", names) if pairs := self._pairs(names):
                return _is_true_test(*pairs[0], bare(names[0]))
            case Compare(ops=ops) if len(ops) > 1:
                return _all_test([self.test(link) for link in links(guard)])
            case Atom("captured", names) if len(names) > 1:
                return _all_test([self.test(Atom("captured", (name,))) for name in names])
            case _:
                return _leaf_test(self._leaf(guard), held_names(guard))

    def truth(self, guard: Guard) -> Truth3:
        match guard:
            case AllOf(guards):
                return kleene([self.truth(part) for part in guards], decisive=False)
            case AnyOf(guards):
                return kleene([self.truth(part) for part in guards], decisive=True)
            case Not(inner):
                return negated(self.truth(inner))
            case Compare(ops=ops) if len(ops) > 1:
                return kleene([self.truth(link) for link in links(guard)], decisive=False)
            case Atom("captured", names) if len(names) > 1:
                parts = [self.truth(Atom("captured", (name,))) for name in names]
                return kleene(parts, decisive=False)
            case _:
                return _unless_held(self._leaf(guard), held_names(guard))

    def _leaf(self, guard: Guard) -> Truth3:
        match guard:
            case Compare():
                return compare_truth(guard, self.keys, self.phase)
            case Decided():
                return _decided(guard)
            case Atom():
                return self._atom(guard.kind, guard.names[0] if guard.names else "")
            case _:
                raise TypeError(f"{type(guard).__name__} is no node of a guard")

    def _atom(self, kind: str, name: str) -> Truth3:
        match kind:
            case "always":
                return lambda view: True
            case "caller_spoke":
                return methodcaller("caller_spoke", self.phase)
            case "is_true":
                value = value_reader(name, self.keys)
                return lambda view: value(view) is True
            case "is_set" | "captured":
                value = value_reader(name, self.keys)
                return lambda view: value(view) is not None
            case "grounded":
                evidence = evidence_reader(name, self.keys)
                return lambda view: (found := evidence(view)) is not None and found.grounded
            case "custom":
                return _custom(name, self.functions)
            case _:
                return methodcaller(kind, bare(name) if kind == "corrected" else name)

    def _pairs(self, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Two stored names for each key, the same twice if it has one; nothing for paths."""
        stored = [self.keys.names[name] for name in names]
        if any("." in name for name in names) or any(len(each) > 2 for each in stored):
            return ()
        return tuple((each[0], each[-1]) for each in stored)


# The hot shapes: a handful of dictionary reads, and one attribute read in case a key is held.


def _is_true_test(first: str, second: str, key: str) -> Test:
    def test(view: View) -> bool:
        values = view.values
        value = values.get(first)
        if value is None:
            value = values.get(second)
        return value is True and not (view.holding and view.held(key))

    return test


def _captured_test(pairs: tuple[tuple[str, str], ...], keys: tuple[str, ...]) -> Test:
    def test(view: View) -> bool:
        values = view.values
        for first, second in pairs:
            if values.get(first) is None and values.get(second) is None:
                return False
        return not (view.holding and any(map(view.held, keys)))

    return test


def _leaf_test(truth: Truth3, names: tuple[str, ...]) -> Test:
    def test(view: View) -> bool:
        return truth(view) is True and not (view.holding and any(map(view.held, names)))

    return test


def _all_test(tests: list[Test]) -> Test:
    if len(tests) == 2:
        first, second = tests
        return lambda view: first(view) and second(view)
    parts = tuple(tests)

    def test(view: View) -> bool:
        for part in parts:  # noqa: SIM110 - all() would build a generator
            if not part(view):
                return False
        return True

    return test


def _any_test(tests: list[Test]) -> Test:
    if len(tests) == 2:
        first, second = tests
        return lambda view: first(view) or second(view)
    parts = tuple(tests)

    def test(view: View) -> bool:
        for part in parts:  # noqa: SIM110 - any() would build a generator
            if part(view):
                return True
        return False

    return test


def _unless_held(inner: Truth3, names: tuple[str, ...]) -> Truth3:
    if not names:
        return inner

    def truth(view: View) -> bool | None:
        if view.holding and any(map(view.held, names)):
            return None
        return inner(view)

    return truth


def held_names(guard: Guard) -> tuple[str, ...]:
    """The keys that make a leaf unknown while they are held."""
    names = () if isinstance(guard, Atom) and guard.kind == "corrected" else names_of(guard, "key")
    return tuple(sorted({root for name in names for root in roots(name)}))


def _decided(guard: Decided) -> Truth3:
    id, accepts = guard.id, _expectation(guard)

    def truth(view: View) -> bool | None:
        answer = view.decided(id)
        if answer is None or answer.outcome == "unsure":
            return None
        return accepts(answer)

    return truth


def _expectation(guard: Decided) -> Callable[[Decision], bool | None]:
    answer = guard.answer
    if answer is True:
        return lambda given: given.outcome in ("yes", "chosen", "scored")
    if answer is False:
        return lambda given: given.outcome in ("no", "none")
    if answer is not None:
        return lambda given: given.value == answer
    low = float("-inf") if guard.at_least is None else guard.at_least
    high = float("inf") if guard.at_most is None else guard.at_most

    def scored(given: Decision) -> bool:
        value = given.value
        return given.outcome == "scored" and isinstance(value, int | float) and low <= value <= high

    return scored


def _custom(name: str, functions: Mapping[str, Callable[[Any], bool]]) -> Truth3:
    function = functions.get(name)
    if function is None:
        known = ", ".join(sorted(functions)) or "none"
        raise GuardError(
            f"no guard function {name!r} is registered; there are: {known}."
            f"{did_you_mean(name, functions)}",
            text=name, length=len(name),
        )  # fmt: skip

    if iscoroutinefunction(function):
        raise GuardError(
            f"guard function {name!r} is async; a guard answers at once, what takes time is a "
            "resolver", text=name, length=len(name),
        )  # fmt: skip

    def truth(view: View) -> bool:
        try:
            return bool(function(view.state))
        except Exception as cause:
            raise FunctionError("guard", name, cause) from cause

    return truth
