"""State at rest: computed keys and watchers follow what was written, and no phase moves."""

from __future__ import annotations

from flowengine.facts import WatcherFired
from flowengine.inputs import Json
from flowengine.kernel.work import Work
from flowengine.state.watchers import Watcher
from flowengine.state.watchers import settle as settle_state


def rest(work: Work) -> None:
    """Bring computed keys and watchers up to date."""
    if work.cleared:
        work.flow.computed.recompute(work, work.cleared)
        work.cleared.clear()
    if work.dirty:
        work.touched |= settle_state(
            work,
            work.flow.computed,
            work.flow.watchers,
            lambda watcher, old, new: _fire(work, watcher, old, new),
        )


def _fire(work: Work, watcher: Watcher, old: Json, new: Json) -> None:
    predicate = watcher.name.rpartition(".")[2]
    work.facts.append(WatcherFired(watcher.key, predicate, watcher.position))
    watcher.action(old, new, work)
