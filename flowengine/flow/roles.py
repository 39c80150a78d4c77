"""Where the names stand: the one table of fields that hold names, and the walk that finds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

from pydantic import BaseModel

from flowengine.decide.spec import DecisionSpec
from flowengine.extract.spec import (
    ExtractSpec,
    FieldSpec,
    OnComplete,
    Promotion,
    Raise,
)
from flowengine.flow.action import Action, TextFunction
from flowengine.flow.expression import Expression
from flowengine.flow.model import (
    Constraint,
    Digression,
    Flow,
    Key,
    Phase,
    PhaseDefaults,
    Region,
    ToolRule,
    Transition,
)
from flowengine.flow.reaction import Computed, Pattern, Watch
from flowengine.flow.shape import inside, options
from flowengine.flow.source import Node
from flowengine.guards import Guard
from flowengine.resolve.spec import Resolver
from flowengine.sources.spec import HttpRequest, McpCall
from flowengine.tools.spec import Tool

ROLES: dict[type[BaseModel], dict[str, str]] = {
    Flow: {
        "state": "+key", "records": "+record", "computed": "+key", "resolvers": "+resolver",
        "tools": "+tool", "decisions": "+decision", "digressions": "+digression",
        "phases": "+phase", "monitors": "+region",
    },
    Key: {"writers": "writer", "depends_on": "key"},
    FieldSpec: {"resolve": "resolver", "args": "key", "to": "+key"},
    OnComplete: {"run": "callable"},
    ExtractSpec: {"name": "+extractor"},
    Promotion: {"to": "+key", "after_presented": "key"},
    Raise: {"raise": "+event"},
    Computed: {"of": "key", "reads": "key"},
    Expression: {"key": "key"},
    Watch: {"key": "key"},
    Pattern: {"name": "+pattern"},
    Action: {
        "set": "+key", "copy": "+key=key", "clear": "key", "raise": "+event", "reset": "phase",
        "resolve": "resolver",
    },
    Resolver: {"args": "key", "prompt": "template", "announce": "template"},
    HttpRequest: {"url": "request", "headers": "request", "query": "request", "body": "request"},
    McpCall: {"args": "request"},
    Tool: {
        "compensate_with": "tool", "idempotency_key": "template", "confirm": "template",
        "set": "+key", "save_as": "+key",
    },
    DecisionSpec: {"question": "template", "options_from": "key", "writes": "+key"},
    Constraint: {
        "once": "tool", "never": "tool", "before": "phase or tool", "require": "phase",
        "ambient": "tool",
    },
    Transition: {"to": "phase", "on": "event"},
    Digression: {"on": "event", "phases": "+phase"},
    Phase: {
        "show": "key", "needs": "key", "collect": "record", "tools": "tool", "phases": "+phase",
        "regions": "+region",
    },
    ToolRule: {"allow": "tool", "deny": "tool"},
    Region: {"phases": "+phase"},
    PhaseDefaults: {"show": "key"},
}  # fmt: skip
"""Field -> the kind of name in it: in a text, in each of a list, or in the keys of a mapping.

`+` declares the name, `=` is followed by the kind of the values. `template` and `request` are
texts with `{key}`s. Guards and texts to be spoken need no entry: their types tell. A field without
a name in it has none either.
"""

USERS: tuple[type[BaseModel], ...] = (Phase, Digression, Region)
"""What may `use` a fragment."""

EACH = "$each"
"""An item of a list with this key stands for one item for each name in what the key holds."""

Types = list[Any]


class Visitor(Protocol):
    """Makes something of each name; None leaves the part out."""

    def given(self, node: Node) -> tuple[Node | None] | None:
        """What replaces a scalar altogether, in a tuple; None if it is no parameter."""
        ...

    def name(self, node: Node, kind: str) -> Node | None: ...
    def key(self, text: str, kind: str, declared: bool) -> str | None: ...
    def rounds(self, node: Node) -> Iterator[Node]:
        """An item of a list as often as it stands for: once, unless it has `$each`."""
        ...

    def guard(self, node: Node, of_value: bool) -> Node | None: ...
    def text(self, node: Node, role: str) -> Node: ...
    def use(self, node: Node, model: type[BaseModel]) -> dict[str, Node]: ...


def walk_section(section: str, node: Node, visitor: Visitor) -> Node | None:
    """A section of a fragment as the visitor makes it."""
    return walk(node, section_types(section), visitor, ROLES[Flow].get(section, ""))


def section_types(section: str) -> Types:
    """The types of a section of a fragment, most of which are a flow's."""
    if section in ("phase", "digression"):
        return [Phase if section == "phase" else Digression]
    return options(Flow.model_fields[section].annotation)


