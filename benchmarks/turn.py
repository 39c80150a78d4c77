"""What a turn costs: idle, with a transition, and a session's memory, beside two libraries.

All of them run the same chart in the same process, interleaved, best of several rounds: a ring of
ten phases with three guarded exits each and a monitor region beside it; every turn writes three
of thirty keys. Ratios are what to read; the machine's own speed cancels out.

    python benchmarks/turn.py [--rounds N] [--sessions N]
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import time
from collections.abc import Callable
from typing import Any

from statemachine import State, StateChart
from statemachine.factory import StateMachineMetaclass
from transitions import Machine

from flowengine.flow.model import Flow, Key, Phase, Region, Transition
from flowengine.guards import is_true
from flowengine.inputs import TurnEnded
from flowengine.kernel import Kernel, Snapshot
from flowengine.runtime import Session
from flowengine.state.evidence import Evidence

PHASES, KEYS, TURNS = 10, 30, 2_000
FALSE = {"k1": 1, "k2": 2, "k3": 3}


def ring() -> Flow:
    """Ten phases in a ring, three exits each, and a monitor with two phases."""
    phases = {
        f"p{i}": Phase(
            initial=i == 0,
            transitions=(
                Transition(to=f"p{(i + 1) % PHASES}", when=is_true(f"go{i}")),
                Transition(to=f"p{(i + 2) % PHASES}", when=is_true(f"skip{i}")),
                Transition(to="p0", when=is_true(f"back{i}")),
            ),
        )
        for i in range(PHASES)
    }
    clear = Phase(initial=True, transitions=(Transition(to="raised", when=is_true("risk")),))
    raised = Phase(transitions=(Transition(to="clear", when=is_true("calm")),))
    monitor = Region(phases={"clear": clear, "raised": raised})
    keys = {f"k{i}": Key(type="integer") for i in range(KEYS)}
    return Flow(flow="ring", state=keys, phases=phases, monitors={"compliance": monitor})


def idle_turns(kernel: Kernel, snapshot: Snapshot) -> Callable[[], object]:
    values = itertools.cycle([{"k1": i, "k2": i + 1, "k3": i + 2} for i in range(2)])

    def turn() -> object:
        nonlocal snapshot
        snapshot = kernel.step(snapshot, TurnEnded("t", 1, next(values))).snapshot
        return snapshot

    return turn


def moving_turns(kernel: Kernel, snapshot: Snapshot) -> Callable[[], object]:
    """Each turn takes the next edge of the ring: one guard falls and the next rises."""
    values = itertools.cycle(
        [{f"go{(i - 1) % PHASES}": False, f"go{i}": True, "k1": i} for i in range(PHASES)]
    )

    def turn() -> object:
        nonlocal snapshot
        snapshot = kernel.step(snapshot, TurnEnded("t", 1, next(values))).snapshot
        return snapshot

    return turn


# -- the same chart in python-statemachine --------------------------------------------------------


def machine() -> tuple[Any, dict[str, Any]]:
    store: dict[str, Any] = {}

    def guard(key: str) -> Callable[[], bool]:
        def cond() -> bool:
            return store.get(key) is True

        cond.__name__ = key
        return cond

    phases = [State(f"p{i}", value=f"p{i}", initial=i == 0) for i in range(PHASES)]
    for i, phase in enumerate(phases):
        phase._set_id(f"p{i}")
        phase.to(phases[(i + 1) % PHASES], cond=guard(f"go{i}"))
        phase.to(phases[(i + 2) % PHASES], cond=guard(f"skip{i}"))
        phase.to(phases[0], cond=guard(f"back{i}"))
    clear, raised = State("clear", value="clear", initial=True), State("raised", value="raised")
    clear._set_id("clear")
    raised._set_id("raised")
    clear.to(raised, cond=guard("risk"))
    raised.to(clear, cond=guard("calm"))
    main = State("main", value="main", states=phases)
    monitor = State("monitor", value="monitor", states=[clear, raised])
    main._set_id("main")
    monitor._set_id("monitor")
    root = State(initial=True, parallel=True, states=[main, monitor])
    flags = {"validate_trap_states": False, "validate_final_reachability": False}
    chart: Any = StateMachineMetaclass("Ring", (StateChart,), {"session": root, **flags})
    return chart(), store


def machine_turns(moving: bool) -> Callable[[], object]:
    chart, store = machine()
    step = itertools.count()

    def turn() -> object:
        if moving:
            i = next(step) % PHASES
            store[f"go{(i - 1) % PHASES}"], store[f"go{i}"], store["k1"] = False, True, i
        else:
            store["k1"], store["k2"], store["k3"] = 1, 2, 3
        return chart.activate_initial_state()

    return turn


# -- and in transitions, which has no eventless edges: a `tick` event stands for them -------------


def transitions_turns(moving: bool) -> Callable[[], object]:
    store: dict[str, Any] = {}
    model = type("Call", (), {})()
    chart = Machine(model, [f"p{i}" for i in range(PHASES)], initial="p0", auto_transitions=False)
    for i in range(PHASES):
        for key, to in ((f"go{i}", i + 1), (f"skip{i}", i + 2), (f"back{i}", 0)):
            chart.add_transition(
                "tick", f"p{i}", f"p{to % PHASES}", conditions=lambda k=key: store.get(k) is True
            )
    step = itertools.count()

    def turn() -> object:
        if moving:
            i = next(step) % PHASES
            store[f"go{(i - 1) % PHASES}"], store[f"go{i}"], store["k1"] = False, True, i
        else:
            store["k1"], store["k2"], store["k3"] = 1, 2, 3
        return model.tick()  # type: ignore[attr-defined]

    return turn


# -- measuring ------------------------------------------------------------------------------------


def microseconds(turn: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    begin = time.perf_counter()
    for _ in range(TURNS):
        turn()
    spent = time.perf_counter() - begin
    gc.enable()
    return spent / TURNS * 1e6


def best_of(rounds: int, contestants: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Interleaved, so that what slows the machine slows all of them."""
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(rounds):
        for name, turn in contestants.items():
            best[name] = min(best[name], microseconds(turn))
    return best


