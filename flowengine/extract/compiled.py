"""A model extractor made ready: its keys, its rules by field, and which fields are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from flowengine.clock import duration_ms
from flowengine.extract.grounding.inferred import is_inferred
from flowengine.extract.spec import QUOTE, ExtractSpec, Promotion, fields_of
from flowengine.llm.data import Schema
from flowengine.state.keys import bare

_ANY: Schema = {}


class CompiledExtract:
    """What landing asks of an extractor, worked out once for all calls."""

    __slots__ = ("fields", "inferred", "name", "order", "quotes", "rules", "schemas", "spec",
                 "targets", "timeout", "written")  # fmt: skip

    def __init__(self, spec: ExtractSpec, order: int) -> None:
        self.name, self.spec, self.order = spec.name, spec, order
        self.targets = targets(spec)
        self.written = written_by(spec)
        self.timeout = duration_ms(spec.timeout)
        """Milliseconds."""
        self.rules: Mapping[str, Promotion] = {rule.field: rule for rule in spec.promote}
        self.quotes = frozenset(f"{rule.field}{QUOTE}" for rule in spec.promote if rule.quote)
        """Fields that are no values, but the words that speak for one."""
        self.schemas = dict(_schemas(spec))
        self.inferred = frozenset(name for name, one in self.schemas.items() if is_inferred(one))
        """Fields that are judged, so that there is nothing to look up."""
        self.fields = _fields(spec, self.quotes)
        """All that a run may bring; None if its schema does not say."""

    def schema(self, field: str) -> Schema:
        return self.schemas.get(field, _ANY)


def targets(spec: ExtractSpec) -> tuple[str, ...]:
    """The keys that an extractor may write."""
    if spec.promote:
        return tuple(rule.to or rule.field for rule in spec.promote)
    return tuple(fields_of(spec))


def written_by(spec: ExtractSpec) -> frozenset[str]:
    """What a run may change: the extractor's keys, its object, and what is known of the run."""
    own = (spec.name, f"{spec.name}:status", f"{spec.name}:error")
    return frozenset((*map(bare, targets(spec)), *own))


def _fields(spec: ExtractSpec, quotes: frozenset[str]) -> frozenset[str] | None:
    declared = fields_of(spec)
    if not declared or spec.schema_.get("additionalProperties"):
        return None
    return quotes.union(declared, (rule.field for rule in spec.promote))


def _schemas(spec: ExtractSpec) -> list[tuple[str, Schema]]:
    fields = fields_of(spec).items()
    return [(name, cast("Schema", one)) for name, one in fields if isinstance(one, dict)]
