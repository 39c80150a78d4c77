"""The canonical spelling of a flow: defaults are left out, short forms are used."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, cast

import yaml
from pydantic import BaseModel

from flowengine.flow.action import Action
from flowengine.flow.expression import Expression
from flowengine.flow.fragment import Fragment, Parameter
from flowengine.flow.model import Flow, Key, ToolRule
from flowengine.flow.reaction import Watch
from flowengine.flow.yaml import scalar
from flowengine.guards import Guard
from flowengine.tools.spec import Tool

_GIVEN = (Action, Expression, Fragment, Parameter, Watch)
"""What was given decides what these are, so a given default counts."""


def dumps(flow: Flow, format: Literal["yaml", "json"] = "yaml") -> str:
    """The text of a flow; `loads` gives an equal flow back."""
    data = plain(flow)
    if format == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    style: Any = {"sort_keys": False, "allow_unicode": True, "width": 100}
    dump: Any = yaml.dump
    return dump(data, Dumper=_Dumper, default_flow_style=False, **style)


def plain(value: Any) -> Any:
    """A model, or a part of one, as JSON data in the spelling of a file."""
    match value:
        case BaseModel():
            return _short(value, dict(_fields(value)))
        case Guard():
            return _guard(value)
        case dict():
            return {str(k): plain(v) for k, v in cast("dict[Any, Any]", value).items()}
        case list() | tuple():
            return [plain(item) for item in cast("list[Any]", value)]
        case _:
            return value


def _fields(model: BaseModel) -> Iterator[tuple[str, Any]]:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        default = field.get_default(call_default_factory=True)
        if isinstance(model, _GIVEN):
            counts = name in model.model_fields_set
        else:
            counts = field.is_required() or value != default or name == "version"
        if counts:
            yield field.alias or name, plain(value)
    yield from (model.model_extra or {}).items()


def _short(model: BaseModel, fields: dict[str, Any]) -> Any:
    if isinstance(model, Key) and fields.keys() == {"type"}:
        return fields["type"]
    if isinstance(model, ToolRule) and fields.keys() == {"allow"}:
        return fields["allow"]
    if isinstance(model, Tool) and "args" in fields:
        return {**fields, "args": {name: _arg(schema) for name, schema in model.args.items()}}
    return fields


def _arg(schema: Any) -> Any:
    """`{type: string}` is short as `string`."""
    match schema:
        case {"type": str(kind), **rest} if not rest:
            return kind
        case _:
            return schema


def _guard(guard: Guard) -> Any:
    """Its text, or its JSON form where the text would be longer than is read."""
    text = str(guard)
    return text if len(text) <= 2_000 else guard.to_json()


class _Dumper(yaml.SafeDumper):
    """YAML 1.2: `on` needs no quotes; lists of words stand on one line, long texts in a block."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        """What a plain scalar would be read as: quotes are put where that is not text."""
        if kind is yaml.ScalarNode and implicit[0]:
            return _TAGS.get(type(cast("object", scalar(value))), "tag:yaml.org,2002:str")
        parent: Any = super()
        return parent.resolve(kind, value, implicit)


_TAGS: dict[type, str] = {
    type(None): "tag:yaml.org,2002:null",
    bool: "tag:yaml.org,2002:bool",
    int: "tag:yaml.org,2002:int",
    float: "tag:yaml.org,2002:float",
}


_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks to YAML, so that they survive only as escapes."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.strip("\n") else None
    if _OTHER_BREAKS.search(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    words = all(isinstance(item, str | int | float | None) for item in items)
    short = words and sum(len(str(item)) + 2 for item in items) < 70
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=short)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
