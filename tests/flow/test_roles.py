"""The table of names is complete: a field with names in it cannot be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from flowengine.flow.library import SECTIONS
from flowengine.flow.model import Flow
from flowengine.flow.roles import ROLES


def models(annotation: Any, seen: list[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_model and annotation not in seen:
        seen.append(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, seen)
    for argument in get_args(annotation):
        yield from models(argument, seen)


def test_the_table_of_names_has_no_field_that_does_not_exist() -> None:
    for model, roles in ROLES.items():
        fields = {field.alias or name for name, field in model.model_fields.items()}
        assert roles.keys() <= fields, model


NO_NAMES = """\
Flow: flow description locale timezone fragments constraints
TextFunction: run
Models: extraction decision
Key: type description
RecordSpec: fields
FieldSpec: recognize ttl asks
ExtractSpec: instruction schema model timeout
Promotion: field
Computed: map run
Expression: add mul sub div min max eq gt gte lt lte all any not coalesce concat count_true
IfThen: when then else
Watch: custom
Action: run
Pattern: sustained cooldown
Rate: within
Resolver: description run model timeout ttl error_ttl
HttpRequest: pick
McpCall: server tool
Tool: description args claims cache run timeout
DecisionSpec: options levels criteria run model timeout
Constraint: description
Transition: after description
Digression: use with exits description
Fragment: description parameters exits
Parameter: type description
Exit: description
Phase: use with exits title description
Rung: after
Timing: filler_after end_of_speech
Region: use with exits
"""


def test_every_field_with_text_holds_names_by_the_table_or_is_known_to_hold_none() -> None:
    """A new field with names in it needs a line in `ROLES`; one without, a word here."""
    known = {line.partition(":")[0]: line.split()[1:] for line in NO_NAMES.splitlines()}
    for model in models(Flow, []):
        for name, field in model.model_fields.items():
            name, kind = field.alias or name, str(field.annotation)
            if (
                re.search(r"\bstr\b", kind)
                and "TextFunction" not in kind
                and name not in ROLES.get(model, {})
            ):
                assert name in known.get(model.__name__, []), f"{model.__name__}.{name}"


def test_a_fragment_has_the_sections_of_a_flow() -> None:
    sections = {
        name for name, field in Flow.model_fields.items()
        if str(field.annotation).startswith(("dict", "tuple"))
    } - {"fragments"}  # fmt: skip
    assert set(SECTIONS) == sections | {"phase", "digression"}
