"""Promotions of fields that are not asked for, and groundings that never come."""

from __future__ import annotations

from collections.abc import Iterator

from flowengine.check.said import Said
from flowengine.errors import near_miss
from flowengine.extract.spec import fields_of
from flowengine.flow.diagnostic import Finding, listing, pointer, warning
from flowengine.flow.index import Index
from flowengine.guards import Atom, atoms_of


def unknown_fields(index: Index) -> Iterator[Finding]:
    """A promotion copies a field that its extraction asks for."""
    for at, extract in enumerate(index.flow.extract):
        fields = fields_of(extract)
        for number, rule in enumerate(extract.promote):
            if not fields or rule.field in fields:
                continue
            path = ("extract", at, "promote", number, "field")
            guess = near_miss(rule.field, fields)
            yield Finding(
                "unknown_field",
                f"the schema of {extract.name!r} has no field {rule.field!r}",
                path,
                suggestion=f"did you mean {guess!r}?" if guess else listing(fields),
                fix=({"op": "replace", "path": pointer(path), "value": guess},) if guess else (),
                word=rule.field,
            )


def never_grounded(index: Index) -> Iterator[Finding]:
    """What `grounded(...)` asks for is looked up in the caller's words by somebody."""
    said = Said(index)
    for path, guard in index.guards:
        for leaf in atoms_of(guard):
            if not isinstance(leaf, Atom) or leaf.kind != "grounded":
                continue
            landings = said.landings(leaf.names[0])
            if not landings or any(landing.can_be_grounded for landing in landings):
                continue
            if not any(by.startswith("record:") for by in said.other_writers(leaf.names[0])):
                yield warning(
                    "never_grounded",
                    f"grounded({leaf.names[0]}) never holds: {landings[0].field!r} is judged by "
                    "the model, not said by the caller",
                    path,
                    suggestion="give its promotion `quote: true`, so that the caller's words for "
                    "it are looked up",
                    word=str(leaf),
                )
