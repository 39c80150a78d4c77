"""Reactive memory: knows keys and values, computed keys and watchers; knows no conversation."""

from flowengine.state.computed import Computed, ComputedKeys
from flowengine.state.evidence import Evidence
from flowengine.state.keys import KEY_TYPES, KeySpec, KeyTable, KeyType, StateKey
from flowengine.state.patterns import Pattern, Progress
from flowengine.state.reactor import Reactor
from flowengine.state.signals import Signals
from flowengine.state.state import Change, State
from flowengine.state.watchers import Watcher, WatchTable, settle

__all__ = [
    "KEY_TYPES",
    "Change",
    "Computed",
    "ComputedKeys",
    "Evidence",
    "KeySpec",
    "KeyTable",
    "KeyType",
    "Pattern",
    "Progress",
    "Reactor",
    "Signals",
    "State",
    "StateKey",
    "WatchTable",
    "Watcher",
    "settle",
]
