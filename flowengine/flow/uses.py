"""Who reads and who writes which key: as far as a flow says so itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from flowengine.decide.spec import DecisionSpec
from flowengine.extract.spec import ExtractSpec, FieldSpec, Promotion, RecordSpec
from flowengine.flow.action import Action
from flowengine.flow.diagnostic import Path
from flowengine.flow.expression import Expression
from flowengine.flow.index import Index
from flowengine.flow.model import Phase, PhaseDefaults
from flowengine.flow.reaction import Computed, Watch
from flowengine.flow.text import template_keys
from flowengine.resolve.spec import Resolver
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.sources.template import prompt_keys
from flowengine.state.keys import RUNTIME_PREFIXES, bare
from flowengine.tools.spec import Tool


class Use(NamedTuple):
    """One key read or written at one place."""

    key: str
    path: Path
    by: str = ""
    """The writer's name, as a key's `writers` spell it; empty for what needs no leave."""


def reads(index: Index) -> Iterator[Use]:
    """Every key that something reads; not what a function reads, unless it says so."""
    for question in index.questions:
        if question.kind == "key" and not _is_the_value_itself(question.path, question.name):
            yield Use(question.name, question.path)
    for path, part in index.parts:
        yield from _read_by(part, path)


def mentions(index: Index) -> Iterator[Use]:
    """Keys that are named without being read or written: what one rests on, what is cleared."""
    for name, key in index.flow.state.items():
        yield from _listed(key.depends_on, ("state", name, "depends_on"))
    for path, action in index.actions:
        yield from _listed(action.clear or (), (*path, "clear"))


def writes(index: Index) -> Iterator[Use]:
    """Every key that something writes; not what a function writes."""
    flow = index.flow
    for name, record in flow.records.items():
        yield from _written_by_record(name, record, ("records", name))
    for at, extract in enumerate(flow.extract):
        yield from _written_by_extract(extract, ("extract", at))
    for name in flow.computed:
        yield Use(name, ("computed", name), "computed")
    for name, tool in flow.tools.items():
        yield from _written_by_tool(name, tool, ("tools", name))
    for id, decision in flow.decisions.items():
        if decision.writes is not None:
            yield Use(decision.writes, ("decisions", id, "writes"), f"decision:{id}")
    for path, action in index.actions:
        yield from _written_by_action(action, path)
    for name in resolver_names(index):
        yield from (Use(f"{name}:{part}", ()) for part in ("result", "status", "error"))


def events_of(index: Index) -> list[str]:
    """The events that something in the flow waits for."""
    waits = [edge.transition.on for edge in index.edges]
    waits += [digression.on for digression in index.flow.digressions.values()]
    return sorted({event for event in waits if event})


def resolver_names(index: Index) -> set[str]:
    """Every resolver that is declared or launched."""
    launched = {action.resolve for _, action in index.actions if action.resolve}
    return {*index.flow.resolvers, *launched}


def is_runtime(key: str) -> bool:
    """Whether the runtime keeps this key, so that its readers need no writer in the flow."""
    return key.startswith(tuple(p for p in RUNTIME_PREFIXES if p != "derived:"))


def root_of(key: str, known: Any) -> str | None:
    """The known key that a read finds: itself, or the longest start of a path `a.b.c`."""
    name = bare(key)
    while name:
        if name in known:
            return name
        name = name.rpartition(".")[0]
    return None


def _is_the_value_itself(path: Path, name: str) -> bool:
    """`valid: 1 <= value <= 20` and `accept_when` ask about the field's value, not about a key."""
    return bool(path) and path[-1] in ("valid", "accept_when") and name.split(".")[0] == "value"


