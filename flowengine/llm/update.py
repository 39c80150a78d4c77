"""Changes to values already known: what a conversation sets, clears and keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from flowengine.llm.data import JSON, Schema, compact, is_array, is_object, show_path
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
        delta = _delta(value, properties)
        return replace(delta, merged=_merged(whole, delta, known, context))

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


def _delta(value: JSON, properties: Schema) -> SlotDelta:
    """The change as it was said. Raises `Misfit`."""
    if not is_object(value):
        raise _misfit("dict_type")
    changed: JSON = value.get(SET)
    cleared: JSON = value.get(CLEAR) or list[str]()
    if changed is not None and not is_object(changed):
        raise _misfit("dict_type", SET)
    if not is_array(cleared):
        raise _misfit("list_type", CLEAR)
    names = [name for name in cleared if isinstance(name, str) and name in properties]
    if len(names) < len(cleared):
        raise _misfit("enum", CLEAR)
    # Null is "not mentioned" here: what the caller takes back is listed under `clear`.
    said = {key: part for key, part in (changed or {}).items() if part is not None}
    return SlotDelta(said, tuple(name for name in names if name not in said))


def _misfit(kind: str, *loc: str) -> Misfit:
    place = show_path(loc)
    return Misfit((Issue(loc=loc, msg=f"not what belongs at {place}", type=kind, place=place),))


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
