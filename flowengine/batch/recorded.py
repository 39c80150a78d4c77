"""Inputs as JSON and back, and the lines that keep a session so that it can be replayed.

A recording is JSON lines: `{"start": {"at", "state", "phase"}}` first, then inputs
`{"input": "Heard", "id", "at", "text"}` and facts `{"fact": "PhaseEntered", "id", ...}`. Where a
file holds several sessions, each line is `{"session": name, "input": {...}}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from flowengine.batch.calls import Recording, RowError
from flowengine.errors import did_you_mean
from flowengine.facts import canonical_json
from flowengine.inputs import Input, Json

_TYPES: dict[str, type[Input]] = {kind.__name__: kind for kind in get_args(Input)}
_ADAPTERS: dict[str, TypeAdapter[Input]] = {
    name: TypeAdapter(kind) for name, kind in _TYPES.items()
}
_FIELDS = {name: tuple(kind.__dataclass_fields__) for name, kind in _TYPES.items()}


def inputs_to_json(inputs: Iterable[Input]) -> list[dict[str, Any]]:
    """Inputs as objects with their kind first; `inputs_from_json` gives equal ones back."""
    return [_to_json(input) for input in inputs]


def inputs_from_json(data: Iterable[Mapping[str, Any]]) -> tuple[Input, ...]:
    """Inputs from their JSON form.

    Raises:
        RowError: something in it is no input; the message names the field, not its value.
    """
    return tuple(_from_json(item) for item in data)


def recording_lines(call: Recording) -> Iterator[str]:
    """A session as canonical JSON lines, each with the session's name; `read_calls` reads them."""
    start: dict[str, Any] = {"at": call.at, "state": dict(call.state), "phase": call.phase}
    yield canonical_json({"session": call.id, "start": start})
    for input in inputs_to_json(call.inputs):
        yield canonical_json({"session": call.id, "input": input})
    for fact in call.facts:
        yield canonical_json({"session": call.id, "fact": dict(fact)})


def _to_json(input: Input) -> dict[str, Json]:
    kind = type(input).__name__
    return {"input": kind, **_ADAPTERS[kind].dump_python(input, mode="json")}


def _from_json(data: Mapping[str, Any]) -> Input:
    kind = data.get("input")
    if not isinstance(kind, str) or kind not in _TYPES:
        guess = did_you_mean(kind, _TYPES) if isinstance(kind, str) else ""
        raise RowError(f"`input` must be one of {', '.join(_TYPES)}.{guess}")
    fields = {key: value for key, value in data.items() if key != "input"}
    for name in fields:
        if name not in _FIELDS[kind]:
            raise RowError(
                f"{kind} has no field {name!r}: it has {', '.join(_FIELDS[kind])}."
                + did_you_mean(name, _FIELDS[kind])
            )
    try:
        return _ADAPTERS[kind].validate_python(fields)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise RowError(f"{kind}.{where} does not fit: {first['msg']}") from None
