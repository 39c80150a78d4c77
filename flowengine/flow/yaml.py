"""YAML 1.2 text into a tree: `on`, `no` and `12:30` are text, only `true` and `false` are booleans.

Anchors work, within bounds. Merge keys, tags and a second document are errors.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from flowengine.flow.cut import CUT, cut_at, quoted
from flowengine.flow.source import Span
from flowengine.flow.tree import MAX_DEPTH, TreeBuilder, Unreadable

_PARSE: Any = yaml.parse  # pyright: ignore[reportUnknownVariableType]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LONGEST_NUMBER = 40
_CONSTANTS = {"": None, "null": None, "~": None, "true": True, "false": False}


def build(text: str) -> TreeBuilder:
    """The tree of one document.

    Raises:
        Unreadable: the text is not YAML, or goes beyond the bounds.
    """
    builder = TreeBuilder()
    try:
        for event in _PARSE(text, Loader=_LOADER):
            _take(builder, event)
    except yaml.YAMLError as error:
        raise _unreadable(text, error) from None
    return builder


def scalar(text: str) -> Any:
    """What an unquoted word means: null, a boolean, a number, else the text itself.

    Digits with a leading zero are text: `0123` is an account, not 123.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _take(builder: TreeBuilder, event: Any) -> None:
    span = Span(event.start_mark.index, event.end_mark.index)
    match event:
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            _refuse_tag(event, span)
            kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
            style = "flow" if event.flow_style else ""
            builder.open(kind, span, style=style, anchor=event.anchor)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            builder.close(span.end)
        case yaml.ScalarEvent():
            _refuse_tag(event, span)
            style = event.style or ""
            value = event.value if style else scalar(event.value)
            builder.scalar(value, span, text=event.value, style=style, anchor=event.anchor)
        case yaml.AliasEvent():
            builder.alias(event.anchor, span)
        case yaml.DocumentStartEvent() if builder.root is not None:
            raise Unreadable("many_documents", "a file holds one flow; `---` starts another", *span)
        case _:
            pass


def _refuse_tag(event: Any, span: Span) -> None:
    if event.tag is not None:
        raise Unreadable("tag", f"the tag {event.tag!r} is not read", *span, "leave it out")


def _unreadable(text: str, error: yaml.YAMLError) -> Unreadable:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    at = min(mark.index if mark else getattr(error, "position", 0), len(text))
    if cut := cut_at(text, at):
        return Unreadable("guard_cut", CUT, *cut, quoted(text[slice(*cut)]))
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "is not YAML"
    char = text[at : at + 1]
    if char == "\t":
        return Unreadable("tab", "a tab cannot indent", at, at + 1, "indent with spaces")
    if "maximum nesting depth" in str(problem):
        return Unreadable("too_deep", f"more than {MAX_DEPTH} levels of nesting", at, at + 1)
    context = getattr(error, "context", None)
    message = f"{problem} {context}" if context else str(problem)
    return Unreadable("yaml_syntax", message, at, at + 1, _cure(str(problem)))


def _cure(problem: str) -> str:
    if "mapping values" in problem:
        return "put text that contains `: ` in quotes"
    if "block end" in problem or "block mapping" in problem:
        return "is the line indented like its neighbours, and is a quote closed?"
    return ""
