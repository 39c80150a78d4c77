"""Attacks as data: what is said, what a bad model answers, and what it may and may not reach by it.

Out of reach are keys that no model may write, computed keys that rest on them, commits, and edges
whose guard asks `grounded` or reads such a key. Everything else that moves is listed per attack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import yaml

from flowengine import Flow, Functions, load, load_functions
from flowengine.facts import Fact, KeyWritten, ToolDecided, TransitionTaken
from flowengine.guards import Atom, Guard, names_of, walk
from flowengine.kernel import Kernel
from flowengine.testing.play import Play, start_of
from flowengine.testing.scenario import Given, Step

HERE = Path(__file__).parent
FLOWS = HERE.parents[1] / "flows"
OPTIONAL: dict[str, Any] = {
    "flow": "transfer", "given": {}, "reaches": [], "moved": [], "live": False, "because": "",
}  # fmt: skip


class Case(NamedTuple):
    """One call: what happens in it, what it reaches of what is protected, what else moves."""

    kind: str
    name: str
    flow: str
    given: dict[str, Any]
    turns: list[dict[str, Any]]
    reaches: list[str]
    moved: list[str]
    live: bool
    because: str


class Kind(NamedTuple):
    """A way to attack, with what stands against it."""

    name: str
    title: str
    against: str
    attacks: list[Case]
    honest: list[Case]
    """The same calls where the caller means it; they reach what the attacks do not."""
    limits: list[Case]
    """Attacks that do reach something, and why."""


class Protected(NamedTuple):
    """What of a flow is out of a model's reach."""

    keys: frozenset[str]
    tools: frozenset[str]
    edges: frozenset[str]


class Seen(NamedTuple):
    reaches: list[str]
    moved: list[str]


def kinds() -> list[Kind]:
    return [_kind(file) for file in sorted((HERE / "corpus").glob("*.yaml"))]


def _kind(file: Path) -> Kind:
    data = yaml.safe_load(file.read_text("utf-8"))
    groups = {
        group: [_case(file.stem, case) for case in data.get(group, ())]
        for group in ("attacks", "honest", "limits")
    }
    return Kind(file.stem, data["title"], data["against"], **groups)


def _case(kind: str, case: dict[str, Any]) -> Case:
    found: dict[str, Any] = {**OPTIONAL, **case}
    return Case(kind, **found)


@cache
def the_flow(name: str) -> tuple[Flow, Functions]:
    """One that is shipped, or the one that is made to be attacked."""
    if name == "transfer":
        return load(HERE / "transfer.yaml"), Functions()
    return load(FLOWS / name), load_functions(FLOWS / name)


@cache
def protected(name: str) -> Protected:
    flow, functions = the_flow(name)
    keys = {
        key for key, spec in flow.state.items()
        if spec.trusted or (spec.writers and all(by.startswith("tool:") for by in spec.writers))
    }  # fmt: skip
    for key, spec in flow.computed.items():
        if any(_reads(case.when, keys) for case in spec.cases or ()):
            keys.add(key)
    commits = {tool for tool, spec in flow.tools.items() if spec.commit}
    edges = {
        edge.name for edge in Kernel(flow, functions).compiled.edges
        for guard in (edge.guard, *edge.entries)
        if guard is not None and _is_safe(guard.guard, keys, commits)
    }  # fmt: skip
    return Protected(frozenset(keys), frozenset(commits), frozenset(edges))


def _is_safe(guard: Guard, keys: set[str], commits: set[str]) -> bool:
    """Whether an edge with this guard is out of reach."""
    asks_grounded = any(isinstance(leaf, Atom) and leaf.kind == "grounded" for leaf in walk(guard))
    return asks_grounded or _reads(guard, keys) or not commits.isdisjoint(names_of(guard, "tool"))


def _reads(guard: Guard, keys: set[str]) -> bool:
    return any(name.partition(".")[0] in keys for name in names_of(guard, "key"))


def watch(facts: Iterable[Fact], out_of_reach: Protected) -> Seen:
    """What happened to what is protected, in order; and the other edges that were taken."""
    seen = Seen([], [])
    for fact in facts:
        match fact:
            case KeyWritten(key, by=by) if by != "start" and _forms(key) & out_of_reach.keys:
                if not by.startswith("computed"):
                    seen.reaches.append(f"key {key}")
            case ToolDecided(_, tool, True, _, _) if tool in out_of_reach.tools:
                seen.reaches.append(f"commit {tool}")
            case TransitionTaken(edge, source, target, _):
                way = f"{source or 'anywhere'} -> {target}"
                (seen.reaches if edge in out_of_reach.edges else seen.moved).append(way)
            case _:
                pass
    return seen


def _forms(key: str) -> set[str]:
    """`derived:x`, `extractor.x` and `x.field` are all about `x`."""
    parts = key.removeprefix("derived:").split(".")
    return {key, parts[0], *(".".join(parts[n:]) for n in range(len(parts)))}


def simulate(case: Case, flow: Flow | None = None) -> Seen:
    """Play a case without a model; `flow` stands in for the one that it names."""
    whole, functions = the_flow(case.flow)
    call = start_of(Given.model_validate(case.given), flow or whole, functions)
    play = Play(call)
    for step in case.turns:
        for found in _played(play, dict(step)):
            pytest.fail(f"{case.name}: {found.message}\n{found.body}")
    return watch(call.facts, protected(case.flow))


def _played(play: Play, step: dict[str, Any]) -> Iterator[Any]:
    """A step of a scenario; `alternatives` are other hypotheses of what the caller said."""
    if alternatives := step.pop("alternatives", None):
        play.call.hear(step.pop("user"), alternatives=tuple(alternatives))
    if step:
        yield from play.step(Step.model_validate(step))


@pytest.fixture(scope="session")
def simulated() -> Callable[..., Seen]:
    return simulate


@pytest.fixture(scope="session")
def watched() -> SimpleNamespace:
    """What another way of playing a case needs: its flow, and the eyes on what happens in it."""
    return SimpleNamespace(flow=the_flow, protected=protected, watch=watch)


@pytest.fixture(scope="session")
def corpus() -> list[Kind]:
    return kinds()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes an `attack`, an `honest` call or a `limit` runs for each of them."""
    for argument, group in (("attack", "attacks"), ("honest", "honest"), ("limit", "limits")):
        if argument in metafunc.fixturenames:
            cases: list[Case] = [case for kind in kinds() for case in getattr(kind, group)]
            if metafunc.function.__name__.endswith("_live"):
                cases = [case for case in cases if case.live]
            metafunc.parametrize(argument, cases, ids=[f"{c.kind}: {c.name}" for c in cases])
