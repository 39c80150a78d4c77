"""No commit runs unless its guard is true: every phase, times everything the guard can be.

For each commit the values are taken from the guard itself: for each of its atoms, values that make
it true, false and unknown; their product is put into every phase, and into every digression from
every phase, and the gate is asked. What it should say is worked out beside it, from the flow's
data and the guard evaluator alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from flowengine import Flow, Functions, Guard, Kernel, load, load_functions, loads
from flowengine.effects import AnswerTool, RunTool
from flowengine.guards import Atom, Compare, Constant, Read, all_of, atoms_of, compile_guard
from flowengine.inputs import Admin, Json, ToolCalled
from flowengine.kernel import Snapshot
from flowengine.state import KEY_TYPES, KeySpec, KeyTable
from flowengine.state.evidence import Evidence

FLOWS = Path(__file__).parents[2] / "flows"
NAMES = sorted(path.parent.name for path in FLOWS.glob("*/flow.yaml"))
COMMITS = [
    (name, tool) for name in NAMES for tool, spec in load(FLOWS / name).tools.items() if spec.commit
]

SAMPLES: dict[str, tuple[Json, Json]] = {
    "integer": (4, 5), "decimal": ("200", "300"), "number": (200, 300), "time": ("19:30", "20:30"),
    "date": ("2026-03-15", "2026-03-16"), "string": ("one", "another"),
}  # fmt: skip
"""A value of each type of key, and another one."""
ARGUMENTS: dict[str, tuple[Json, Json]] = {**SAMPLES, "decimal": (200, 300)}
"""The same as a call passes them."""


# -- what a guard can be --------------------------------------------------------------------------

Slot = tuple[str, str]
"""What a value is put into: ("key", path), ("arg", name) or ("confidence", key)."""


def slots(guard: Guard, flow: Flow) -> dict[Slot, set[Json]]:
    """Everything the guard reads, with the values that matter; None is absent."""
    found: dict[Slot, set[Json]] = {}
    for atom in atoms_of(guard):
        for slot, values in _slots(atom, flow):
            found.setdefault(slot, set()).update(values)
    return found


def _slots(atom: Guard, flow: Flow) -> Iterator[tuple[Slot, tuple[Json, ...]]]:
    match atom:
        case Atom("is_true", (name,)):
            yield ("key", name), (None, False, True)
        case Atom("is_set" | "captured", names):
            for name in names:
                yield ("key", name), (None, SAMPLES[flow.state[name].type][0])
        case Compare((Read("confidence", name), Constant() as least), (">=",)):
            yield ("confidence", name), (None, least.value - 0.1, least.value)
        case Compare((Read("key", name), Constant() as wanted), ("==",)):
            other = not wanted.value if isinstance(wanted.value, bool) else "another"
            yield ("key", name), (None, wanted.value, other)
        case Compare((Read("arg", name), Read("key", key)), ("==",)):
            kind = flow.state[key].type if key in flow.state else "string"
            yield ("key", key), (None, SAMPLES[kind][0])
            yield ("arg", name), ARGUMENTS[kind]
        case _:
            raise NotImplementedError(f"say what {atom} can be")


def valuations(guard: Guard, flow: Flow) -> Iterator[dict[Slot, Json]]:
    found = slots(guard, flow)
    for values in itertools.product(*(sorted(v, key=repr) for v in found.values())):
        yield dict(zip(found, values, strict=True))


@dataclass
class Moment:
    """What the guard evaluator sees: values, evidence and arguments; nothing has happened yet."""

    values: dict[str, Json] = field(default_factory=dict)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    args: dict[str, Json] = field(default_factory=dict)
    state: Any = None
    holding: frozenset[str] = frozenset()


def moment(valuation: dict[Slot, Json]) -> Moment:
    """The valuation put into State: `a.b` becomes the field `b` of the object `a`."""
    now = Moment()
    for (kind, name), value in valuation.items():
        if value is None:
            continue
        if kind == "arg":
            now.args[name] = value
        elif kind == "confidence":
            now.evidence[name] = Evidence("record:test", 1, confidence=float(value))
        else:
            _put(now.values, name.split("."), value)
    return now


def _put(into: dict[str, Any], path: list[str], value: Json) -> None:
    for part in path[:-1]:
        into = into.setdefault(part, {})
    into[path[-1]] = value


# -- where a conversation can be ------------------------------------------------------------------


class World:
    """A flow's kernel, and every place in which it can be asked."""

    def __init__(self, flow: Flow, functions: Functions | None = None) -> None:
        self.flow, self.kernel = flow, Kernel(flow, functions)
        self.keys = KeyTable(
            {name: KeySpec(KEY_TYPES[key.type], key.enum) for name, key in flow.state.items()}
        )
        self.places = tuple(self._places())
        """Every phase, and every digression from every phase, before anything is known."""

    def _places(self) -> Iterator[Snapshot]:
        for phase in (name for name, phase in _body(self.flow) if phase.is_leaf()):
            at = self.kernel.start(0, {}, phase).snapshot
            assert phase in at.place.active
            yield at
            for key in self.triggers():
                aside = self.kernel.step(at, Admin("i", 0, {key: True})).snapshot
                if aside.place.stack:
                    yield aside

    def triggers(self) -> list[str]:
        return [name for d in self.flow.digressions.values() for name in _keys(d.when)]

    def guard(self, tool: str) -> Guard:
        """The tool's own guard, and what never lets it run until then."""
        own = self.flow.tools[tool].when
        untils = [c.until for c in self.flow.constraints if c.never == tool and c.until is not None]
        return all_of(*([] if own is None else [own]), *untils)

    def offers(self, at: Snapshot, tool: str) -> bool:
        """Whether the phases that are active let the tool be called at all."""
        rules = [r for name in at.place.active if (r := self.flow.phase(name).tools) is not None]
        allowing = [rule.allow for rule in rules if rule.allow is not None]
        denied = any(tool in rule.deny for rule in rules)
        allowed = not allowing or any(tool in allow for allow in allowing)
        return allowed and not denied and not at.place.ended

    def runs(self, at: Snapshot, tool: str, args: dict[str, Json]) -> bool:
        """What the gate says: it runs, or it is denied at once."""
        step = self.kernel.step(at, ToolCalled("t", 0, "call", tool, args))
        assert step.error is None
        asked = [effect for effect in step.effects if isinstance(effect, RunTool)]
        answers = [e.answer.status for e in step.effects if isinstance(e, AnswerTool)]
        assert (len(asked), answers) in ((1, []), (0, ["denied"]))
        return bool(asked)


