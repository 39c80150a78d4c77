"""The items of one list inside a value, each validated as soon as it is complete."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from flowengine.llm.data import JSON, Path, is_array, is_object
from flowengine.llm.judge import at_path
from flowengine.llm.refs import branches_of, resolve, types_of
from flowengine.llm.schema import WRAP, Misfit, Target, target
from flowengine.llm.undeclared import find_undeclared

T = TypeVar("T")


class ItemList:
    """The list at `path`, keys joined by dots; an empty path is the value itself."""

    def __init__(
        self,
        wanted: Any,
        whole: Target[Any],
        path: str,
        on_item_error: Literal["raise", "drop"],
    ) -> None:
        self._names = tuple(filter(None, path.split(".")))
        self._wrapped = whole.wrapped
        self._steps: Path = (WRAP, *self._names) if whole.wrapped else self._names
        self._item = _item_target(wanted, whole, self._names)
        self._drop = on_item_error == "drop"

    def finished(self, value: JSON, complete: list[Path]) -> Iterator[tuple[int, Any]]:
        """The items among the paths that have just become complete; faulty ones are left out."""
        depth = len(self._steps)
        for path in complete:
            index = path[depth] if len(path) == depth + 1 and path[:depth] == self._steps else None
            found = at_path(value, self._names, wrapped=self._wrapped)
            if isinstance(index, int) and found is not None:
                checked = self._checked(found[index])
                if checked is not None:
                    yield index, checked[0]

    def without_faulty(self, value: JSON) -> tuple[JSON, int]:
        """The value without the items that do not fit, and how many they were."""
        found = at_path(value, self._names, wrapped=self._wrapped)
        if not self._drop or found is None:
            return value, 0
        kept = [item for item in found if self._checked(item) is not None]
        return _replaced(value, self._steps, kept), len(found) - len(kept)

    def _checked(self, item: JSON) -> tuple[Any] | None:
        inner = {WRAP: item} if self._item.wrapped else item
        if find_undeclared(self._item.schema, inner) is not None:
            return None
        try:
            return (self._item.validate(inner),)
        except Misfit:
            return None


def _item_target(wanted: Any, whole: Target[Any], names: tuple[str, ...]) -> Target[Any]:
    """By the type of the items where it can be read, else by their schema."""
    kind = _annotation(wanted, names)
    if kind is not None:
        return target(kind)
    node: Any = whole.schema
    for name in (WRAP, *names) if whole.wrapped else names:
        properties: dict[str, Any] = resolve(whole.schema, node).get("properties", {})
        if name not in properties:
            raise ValueError(f"no list at {'.'.join(names)}: {name} is not declared there")
        node = properties[name]
    found = resolve(whole.schema, node)
    lists = [part for part in (found, *branches_of(found)) if "array" in types_of(part)]
    if not lists:
        raise ValueError(f"no list at {'.'.join(names) or '$'}: items come from a list alone")
    item = resolve(whole.schema, lists[0].get("items", {}))
    return target({**item, "$defs": whole.schema.get("$defs", {})})


def _annotation(wanted: Any, names: tuple[str, ...]) -> Any:
    """The annotated type of the items, None where the annotations do not lead there."""
    for name in names:
        hints = _field_types(wanted)
        if name not in hints:
            return None
        wanted = hints[name]
    lists = [part for part in _alternatives(wanted) if get_origin(part) in (list, Sequence)]
    return get_args(lists[0])[0] if lists else None


def _alternatives(wanted: Any) -> tuple[Any, ...]:
    """The members of a union, such as an optional list; a type that is none is its only one."""
    if get_origin(wanted) is Annotated:
        return _alternatives(get_args(wanted)[0])
    return get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,)


def _field_types(owner: Any) -> dict[str, Any]:
    """Field name, as it stands in JSON, to its type."""
    fields: dict[str, Any] = getattr(owner, "model_fields", {})
    if fields:
        return {(info.alias or name): info.annotation for name, info in fields.items()}
    if dataclasses.is_dataclass(owner) or typing.is_typeddict(owner):
        return typing.get_type_hints(owner)
    return {}


def _replaced(value: JSON, steps: Path, part: JSON) -> JSON:
    if not steps:
        return part
    if is_object(value):
        name = str(steps[0])
        return {**value, name: _replaced(value[name], steps[1:], part)}
    return value if not is_array(value) else list(value)
