"""Model phone and chat conversations as statecharts: a model talks freely, a machine decides."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from flowengine.lazy import lazily

if TYPE_CHECKING:
    from flowengine.clock import ManualClock, SystemClock
    from flowengine.decide.spec import DecisionSpec
    from flowengine.errors import (
        FlowEngineError,
        FlowError,
        GuardError,
        ModelError,
        NotReady,
        NotRecorded,
        SessionClosed,
        StateError,
        StoreError,
        TurnFailed,
    )
    from flowengine.extract.recognizers import Recognition, recognize
    from flowengine.extract.record.annotated import Record
    from flowengine.flow.action import Action
    from flowengine.flow.fragment import Exit, Fragment, Parameter
    from flowengine.flow.functions import Functions, load_functions
    from flowengine.flow.load import load, loads
    from flowengine.flow.model import (
        Constraint,
        Digression,
        Flow,
        Key,
        Phase,
        Region,
        Transition,
    )
    from flowengine.flow.reaction import Computed, Pattern, Watch
    from flowengine.flow.trouble import Repair
    from flowengine.guards import Guard
    from flowengine.kernel import Context, Explanation, Kernel, Snapshot
    from flowengine.resolve.spec import Resolver
    from flowengine.runtime import (
        Accepted,
        Cancelled,
        Denied,
        Failed,
        Hooks,
        Ran,
        Services,
        Session,
        ToolOutcome,
        TurnResult,
    )
    from flowengine.state import State, StateKey
    from flowengine.tools.spec import Tool

__version__ = version("flowengine")

# Names are fetched on first use, so that `flowengine --help` does not wait for a statechart.
_HOME = {
    "flowengine.clock": (
        "ManualClock",
        "SystemClock",
    ),
    "flowengine.errors": (
        "FlowEngineError",
        "FlowError",
        "GuardError",
        "ModelError",
        "NotReady",
        "NotRecorded",
        "SessionClosed",
        "StateError",
        "StoreError",
        "TurnFailed",
    ),
    "flowengine.decide.spec": ("DecisionSpec",),
    "flowengine.extract.recognizers": (
        "Recognition",
        "recognize",
    ),
    "flowengine.flow.fragment": (
        "Exit",
        "Fragment",
        "Parameter",
    ),
    "flowengine.extract.record.annotated": ("Record",),
    "flowengine.flow.functions": (
        "Functions",
        "load_functions",
    ),
    "flowengine.flow.load": (
        "load",
        "loads",
    ),
    "flowengine.flow.action": ("Action",),
    "flowengine.flow.model": (
        "Constraint",
        "Digression",
        "Flow",
        "Key",
        "Phase",
        "Region",
        "Transition",
    ),
    "flowengine.flow.reaction": (
        "Computed",
        "Pattern",
        "Watch",
    ),
    "flowengine.flow.trouble": ("Repair",),
    "flowengine.guards": ("Guard",),
    "flowengine.kernel": (
        "Context",
        "Explanation",
        "Kernel",
        "Snapshot",
    ),
    "flowengine.resolve.spec": ("Resolver",),
    "flowengine.runtime": (
        "Accepted",
        "Cancelled",
        "Denied",
        "Failed",
        "Hooks",
        "Ran",
        "Services",
        "Session",
        "ToolOutcome",
        "TurnResult",
    ),
    "flowengine.state": (
        "State",
        "StateKey",
    ),
    "flowengine.tools.spec": ("Tool",),
}

__all__ = [
    "Accepted",
    "Action",
    "Cancelled",
    "Computed",
    "Constraint",
    "Context",
    "DecisionSpec",
    "Denied",
    "Digression",
    "Exit",
    "Explanation",
    "Failed",
    "Flow",
    "FlowEngineError",
    "FlowError",
    "Fragment",
    "Functions",
    "Guard",
    "GuardError",
    "Hooks",
    "Kernel",
    "Key",
    "ManualClock",
    "ModelError",
    "NotReady",
    "NotRecorded",
    "Parameter",
    "Pattern",
    "Phase",
    "Ran",
    "Recognition",
    "Record",
    "Region",
    "Repair",
    "Resolver",
    "Services",
    "Session",
    "SessionClosed",
    "Snapshot",
    "State",
    "StateError",
    "StateKey",
    "StoreError",
    "SystemClock",
    "Tool",
    "ToolOutcome",
    "Transition",
    "TurnFailed",
    "TurnResult",
    "Watch",
    "load",
    "load_functions",
    "loads",
    "recognize",
]

__getattr__, __dir__ = lazily(__name__, _HOME)
