"""Compiles the tree and the edges of a flow to one python-statemachine class.

Ids are generated, so any name works. Edges have neither events nor guards, because what is
selected is decided outside. No state is final for the machine, or it would queue `done.state`
events and stop itself at a final root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, cast

from statemachine import HistoryState, State, StateChart
from statemachine.engines.sync import SyncEngine
from statemachine.event_data import TriggerData
from statemachine.factory import StateMachineMetaclass
from statemachine.orderedset import OrderedSet
from statemachine.transition import Transition

from flowengine.chart.move import Edge
from flowengine.chart.tree import Node, Tree

HistoryKind = Literal["shallow", "deep"]


class Microstep:
    """The machine's model: what is active, what is selected, and what the machine did."""

    def __init__(self) -> None:
        self.state: Any = None
        self.selected: dict[Transition, Edge] = {}
        self.taken: dict[Transition, Edge] = {}
        self.left: list[str] = []
        self.entered: list[str] = []


class SelectedOnly(SyncEngine):
    """Takes what was selected for it, once; conflicts, exits and entries are the library's."""

    def select_eventless_transitions(self, trigger_data: TriggerData) -> OrderedSet[Transition]:
        model = cast(Microstep, self.sm.model)
        selected = () if model.taken else model.selected
        return self._filter_conflicting_transitions(OrderedSet[Transition](selected))


class RecordingChart(StateChart[Microstep]):
    """Writes down what happens."""

    catch_errors_as_events = False
    validate_disconnected_states = False
    validate_trap_states = False
    validate_final_reachability = False

    def _get_engine(self) -> SelectedOnly:
        return SelectedOnly(self)

    def on_exit_state(self, state: State, model: Microstep) -> None:
        model.left.append(state.value)

    def on_enter_state(self, state: State, model: Microstep) -> None:
        model.entered.append(state.value)


def _take(transition: Transition, model: Microstep) -> None:
    # A dictionary, because 3.2.2 runs the actions of an edge into history again when it enters
    # the parent of the history.
    model.taken[transition] = model.selected[transition]


@dataclass(frozen=True, slots=True)
class Compiled:
    """A chart class and the way from nodes and edges to its states and transitions."""

    chart: type[RecordingChart]
    states: tuple[State, ...]
    """By node index; their values are node indexes as text."""
    transitions: tuple[Transition, ...]
    """By edge index."""
    histories: dict[tuple[int, HistoryKind], HistoryState]
    """By the index of the node whose history it is."""


def compile_chart(tree: Tree, edges: tuple[Edge, ...]) -> Compiled:
    """One class for a flow; making it costs about a millisecond per ten phases."""
    build = _Build(tree, edges)
    root = build.state(tree.root)
    transitions = tuple(build.transition(edge) for edge in edges)
    chart: Any = StateMachineMetaclass("FlowChart", (RecordingChart,), {root.id: root})
    states = tuple(build.states[node.index] for node in tree.nodes)
    for order, state in enumerate(states, start=1):
        state.document_order = order  # 3.2.2 counts anew in each subtree
    return Compiled(chart, states, transitions, build.histories)


class _Build:
    def __init__(self, tree: Tree, edges: tuple[Edge, ...]) -> None:
        self.tree = tree
        self.states: dict[int, State] = {}
        self.histories: dict[tuple[int, HistoryKind], HistoryState] = {}
        self.kinds: dict[int, set[HistoryKind]] = {}
        for edge in edges:
            if edge.history is not None:
                self.kinds.setdefault(self.tree.target(edge).index, set()).add(edge.history)

    def state(self, node: Node) -> State:
        children = [self.state(child) for child in node.children]
        kinds = sorted(self.kinds.get(node.index, ()))
        histories = [self.history(node, kind) for kind in kinds]
        initial = node.parent is None or node.parent.parallel or node.parent.initial() is node
        state = State(initial=initial, parallel=node.parallel, states=children, history=histories)
        self.states[node.index] = state._set_id(f"s{node.index}")  # pyright: ignore[reportPrivateUsage]
        return state

    def history(self, node: Node, kind: HistoryKind) -> HistoryState:
        history = HistoryState(type=kind)
        history._set_id(f"{kind}{node.index}")  # pyright: ignore[reportPrivateUsage]
        # Without a default an edge into a history never recorded would leave the whole chart.
        for child in node.children if node.parallel else [node.initial()]:
            history.to(self.states[child.index])
        self.histories[node.index, kind] = history
        return history

    def transition(self, edge: Edge) -> Transition:
        source = self.tree.source(edge)
        # A flow-wide edge is internal to the main region: it leaves all in it, but not the region.
        internal = source is self.tree.main
        transition = Transition(
            self.states[source.index],
            self.target(edge),
            internal=internal,
            on=_take,
        )
        self.states[source.index].transitions.add_transitions(transition)
        return transition

    def target(self, edge: Edge) -> State | None:
        if edge.internal:
            return None
        node = self.tree.target(edge)
        if edge.history is not None:
            return self.histories[node.index, edge.history]
        return self.states[node.index]
