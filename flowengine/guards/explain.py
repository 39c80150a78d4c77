"""Why a guard holds or not: a tree of truths with the values read and what is missing."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from flowengine.clock import duration_text
from flowengine.guards.atoms import AllOf, AnyOf, Atom, Compare, Decided, Guard, Not, not_
from flowengine.guards.comparing import term_reader
from flowengine.guards.evaluate import NO_FUNCTIONS, Compiler, held_names
from flowengine.guards.lookup import bare, roots, value_reader
from flowengine.guards.reads import Functions
from flowengine.guards.terms import Read
from flowengine.guards.view import Keys, View
from flowengine.guards.walk import names_of
from flowengine.inputs import Json

Join: TypeAlias = Literal["", "all", "any", "not"]

MASK = "***"
_SIGNS = {True: "✓", False: "✗", None: "?"}
_HEADS = {"all": "all of", "any": "any of", "not": "not"}
_LONGEST = 60

_NOTES: Mapping[str, str] = {
    "always": "it always holds",
    "caller_spoke": "the caller has not spoken since this phase was entered",
    "grounded": "not located in the caller's words",
    "corrected": "not corrected in the newest turn",
    "resolved": "no current result",
    "failed": "its last run has not failed",
    "called_ok": "no call has succeeded",
    "done": "that phase is not done",
    "in_phase": "that phase is not active",
    "custom": "the function says no",
}


@dataclass(frozen=True, slots=True)
class Truth:
    """What one guard comes to now: True, False, or None for unknown."""

    guard: Guard
    value: bool | None
    reads: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Current values by what the guard reads: `quantity`, `args.x`, `elapsed` (milliseconds)."""
    missing: tuple[str, ...] = ()
    note: str = ""
    children: tuple[Truth, ...] = ()
    join: Join = ""

    @property
    def text(self) -> str:
        return str(self.guard)

    def blockers(self) -> tuple[Truth, ...]:
        """The leaves that keep this from being true, each as the question that has to hold."""
        return tuple(_blockers(self, True))

    def __str__(self) -> str:
        head = _HEADS[self.join] if self.join else self.text
        line = f"{_SIGNS[self.value]} {head}" + (f" — {self.note}" if self.note else "")
        below = [f"  {row}" for child in self.children for row in str(child).splitlines()]
        return "\n".join([line, *below])


def explain(
    guard: Guard,
    keys: Keys,
    view: View,
    *,
    phase: str | None = None,
    functions: Functions = NO_FUNCTIONS,
    mask: Collection[str] = (),
) -> Truth:
    """The guard's truth tree; the values of keys in `mask` read as `***`.

    Raises:
        GuardError: as `compile_guard` does.
        FunctionError: a custom function raised.
    """
    masked = frozenset(map(bare, mask))
    return _Explainer(Compiler(keys, phase, functions), view, masked).truth(guard)


@dataclass(frozen=True, slots=True)
class _Explainer:
    compiler: Compiler
    view: View
    masked: frozenset[str]

    def truth(self, guard: Guard) -> Truth:
        value = self.compiler.truth(guard)(self.view)
        match guard:
            case AllOf(guards):
                return Truth(guard, value, children=self._each(guards), join="all")
            case AnyOf(guards):
                return Truth(guard, value, children=self._each(guards), join="any")
            case Not(inner):
                return Truth(guard, value, children=self._each((inner,)), join="not")
            case _:
                return self._leaf(guard, value)

    def _each(self, guards: tuple[Guard, ...]) -> tuple[Truth, ...]:
        return tuple(self.truth(guard) for guard in guards)

    def _leaf(self, guard: Guard, value: bool | None) -> Truth:
        found = {str(term): self._read(term) for term in _terms(guard)}
        missing = tuple(name for name, current in found.items() if current is None)
        reads = {name: current for name, current in found.items() if current is not None}
        if self._is_masked(guard):
            reads = {name: MASK if _is_plain(name) else v for name, v in reads.items()}
        return Truth(guard, value, reads, missing, self._note(guard, value, reads, missing))

    def _read(self, term: Read) -> Json:
        return term_reader(term, self.compiler.keys, self.compiler.phase)(self.view)

    def _is_masked(self, guard: Guard) -> bool:
        """One masked key masks the whole comparison: what equals it would tell it."""
        return any(root in self.masked for name in names_of(guard, "key") for root in roots(name))

    def _note(
        self,
        guard: Guard,
        value: bool | None,
        reads: Mapping[str, Json],
        missing: tuple[str, ...],
    ) -> str:
        held = [n for n in held_names(guard) if self.view.holding and self.view.held(n)]
        notes = [f"{name} is held: its extractor failed" for name in held]
        if missing and value is not True:
            notes.append(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing")
        elif isinstance(guard, Decided):
            notes.append(self._answer(guard))
        elif isinstance(guard, Atom) and guard.kind in _NOTES and value is False:
            notes.append(self._failure(guard) or _NOTES[guard.kind])
        elif not (isinstance(guard, Atom) and guard.kind in ("captured", "is_set")):
            notes += [f"{name} = {_shown(name, current)}" for name, current in reads.items()]
            if value is None and not held:
                notes.append("these do not compare")
        return ", ".join(notes)

    def _failure(self, guard: Atom) -> str:
        """Why there is no result, where the last run of a resolver has failed."""
        if guard.kind != "resolved" or not self.view.failed(guard.names[0]):
            return ""
        code = value_reader(f"{guard.names[0]}:error", self.compiler.keys)(self.view)
        return f"its last run failed: {code}" if isinstance(code, str) else "its last run failed"

    def _answer(self, guard: Decided) -> str:
        answer = self.view.decided(guard.id)
        if answer is None:
            return "not answered this turn"
        return answer.outcome + ("" if answer.value is None else f" {_shown('', answer.value)}")


def _blockers(truth: Truth, wanted: bool) -> list[Truth]:
    if truth.value is wanted:
        return []
    if truth.children:
        wanted = wanted is not (truth.join == "not")
        return [leaf for child in truth.children for leaf in _blockers(child, wanted)]
    if wanted:
        return [truth]
    value = None if truth.value is None else not truth.value
    return [Truth(not_(truth.guard), value, truth.reads, truth.missing, truth.note)]


def _terms(guard: Guard) -> list[Read]:
    match guard:
        case Compare(terms):
            return [term for term in terms if isinstance(term, Read)]
        case Atom():
            return [Read("key", name) for name in names_of(guard, "key")]
        case _:
            return []


def _is_plain(name: str) -> bool:
    """Values are masked; confidence, turns and time tell nothing of them."""
    return not (name.startswith("confidence(") or name in ("turns_in_phase", "elapsed"))


def _shown(name: str, value: Json) -> str:
    if name == "elapsed" and isinstance(value, int):
        return duration_text(value)
    if value == MASK:
        return MASK
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
