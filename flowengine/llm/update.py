"""Changes to values already known: what a conversation sets, clears and keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from flowengine.llm.data import JSON, Schema, compact, is_object
from flowengine.llm.messages import ChatRequest
from flowengine.llm.nulls import strict_schema
from flowengine.llm.reasons import Issue
from flowengine.llm.schema import Misfit, NoSchema, Target

SET, CLEAR = "set", "clear"


@dataclass(frozen=True, slots=True)
class SlotDelta:
    """`set` holds new values as plain JSON, `clear` the names withdrawn; the rest is kept.

    `merged` is the typed whole after the change, None while required fields are still missing.
    """

    set: dict[str, JSON] = field(repr=False)
    clear: tuple[str, ...]
    merged: Any = field(default=None, repr=False)

    def apply(self, current: Mapping[str, JSON]) -> dict[str, JSON]:
        """The known values after the change; a new dict."""
        kept = {name: value for name, value in current.items() if name not in self.clear}
        return {**kept, **self.set}


def slot_target(whole: Target[Any], current: Any) -> Target[SlotDelta]:
    """The target of a change to `current`, whose type must be an object with named fields."""
    properties: Schema = whole.schema.get("properties", {})
    if whole.wrapped or not properties:
        raise NoSchema("only a type with named fields can be updated")
    known = known_values(current)

    def check(value: JSON, context: Mapping[str, Any] | None) -> SlotDelta:
        changed = value.get(SET) if is_object(value) else None
        # Null is "not mentioned" here: what the caller takes back is listed under `clear`.
        said = {k: v for k, v in changed.items() if v is not None} if is_object(changed) else {}
        cleared = tuple(name for name in value.get(CLEAR) or () if name not in said)
        unknown = [name for name in cleared if name not in properties]
        if unknown:
            raise Misfit((Issue(loc=(CLEAR,), msg="not a field", type="enum", place=CLEAR),))
        delta = SlotDelta(said, cleared)
        return SlotDelta(said, cleared, _merged(whole, delta, known, context))

    schema: Schema = {
        "type": "object",
        "properties": {
            SET: {"type": "object", "properties": properties},
            CLEAR: {"type": "array", "items": {"enum": list(properties), "type": "string"}},
        },
        "required": [SET],
    }
    if "$defs" in whole.schema:
        schema["$defs"] = whole.schema["$defs"]
    names = whole.names | {SET, CLEAR}
    return Target(f"{whole.name}_update", schema, False, check, names, strict_schema(schema))


def with_known_values(request: ChatRequest, current: Any) -> ChatRequest:
    """The request with the known values in its system text."""
    words = (
        f"Known so far: {compact(known_values(current))}. Report only what the "
        f"conversation changes: new or corrected values under {SET}, the names of withdrawn "
        f"values under {CLEAR}. Do not repeat a value that still holds."
    )
    system = f"{request.system}\n\n{words}" if request.system else words
    return request.model_copy(update={"system": system})


def known_values(current: Any) -> dict[str, JSON]:
    """The current values as plain JSON, whether given as a mapping or as the type itself."""
    adapter: TypeAdapter[Any] = TypeAdapter(Any)
    return dict(adapter.dump_python(current, mode="json", by_alias=True))


def _merged(
    whole: Target[Any],
    delta: SlotDelta,
    known: dict[str, JSON],
    context: Mapping[str, Any] | None,
) -> Any:
    """The typed whole; only faults of what was set now are faults of the change."""
    try:
        return whole.validate(delta.apply(known), context)
    except Misfit as misfit:
        ours = [issue for issue in misfit.issues if issue.loc and issue.loc[0] in delta.set]
        if ours:
            placed = [issue.model_copy(update={"loc": (SET, *issue.loc)}) for issue in ours]
            raise Misfit(tuple(placed)) from None
        return None
