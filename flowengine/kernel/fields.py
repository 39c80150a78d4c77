"""Fields of a record that a resolver fills: asked for when their arguments are known.

Arguments are bound from the values that the record has just found, then from State; when they
change, what was found for the old ones is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowengine.effects import Resolve
from flowengine.extract.record.compiled import CompiledField, CompiledRecord, Finding
from flowengine.facts import ResolverEnded
from flowengine.inputs import Json, Outcome
from flowengine.kernel.promote import would_land
from flowengine.kernel.snapshot import Run, Staged
from flowengine.kernel.work import Work


def start_fields(work: Work, staged: tuple[Staged, ...], read: frozenset[str]) -> tuple[str, ...]:
    """Ask for the fields of the records that were `read`; the effect ids, in request order."""
    found = {each.source.partition(":")[2]: each.fields for each in staged}
    return tuple(
        effect
        for record in work.flow.records
        if record.name in read
        for effect in _start(work, record, found.get(record.name, ()))
    )


def start_in_progress(work: Work, reads: frozenset[str]) -> None:
    """A call waits for these keys: ask for the fields that fill them, of what was just said."""
    due = frozenset(
        record.name
        for record in work.flow.records
        if any(f.spec.resolve and f.key in reads for f in record.fields.values())
    )
    if due:
        start_fields(work, (), due)


def field_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the resolver has answered, whatever becomes of the answer."""
    work.facts.append(ResolverEnded(run.name, outcome.status, outcome.error))


def field_found(work: Work, outcome: Outcome, run: Run) -> Staged | None:
    """The answer as a finding; None if there is none, or if the question has changed since."""
    record, field = _field(work, run.name)
    if outcome.status != "ok" or outcome.value is None or not field.accepts(outcome.value):
        return None
    said = _said(work)
    if any(said.get(key, work.find(key)) != value for key, value in run.args.items()):
        return None
    finding = Finding(
        field.name, outcome.value, "resolver", run.turn, rule=field.spec.resolve or ""
    )
    return Staged(f"record:{record.name}", record.order, run.turn, (finding,))


def field_key(work: Work, run: Run) -> str:
    """Where the run's answer goes."""
    return _field(work, run.name)[1].key


def _said(work: Work) -> dict[str, Json]:
    """What the turn's words say of each key, while its values wait for the barrier."""
    barrier = work.wait.barrier
    records = {record.name: record for record in work.flow.records}
    return {
        records[name].fields[finding.field].key: finding.value
        for staged in (barrier.staged if barrier is not None else ())
        if (name := staged.source.partition(":")[2]) in records
        for finding in staged.fields
    }


def _start(work: Work, record: CompiledRecord, found: tuple[Finding, ...]) -> Iterator[str]:
    fresh = {
        record.fields[finding.field].key: finding.value
        for finding in found
        if would_land(work, record, finding)
    }
    for field in record.fields.values():
        if field.spec.resolve is None:
            continue
        name = f"{record.name}.{field.name}"
        args = {key: fresh.get(key, work.find(key)) for key in field.spec.args}
        if None in args.values():
            work.clear(field.key)
            continue
        under_way = _under_way(work, name, args)
        if under_way is not None:
            yield under_way
        elif _is_wanted(work, name, field, args):
            yield _ask(work, record, field, args)


def _under_way(work: Work, name: str, args: Mapping[str, Json]) -> str | None:
    """The run that is asking just this; nothing is asked twice at once."""
    runs = work.wait.runs.items()
    return next((id for id, run in runs if run.name == name and run.args == args), None)


def _is_wanted(work: Work, name: str, field: CompiledField, args: Mapping[str, Json]) -> bool:
    """The arguments are new, or the field asks to be kept fresh."""
    if field.spec.ttl is not None or work.wait.fields.get(name) != args:
        return True
    return work.find(field.key) is None  # it failed, or had nothing to say


def _ask(work: Work, record: CompiledRecord, field: CompiledField, args: Mapping[str, Json]) -> str:
    name, effect = f"{record.name}.{field.name}", work.effect_id()
    if work.wait.fields.get(name, args) != args:
        work.clear(field.key)
    work.effects.append(Resolve(effect, field.spec.resolve or "", dict(args), name))
    run = Run("field", name, work.transcript.newest, record.order, dict(args))
    work.wait = work.wait._replace(
        runs={**work.wait.runs, effect: run}, fields={**work.wait.fields, name: dict(args)}
    )
    return effect


def _field(work: Work, name: str) -> tuple[CompiledRecord, CompiledField]:
    owner, _, field = name.partition(".")
    record = next(record for record in work.flow.records if record.name == owner)
    return record, record.fields[field]