def _read_by(part: Any, path: Path) -> Iterator[Use]:
    match part:
        case Phase():
            yield from _listed(part.needs, (*path, "needs"))
            yield from _listed(part.show, (*path, "show"))
        case PhaseDefaults():
            yield from _listed(part.show, (*path, "show"))
        case Resolver() | FieldSpec():
            yield from _listed(part.args, (*path, "args"))
            if isinstance(part, Resolver) and part.prompt is not None:
                yield from (Use(key, (*path, "prompt")) for key in prompt_keys(part.prompt))
        case Computed():
            yield from _listed(part.reads or (), (*path, "reads"))
            if part.of is not None:
                yield Use(part.of, (*path, "of"))
        case Expression() if part.key is not None:
            yield Use(part.key, (*path, "key"))
        case Watch():
            yield Use(part.key, (*path, "key"))
        case DecisionSpec(options_from=str(key)):
            yield Use(key, (*path, "options_from"))
        case HttpRequest() | McpCall():
            yield from (Use(key, path) for key in part.reads)
        case Action() if part.copy_:
            yield from (Use(source, (*path, "copy", to)) for to, source in part.copy_.items())
        case _:
            pass
    yield from _read_by_texts(part, path)


_TEXTS = ("instruction", "instruction_template", "amendment", "say", "context", "enter_prompt",
          "text", "prompt", "announce", "idempotency_key", "confirm")  # fmt: skip


def _read_by_texts(part: Any, path: Path) -> Iterator[Use]:
    """`{key}` and `{key?yes:no}` in what is said and told; extractions keep their braces."""
    if isinstance(part, ExtractSpec):
        return
    for name in _TEXTS:
        text = getattr(part, name, None)
        if name == "prompt" and isinstance(part, Resolver):
            continue  # its braces may be JSON: it has slots of its own
        if isinstance(text, str) and "{" in text:
            keys = (key for key in template_keys(text) if not _is_given(part, key))
            yield from (Use(key, (*path, name)) for key in keys)


def _is_given(part: Any, name: str) -> bool:
    """Whether a placeholder is filled with what is at hand: a call's arguments, a result."""
    if isinstance(part, Tool):
        return name.startswith("args.")
    return isinstance(part, Resolver) and name.partition(".")[0] == "result"


def _listed(keys: tuple[str, ...], path: Path) -> Iterator[Use]:
    return (Use(key, (*path, at)) for at, key in enumerate(keys))


def _written_by_record(name: str, record: RecordSpec, path: Path) -> Iterator[Use]:
    by = f"record:{name}"
    for field, spec in record.fields.items():
        key = spec.to or field
        where = (*path, "fields", field, "to") if spec.to else (*path, "fields", field)
        yield Use(key, where, by)
        yield Use(f"{name}.{field}", where)
        yield Use(f"confirm:{key}", where)
    yield from (Use(own, path) for own in (name, f"{name}:status", f"{name}:error"))


def _written_by_extract(extract: ExtractSpec, path: Path) -> Iterator[Use]:
    by = f"extractor:{extract.name}"
    fields: Any = extract.schema_.get("properties")
    for field in cast("dict[str, Any]", fields) if isinstance(fields, dict) else ():
        yield Use(str(field), (*path, "schema", "properties", str(field)))
        yield Use(f"{extract.name}.{field}", path)
    for at, promotion in enumerate(extract.promote):
        yield _written_by_promotion(promotion, (*path, "promote", at), by)
    name = extract.name
    yield from (Use(own, path) for own in (name, f"{name}:status", f"{name}:error"))


def _written_by_promotion(promotion: Promotion, path: Path, by: str) -> Use:
    if promotion.to is None:
        return Use(promotion.field, (*path, "field"), by)
    return Use(promotion.to, (*path, "to"), by)


def _written_by_tool(name: str, tool: Tool, path: Path) -> Iterator[Use]:
    by = f"tool:{name}"
    yield from (Use(key, (*path, "set", key), by) for key in tool.set)
    if tool.save_as:
        yield Use(tool.save_as, (*path, "save_as"), by)


def _written_by_action(action: Action, path: Path) -> Iterator[Use]:
    yield from (Use(key, (*path, "set", key), "action") for key in action.set or ())
    yield from (Use(key, (*path, "copy", key), "action") for key in action.copy_ or ())
