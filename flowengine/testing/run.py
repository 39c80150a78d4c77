"""Runs a scenario on a flow and reports the first step that is not as expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from flowengine.errors import FlowEngineError
from flowengine.facts import Fact, canonical_json
from flowengine.flow.diagnostic import Finding, Path
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.kernel import to_json
from flowengine.testing.diff import Mismatch
from flowengine.testing.interleaving import interleave as try_orders
from flowengine.testing.never import breaches
from flowengine.testing.play import Play, start_of
from flowengine.testing.scenario import Scenario
from flowengine.testing.scenario_file import ScenarioFile


@dataclass(frozen=True, slots=True)
class Report:
    """How a scenario went; it has passed if nothing differs."""

    scenario: str
    mismatches: tuple[Mismatch, ...]
    facts: tuple[str, ...]
    """What happened up to there, as canonical JSON lines."""

    @property
    def passed(self) -> bool:
        return not self.mismatches

    def text(self, file: ScenarioFile, number: int) -> str:
        """Each difference with its place in the file, for people."""
        return "\n\n".join(_placed(m, file, number) for m in self.mismatches)


def run_scenario(
    scenario: Scenario,
    flow: Flow,
    functions: Functions | None = None,
    *,
    interleave: bool = False,
) -> Report:
    """Run it as often as it says; stops at the first step that differs.

    With `interleave`, or if the scenario asks for it, the orders of its inputs are tried as well.
    """
    first, ended = _run(scenario, flow, functions)
    for time in range(2, scenario.repeat + 1):
        again, then = _run(scenario, flow, functions)
        if (again.facts, then) != (first.facts, ended):
            message = f"run {time} went another way than the first"
            body = _first_difference(first.facts, again.facts)
            mismatch = Mismatch("repeat", message, ("repeat",), body)
            return Report(scenario.name, (*first.mismatches, mismatch), first.facts)
    if not first.passed or not (interleave or scenario.has_orders) or scenario.interleave is False:
        return first
    return Report(scenario.name, tuple(_races(scenario, flow, functions)), first.facts)


def _races(scenario: Scenario, flow: Flow, functions: Functions | None) -> Iterator[Mismatch]:
    tried = try_orders(scenario, flow, functions)
    where: Path = ("interleave",) if scenario.interleave is not None else ("name",)
    for race in tried.races:
        message = f"{race.orders} of {tried.orders} orders of the inputs end in another way"
        yield Mismatch("race", message, where, f"{race.text}\n{tried.summary}")
    for number in tried.unreached:
        message = f"no order ends so, of {tried.summary}"
        yield Mismatch("unreached", message, ("outcomes", number))


def _run(scenario: Scenario, flow: Flow, functions: Functions | None) -> tuple[Report, str]:
    """One run, and the snapshot in which it ended."""
    try:
        call = start_of(scenario.given, flow, functions)
    except FlowEngineError as error:
        return Report(scenario.name, (Mismatch("given", str(error), ("given",)),), ()), ""
    play = Play(call)
    found: list[Mismatch] = []
    for number, step in enumerate(scenario.turns):
        seen = len(call.facts)
        found = [m._replace(path=("turns", number, *m.path)) for m in play.step(step)]
        found += _never(scenario, number, call.facts[seen if number else 0 :])
        if found:
            break
    else:
        found += play.end(scenario)
    return Report(scenario.name, tuple(found), call.lines), canonical_json(to_json(call.snapshot))


def _never(scenario: Scenario, number: int, facts: Iterable[Fact]) -> Iterator[Mismatch]:
    for breach in breaches(scenario.never, facts):
        message = f"{breach.message} in step {number + 1}, which must never happen"
        yield Mismatch("never", message, ("never", *breach.path))


def _first_difference(first: Iterable[str], again: Iterable[str]) -> str:
    for one, other in zip_longest(first, again, fillvalue="nothing"):
        if one != other:
            return f"  first: {one}\n  again: {other}"
    return "  the facts agree, the snapshots do not"


def _placed(mismatch: Mismatch, file: ScenarioFile, number: int) -> str:
    finding = Finding(mismatch.code, mismatch.message, (number, *mismatch.path))
    place = str(file.locate(finding))
    return f"{place}\n{mismatch.body}" if mismatch.body else place
