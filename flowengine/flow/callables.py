"""Functions and resolvers that a flow refers to by name, and where each may come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from flowengine.decide.spec import DecisionSpec
from flowengine.extract.spec import FieldSpec, OnComplete
from flowengine.flow.action import Action, TextFunction
from flowengine.flow.diagnostic import Finding, Path, unknown
from flowengine.flow.functions import Declared
from flowengine.flow.index import Index, misnamed
from flowengine.flow.reaction import Computed, Watch
from flowengine.tools.spec import Tool


class Call(NamedTuple):
    """A function referred to at one place, and the kinds that fit there."""

    name: str
    kinds: tuple[str, ...]
    path: Path


def function_names(index: Index, functions: Declared | None) -> Iterator[Finding]:
    """What the flow refers to is registered; silent while it is not known what is."""
    if functions is None:
        return
    for call in calls(index):
        known = [name for kind in call.kinds for name in functions.get(kind, ())]
        if call.name not in known:
            yield _unregistered(call, known, functions)


def resolver_names(index: Index, functions: Declared | None) -> Iterator[Finding]:
    """`resolve` and `resolved(...)` name resolvers that the flow declares or registers."""
    launched = list(_launched(index))
    known = {*index.flow.resolvers, *(functions or {}).get("resolver", ())}
    if functions is None:
        known |= {name for name, _ in launched}
    for name, path in launched:
        if name not in known:
            yield unknown("unknown_resolver", "resolver", name, sorted(known), path)
    for question in index.questions:
        if question.kind == "resolver" and question.name not in known:
            yield misnamed(question, "unknown_resolver", sorted(known))


def calls(index: Index) -> Iterator[Call]:
    """Every reference to a function, resolvers that are merely launched aside."""
    for question in index.questions:
        if question.kind == "function":
            kinds = ("guard", "validator") if question.path[-1] == "valid" else ("guard",)
            yield Call(question.name, kinds, question.path)
    for path, part in index.parts:
        yield from _called_by(part, path)
    for name, resolver in index.flow.resolvers.items():
        path: Path = ("resolvers", name)
        if resolver.run is not None:
            yield Call(resolver.run, ("resolver",), (*path, "run"))
        elif not (resolver.http or resolver.mcp or resolver.prompt):
            yield Call(name, ("resolver",), path)


def _called_by(part: object, path: Path) -> Iterator[Call]:
    match part:
        case Computed(run=str(name)):
            yield Call(name, ("computed",), (*path, "run"))
        case Action(run=str(name)):
            yield Call(name, ("watcher",), (*path, "run"))
        case Watch(custom=str(name)):
            yield Call(name, ("watcher",), (*path, "custom"))
        case TextFunction(run=name):
            yield Call(name, ("text",), (*path, "run"))
        case OnComplete(run=name):
            yield Call(name, ("watcher", "resolver", "tool", "extractor"), (*path, "run"))
        case Tool(run=str(name)):
            yield Call(name, ("tool",), (*path, "run"))
        case DecisionSpec(run=str(name)):
            yield Call(name, ("decision",), (*path, "run"))
        case _:
            pass


def _launched(index: Index) -> Iterator[tuple[str, Path]]:
    for path, part in index.parts:
        if isinstance(part, Action | FieldSpec) and part.resolve is not None:
            yield part.resolve, (*path, "resolve")


def _unregistered(call: Call, known: Iterable[str], functions: Declared) -> Finding:
    finding = unknown("unknown_function", f"{call.kinds[0]} function", call.name, known, call.path)
    elsewhere = [kind for kind, names in functions.items() if call.name in names]
    if elsewhere:
        cure = f"it is registered as a {elsewhere[0]}; here a {' or '.join(call.kinds)} is called"
        return finding._replace(suggestion=cure, fix=())
    if not finding.fix:
        finding = finding._replace(suggestion=f"register it with @functions.{call.kinds[0]}")
    return finding if finding.path[-1] in ("run", "custom") else finding._replace(fix=())
