"""A file format as Markdown: a table for each part of its JSON Schema, a row for each key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

from flowengine.flow.schema import flow_schema

Schema: TypeAlias = dict[str, Any]

_ELSEWHERE = {"Guard": "[condition](guards.md)", "JsonValue": "any value"}
_PLAIN = ("text", "number", "integer", "boolean")
_BAR = "\\|"
_WORDS = {"string": "text", "array": "list", "object": "map"}


def flow_reference() -> str:
    """The tables of a flow file; each part comes after the first that mentions it."""
    schema = flow_schema()
    return tables(schema.pop("$defs"), {"Flow": schema})


def tables(definitions: dict[str, Schema], roots: dict[str, Schema]) -> str:
    """The tables of the roots and of all that they mention, one under the other."""
    waiting, done = dict(roots), list[str]()
    while waiting:
        name = next(iter(waiting))
        part = waiting.pop(name)
        done.append(name)
        for mention in _mentions(part):
            if mention not in done and mention not in _ELSEWHERE:
                waiting.setdefault(mention, definitions[mention])
    parts = {**definitions, **roots}
    links = " · ".join(f"[{heading(name)}](#{heading(name).lower()})" for name in done)
    return "\n".join([f"{links}\n", *("\n".join(_section(name, parts[name])) for name in done)])


def heading(name: str) -> str:
    """The heading of a part; its anchor is the same in lower case."""
    return name.removesuffix("Spec")


def _section(name: str, part: Schema) -> Iterator[str]:
    yield f"## {heading(name)}\n"
    if "description" in part:
        yield f"{part['description']}\n"
    full = next(form for form in (part, *part.get("anyOf", ())) if "properties" in form)
    if short := [_type(form) for form in part.get("anyOf", ()) if form is not full]:
        yield f"Or, for short: {' or '.join(short)}.\n"
    yield "| key | type | default | |\n|---|---|---|---|"
    for key, node in full["properties"].items():
        yield _row(key, node, key in full.get("required", ()))
    yield ""


def _row(key: str, node: Schema, is_required: bool) -> str:
    default = "required" if is_required else _default(node.get("default"))
    sentence = " ".join(node.get("description", "").split())
    cells = [f"`{key}`", _type(node), default, sentence]
    return f"| {' | '.join(cell.replace('|', _BAR) for cell in cells)} |"


def _default(value: Any) -> str:
    is_plain = isinstance(value, bool | int | float) or (isinstance(value, str) and value)
    return f"`{json.dumps(value) if not isinstance(value, str) else value}`" if is_plain else ""


def _type(node: Schema) -> str:
    """What may stand there, in a few words."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return _ELSEWHERE.get(name) or f"[{heading(name)}](#{heading(name).lower()})"
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    if "anyOf" in node:
        options = [_type(option) for option in node["anyOf"] if option.get("type") != "null"]
        is_any = {"text", "number", "boolean"} <= {*options}
        kept = [o for o in options if not (is_any and o in _PLAIN)] + ["a value"] * is_any
        return " or ".join(dict.fromkeys(kept))
    return _of_kind(node, node.get("type"))


def _of_kind(node: Schema, kind: str | list[str] | None) -> str:
    if isinstance(kind, list):
        return " or ".join(_of_kind(node, each) for each in kind if each != "null")
    if kind == "array" and "prefixItems" in node:
        return f"list of {len(node['prefixItems'])}: {_type(node['prefixItems'][0])}"
    if kind == "array" and node.get("items"):
        return f"list of {_type(node['items'])}"
    inner = node.get("additionalProperties")
    if kind == "object" and isinstance(inner, dict) and inner:
        return f"map of {_type(cast('Schema', inner))}"
    such = f" such as `{node['examples'][0]}`" if "examples" in node else ""
    return _WORDS.get(kind, kind) + such if kind else "any value"


def _mentions(node: Any) -> Iterator[str]:
    """The parts that this one refers to, in the order of its keys."""
    if isinstance(node, dict):
        for key, value in cast("Schema", node).items():
            if key == "$ref":
                yield value.rpartition("/")[2]
            else:
                yield from _mentions(value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from _mentions(value)
