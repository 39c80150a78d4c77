"""A flow as an ordinary python-statemachine machine, with guards, events and hooks of its own.

It shares no code with `flowengine.chart`. The library only lets go of its selection: ours is by
document order and by `global` > own > ancestors' > `fallback`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from random_flows import CORRECT, RETURN, holds
from statemachine import HistoryState, State, StateChart
from statemachine.engines.sync import SyncEngine
from statemachine.orderedset import OrderedSet
from statemachine.transition import Transition

from flowengine.flow.model import Flow, Phase

BODY = None


class InOrder(SyncEngine):
    """Selects for each active leaf in document order; a global edge is taken alone."""

    def _select_transitions(self, trigger_data: Any, predicate: Any) -> Any:
        model = self.sm.model
        if trigger_data.event is None and not model.patience:
            return OrderedSet()
        leaves = sorted(
            (s for s in self.sm.configuration if s.is_atomic), key=lambda s: s.document_order
        )
        found: list[tuple[bool, Any]] = []
        for leaf in leaves:
            in_main = model.main in leaf.ancestors()
            for transition in model.candidates(leaf, in_main):
                if predicate(transition, trigger_data.event) and self._conditions_match(
                    transition, trigger_data
                ):
                    found.append((in_main, transition))
                    break
        first = next((t for _, t in found if t in model.first), None)
        chosen = [t for in_main, t in found if first in (None, t) or not in_main]
        if trigger_data.event is None and chosen:
            model.patience -= 1
        return self._filter_conflicting_transitions(OrderedSet(chosen))


class Plain(StateChart):
    catch_errors_as_events = False
    validate_disconnected_states = False
    validate_trap_states = False
    validate_final_reachability = False

    def _get_engine(self) -> Any:
        return InOrder(self)

    def before_transition(self, model: Any) -> None:
        model.taken_now.clear()

    def on_exit_state(self, state: Any, model: Any) -> None:
        model.happened("exit", state)

    def on_enter_state(self, state: Any, model: Any) -> None:
        model.happened("enter", state)


class PlainMachine:
    """Model and builder in one: the flow's keys, its return stack and what has happened."""

    def __init__(self, flow: Flow, store: dict[str, bool], patience: int) -> None:
        self.flow, self.store = flow, store
        self.state: Any = None
        self.stack: list[str | None] = []
        self.spent: set[object] = set()
        self.log: list[tuple[str, object]] = []
        self.taken_now: set[object] = set()
        self.limit = self.patience = patience
        self.count = 0
        self.phases: dict[str, tuple[State, Phase]] = {}
        self.holders: dict[str | None, State] = {}
        self.histories: dict[tuple[State, str], HistoryState] = {}
        self.first: list[Transition] = []
        self.last: list[Transition] = []
        self.patience = 0
        root = self.build()
        self.names = {state.id: name for name, (state, _) in self.phases.items()}
        machine = type(StateChart)("Machine", (Plain,), {"root": root})
        for order, state in enumerate(_walk(root)):
            state.document_order = order
        self.machine = machine(self)

    # one input

    def give(self, writes: dict[str, bool], event: str | None) -> None:
        self.store.update(writes)
        self.patience = self.limit
        if event is None:
            self.machine.activate_initial_state()
        else:
            self.machine.send(f"on_{event}")
        wide = {
            **{("global", n): t.when for n, t in enumerate(self.flow.global_transitions)},
            **{("fallback", n): t.when for n, t in enumerate(self.flow.fallback_transitions)},
            **{("digression", n): d.when for n, d in self.flow.digressions.items()},
        }
        self.spent = {edge for edge in self.spent if holds(wide[edge], self.store)}

    def active(self) -> set[str]:
        return {name for name, (state, _) in self.phases.items() if self.is_active(state)}

    def deep_history(self) -> dict[str, list[str]]:
        """Who keeps a deep history -> the leaves in it."""
        owners = {state: f"phase:{name}" for name, (state, _) in self.phases.items()}
        owners |= {state: f"digression:{name}" for name, state in self.holders.items()}
        owners[self.holders[BODY]] = "body"
        leaves = {state: name for name, (state, _) in self.phases.items() if not state.states}
        kept: dict[str, list[str]] = {}
        for (state, kind), history in self.histories.items():
            recorded = history.id in self.machine.history_values
            if kind == "deep" and recorded and state in owners:
                found = set(self.machine.history_values[history.id])
                kept[owners[state]] = [name for leaf, name in leaves.items() if leaf in found]
        return kept

    def is_active(self, state: State) -> bool:
        return state.value in self.machine.configuration_values

    def happened(self, how: str, state: Any) -> None:
        name = self.names.get(state.id)
        if name is not None:
            phase = self.phases[name][1]
            self.log.append((how, name))
            self.do(phase.on_enter if how == "enter" else phase.on_exit)

    def do(self, actions: Any) -> None:
        for action in actions:
            self.store.update(action.set)

    def candidates(self, leaf: Any, in_main: bool) -> Iterator[Transition]:
        wide = in_main and not leaf.final
        yield from self.first if wide else ()
        for state in (leaf, *leaf.ancestors()):
            near = (t for t in state.transitions if not t.initial)
            yield from (t for t in near if t not in self.first + self.last)
        yield from self.last if wide else ()

    # building

    def build(self) -> State:
        wide = (*self.flow.global_transitions, *self.flow.fallback_transitions)
        own = (t for _, phase, _ in self.flow.walk() for t in phase.transitions)
        self.wanted = {(t.to, t.history) for t in (*wide, *own)}
        body = self.holders[BODY] = self.compound(self.flow.phases, ("deep",))
        for name, digression in self.flow.digressions.items():
            self.holders[name] = self.compound(digression.phases, ("deep",))
        self.main = self.named(State(states=[body, *list(self.holders.values())[1:]]))
        # Wrapped, an edge from main leaves main itself, and nothing beside it.
        around = self.named(State(states=[self.main]))
        beside = [self.compound(monitor.phases) for monitor in self.flow.monitors.values()]
        root = self.named(State(parallel=True, initial=True, states=[around, *beside]))
        self.connect()
        return root

    def named(self, state: State) -> State:
        self.count += 1
        return state._set_id(f"state_{self.count}")

    def compound(self, phases: dict[str, Phase], kinds: Sequence[str] = ()) -> State:
        initial = next((n for n, phase in phases.items() if phase.initial), next(iter(phases)))
        children = [self.phase(n, phase, n == initial) for n, phase in phases.items()]
        state = State(states=children, history=self.histories_of(kinds))
        return self.remember(self.named(state), [s for s in children if s.initial])

    def phase(self, name: str, phase: Phase, initial: bool) -> State:
        self.phases[name] = None, phase  # type: ignore[assignment]  # keeps document order
        kinds = [kind for kind in ("shallow", "deep") if (name, kind) in self.wanted]
        regions = [self.compound(region.phases) for region in phase.regions.values()]
        if regions:
            state = State(parallel=True, states=regions, history=self.histories_of(kinds))
            self.remember(self.named(state), regions)
        elif phase.phases:
            state = self.compound(phase.phases, kinds)
        else:
            state = self.named(State(final=phase.final))
        state._initial = initial
        self.phases[name] = state, phase
        return state

    def histories_of(self, kinds: Sequence[str]) -> list[HistoryState]:
        return [self.named(HistoryState(type=kind)) for kind in kinds]  # type: ignore[misc]

    def remember(self, state: State, by_default: list[State]) -> State:
        for history in state.history:
            for child in by_default:
                history.to(child)
            self.histories[state, history.type.value] = history
        return state

    def connect(self) -> None:
        for name, (state, phase) in self.phases.items():
            for n, transition in enumerate(phase.transitions):
                self.edge(("own", name, n), state, transition)
        for n, transition in enumerate(self.flow.global_transitions):
            self.first.append(self.edge(("global", n), self.main, transition))
        for name in self.flow.digressions:
            self.first.append(self.trigger(name))
            self.returns(name)
        for n, transition in enumerate(self.flow.fallback_transitions):
            self.last.append(self.edge(("fallback", n), self.main, transition))
        self.correction()

    def edge(self, label: tuple[Any, ...], source: State, data: Any) -> Transition:
        target = self.phases[data.to][0]
        to_self = target is source and not data.external
        goal = self.histories.get((target, data.history), target)
        above = [target, *target.ancestors()]
        stays = self.common(source, target)
        entered = [s for s in above if stays in s.ancestors()]
        guards = [p.entry for s, p in self.phases.values() if s in entered and not to_self]
        wide = label[0] != "own"
        in_body = self.holders[BODY] in above

        def is_open() -> bool:
            if wide and (self.is_active(target) or (label in self.spent and data.on is None)):
                return False
            return all(holds(guard, self.store) for guard in (data.when, *guards))

        def take() -> None:
            if self.log_edge(label):
                self.do(data.do)
                if wide and data.on is None:
                    self.spent.add(label)
                if in_body:
                    self.stack.clear()

        return self.add(source, None if to_self else goal, is_open, take, data.on)

    def common(self, source: State, target: State) -> State:
        """The innermost compound around both; edges from main leave all of main."""
        if source is self.main:
            return self.main
        around = (s for s in source.ancestors() if not s.parallel)
        return next(s for s in around if s in target.ancestors())

    def trigger(self, name: str) -> Transition:
        digression, holder = self.flow.digressions[name], self.holders[name]
        label = ("digression", name)
        initial = next(s for s in holder.states if s.initial)
        guard = next(phase.entry for state, phase in self.phases.values() if state is initial)

        def is_open() -> bool:
            if self.is_active(holder) or name in self.stack:
                return False
            spent = label in self.spent and digression.on is None
            return not spent and holds(digression.when, self.store) and holds(guard, self.store)

        def take() -> None:
            if self.log_edge(label):
                self.stack.append(self.left)
                if digression.on is None:
                    self.spent.add(label)

        def leave() -> None:
            self.left = next(n for n, state in self.holders.items() if self.is_active(state))

        return self.add(self.main, holder, is_open, take, digression.on, leave)

    def returns(self, name: str) -> None:
        how = self.flow.digressions[name].resume
        if how == "restart":
            label = ("restart", name)
            initial = next(s for s in self.holders[BODY].states if s.initial)
            guard = next(phase.entry for state, phase in self.phases.values() if state is initial)
            self.add(
                self.holders[name],
                self.holders[BODY],
                lambda: holds(guard, self.store),
                lambda: self.log_edge(label) and self.stack.clear(),
                RETURN,
            )
        for into in self.holders if how == "previous" else ():
            if into != name:
                self.resume(name, into)

    def resume(self, name: str, into: str | None) -> None:
        label = ("resume", name, into)
        self.add(
            self.holders[name],
            self.histories[self.holders[into], "deep"],
            lambda: self.stack[-1:] == [into],
            lambda: self.log_edge(label) and self.stack.pop(),
            RETURN,
        )

    def correction(self) -> None:
        body = self.holders[BODY]
        of_body = [n for n, (state, _) in self.phases.items() if body in state.ancestors()]
        target = self.phases[of_body[-1]][0]
        label = ("correction", of_body[-1])
        self.add(
            self.main,
            target,
            lambda: not self.is_active(target),
            lambda: self.log_edge(label) and self.stack.clear(),
            CORRECT,
        )

    def log_edge(self, label: tuple[Any, ...]) -> bool:
        """False when the library runs an edge into history for the second time."""
        if label in self.taken_now:
            return False
        self.taken_now.add(label)
        self.log.append(("edge", label))
        return True

    def add(
        self,
        source: State,
        target: State | None,
        is_open: Callable[[], bool],
        take: Callable[[], object],
        event: str | None,
        before: Callable[[], None] | None = None,
    ) -> Transition:
        name = None if event is None else f"on_{event}"
        transition = Transition(
            source, target, cond=is_open, on=take, before=before, event=name
        )  # fmt: skip
        source.transitions.add_transitions(transition)
        return transition


def _walk(state: State) -> Iterator[State]:
    yield state
    for child in state.states:
        yield from _walk(child)
