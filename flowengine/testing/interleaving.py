"""Try every order in which the inputs of a call may arrive, and report where it matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from flowengine.errors import FlowError
from flowengine.flow.functions import Functions
from flowengine.flow.model import Flow
from flowengine.inputs import Input
from flowengine.testing.ends import Ended, end_of, is_like
from flowengine.testing.expect import End, Interleave, Never
from flowengine.testing.orders import Orders, Way
from flowengine.testing.play import Play, start_of
from flowengine.testing.race import race_text
from flowengine.testing.recording import Recording
from flowengine.testing.scenario import Scenario
from flowengine.testing.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Race:
    """An order that ends in another way than the recorded one; the nearest to it of its kind."""

    orders: int
    """How many orders end so."""
    end: Ended
    inputs: tuple[Input, ...]
    text: str
    """Both orders, what differs at their ends, and the first input that made a difference."""


@dataclass(frozen=True, slots=True)
class Interleaving:
    """What trying the orders has shown; it has passed if no order matters."""

    orders: int
    snapshots: int
    """Distinct snapshots that the orders went through."""
    exhaustive: bool
    """All orders were tried, not only some that were drawn."""
    races: tuple[Race, ...]
    unreached: tuple[int, ...]
    """Declared outcomes in which no order ends, by their places."""

    @property
    def passed(self) -> bool:
        return not self.races and not self.unreached

    def __str__(self) -> str:
        unreached = (f"no order ends as outcome {n + 1} declares" for n in self.unreached)
        return "\n\n".join([*(race.text for race in self.races), *unreached, self.summary])

    @property
    def summary(self) -> str:
        if self.exhaustive:
            return f"{self.orders} orders tried, through {self.snapshots} snapshots"
        return (
            f"too many orders to try all: {self.orders} were drawn; raise `limit` to look at more "
            f"than {self.snapshots} snapshots, or lower `behind`"
        )


def interleave(
    call: Simulation | Scenario,
    flow: Flow | None = None,
    functions: Functions | None = None,
    *,
    outcomes: Sequence[End] = (),
    never: Never | None = None,
    how: Interleave | None = None,
) -> Interleaving:
    """Try the orders of a call that was driven, or of a scenario on a flow.

    All must end as the recorded call does - the same phases, values and answers - or in one of
    `outcomes`; and what must `never` happen may happen in none. A scenario brings its own
    `outcomes`, `never` and `interleave`.

    Raises:
        FlowError: the scenario itself does not pass, or has no flow.
    """
    if isinstance(call, Scenario):
        outcomes, never = outcomes or call.outcomes, never or call.never
        how = how or (call.interleave if isinstance(call.interleave, Interleave) else None)
        call = _played(call, flow, functions)
    recording, how = Recording(call), how or Interleave()
    orders = Orders(
        recording, never or Never(),
        behind=how.behind, slow=how.slow, restart=how.restart, limit=how.limit,
    )  # fmt: skip
    orders.walk()
    if not orders.exhaustive:
        orders.sample(how.samples, how.seed)
    return _judged(recording, orders, outcomes)


def _played(scenario: Scenario, flow: Flow | None, functions: Functions | None) -> Simulation:
    if flow is None:
        raise FlowError("a scenario is interleaved on its flow: pass `flow`")
    call = start_of(scenario.given, flow, functions)
    play = Play(call)
    for number, step in enumerate(scenario.turns, 1):
        wrong = list(play.step(step))
        if wrong:
            raise FlowError(f"step {number} does not pass as it is written: {wrong[0].message}")
    return call


def _judged(recording: Recording, orders: Orders, outcomes: Sequence[End]) -> Interleaving:
    flow = recording.kernel.compiled
    written = end_of(orders.recorded(), flow)
    ends = sorted(((str(end_of(w.node, flow)), w) for w in orders.ends), key=lambda each: each[0])
    races: list[Race] = []
    reached: set[int] = set()
    for _, group in groupby(ends, key=lambda each: each[0]):
        ways = [way for _, way in group]
        end = end_of(ways[0].node, flow)
        like = {n for n, declared in enumerate(outcomes) if is_like(end, declared)}
        if str(end) != str(written):
            reached |= like
        if end.broken or (str(end) != str(written) and not like):
            races.append(_race(recording, written, end, ways))
    unreached = [n for n in range(len(outcomes)) if n not in reached and orders.exhaustive]
    return Interleaving(
        sum(way.orders for way in orders.ends), orders.snapshots, orders.exhaustive,
        tuple(sorted(races, key=lambda race: len(race.inputs))), tuple(unreached),
    )  # fmt: skip


def _race(recording: Recording, written: Ended, end: Ended, ways: Sequence[Way]) -> Race:
    nearest = min(ways, key=lambda way: (way.overtakings, len(way.inputs)))
    text = race_text(recording, written, end, nearest.inputs)
    return Race(sum(way.orders for way in ways), end, nearest.inputs, text)