def bytes_per_session(flow: Flow, sessions: int) -> float:
    """Resident memory of idle sessions: thirty keys, evidence of words on ten of them."""
    first = Session(flow)
    first.latest()
    gc.collect()
    before = resident()
    kept = [idle_session(flow, i) for i in range(sessions)]
    gc.collect()
    after = resident()
    assert len(kept) == sessions
    return (after - before) / sessions


def idle_session(flow: Flow, number: int) -> Session:
    start = {f"k{i}": number * 100 + i for i in range(KEYS)}
    session = Session(flow, state=start)
    session.latest()
    snapshot = session.snapshot
    for i in range(10):
        span = (number % 50, number % 50 + i)
        snapshot.evidence[f"k{i}"] = Evidence("record:r", 1, 0, "caller", span, 0.9, "integer.word")
    return session


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--sessions", type=int, default=10_000)
    given = options.parse_args()
    flow = ring()
    kernel = Kernel(flow)
    started = kernel.start(0).snapshot
    idle = best_of(
        given.rounds,
        {
            "flowengine": idle_turns(kernel, started),
            "python-statemachine": machine_turns(False),
            "transitions": transitions_turns(False),
        },
    )
    moving = best_of(
        given.rounds,
        {
            "flowengine": moving_turns(kernel, started),
            "python-statemachine": machine_turns(True),
            "transitions": transitions_turns(True),
        },
    )
    report("idle turn", idle, "<= 0.25")
    report("turn with a transition", moving, "<= 0.15")
    print(f"turns per second and core: {1e6 / idle['flowengine']:,.0f} idle, "
          f"{1e6 / moving['flowengine']:,.0f} moving")  # fmt: skip
    print(f"table misses after warm-up: {kernel.compiled.chart.misses}")
    memory = bytes_per_session(flow, given.sessions)
    print(
        f"resident bytes per idle session ({given.sessions:,}): {memory:,.0f} (to reach <= 6,144)"
    )


def report(title: str, measured: dict[str, float], goal: str) -> None:
    ours, peer = measured["flowengine"], measured["python-statemachine"]
    print(f"{title}:")
    for name, value in measured.items():
        print(f"  {name:22} {value:8.2f} µs   {value / peer:6.3f} x python-statemachine")
    print(f"  flowengine / python-statemachine = {ours / peer:.3f} (to reach {goal})")


if __name__ == "__main__":
    main()
