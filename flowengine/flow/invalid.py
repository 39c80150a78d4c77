"""What pydantic says of a file, in an author's words: one finding for each mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel

from flowengine.errors import near_miss
from flowengine.flow.diagnostic import Finding, Patch, Path, listing, pointer
from flowengine.flow.model import Key, ToolRule, Transition
from flowengine.flow.shape import keys_of, model_at, noun, takes_duration
from flowengine.flow.source import Node

_EXPECTED = {
    "string_type": "text", "bool_type": "true or false", "int_type": "a whole number",
    "float_type": "a number", "tuple_type": "a list", "list_type": "a list",
    "dict_type": "a mapping", "model_type": "a mapping", "model_attributes_type": "a mapping",
    "int_from_float": "a whole number", "none_required": "nothing",
}  # fmt: skip
_FORMS: dict[type[BaseModel], str] = {ToolRule: "a list of tools", Key: "a type or a mapping"}
_SHORT = {"Interval": "{interval: 2}", "Raise": "{raise: an_event}"}
"""Mappings that stand where a word may stand as well, as they are written."""
_YES = {"yes": True, "on": True, "True": True, "no": False, "off": False, "False": False}


class Placed(NamedTuple):
    """One of pydantic's errors at its place in the file."""

    error: Mapping[str, Any]
    path: Path
    node: Node | None
    """What stands at the path; None where something is missing."""
    branches: tuple[tuple[int, str], ...]
    """The members of unions that were tried: how deep in the path, and which."""


def placed(root: Node, errors: Iterable[Mapping[str, Any]]) -> list[Placed]:
    """Every error at its place; where a union was tried, only what its author meant to write."""
    return list(_meant([_place(root, error) for error in errors], 0))


def finding(place: Placed) -> Finding:
    """One error in the words of the file."""
    kind = place.error["type"]
    if kind == "extra_forbidden":
        return _unknown_key(place)
    if kind == "missing":
        model = model_at(place.path[:-1])
        return Finding("missing", f"{noun(model)} needs {_name(place.path)}", place.path)
    if kind == "guard":
        return _guard(place)
    if kind == "literal_error":
        return _not_one_of(place)
    if kind in _EXPECTED:
        return _wrong_type(place, _EXPECTED[kind])
    return _wrong_value(place)


def _place(root: Node, error: Mapping[str, Any]) -> Placed:
    path: list[str | int] = []
    branches: list[tuple[int, str]] = []
    node: Node | None = root
    loc = error["loc"]
    for at, part in enumerate(loc):
        child = node.step(part) if node else None
        if child:
            path.append(child[0])
            node = child[1]
        elif error["type"] == "missing" and at == len(loc) - 1:
            path.append(part)
            node = None
        else:
            branches.append((len(path), str(part)))
    return Placed(error, tuple(path), node, tuple(branches))


def _meant(places: list[Placed], depth: int) -> Iterator[Placed]:
    """Open the unions from the outermost inwards and keep the branch that was meant."""
    yield from (place for place in places if len(place.branches) <= depth)
    inner = [place for place in places if len(place.branches) > depth]
    for _, site in groupby(inner, key=lambda place: _site(place, depth)):
        tried: dict[str, list[Placed]] = {}
        for place in site:
            tried.setdefault(place.branches[depth][1], []).append(place)
        yield from _meant(_branch(tried), depth + 1)


def _site(place: Placed, depth: int) -> tuple[Path, tuple[tuple[int, str], ...]]:
    return place.path[: place.branches[depth][0]], place.branches[:depth]


def _branch(tried: dict[str, list[Placed]]) -> list[Placed]:
    fitting = [places for places in tried.values() if not all(map(_is_of_another_kind, places))]
    if fitting:
        best = min(fitting, key=len)
        forms = [_SHORT[name] for name in tried if name in _SHORT]
        return [place._replace(error={**place.error, "forms": forms}) for place in best]
    first = next(iter(tried.values()))[0]
    errors = (place.error["type"] for places in tried.values() for place in places)
    kinds = dict.fromkeys(_EXPECTED.get(error, "a word") for error in errors)
    either = {**first.error, "type": "string_type", "expected": " or ".join(kinds)}
    return [first._replace(error=either)]


def _is_of_another_kind(place: Placed) -> bool:
    kind = place.error["type"]
    is_no_word = kind == "literal_error" and isinstance(place.error["input"], dict | list)
    return (kind in _EXPECTED or is_no_word) and len(place.path) == place.branches[-1][0]


