"""Origins of an answer: what a guard reads, followed down to what the runs of a call may write.

Computed keys and watchers settle as soon as a run lands, so what they rest on counts as read. What
a function reads is what it declares; one that declares nothing may read all that any run writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from flowengine.extract.compiled import written_by
from flowengine.flow.model import Flow
from flowengine.guards.lookup import bare, roots
from flowengine.state import ComputedKeys

Behind: TypeAlias = Mapping[str, frozenset[str]]
"""Read -> the reads on which it rests directly."""

ANYTHING = "@any"
CORRECTED = "@corrected:"


def behind(flow: Flow, computed: ComputedKeys) -> Behind:
    """What rests on what in a flow."""
    found: dict[str, set[str]] = {ANYTHING: set(_written(flow))}
    tracked = [(name, (ANYTHING,)) for name, reads in computed.reads.items() if reads is None]
    declared = worked_out(computed).items()
    for name, reads in (*tracked, *declared, *_watched(flow), *_completed(flow)):
        found.setdefault(name, set()).update(reads)
    return {name: frozenset(reads) for name, reads in found.items()}


def worked_out(computed: ComputedKeys) -> Behind:
    """What computed keys are worked out from, as far as it is declared."""
    return {
        name: frozenset(root for key in reads for root in roots(key))
        for name, reads in computed.reads.items()
        if reads is not None
    }


def followed(reads: Iterable[str], behind: Behind) -> frozenset[str]:
    """The reads, and everything on which they rest."""
    found: set[str] = set()
    left = list(reads)
    while left:
        read = left.pop()
        if read not in found:
            found.add(read)
            left += behind.get(read, ())
            if read.startswith(CORRECTED):
                left.append(read.removeprefix(CORRECTED))
    return frozenset(found)


def results_of(name: str) -> tuple[str, ...]:
    """What the run of a resolver, or of what follows a record, may change."""
    return (f"{name}:result", f"{name}:error", f"@resolved:{name}")


def answers_of(id: str, writes: str | None) -> tuple[str, ...]:
    """What the answer to a decision's question may change."""
    return (f"@decided:{id}", f"decision:{id}", *((bare(writes),) if writes else ()))


def _written(flow: Flow) -> Iterator[str]:
    for record in flow.records.values():
        yield from (bare(field.to or name) for name, field in record.fields.items())
    for extract in flow.extract:
        yield from written_by(extract)
    for id, decision in flow.decisions.items():
        yield from answers_of(id, decision.writes)
    for name in flow.resolvers:
        yield from results_of(name)


def _watched(flow: Flow) -> Iterator[tuple[str, Iterable[str]]]:
    """What watchers write, and the results of the resolvers that they launch."""
    for watch in flow.watch:
        for action in watch.do:
            keys = (*(action.set or ()), *(action.copy_ or ()), *(action.clear or ()))
            launched = results_of(action.resolve) if action.resolve else ()
            for name in (*map(bare, keys), *launched):
                yield name, roots(watch.key)


def _completed(flow: Flow) -> Iterator[tuple[str, Iterable[str]]]:
    """What a record brings besides its fields: doubts about them, and what follows it."""
    for name, record in flow.records.items():
        keys = {field: bare(spec.to or field) for field, spec in record.fields.items()}
        for key in keys.values():
            yield f"confirm:{key}", (key,)
        if record.on_complete is not None:
            for result in results_of(name):
                yield result, keys.values()