def _body(flow: Flow) -> Iterator[tuple[str, Any]]:
    apart = (*flow.digressions.values(), *flow.monitors.values())
    aside = {name for part in apart for name in part.phases}
    return ((name, phase) for name, phase, _ in flow.walk() if name not in aside)


def _keys(guard: Guard | None) -> list[str]:
    return (
        []
        if guard is None
        else [leaf.names[0] for leaf in atoms_of(guard) if isinstance(leaf, Atom)]
    )


def ask_everywhere(world: World, tool: str) -> tuple[int, int, list[str]]:
    """How often the gate was asked, how often it let the call run, and where it was wrong."""
    guard = world.guard(tool)
    truth = compile_guard(guard, world.keys).test
    asked, admitted, wrong = 0, 0, []
    for valuation in valuations(guard, world.flow):
        now = moment(valuation)
        holds = truth(now)  # pyright: ignore[reportArgumentType]
        for place in world.places:
            at = replace(place, values=now.values, evidence=now.evidence)
            runs = world.runs(at, tool, now.args)
            asked, admitted = asked + 1, admitted + runs
            if runs != (holds and world.offers(at, tool)):
                wrong.append(f"{at.place.active} {valuation}: runs {runs}, guard {holds}")
    return asked, admitted, wrong


@pytest.fixture(scope="module")
def world() -> Callable[[str], World]:
    made: dict[str, World] = {}

    def make(name: str) -> World:
        if name not in made:
            made[name] = World(load(FLOWS / name), load_functions(FLOWS / name))
        return made[name]

    return make


@pytest.mark.parametrize(("name", "tool"), COMMITS, ids=lambda value: value)
def test_a_commit_is_denied_wherever_its_guard_is_not_true(
    name: str, tool: str, world: Callable[[str], World], without_collection: None
) -> None:
    asked, admitted, wrong = ask_everywhere(world(name), tool)
    assert not wrong, wrong[:3]
    assert asked == len(world(name).places) * combinations(world(name), tool)
    assert 0 < admitted < asked / 10, "somewhere it does run, and nearly everywhere it does not"


def combinations(world: World, tool: str) -> int:
    return math.prod(len(values) for values in slots(world.guard(tool), world.flow).values())


def test_the_enumeration_is_no_small_one(world: Callable[[str], World]) -> None:
    counts = [len(world(name).places) * combinations(world(name), tool) for name, tool in COMMITS]
    assert min(counts) >= 50
    assert sum(counts) > 15_000


def test_every_flow_has_a_commit_and_every_commit_a_guard() -> None:
    assert {name for name, _ in COMMITS} == set(NAMES)
    for name, tool in COMMITS:
        assert load(FLOWS / name).tools[tool].when is not None, (name, tool)


LEAKY = """
flow: leaky
state: {agreed: boolean}
tools:
  pay: {commit: true, when: is_true(agreed), respond: {}}
phases:
  talk: {initial: true, tools: []}
  pay: {tools: [pay]}
"""


def test_the_enumeration_sees_a_gate_that_is_too_open(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(loads(LEAKY))
    assert ask_everywhere(world, "pay") == (6, 1, [])
    monkeypatch.setattr(World, "guard", lambda self, tool: ~self.flow.tools[tool].when)
    asked, admitted, wrong = ask_everywhere(world, "pay")
    assert (asked, admitted, len(wrong)) == (6, 1, 3)