def walk(node: Node, types: Types, visitor: Visitor, role: str = "") -> Node | None:
    """The part as the visitor makes it; a part without something that it needs is left out."""
    if node.kind == "scalar" and (replaced := visitor.given(node)) is not None:
        return replaced[0]
    if Guard in types:
        return visitor.guard(node, role == "value")
    if node.kind == "scalar":
        return _scalar(node, types, visitor, role)
    if node.kind == "list":
        return _list(node, types, visitor, role)
    model = model_of(types)
    return _model(node, model, visitor) if model else _mapping(node, types, visitor, role)


def model_of(types: Types) -> type[BaseModel] | None:
    models = (t for t in types if isinstance(t, type) and issubclass(t, BaseModel))
    return next((m for m in models if m is not TextFunction), None)


def _scalar(node: Node, types: Types, visitor: Visitor, role: str) -> Node | None:
    if not isinstance(node.value, str):
        return node
    if TextFunction in types or role in ("template", "request"):
        return visitor.text(node, role or "template")
    kind = role.partition("=")[0].removeprefix("+")
    if kind not in ("", "value"):
        return visitor.name(node, role)
    return visitor.text(node, "" if str in types else "json")


def _list(node: Node, types: Types, visitor: Visitor, role: str) -> Node:
    items: list[Node] = []
    rounds = (one for child in node.children.values() for one in visitor.rounds(child))
    for at, child in enumerate(rounds):
        item = walk(child, _inner(types, at), visitor, role)
        is_parameter = child.kind == "scalar" and item is not None and item.kind == "list"
        items += item.children.values() if item and is_parameter else [item] if item else []
    return replace(node, children=dict(enumerate(items)), keys={})


def _mapping(node: Node, types: Types, visitor: Visitor, role: str) -> Node:
    keys, _, values = role.partition("=")
    if role in ("template", "request"):
        keys, values = "", role
    children: dict[str | int, Node] = {}
    spans = dict(node.keys)
    for step, child in node.children.items():
        name = visitor.key(str(step), keys.removeprefix("+"), keys.startswith("+"))
        part = walk(child, _inner(types, str(step)), visitor, values)
        if name is not None and part is not None:
            children[name], spans[name] = part, node.keys.get(step, node.span)
    return replace(node, children=children, keys=spans)


def _model(node: Node, model: type[BaseModel], visitor: Visitor) -> Node | None:
    roles = ROLES.get(model, {})
    children: dict[str | int, Node] = {}
    ours = visitor.use(node, model) if model in USERS and "use" in node.children else {}
    for step, child in node.children.items():
        types = inside(model, step)
        role = roles.get(str(step)) or _role(types, model)
        part = ours.get(str(step)) or walk(child, types, visitor, role)
        if part is not None:
            children[step] = part
        elif is_needed(model, step):
            return None
    return replace(node, children=children)


def _role(types: Types, model: type[BaseModel]) -> str:
    """Guards of fields are about the field's value too."""
    return "value" if Guard in types and model in (FieldSpec, Promotion) else ""


def is_needed(model: type[BaseModel], step: str | int) -> bool:
    """Whether nothing of this kind can be without the field, if it was written.

    A transition without its condition would be taken always, so that it is left out too.
    """
    if model is Transition and step in ("when", "on"):
        return True
    fields = model.model_fields.items()
    return any(step == (field.alias or name) and field.is_required() for name, field in fields)


def _inner(types: Types, step: str | int) -> Types:
    return [inner for annotation in types for inner in inside(annotation, step)]