def _unknown_key(place: Placed) -> Finding:
    key = str(place.path[-1])
    model = model_at(place.path[:-1])
    known = keys_of(model) if model else []
    guess = near_miss(key, known)
    to = (*place.path[:-1], guess or "")
    move: Patch = ({"op": "move", "from": pointer(place.path), "path": pointer(to)},)
    return Finding(
        "unknown_key",
        f"{key!r} is not a key of {noun(model)}",
        place.path,
        suggestion=f"did you mean {guess!r}?" if guess else listing(known, 20),
        fix=move if guess else (),
        on_key=True,
    )


def _guard(place: Placed) -> Finding:
    context = place.error.get("ctx", {})
    message, _, guess = str(place.error["msg"]).partition(" Did you mean ")
    within = int(context.get("offset", 0)), max(1, int(context.get("length", 1)))
    cure = f"did you mean {guess}" if guess else ""
    return Finding("guard", message, place.path, suggestion=cure, within=within)


def _not_one_of(place: Placed) -> Finding:
    options = re.findall(r"'([^']*)'", place.error["ctx"]["expected"])
    forms: list[str] = place.error.get("forms", [])
    value = str(place.error["input"])
    guess = near_miss(value, options)
    return Finding(
        "wrong_value",
        f"{_name(place.path)} is {_shown(place.error['input'])}, which is not one of its values",
        place.path,
        suggestion=f"did you mean {guess!r}?" if guess else listing([*options, *forms], 20),
        fix=_replace(place.path, guess) if guess else (),
    )


def _wrong_type(place: Placed, expected: str) -> Finding:
    model = model_at(place.path)
    own = _FORMS.get(model) if model and place.node and place.node.kind == "scalar" else None
    expected = own or place.error.get("expected", expected)
    value = place.error["input"]
    cure = _meant_at(place.path, value) or _meant_value(expected, value)
    return Finding(
        "wrong_type",
        f"{_name(place.path)} takes {expected}, not {_shown(value)}",
        place.path,
        suggestion=f"write {_as_yaml(cure)}" if cure is not None else _type_cure(expected, place),
        fix=_replace(place.path, cure) if cure is not None else (),
        on_key=value is None,
    )


def _meant_at(path: Path, value: Any) -> Any:
    """What a number or a name stands for at this very place: seconds, or a transition."""
    if isinstance(value, int) and not isinstance(value, bool) and takes_duration(path):
        return f"{value}s"
    if isinstance(value, str) and model_at(path) is Transition:
        return {"to": value}
    if isinstance(value, str) and model_at((*path, 0)) is Transition:
        return [{"to": value}]
    return None


def _as_yaml(value: Any) -> str:
    match value:
        case [item]:
            return f"[{_as_yaml(item)}]"
        case {"to": str(name)}:
            return f"{{to: {name}}}"
        case _:
            return json.dumps(value)


def _meant_value(expected: str, value: Any) -> Any:
    if expected == "true or false" and isinstance(value, str):
        return _YES.get(value)
    if expected.startswith("text") and isinstance(value, int | float):
        return json.dumps(value)
    if expected.endswith("number") and isinstance(value, str) and value.isascii():
        return int(value) if value.isdigit() and len(value) < 10 else None
    return None


def _type_cure(expected: str, place: Placed) -> str:
    value = place.error["input"]
    if value is None:
        return "leave the line out, or write `{}` or `[]` for an empty one"
    is_list = expected.startswith("a list") and isinstance(value, str)
    return f"write [{value}]" if is_list and model_at((*place.path, 0)) is None else ""


def _wrong_value(place: Placed) -> Finding:
    context = place.error.get("ctx", {})
    message = str(context.get("error") or place.error["msg"])
    kind = place.error["type"]
    if kind == "too_short":
        return Finding("empty", f"{_name(place.path)} needs at least one entry", place.path)
    if kind == "value_error":
        whole = place.node is not None and place.node.kind != "scalar"
        return Finding("wrong_shape" if whole else "wrong_value", message, place.path)
    told = message.replace("Input should be", "must be").replace("Input", "it")
    return Finding("wrong_value", f"{_name(place.path)}: {told}", place.path)


def _replace(path: Path, value: Any) -> Patch:
    return ({"op": "replace", "path": pointer(path), "value": value},)


def _name(path: Path) -> str:
    """The last name on the way; an item of a list goes by the list's name."""
    named = next((step for step in reversed(path) if isinstance(step, str)), "")
    where = f"an entry of `{named}`" if path and isinstance(path[-1], int) else f"`{named}`"
    return where if path else "a flow"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case str():
            return f"the text {value[:60]!r}"
        case _:
            return json.dumps(value)
