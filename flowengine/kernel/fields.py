"""Fields of a record that a resolver fills: asked for when their arguments are known.

Arguments are bound from the values that the record has just found, then from State; when they
change, what was found for the old ones is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flowengine.effects import Resolve
from flowengine.extract.record import CompiledField, CompiledRecord, Finding
from flowengine.facts import ResolverEnded
from flowengine.inputs import Json, Outcome
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


def field_recorded(work: Work, outcome: Outcome, run: Run) -> None:
    """The record part: the resolver has answered, whatever becomes of the answer."""
    work.facts.append(ResolverEnded(run.name, outcome.status, outcome.error))


def field_found(work: Work, outcome: Outcome, run: Run) -> Staged | None:
    """The answer as a finding; None if there is none, or if the question has changed since."""
    record, field = _field(work, run.name)
    if outcome.status != "ok" or outcome.value is None:
        return None
    if any(work.find(key) != value for key, value in run.args.items()):
        return None
    finding = Finding(
        field.name, outcome.value, "resolver", run.turn, rule=field.spec.resolve or ""
    )
    return Staged(f"record:{record.name}", record.order, run.turn, (finding,))


def _start(work: Work, record: CompiledRecord, found: tuple[Finding, ...]) -> Iterator[str]:
    fresh = {record.fields[finding.field].key: finding.value for finding in found}
    for field in record.fields.values():
        if field.spec.resolve is None:
            continue
        name = f"{record.name}.{field.name}"
        args = {key: fresh.get(key, work.find(key)) for key in field.spec.args}
        if None in args.values() or not _is_wanted(work, name, field, args):
            continue
        yield _ask(work, record, field, args)


def _is_wanted(work: Work, name: str, field: CompiledField, args: Mapping[str, Json]) -> bool:
    """The arguments are new, or the field asks to be kept fresh; nothing is asked twice at once."""
    if any(run.name == name and run.args == args for run in work.wait.runs.values()):
        return False
    return field.spec.ttl is not None or work.wait.fields.get(name) != args


def _ask(work: Work, record: CompiledRecord, field: CompiledField, args: Mapping[str, Json]) -> str:
    name, effect = f"{record.name}.{field.name}", work.effect_id()
    if work.wait.fields.get(name, args) != args:
        work.clear(field.key)
    work.effects.append(Resolve(effect, field.spec.resolve or "", dict(args), name))
    turn = work.transcript.turns[-1].number
    run = Run("field", name, turn, record.order, dict(args))
    work.wait = work.wait._replace(
        runs={**work.wait.runs, effect: run}, fields={**work.wait.fields, name: dict(args)}
    )
    return effect


def _field(work: Work, name: str) -> tuple[CompiledRecord, CompiledField]:
    owner, _, field = name.partition(".")
    record = next(record for record in work.flow.records if record.name == owner)
    return record, record.fields[field]
