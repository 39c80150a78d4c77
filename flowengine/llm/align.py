"""Brings a value that nearly fits its schema into line with it, one recorded fix at a time.

Only where a single reading is possible: a key in other spelling, a word of an enum in other
spelling, a number or boolean as text, one item instead of a list, the value inside a single
extra object. Two candidates that tie are left alone.
"""

from __future__ import annotations

import re
from typing import Any

from flowengine.llm.data import JSON, Path, Schema, is_array, is_object, show_path
from flowengine.llm.jsontext import NotJson, parse_strict
from flowengine.llm.metadata import Repair
from flowengine.llm.refs import fits_type, type_name, types_of
from flowengine.llm.walk import Walk, is_open, under_index, under_key

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_BOOLEANS = {"true": True, "false": False}


def align(schema: Schema, value: JSON) -> tuple[JSON, tuple[Repair, ...]]:
    """A new value and the fixes made; the same value and none when nothing was to do."""
    aligner = _Aligner(schema)
    aligned = aligner.align([schema], value, ())
    return aligned, tuple(aligner.repairs)


class _Aligner:
    def __init__(self, schema: Schema) -> None:
        self.walk = Walk(schema)
        self.repairs: list[Repair] = []
        self._listed: set[Path] = set()

    def _note(self, code: str, path: Path, cost: int = 1) -> None:
        self.repairs.append(Repair(code=code, path=show_path(path), cost=cost))

    def align(self, schemas: list[Any], value: JSON, path: Path) -> JSON:
        applying = self.walk.expand(schemas, value)
        value = self._shape(applying, value, path)
        if is_object(value):
            return self._object(self.walk.expand(schemas, value), value, path)
        if is_array(value):
            return [
                self.align(under_index(applying, index), child, (*path, index))
                for index, child in enumerate(value)
            ]
        return self._scalar(applying, value, path)

    def _shape(self, applying: list[Schema], value: JSON, path: Path) -> JSON:
        types = tuple(name for node in applying for name in types_of(node))
        if isinstance(value, str) and not fits_type(value, types):
            value = self._read(value, types, path)
        if value is None or fits_type(value, types):
            return self._unwrapped(applying, value, path)
        if "array" not in types or path[:-1] in self._listed:
            return value
        self._note("one_item", path, 2)
        self._listed.add(path)  # its item is not put into a list once more
        return [value]

    def _read(self, text: str, types: tuple[str, ...], path: Path) -> JSON:
        """The object or list that a text spells, where one is wanted instead of the text."""
        try:
            read = parse_strict(text)
        except NotJson:
            return text
        if type_name(read) not in {"object", "array"}.intersection(types):
            return text
        self._note("json_as_text", path, 2)
        return read

    def _unwrapped(self, applying: list[Schema], value: JSON, path: Path) -> JSON:
        """What stands inside a single extra object."""
        declared = {name for node in applying for name in node.get("properties", ())}
        if not is_object(value) or len(value) != 1 or not declared or is_open(applying):
            return value
        [(key, inner)] = value.items()
        if _plain(key) in map(_plain, declared) or not is_object(inner):
            return value
        self._note("unwrapped", path, 2)
        return inner

    def _object(self, applying: list[Schema], value: dict[str, JSON], path: Path) -> JSON:
        declared = {name for node in applying for name in node.get("properties", ())}
        renamed = {} if is_open(applying) else _renamed(declared, list(value))
        out: dict[str, JSON] = {}
        for key, child in value.items():
            name = renamed.get(key, key)
            if name != key:
                self._note("key_spelling", (*path, name))
            out[name] = self.align(under_key(applying, name), child, (*path, name))
        return out

    def _scalar(self, applying: list[Schema], value: JSON, path: Path) -> JSON:
        if not isinstance(value, str):
            return value
        types = {name for node in applying for name in types_of(node)}
        members = [m for node in applying for m in (*node.get("enum", ()), *_const(node))]
        if members and value not in members:
            return self._member(members, value, path)
        if "string" in types or not types:
            return value
        text = value.strip()
        read: JSON = _BOOLEANS.get(text.lower()) if "boolean" in types else None
        if read is None and types & {"integer", "number"} and _NUMBER.fullmatch(text):
            read = float(text) if "." in text else int(text)
        if read is None or not fits_type(read, tuple(types)):
            return value
        self._note(f"{type_name(read)}_as_text", path)
        return read

    def _member(self, members: list[Any], value: str, path: Path) -> JSON:
        near = {m for m in members if isinstance(m, str) and _plain(m) == _plain(value)}
        if len(near) != 1:
            return value
        self._note("enum_spelling", path)
        return near.pop()


def _renamed(declared: set[str], keys: list[str]) -> dict[str, str]:
    """Declared names for undeclared keys that can only mean them."""
    found: dict[str, str] = {}
    for key in keys:
        near = [name for name in declared if _plain(name) == _plain(key)]
        if key not in declared and len(near) == 1 and near[0] not in keys:
            found[key] = near[0]
    names = list(found.values())
    return {key: name for key, name in found.items() if names.count(name) == 1}


def _const(node: Schema) -> tuple[Any, ...]:
    return (node["const"],) if "const" in node else ()


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
