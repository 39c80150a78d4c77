"""What a use gives for a fragment's parameters: each value is there, and of the declared type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from flowengine.clock import duration_ms
from flowengine.errors import GuardError
from flowengine.flow.diagnostic import Finding, unknown
from flowengine.flow.fragment import Fragment, ParameterType
from flowengine.flow.source import Node
from flowengine.guards import Guard

Values: TypeAlias = Mapping[str, Node | None]
"""Parameter -> what was given for it; None leaves out what it stands for."""

NAMES: Mapping[str, str] = {
    "key": "key", "keys": "key", "phase": "phase", "tool": "tool", "tools": "tool",
    "record": "record", "records": "record", "resolver": "resolver", "decision": "decision",
    "event": "event",
}  # fmt: skip
"""Types whose values are names, and the kind of name."""

MENTION = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
"""`$name` or `${name}`."""

_LISTS = ("keys", "tools", "records", "list")
_WORDS: Mapping[str, str] = {
    **{kind: f"the name of a {kind}" for kind in NAMES},
    "keys": "a list of keys", "tools": "a list of tools", "records": "a list of records",
    "event": "the name of an event", "guard": "a condition", "text": "a text",
    "string": "a text", "boolean": "true or false", "integer": "a whole number",
    "number": "a number", "duration": "a duration such as 30s", "list": "a list",
    "object": "a mapping", "any": "a value",
}  # fmt: skip


def mentioned(value: Any) -> str | None:
    """The parameter that a scalar consists of, as in `$tool`."""
    found = MENTION.fullmatch(value) if isinstance(value, str) else None
    return (found[1] or found[2]) if found else None


def faults(fragment: Fragment, name: str, use: Node) -> Iterator[tuple[Node, Finding]]:
    """What does not fit in `with` and in `exits`, each with the node that it is about."""
    given = _children(use, "with")
    parameters, exits = fragment.parameters, fragment.exits
    for other in given.keys() - parameters.keys():
        found = unknown("unknown_parameter", "parameter", str(other), parameters, ())
        yield given[other], _stranger(found, name)
    for parameter, spec in parameters.items():
        node = given.get(parameter)
        if node is None and spec.required:
            words = f"fragment {name!r} needs `{parameter}`, {_WORDS[spec.type]}"
            yield (
                use.children["use"],
                Finding("missing_parameter", words, suggestion=spec.description),
            )
        elif node is not None and node.value is None and node.kind == "scalar":
            if spec.required:
                yield node, _wrong(parameter, spec.type, "nothing")
        elif node is not None:
            yield from ((node, fault) for fault in _misfit(parameter, spec.type, node))
    leading = _children(use, "exits")
    for other in leading.keys() - exits.keys():
        found = unknown("unknown_exit", "exit", str(other), exits, ())
        yield leading[other], _stranger(found, name)
    for exit, spec in exits.items():
        if exit not in leading and not spec.optional:
            words = f"exit {exit!r} of fragment {name!r} leads nowhere"
            cure = f"write `exits: {{{exit}: PHASE}}`"
            yield use.children["use"], Finding("missing_exit", words, suggestion=cure)
    for exit, node in leading.items():
        if not isinstance(node.value, str):
            yield node, _wrong(str(exit), "phase", _shown(node))


def _children(use: Node, step: str) -> dict[str | int, Node]:
    node = use.children.get(step)
    return node.children if node is not None and node.kind == "map" else {}


def _stranger(found: Finding, fragment: str) -> Finding:
    what = found.code.removeprefix("unknown_")
    message = f"fragment {fragment!r} has no {what} {found.word!r}"
    cure = found.suggestion or f"it has no {what}s"
    return found._replace(message=message, suggestion=cure, fix=(), on_key=True)


def _misfit(name: str, kind: ParameterType, node: Node) -> Iterator[Finding]:
    if kind == "guard":
        try:
            Guard.from_json(node.plain())
        except GuardError as error:
            yield Finding("guard", str(error), within=(error.offset, max(1, error.length)))
    elif not _FITS[kind](node.plain()):
        cure = ""
        if kind in _LISTS and node.kind == "scalar":
            cure = f"write [{node.value}]"
        yield _wrong(name, kind, _shown(node))._replace(suggestion=cure)


def _wrong(name: str, kind: ParameterType, value: str) -> Finding:
    return Finding("wrong_type", f"`{name}` takes {_WORDS[kind]}, not {value}")


def _shown(node: Node) -> str:
    if node.kind != "scalar":
        return "a list" if node.kind == "list" else "a mapping"
    is_text = isinstance(node.value, str)
    return f"the text {node.value!r}" if is_text else json.dumps(node.value)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_name, value))  # pyright: ignore[reportUnknownArgumentType]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_duration(value: Any) -> bool:
    try:
        duration_ms(value)
    except (ValueError, TypeError, OverflowError):
        return False
    return True


_FITS: dict[str, Callable[[Any], bool]] = {
    **{kind: (_are_names if kind in _LISTS else _is_name) for kind in NAMES},
    "text": lambda value: isinstance(value, str | dict),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and not isinstance(value, float),
    "number": _is_number,
    "duration": _is_duration,
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "any": lambda value: True,
}


def value_text(node: Node) -> str:
    """A value inside a text: names joined by commas, other values as JSON."""
    if node.kind == "list":
        return ", ".join(value_text(child) for child in node.children.values())
    value = node.plain()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
